package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/families"
	"github.com/evalrouter/evalrouter/bundle/pack"
	"github.com/evalrouter/evalrouter/bundle/pack/draft"

	"github.com/evalrouter/evalrouter/cmd/evalrouter-bench/internal/argv"
)

func (a *App) initCommand() *argv.Command {
	d := draft.Draft{Template: pack.TemplateText}
	return &argv.Command{
		Name: "init", Args: "DIR", Short: "Write a draft benchmark into a new folder", Operands: [2]int{1, 1},
		Long: "The draft is synthetic and claims no licence: replace its tasks, rights,\nreferences and limits before you submit it.",
		Flags: []argv.Flag{
			argv.Text(&d.Namespace, "namespace", "NAMESPACE", "who publishes it: small letters, digits, dashes"),
			argv.Text(&d.Name, "name", "NAME", "what it is called: small letters, digits, dashes"),
			{Long: "template", Value: "TEMPLATE", Usage: strings.Join(pack.Templates(), "|"), Set: func(s string) error {
				if !slices.Contains(pack.Templates(), s) {
					return errors.New("want one of " + strings.Join(pack.Templates(), ", "))
				}
				d.Template = s
				return nil
			}},
		},
		Examples: []string{
			Program + " init ./my-benchmark --namespace acme --name my-benchmark",
			Program + " init ./sums --namespace acme --name sums --template numeric",
		},
		Run: func(_ context.Context, operands []string) error { return a.init(operands[0], d) },
	}
}

type initResult struct {
	Path     string   `json:"path"`
	Template string   `json:"template"`
	Files    []string `json:"files"`
	Replace  []string `json:"replace"`
}

func (a *App) init(dir string, d draft.Draft) error {
	next := Program + " init --help"
	if d.Namespace == "" || d.Name == "" {
		return &argv.UsageError{Message: "init needs --namespace and --name", Next: next}
	}
	files, err := draft.Files(d)
	if err != nil {
		return err
	}
	for _, f := range first(pack.ReadManifest(files[0].Data, families.Grader)) {
		if f.Field == "namespace" || f.Field == "name" {
			return &argv.UsageError{Message: "--" + f.Field + ": " + f.Message, Next: next}
		}
	}
	dir = filepath.Clean(dir)
	if err := writeFolder(dir, files); err != nil {
		return err
	}
	res := initResult{Path: dir, Template: d.Template, Replace: []string{"tasks", "rights", "references", "limits"}}
	for _, f := range files {
		res.Files = append(res.Files, f.Path)
	}
	return a.value(res, func() {
		a.line("Wrote a draft of %s/%s to %s: %s", d.Namespace, d.Name, dir, strings.Join(res.Files, ", "))
		a.line("It is synthetic and claims no licence. Before you submit it, replace the tasks,")
		a.line("the rights, the references and the limits; README.md says where they stand.")
		a.line("Next: %s preview %s", Program, shellWord(dir))
	})
}

func first[M any](_ M, findings []pack.Finding) []pack.Finding { return findings }

// writeFolder makes a folder that must not exist: under a random name beside
// it, and then under its own, so that no half of it is ever seen there.
func writeFolder(dir string, files []draft.File) (err error) {
	if _, err := os.Lstat(dir); err == nil {
		return exists(dir)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return cannotWrite(dir, err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".evalrouter-bench-*")
	if err != nil {
		return cannotWrite(dir, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(tmp))
		}
	}()
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(tmp, f.Path), f.Data, 0o644); err != nil {
			return cannotWrite(dir, err)
		}
	}
	if err := os.Rename(tmp, dir); err != nil {
		if _, there := os.Lstat(dir); there == nil {
			return exists(dir)
		}
		return cannotWrite(dir, err)
	}
	return nil
}

func exists(path string) error {
	return &failure{code: codeExists, message: path + " exists already", facts: []string{"it was left as it is; nothing was written"}}
}

func cannotWrite(path string, err error) error {
	return &failure{code: codeWrite, message: fmt.Sprintf("%s cannot be written: %s", path, cause(err)), facts: []string{"nothing was left behind"}}
}
