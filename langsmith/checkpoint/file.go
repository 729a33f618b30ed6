package checkpoint

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/evalrouter/evalrouter/langsmith"
)

// rewriteAt is the size from which a file is written anew when it has grown to
// four times what it was after the last time.
const rewriteAt = 1 << 20

// ErrHeld is a state file that another process is using.
var ErrHeld = errors.New("another process is using the state file")

// File is an open state file.
type File struct {
	path  string
	f     *os.File
	unset func() error // the lock
	seq   int64
	size  int64 // of the whole records
	fresh int64 // size after the last rewrite
	bad   error // the file is behind and cannot be repaired
}

// Open locks and reads a state file, which is made if it does not exist.
func Open(path string) (_ *File, _ *langsmith.State, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, nil, fmt.Errorf("make folder of the state file: %w", err)
	}
	unlock, err := lock(path + ".lock")
	if err != nil {
		return nil, nil, err
	}
	s := &File{path: path, unset: unlock}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("open state file %s: it is not a regular file", path)
	}
	if s.f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, nil, fmt.Errorf("open state file: %w", err)
	}
	if err := s.f.Chmod(0o600); err != nil {
		return nil, nil, fmt.Errorf("make the state file private: %w", err)
	}
	state, seq, size, err := Replay(s.f)
	if err != nil {
		return nil, nil, fmt.Errorf("read state file %s: %w", path, err)
	}
	s.seq, s.size, s.fresh = seq, size, size
	if err := s.f.Truncate(size); err != nil {
		return nil, nil, fmt.Errorf("drop the torn end of the state file: %w", err)
	}
	if size == 0 {
		if err := s.append([]byte(Schema + "\n")); err != nil {
			return nil, nil, err
		}
		if err := syncDir(filepath.Dir(path)); err != nil {
			return nil, nil, err
		}
	}
	return s, state, nil
}

// Read reads a state without the lock, for showing it. A missing file is
// fs.ErrNotExist.
func Read(path string) (_ *langsmith.State, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open state file: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	s, _, _, err := Replay(f)
	return s, err
}

// Save appends one change. When it returns nil the change survives a crash.
func (s *File) Save(c langsmith.Change, whole func(yield func(langsmith.Change) bool)) error {
	if s.bad != nil {
		return s.bad
	}
	record, err := AppendRecord(nil, s.seq+1, c)
	if err != nil {
		return err
	}
	if s.size+int64(len(record)) > rewriteAt && s.size > 4*s.fresh {
		return s.rewrite(whole)
	}
	if err := s.append(record); err != nil {
		return err
	}
	s.seq++
	return nil
}

func (s *File) append(b []byte) error {
	_, err := s.f.WriteAt(b, s.size)
	if err == nil {
		err = s.f.Sync()
	}
	if err != nil {
		// What was written in part would hide every later record.
		s.bad = fmt.Errorf("write state file %s: %w", s.path, errors.Join(err, s.f.Truncate(s.size)))
		return s.bad
	}
	s.size += int64(len(b))
	return nil
}

// rewrite puts the whole state in place of the records so far.
func (s *File) rewrite(whole func(yield func(langsmith.Change) bool)) (err error) {
	temp := s.path + ".tmp"
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("rewrite state file: %w", err)
	}
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("rewrite state file: %w", err)
	}
	seq, size, err := writeAll(f, whole)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = os.Rename(temp, s.path)
	}
	if err != nil {
		return fmt.Errorf("rewrite state file: %w", errors.Join(err, f.Close()))
	}
	old := s.f
	s.f, s.seq, s.size, s.fresh = f, seq, size, size
	return errors.Join(old.Close(), syncDir(filepath.Dir(s.path)))
}

func writeAll(w io.Writer, whole func(yield func(langsmith.Change) bool)) (seq, size int64, err error) {
	out := bufio.NewWriterSize(w, 64<<10)
	write := func(b []byte) {
		n, werr := out.Write(b)
		size += int64(n)
		err = errors.Join(err, werr)
	}
	write([]byte(Schema + "\n"))
	whole(func(c langsmith.Change) bool {
		record, rerr := AppendRecord(nil, seq+1, c)
		if err = errors.Join(err, rerr); err != nil {
			return false
		}
		seq++
		write(record)
		return err == nil
	})
	return seq, size, errors.Join(err, out.Flush())
}

// Close lets the next process in.
func (s *File) Close() error {
	var err error
	if s.f != nil {
		err = s.f.Close()
	}
	return errors.Join(err, s.unset())
}

func syncDir(dir string) (err error) {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync folder of the state file: %w", err)
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return d.Sync()
}
