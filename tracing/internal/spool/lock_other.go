//go:build !unix

package spool

import (
	"errors"
	"fmt"
)

// lock: without a lock that ends with the process nobody could tell what a
// killed process left from what a living one still writes.
func lock(path string) (unlock func() error, err error) {
	return nil, fmt.Errorf("lock %s: a spool works on Unix systems only: %w", path, errors.ErrUnsupported)
}
