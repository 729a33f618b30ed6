package testpg_test

import (
	"math"
	"os"
	"testing"

	"github.com/evalrouter/evalrouter/scripts/internal/testpg"
)

func TestInMemory(t *testing.T) {
	t.Parallel()
	if got := testpg.InMemory(math.MaxUint64); got != os.TempDir() {
		t.Errorf("there is room for everything in %s", got)
	}
	info, err := os.Stat(testpg.InMemory(0))
	if err != nil || !info.IsDir() {
		t.Errorf("no folder at all: %v", err)
	}
}
