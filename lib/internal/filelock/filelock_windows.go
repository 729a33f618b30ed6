package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// Flags and the error of LockFileEx.
const (
	failImmediately = 1
	exclusive       = 2
	errLocked       = syscall.Errno(33) // ERROR_LOCK_VIOLATION
)

// Lock is an exclusive lock on the first byte of a file.
type Lock struct{ file *os.File }

// Take waits until the lock is free or ctx ends.
func Take(ctx context.Context, path string, wait func(context.Context, time.Duration) error) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	lockFileEx := syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")
	for {
		var at syscall.Overlapped
		ok, _, err := lockFileEx.Call(f.Fd(), exclusive|failImmediately, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
		if ok != 0 {
			return &Lock{f}, nil
		}
		if !errors.Is(err, errLocked) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
		}
		if err := wait(ctx, pause); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
}

// Release ends the lock, which belongs to the open file.
func (l *Lock) Release() error { return l.file.Close() }
