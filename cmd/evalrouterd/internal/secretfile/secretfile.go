// Package secretfile reads what must not be an argument: a file that only its
// owner can read.
package secretfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

const most = 4 << 10

// Read is the text of a file without the white space around it, of 4 KiB at most.
func Read(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", errors.New("not a regular file")
	case info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("mode %04o; others can read it (chmod 600)", info.Mode().Perm())
	}
	b, err := io.ReadAll(io.LimitReader(f, most))
	return strings.TrimSpace(string(b)), err
}
