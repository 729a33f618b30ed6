//go:build !unix

package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// lock makes a file that exists while the lock is held. After a crash it has to
// be removed by hand; the error names it.
func lock(path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("lock %s: %w", path, ErrHeld)
	}
	if err != nil {
		return nil, fmt.Errorf("lock state file: %w", err)
	}
	return func() error { return errors.Join(f.Close(), os.Remove(path)) }, nil
}
