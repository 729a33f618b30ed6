//go:build unix

package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Lock is an exclusive lock. The file itself stays: removing it would let two
// processes lock two files of one name.
type Lock struct{ file *os.File }

// Take waits until the lock is free or ctx ends. The file is private and must
// not be a link.
func Take(ctx context.Context, path string, wait func(context.Context, time.Duration) error) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return &Lock{f}, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
		}
		if err := wait(ctx, pause); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
}

// Release ends the lock at once, also where a child that was just forked still has
// a copy of the open file: the lock belongs to all who have it.
func (l *Lock) Release() error {
	return errors.Join(syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN), l.file.Close())
}
