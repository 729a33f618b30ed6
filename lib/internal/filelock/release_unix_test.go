//go:build unix

package filelock

import (
	"context"
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A child that was forked a moment ago has every open file until it becomes
// another program. A lock that was given back must not wait for that.
func TestRelease_BesideACopy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	busy := errors.New("it is held")
	never := func(context.Context, time.Duration) error { return busy }
	first, err := Take(t.Context(), path, never)
	if err != nil {
		t.Fatal(err)
	}
	child, err := syscall.Dup(int(first.file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(child)
	if _, err := Take(t.Context(), path, never); !errors.Is(err, busy) {
		t.Errorf("a lock that is held was taken: %v", err)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	second, err := Take(t.Context(), path, never)
	if err != nil {
		t.Fatalf("after it was given back: %v", err)
	}
	if err := second.Release(); err != nil {
		t.Error(err)
	}
}
