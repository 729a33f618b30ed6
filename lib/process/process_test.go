package process_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/lib/process"
)

func TestSleep(t *testing.T) {
	t.Parallel()
	if err := process.Sleep(t.Context(), time.Nanosecond); err != nil {
		t.Errorf("slept: %v", err)
	}
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if err := process.Sleep(ctx, time.Hour); !errors.Is(err, why) {
		t.Errorf("woken: %v", err)
	}
}
