//go:build unix && !solaris && !aix

// Package flock locks an open file against other processes. A lock ends with the
// process that holds it, however that ends.
package flock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// ErrLocked says that another process holds the lock.
var ErrLocked = errors.New("locked by another process")

// Lock takes an exclusive lock that belongs to the open file, or answers
// ErrLocked at once.
func Lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

// Unlock gives the lock back, also where a child that was just forked still has
// the open file: it belongs to all who have it.
func Unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }
