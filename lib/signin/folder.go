package signin

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
)

// maxFile bounds what is read of a file.
const maxFile = 1 << 20

// folder is a private directory. Nothing in it is reached through a link.
type folder string

// open makes the directory, or makes sure that it is the user's own and closed
// to others.
func (d folder) open() (*os.Root, error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, unwritable(err)
	}
	info, err := os.Lstat(string(d))
	switch {
	case err != nil:
		return nil, unwritable(err)
	case !info.IsDir():
		return nil, unsafeAt(string(d), "is not a directory of its own")
	case foreign(info):
		return nil, unsafeAt(string(d), "belongs to another user")
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(string(d), 0o700); err != nil {
			return nil, unwritable(err)
		}
	}
	root, err := os.OpenRoot(string(d))
	if err != nil {
		return nil, unwritable(err)
	}
	return root, nil
}

// read is a file's bytes, nil when there is none. One that others can read is
// refused: they may have.
func (d folder) read(name string) ([]byte, error) {
	if _, err := os.Lstat(filepath.Join(string(d), name)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil // and the directory is not made for nothing
	}
	root, err := d.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	path := filepath.Join(string(d), name)
	info, err := root.Lstat(name)
	switch {
	case err != nil:
		return nil, unwritable(err)
	case !info.Mode().IsRegular():
		return nil, unsafeAt(path, "is not a regular file")
	case foreign(info):
		return nil, unsafeAt(path, "belongs to another user")
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, unsafeAt(path, "can be read by others")
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, unwritable(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(b) > maxFile {
		return nil, corrupt(path)
	}
	return b, err
}

// write replaces a file: after a crash there is the old one or the new one.
// Whatever the umask is, nobody else may read it.
func (d folder) write(name string, data []byte) (err error) {
	root, err := d.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return unsafeAt(filepath.Join(string(d), name), "is not a regular file")
	}
	var salt [8]byte
	_, _ = rand.Read(salt[:]) // never fails, by its contract
	temp := "." + name + "." + hex.EncodeToString(salt[:]) + ".tmp"
	if err := fill(root, temp, data); err != nil {
		_ = root.Remove(temp) // the first error says what is wrong
		return unwritable(err)
	}
	if err := root.Rename(temp, name); err != nil {
		_ = root.Remove(temp)
		return unwritable(err)
	}
	if runtime.GOOS == "windows" { // a directory cannot be forced there
		return nil
	}
	dir, err := root.Open(".")
	if err != nil {
		return unwritable(err)
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func fill(root *os.Root, name string, data []byte) (err error) {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Chmod(0o600); err != nil && runtime.GOOS != "windows" {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}

// remove deletes a file; a missing one is no error.
func (d folder) remove(name string) error {
	err := os.Remove(filepath.Join(string(d), name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func unwritable(err error) error {
	return &flow.Error{Code: api.StateUnwritable, Message: fmt.Sprintf("the sign-in cannot be kept: %s", err), Err: err}
}

func unsafeAt(path, why string) error {
	return &flow.Error{Code: api.StateUnwritable, Message: path + " " + why, Facts: []string{"it was not used, and nothing was sent; remove it, then sign in again"}}
}

func corrupt(path string) error {
	return &flow.Error{Code: api.StateCorrupt, Message: path + " cannot be understood", Facts: []string{"it was left as it is; remove it, then sign in again"}}
}
