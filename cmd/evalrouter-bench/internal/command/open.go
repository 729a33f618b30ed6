package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pack"
)

// source is an opened package: a folder, or a bundle.
type source struct {
	fs.FS
	path   string
	sealed bool
	close  func() error
}

// open opens a folder or a bundle for reading. A folder is read through
// os.Root, so that no name in it leads out.
func open(path string) (*source, error) {
	bad := func(what string) error {
		f := &failure{code: codeInput, message: path + ": " + what, facts: []string{"nothing was read or written"}}
		if filepath.Ext(path) == "" { // a folder that may be meant to begin here
			f.next = []string{Program + " init " + shellWord(path) + " --namespace NAMESPACE --name NAME"}
		}
		return f
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, bad(cause(err))
	}
	if info.IsDir() {
		root, err := os.OpenRoot(path)
		if err != nil {
			return nil, bad(cause(err))
		}
		return &source{FS: root.FS(), path: path, close: root.Close}, nil
	}
	if !info.Mode().IsRegular() {
		return nil, bad("neither a folder nor a bundle")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, bad(cause(err))
	}
	fsys, err := pack.OpenBundle(f, info.Size())
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &source{FS: fsys, path: path, sealed: true, close: f.Close}, nil
}

// folder opens a folder only.
func folder(path string) (*source, error) {
	s, err := open(path)
	if err == nil && s.sealed {
		return nil, errors.Join(&failure{code: codeInput, message: path + " is a file; this command changes a folder", facts: []string{"nothing was written"}}, s.close())
	}
	return s, err
}

// manifest validates a package and reads its manifest.
func (s *source) manifest(ctx context.Context) (pack.Manifest, pack.Report, error) {
	rep, err := pack.Validate(ctx, s, options(s.sealed))
	if err == nil {
		err = rep.Err()
	}
	if err != nil {
		return pack.Manifest{}, rep, err
	}
	m, err := pack.Open(s, options(s.sealed))
	return m, rep, err
}

// shellWord quotes a path for the command lines that are advised.
func shellWord(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._/-+@", r))
	}) < 0 && s[0] != '-' {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// newFile writes a file that must not exist: under a random name beside it,
// and then under its own, so that no part of it is ever seen there. names are
// tried in their order; the last error is fs.ErrExist when all are taken.
func newFile(dir string, names func(i int) (string, bool), write func(io.Writer) error) (path string, err error) {
	tmp, err := os.CreateTemp(dir, ".evalrouter-bench-*")
	if err != nil {
		return "", err
	}
	defer func() {
		closed := tmp.Close() // a second time after success, which is then the error to forget
		if err != nil && !errors.Is(closed, os.ErrClosed) {
			err = errors.Join(err, closed)
		}
		if removed := os.Remove(tmp.Name()); err == nil {
			err = removed
		}
	}()
	if err := write(tmp); err != nil {
		return "", err
	}
	if err := tmp.Sync(); err != nil {
		return "", err
	}
	if err := tmp.Close(); err != nil {
		return "", err
	}
	for i := 0; ; i++ {
		name, ok := names(i)
		if !ok {
			return "", fs.ErrExist
		}
		path = filepath.Join(dir, name)
		if err := place(tmp.Name(), path); !errors.Is(err, fs.ErrExist) {
			return path, err
		}
	}
}

// place gives a file a second name, which must be free. Where a file system
// has no links, the name is taken by an empty file first.
func place(tmp, path string) error {
	err := os.Link(tmp, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	claim, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := claim.Close(); err != nil {
		return err
	}
	in, err := os.ReadFile(tmp)
	if err != nil {
		return err
	}
	return replaceFile(path, in)
}

// numbered tries base.zip, base-2.zip and so on.
func numbered(name string) func(int) (string, bool) {
	stem, ext := strings.TrimSuffix(name, filepath.Ext(name)), filepath.Ext(name)
	return func(i int) (string, bool) {
		if i == 0 {
			return name, true
		}
		return fmt.Sprintf("%s-%d%s", stem, i+1, ext), i < 10_000
	}
}

func only(name string) func(int) (string, bool) {
	return func(i int) (string, bool) { return name, i == 0 }
}

// replaceFile writes a file in place of another one, whose mode it takes.
func replaceFile(path string, data []byte) (err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".evalrouter-bench-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Chmod(info.Mode().Perm()), tmp.Sync(), tmp.Close())
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
