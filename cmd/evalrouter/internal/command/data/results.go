// Package data is the commands that read what a run left: results, exports and
// its log.
package data

import (
	"context"
	"errors"
	"slices"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/change"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

type resultsCmd struct {
	*command.App
	version   int
	all, diff bool
}

// Results is "evalrouter results".
func Results(a *command.App) *argv.Command {
	c := &resultsCmd{App: a}
	fs := argv.NewFlags("results")
	fs.Bool(&c.diff, "diff", "also compare with the run before it")
	fs.Bool(&c.all, "all-metrics", "every metric, not only the headline")
	fs.Int(&c.version, "version", "N", "an earlier version of the result", 1, 1<<30)
	return &argv.Command{
		Name: "results", Args: "RUN", Short: "Print what a finished run found",
		Long:     "--diff looks for the last completed run of the same benchmark and model before\nit, which takes a few more requests.",
		Examples: []string{"evalrouter results 3f2a9c", "evalrouter results 3f2a9c --diff", "evalrouter results 3f2a9c --json"},
		Flags:    fs, Exec: c.exec,
	}
}

func (c *resultsCmd) exec(ctx context.Context, args []string) error {
	id, err := c.OneRun(ctx, args)
	if err != nil {
		return err
	}
	client, err := c.Client(ctx)
	if err != nil {
		return err
	}
	r, err := client.Runs.Results(ctx, id, c.version)
	if errors.Is(err, api.RunNotFinished) {
		return command.WithNext(err, "evalrouter wait "+id)
	}
	if err != nil {
		return err
	}
	if c.WantsJSON() && !c.diff {
		return c.Value(r, func(*term.Page) {})
	}
	// A result never changes, so what happened to the run since is the run's to tell.
	run, err := client.Runs.Get(ctx, id)
	if err != nil {
		return err
	}
	if !c.diff {
		return c.Value(r, func(p *term.Page) { c.show(p, r, run, nil) })
	}
	ch, err := c.change(ctx, client, run, r)
	if err != nil {
		return err
	}
	return c.Value(compared{r, ch}, func(p *term.Page) { c.show(p, r, run, ch) })
}

func (c *resultsCmd) show(p *term.Page, r api.ResultRecord, run api.RunRecord, ch *change.Change) {
	command.ShowResult(p, r, c.all)
	if run.ContinuedByRunID != nil {
		p.Line("Resumed  by run %s", *run.ContinuedByRunID)
	}
	if c.diff && ch == nil {
		p.Line("Before   no earlier completed run of this benchmark and model")
	}
	change.Show(p, ch)
	var next []string
	switch {
	case run.ContinuedByRunID != nil:
		next = append(next, "evalrouter results "+command.Short(*run.ContinuedByRunID))
	case run.Resume.Status == "available":
		next = append(next, "evalrouter resume "+command.Short(run.ID))
	}
	export := "evalrouter export " + command.Short(run.ID)
	next = append(next, export+" --format json")
	if chained(r) {
		next = append(next, export+" --include-resumed")
	}
	p.Next(next...)
}

// chained says that a result is of a run whose chain is one result too.
func chained(r api.ResultRecord) bool {
	of := func(m api.MetricRecord) bool { return m.Source == api.ChainFamily }
	return r.Continuation != nil && slices.ContainsFunc(r.Profiles, func(p api.ProfileResult) bool { return slices.ContainsFunc(p.Metrics, of) })
}

// compared is a result with what changed since the run before, as JSON.
type compared struct {
	api.ResultRecord
	Previous *change.Change `json:"previous"`
}

func (c *resultsCmd) change(ctx context.Context, client *evalrouter.Client, run api.RunRecord, r api.ResultRecord) (*change.Change, error) {
	ch, err := change.Find(ctx, client.Runs, run)
	if err == nil && ch != nil && c.all {
		err = ch.All(ctx, client.Runs, r)
	}
	return ch, err
}
