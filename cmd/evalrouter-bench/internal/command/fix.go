package command

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/evalrouter/evalrouter/bundle/pack"

	"github.com/evalrouter/evalrouter/cmd/evalrouter-bench/internal/argv"
)

func (a *App) fixCommand() *argv.Command {
	dry := false
	return &argv.Command{
		Name: "fix-hashes", Args: "DIR", Short: "Make the manifest say what the files are", Operands: [2]int{1, 1},
		Long:     "It writes size and SHA-256 of every file into evalrouter.json and adds files\nthat are not listed. Every other byte of the manifest stays.",
		Flags:    []argv.Flag{argv.Switch(&dry, "dry-run", "say what would change and write nothing")},
		Examples: []string{Program + " fix-hashes ./my-benchmark"},
		Run:      func(ctx context.Context, operands []string) error { return a.fix(ctx, operands[0], dry) },
	}
}

type fixResult struct {
	Written bool          `json:"written"`
	Changes []pack.Change `json:"changes"`
}

func (a *App) fix(ctx context.Context, path string, dry bool) (err error) {
	s, err := folder(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	manifest, changes, err := pack.FixHashes(ctx, s)
	if err != nil {
		return err
	}
	changed := slices.ContainsFunc(changes, func(c pack.Change) bool { return c.What != "kept" })
	res := fixResult{Written: changed && !dry, Changes: changes}
	if res.Written {
		file := filepath.Join(path, pack.ManifestFile)
		if err := replaceFile(file, manifest); err != nil {
			return cannotWrite(file, err)
		}
	}
	return a.value(res, func() {
		for _, c := range changes {
			a.line("%-8s %s", c.What, c.Path)
		}
		switch {
		case !changed:
			a.line("Nothing to change.")
		case dry:
			a.line("Nothing was written.")
		default:
			a.line("Wrote %s", filepath.Join(path, pack.ManifestFile))
		}
		a.line("Next: %s validate %s", Program, shellWord(path))
	})
}
