package tui_test

import (
	"os"
	"testing"
	"time"
)

// Golden frames show local times; they are those of UTC.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}
