package modproxy

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Commit writes what git has of a revision into a folder, and says when it was
// committed. What is not committed is no part of a release.
func Commit(ctx context.Context, root, revision, folder string) (time.Time, error) {
	text, err := exec.CommandContext(ctx, "git", "-C", root, "show", "-s", "--format=%ct", revision+"^{commit}").Output()
	if err != nil {
		return time.Time{}, fmt.Errorf("ask git for the commit %s: %w", revision, err)
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the time of %s: %w", revision, err)
	}
	cmd := exec.CommandContext(ctx, "git", "-C", root, "archive", "--format=tar", revision)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return time.Time{}, fmt.Errorf("open the pipe of git: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return time.Time{}, fmt.Errorf("start git archive: %w", err)
	}
	err = errors.Join(extract(out, folder), cmd.Wait())
	return time.Unix(seconds, 0).UTC(), err
}

// extract writes the files of a tar stream below a folder; os.Root keeps every
// name inside of it.
func extract(r io.Reader, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("make %s: %w", folder, err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fmt.Errorf("open %s: %w", folder, err)
	}
	defer root.Close()
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, r) // what follows the end is padding
			return err
		}
		if err != nil {
			return fmt.Errorf("read the archive of git: %w", err)
		}
		name := filepath.FromSlash(h.Name)
		switch h.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(filepath.Clean(name), 0o755)
		case tar.TypeReg:
			err = extractFile(root, name, tr, h.FileInfo().Mode().Perm())
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", h.Name, err)
		}
	}
}

func extractFile(root *os.Root, name string, r io.Reader, mode os.FileMode) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
