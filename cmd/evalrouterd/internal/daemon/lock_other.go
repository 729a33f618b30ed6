//go:build !unix || solaris || aix

package daemon

import (
	"errors"
	"os"
)

var errLocked = errors.New("locked by another process")

// flock refuses: without a lock two daemons could make calls at once.
func flock(*os.File) error {
	return errors.New("this system has no file locks that this program can use")
}

func unlock(*os.File) error { return nil }
