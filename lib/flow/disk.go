package flow

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Disk is what the journal needs of a file system. Each method is one step
// that a crash may fall behind, which is how the journal is tested.
type Disk interface {
	// MakeDir makes a private directory and its parents.
	MakeDir(dir string) error
	// Create writes a new private file and forces it to the medium.
	Create(path string, data []byte) error
	Rename(from, to string) error
	// SyncDir forces the entries of a directory to the medium.
	SyncDir(dir string) error
	Remove(path string) error
}

// OS is the machine's own file system.
type OS struct{}

var _ Disk = OS{}

// MakeDir makes dir with mode 0700. An existing directory keeps its mode.
func (OS) MakeDir(dir string) error { return os.MkdirAll(dir, 0o700) }

// Create fails when the path exists.
func (OS) Create(path string, data []byte) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Sync()
}

// Rename replaces to, which must be a regular file if it exists.
func (OS) Rename(from, to string) error {
	if info, err := os.Lstat(to); err == nil && !info.Mode().IsRegular() {
		return &fs.PathError{Op: "replace", Path: to, Err: errors.New("not a regular file")}
	}
	return os.Rename(from, to)
}

// SyncDir makes a rename durable.
func (OS) SyncDir(dir string) (err error) {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return d.Sync()
}

// Remove deletes a file; a missing one is no error.
func (OS) Remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Replace puts data at path so that a crash leaves the old content or the new
// one, never a part. The temporary name carries the process id: two processes
// never share it, and one process writes a record under its lock.
func Replace(d Disk, path string, data []byte) error {
	temp := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	if err := d.Remove(temp); err != nil {
		return err
	}
	if err := d.Create(temp, data); err != nil {
		return err
	}
	if err := d.Rename(temp, path); err != nil {
		return err
	}
	return d.SyncDir(filepath.Dir(path))
}
