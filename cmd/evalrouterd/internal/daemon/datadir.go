package daemon

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/flock"
)

// Files of a data directory.
const (
	databaseFile = "evalrouter.db"
	// answersFile holds answers that the database does not have yet.
	answersFile = "answers.spool"
	masterFile  = "master.key"
	lockFile    = "lock"
	tokenFile   = "owner.token"
	recordFile  = "service.json"
	// exportDir holds exports while they are made.
	exportDir = "exports"
)

// dataDir is where an installation keeps everything.
type dataDir string

func (d dataDir) path(name string) string { return filepath.Join(string(d), name) }

// openDir makes the directory if need be and asserts that it is private and
// can be written.
func openDir(path string) (dataDir, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", refuse("data_dir_unwritable", "the data directory %s cannot be used: %s", path, reason(err))
	}
	d := dataDir(abs)
	if err := os.MkdirAll(abs, 0o700); err != nil {
		return "", refuse("data_dir_unwritable", "the data directory %s cannot be made: %s; nothing was started", abs, reason(err))
	}
	info, err := os.Stat(abs)
	if err != nil || !info.IsDir() {
		return "", refuse("data_dir_unwritable", "%s is not a directory; nothing was started", abs)
	}
	if info.Mode().Perm()&0o077 != 0 {
		// Keys and answers are in here; a directory that was made with a wide
		// umask is closed, and one that belongs to somebody else refused.
		if err := os.Chmod(abs, 0o700); err != nil {
			return "", refuse("data_dir_unwritable", "the data directory %s is open to others and cannot be closed: %s; nothing was started", abs, reason(err))
		}
	}
	return d, d.probe()
}

// findDir is openDir for commands that read or change an installation: they
// never make one, for a mistyped path would look like an empty one.
func findDir(path string) (dataDir, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", refuse("data_dir_unwritable", "the data directory %s cannot be used: %s", path, reason(err))
	}
	if info, err := os.Stat(filepath.Join(abs, databaseFile)); err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return "", refuse("installation_missing", "there is no installation in %s; nothing was done. Check --data, or begin one there with 'evalrouterd catalog add', 'evalrouterd local' or 'evalrouterd serve'", abs)
	}
	return openDir(abs)
}

// probe writes a file, which is the only proof that files can be written.
func (d dataDir) probe() error {
	f, err := os.CreateTemp(string(d), ".probe-*")
	if err != nil {
		return refuse("data_dir_unwritable", "the data directory %s cannot be written: %s; nothing was started", d, reason(err))
	}
	name := f.Name()
	return errors.Join(f.Close(), os.Remove(name))
}

// private gives files the mode 0600 whatever the umask was when they were made.
// One that is not there yet is made empty.
func (d dataDir) private(names ...string) error {
	var all error
	for _, name := range names {
		f, err := os.OpenFile(d.path(name), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return errors.Join(all, fmt.Errorf("open %s: %w", d.path(name), err))
		}
		all = errors.Join(all, f.Chmod(0o600), f.Close())
	}
	return all
}

// exports is an empty directory for exports while they are made.
func (d dataDir) exports() (string, error) {
	dir := d.path(exportDir)
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("clear %s: %w", dir, err)
	}
	return dir, os.Mkdir(dir, 0o700)
}

// replace writes a file as a whole: readers see the old bytes or the new ones.
func (d dataDir) replace(name string, data []byte) error {
	tmp, err := os.CreateTemp(string(d), "."+name+"-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone already after a rename
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Chmod(0o600), tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("write %s: %w", d.path(name), err)
	}
	return os.Rename(tmp.Name(), d.path(name))
}

// ownerToken reads the owner's token, or makes it. One that was not generated
// is replaced.
func (d dataDir) ownerToken() (string, error) {
	info, err := os.Lstat(d.path(tokenFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return d.newToken()
	case err != nil:
		return "", fmt.Errorf("read owner token: %w", err)
	case !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0:
		return "", refuse("data_dir_unwritable", "%s can be read by others; delete it, and a new one is made", d.path(tokenFile))
	}
	data, err := os.ReadFile(d.path(tokenFile))
	if err != nil {
		return "", fmt.Errorf("read owner token: %w", err)
	}
	if token := strings.TrimSpace(string(data)); generated(token) {
		return token, nil
	}
	// Cut off, or written by hand: what can be guessed must not open anything.
	return d.newToken()
}

const tokenPrefix = "local_"

func (d dataDir) newToken() (string, error) {
	var b [32]byte
	randomBytes(b[:])
	token := tokenPrefix + hex.EncodeToString(b[:])
	return token, d.replace(tokenFile, []byte(token+"\n"))
}

// generated says that a token has the form that newToken gives it.
func generated(token string) bool {
	digits, ok := strings.CutPrefix(token, tokenPrefix)
	return ok && len(digits) == 64 && strings.Trim(digits, "0123456789abcdef") == ""
}

// takeLock makes this process the one that makes calls. The lock ends with
// the process, however it ends.
func (d dataDir) takeLock() (*dirLock, error) {
	f, err := os.OpenFile(d.path(lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, refuse("data_dir_unwritable", "the data directory %s cannot be locked: %s; nothing was started", d, reason(err))
	}
	switch err := flock.Lock(f); {
	case errors.Is(err, flock.ErrLocked):
		holder, _ := os.ReadFile(f.Name()) // only for the sentence
		f.Close()
		return nil, refuse("data_dir_in_use", "the data directory %s is in use by another evalrouterd%s; nothing was started", d, processName(holder))
	case err != nil:
		f.Close()
		return nil, refuse("data_dir_unwritable", "the data directory %s cannot be locked: %s; nothing was started", d, reason(err))
	}
	err = errors.Join(f.Chmod(0o600), f.Truncate(0))
	if err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("write lock: %w", err)
	}
	return &dirLock{f}, nil
}

// dirLock is held until it is closed.
type dirLock struct{ file *os.File }

// Close gives the lock back at once.
func (l *dirLock) Close() error { return errors.Join(flock.Unlock(l.file), l.file.Close()) }

func processName(pid []byte) string {
	if n, err := strconv.Atoi(strings.TrimSpace(string(pid))); err == nil && n > 0 {
		return fmt.Sprintf(" (process %d)", n)
	}
	return ""
}

// writeRecord says that the local service is ready, and where.
func (d dataDir) writeRecord(r record) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return d.replace(recordFile, append(b, '\n'))
}

// reason is an error without the path that the sentence names already.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
