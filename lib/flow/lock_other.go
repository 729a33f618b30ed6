//go:build !unix

package flow

import (
	"context"
	"errors"
	"os"
	"time"
)

// fileLock is a file that exists while the lock is held. After a crash it has
// to be removed by hand; the error names it.
type fileLock struct{ path string }

func lockFile(ctx context.Context, path string, wait func(context.Context, time.Duration) error) (*fileLock, error) {
	for {
		f, err := os.OpenFile(path+".held", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			return &fileLock{path + ".held"}, f.Close()
		}
		if !errors.Is(err, os.ErrExist) {
			return nil, err
		}
		if err := wait(ctx, 20*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

func (l *fileLock) unlock() error { return os.Remove(l.path) }
