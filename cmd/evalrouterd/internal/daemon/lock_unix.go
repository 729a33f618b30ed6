//go:build unix && !solaris && !aix

package daemon

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

var errLocked = errors.New("locked by another process")

// flock takes an exclusive lock that belongs to the open file, or answers
// errLocked at once.
func flock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errLocked
	}
	return err
}

// unlock gives the lock back, also where a child that was just forked still has
// the open file: it belongs to all who have it.
func unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }
