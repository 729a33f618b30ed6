package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/evalrouter/evalrouter/scripts/internal/surface"
)

// compare holds the libraries to those of another commit.
func (j job) compare(ctx context.Context) (bool, error) {
	folder, err := os.MkdirTemp("", "evalrouter-apidiff-")
	if err != nil {
		return false, fmt.Errorf("make a folder for %s: %w", j.base, err)
	}
	defer os.RemoveAll(folder)
	if err := checkout(ctx, j.root, j.base, folder); err != nil {
		return false, err
	}
	before, err := surfaces(ctx, folder)
	if err != nil {
		return false, err
	}
	now, err := surfaces(ctx, j.root)
	if err != nil {
		return false, err
	}
	fine := true
	for _, dir := range sorted(before) {
		after, ok := now[dir]
		if !ok {
			fmt.Fprintf(j.out, "breaks %s: the module is gone\n", dir)
			fine = false
			continue
		}
		c := surface.Compare(before[dir], after)
		for _, s := range c.Breaking {
			fmt.Fprintf(j.out, "breaks %s: %s\n", dir, s)
		}
		for _, s := range c.Harmless {
			fmt.Fprintf(j.out, "new    %s: %s\n", dir, s)
		}
		fine = fine && len(c.Breaking) == 0
	}
	if fine {
		fmt.Fprintf(j.out, "nothing that imports the libraries of %s breaks\n", j.base)
	}
	return fine, nil
}

// checkout lays the files of a commit into a folder, beside whatever the
// repository has of them.
func checkout(ctx context.Context, root, revision, folder string) error {
	if strings.HasPrefix(revision, "-") {
		return fmt.Errorf("%q names no commit", revision)
	}
	archive := exec.CommandContext(ctx, "git", "-C", root, "archive", "--format=tar", revision)
	unpack := exec.CommandContext(ctx, "tar", "-x", "-C", folder)
	var said, alsoSaid bytes.Buffer
	archive.Stderr, unpack.Stderr = &said, &alsoSaid
	pipe, err := archive.StdoutPipe()
	if err != nil {
		return fmt.Errorf("read %s: %w", revision, err)
	}
	unpack.Stdin = pipe
	if err := archive.Start(); err != nil {
		return fmt.Errorf("read %s: %w", revision, err)
	}
	unpacked := unpack.Run()
	if err := errors.Join(archive.Wait(), unpacked); err != nil {
		return fmt.Errorf("read %s: %w: %s", revision, err, strings.TrimSpace(said.String()+alsoSaid.String()))
	}
	return nil
}
