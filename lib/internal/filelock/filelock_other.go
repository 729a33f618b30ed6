//go:build !unix && !windows

package filelock

import (
	"context"
	"errors"
	"os"
	"time"
)

// Lock is a file that exists while the lock is held. After a crash it has to be
// removed by hand; the error names it.
type Lock struct{ path string }

// Take waits until the lock is free or ctx ends.
func Take(ctx context.Context, path string, wait func(context.Context, time.Duration) error) (*Lock, error) {
	for {
		f, err := os.OpenFile(path+".held", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			return &Lock{path + ".held"}, f.Close()
		}
		if !errors.Is(err, os.ErrExist) {
			return nil, err
		}
		if err := wait(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// Release ends the lock.
func (l *Lock) Release() error { return os.Remove(l.path) }
