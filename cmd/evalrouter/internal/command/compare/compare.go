// Package compare is the commands that lay finished runs side by side: "compare"
// for any runs of the same tasks, and what "group compare" saves.
//
// What is compared is downloaded first and kept byte for byte beside the
// comparison, which is a function of those files (lib/report/comparison). An
// archive can therefore be made again anywhere, without a service, and a file
// of it that was changed is found.
package compare

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/report/comparison"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command/data"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// Flags are what every saved comparison can be asked for.
type Flags struct {
	formats, output      string
	evidence, withoutRaw bool
	stats, resumed       bool
	look                 data.Look
	set                  *argv.Flags
}

// Declare adds the flags to a command.
func (f *Flags) Declare(fs *argv.Flags) {
	f.formats, f.set = "json", fs
	fs.String(&f.formats, "format", "LIST", "html beside the JSON: html,json")
	fs.String(&f.output, "output", "NAME", "a new folder, or NAME.json with NAME-sources/")
	fs.Bool(&f.stats, "stats", "test each pair on the tasks both were graded on")
	fs.Bool(&f.evidence, "evidence", "keep full exports; compare graders and tasks")
	fs.Bool(&f.withoutRaw, "without-raw", "--evidence, also of runs whose answers are gone").Rare()
	f.look.Declare(fs)
}

// html says whether a page is wanted, or why the formats cannot be had.
func (f *Flags) html() (bool, error) {
	list := strings.Split(f.formats, ",")
	for i, s := range list {
		if list[i] = strings.TrimSpace(s); list[i] != "json" && list[i] != "html" || slices.Contains(list[:i], list[i]) {
			return false, &argv.UsageError{Message: "--format is json, html or html,json; the JSON is saved in any case"}
		}
	}
	return slices.Contains(list, "html"), nil
}

// Check refuses formats that there are not.
func (f *Flags) Check() error {
	_, err := f.html()
	return err
}

// Work is one comparison to be saved.
type Work struct {
	Runs  []string
	Group string // its id, "" where the runs were named one by one
	Name  string // of the folder, where none was chosen
}

type compareCmd struct {
	*command.App
	flags   Flags
	archive string
}

// Compare is "evalrouter compare".
func Compare(a *command.App) *argv.Command {
	c := &compareCmd{App: a}
	fs := argv.NewFlags("compare")
	c.flags.Declare(fs)
	fs.Bool(&c.flags.resumed, "include-resumed", "each run with its resumes as one series (SOB Text)")
	fs.Bool(&c.flags.resumed, "chain", "the same as --include-resumed").Rare()
	fs.String(&c.archive, "archive", "PATH", "check a saved comparison and show it again").Rare()
	return &argv.Command{
		Name: "compare", Args: "RUN...", Short: "Lay finished runs of the same tasks side by side",
		Long: "Takes 1 to 8 finished runs of the same benchmark version, data, tasks and output\nformat, and saves comparison.json with the exports it is made of in a new,\nprivate folder. Nothing is graded again, and without --stats no difference,\ninterval or winner is computed. With --evidence the files hold answers: keep\nthem private. --include-resumed follows each run to its newest resume.\n\nWhat was saved stays as it is, whatever version comes later: compare --archive\nchecks it offline, shows it again, and renders it anew into another file.",
		Examples: []string{
			"evalrouter compare 3f2a9c 77b01e",
			"evalrouter compare 3f2a9c 77b01e --format html --output my-comparison --stats",
		},
		Flags: fs, Exec: c.exec,
	}
}

func (c *compareCmd) exec(ctx context.Context, args []string) error {
	if c.archive != "" {
		return c.again(args)
	}
	if n := len(args); n < comparison.MinRuns || n > comparison.MaxRuns {
		return &argv.UsageError{Message: fmt.Sprintf("name %d to %d finished runs, not %d; nothing was compared", comparison.MinRuns, comparison.MaxRuns, n), Next: "evalrouter status"}
	}
	w := Work{Name: "comparison"}
	for _, typed := range args {
		id, err := c.OneRun(ctx, []string{typed})
		if err != nil {
			return err
		}
		if slices.Contains(w.Runs, id) {
			return &argv.UsageError{Message: "a run is named twice; nothing was compared"}
		}
		w.Runs = append(w.Runs, id)
		w.Name += "-" + command.Short(id)
	}
	return Save(ctx, c.App, &c.flags, w)
}

// Save downloads, compares, saves and shows.
func Save(ctx context.Context, a *command.App, f *Flags, w Work) error {
	html, err := f.html()
	if err != nil {
		return err
	}
	to, err := f.destination(a, w.Name)
	if err != nil {
		return err
	}
	client, err := a.Client(ctx)
	if err != nil {
		return err
	}
	s := &saving{App: a, flags: f, work: w, to: to, html: html}
	doc, files, err := s.save(ctx, client)
	if err != nil {
		return err
	}
	err = a.Value(written{doc, files}, func(p *term.Page) {
		show(p, a, doc)
		for _, f := range files {
			if f.Kind == kindReport {
				p.Line("Saved %s", f.Path)
			}
		}
		p.Next("evalrouter results "+command.Short(w.Runs[0]), "evalrouter compare --archive "+command.ShellWord(to.shown(a, files[0].Path)))
	})
	f.look.Show(a, files[0].Path)
	return err
}

// written is a comparison with the files that it was saved in, as JSON.
type written struct {
	api.Comparison
	Files []file `json:"files"`
}

// file is one saved file.
type file struct {
	Path string `json:"path"`
	Kind string `json:"kind"` // comparison, or that of a source
}

const kindReport = "comparison"

// refused gives a mismatch its code, and a run that is no chain the command without
// the flag.
func (s *saving) refused(err error) error {
	var no *comparison.Mismatch
	switch {
	case errors.Is(err, api.ResumeUnsupported):
		return command.WithNext(err, s.Again(command.Edit{Drop: data.ChainFlags(), Switches: data.ChainFlags()}))
	case errors.As(err, &no):
		return command.WithNext(&flow.Error{Code: api.CompareMismatch, Message: no.Message, Facts: []string{"nothing was compared or saved"}}, "evalrouter status")
	}
	return err
}

// exports of a run, by what was asked for.
func (f *Flags) export() (format, kind string) {
	if f.evidence || f.withoutRaw {
		return evalrouter.FormatJSON, api.SourceFull
	}
	return evalrouter.FormatSummary, api.SourceSummary
}
