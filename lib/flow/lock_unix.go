//go:build unix

package flow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// fileLock is an exclusive lock that ends with the process that holds it. The
// file itself stays: removing it would let two processes lock two files of one
// name.
type fileLock struct{ file *os.File }

// lockFile waits until the lock is free or ctx ends.
func lockFile(ctx context.Context, path string, wait func(context.Context, time.Duration) error) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return &fileLock{f}, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
		}
		if err := wait(ctx, 20*time.Millisecond); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
}

func (l *fileLock) unlock() error { return l.file.Close() }
