package command

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/evalrouter/evalrouter/bundle/pack"

	"github.com/evalrouter/evalrouter/cmd/evalrouter-bench/internal/argv"
)

func (a *App) bundleCommand() *argv.Command {
	output := ""
	return &argv.Command{
		Name: "bundle", Args: "DIR", Short: "Write a valid package as one zip file", Operands: [2]int{1, 1},
		Long: "The same files give the same bytes on every machine. Nothing is ever replaced:\nwithout --output the next free name is taken.",
		Flags: []argv.Flag{
			argv.Text(&output, "output", "PATH", "the file to write, or a folder to write into"),
		},
		Examples: []string{Program + " bundle ./my-benchmark", Program + " bundle ./my-benchmark --output ./dist/first.zip"},
		Run:      func(ctx context.Context, operands []string) error { return a.bundle(ctx, operands[0], output) },
	}
}

type bundleResult struct {
	Path   string      `json:"path"`
	Bytes  int64       `json:"bytes"`
	SHA256 string      `json:"sha256"`
	Report pack.Report `json:"report"`
}

func (a *App) bundle(ctx context.Context, path, output string) (err error) {
	s, err := open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	m, _, err := s.manifest(ctx)
	if err != nil {
		return err
	}
	dir, names := ".", numbered(m.BundleName())
	if output != "" {
		if info, err := os.Stat(output); err == nil && info.IsDir() {
			dir = output
		} else {
			dir, names = filepath.Dir(output), only(filepath.Base(output))
			if _, err := os.Lstat(output); err == nil {
				return exists(output)
			}
		}
	}
	var res bundleResult
	res.Path, err = newFile(dir, names, func(w io.Writer) error {
		rep, digest, err := pack.Bundle(ctx, s, options(s.sealed), w)
		res.Report, res.SHA256 = rep, digest
		return err
	})
	var refused *pack.Refusal
	switch {
	case errors.As(err, &refused), err != nil && ctx.Err() != nil:
		return err
	case errors.Is(err, fs.ErrExist):
		return exists(output)
	case err != nil:
		return cannotWrite(orElse(output, dir), err)
	}
	if info, err := os.Stat(res.Path); err == nil {
		res.Bytes = info.Size()
	}
	if res.Path, err = filepath.Abs(res.Path); err != nil {
		return err
	}
	return a.value(res, func() {
		a.findings(res.Report.Findings, res.Report.Warnings)
		a.line("Wrote %s", res.Path)
		a.line("  %d bytes, sha256 %s", res.Bytes, res.SHA256)
		a.line("Next: %s verify %s", Program, shellWord(res.Path))
	})
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
