// Package data is the commands that read what a run left: results, exports and
// its log.
package data

import (
	"context"
	"errors"

	"github.com/evalrouter/evalrouter/lib/api"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// Results is "evalrouter results".
func Results(a *command.App) *argv.Command {
	version, all := 0, false
	fs := argv.NewFlags("results")
	fs.Bool(&all, "all-metrics", "every metric, not only the headline")
	fs.Int(&version, "version", "N", "an earlier version of the result", 1, 1<<30)
	return &argv.Command{
		Name: "results", Args: "RUN", Short: "Print what a finished run found",
		Examples: []string{"evalrouter results 3f2a9c", "evalrouter results 3f2a9c --json"},
		Flags:    fs,
		Exec: func(ctx context.Context, args []string) error {
			id, err := a.OneRun(ctx, args)
			if err != nil {
				return err
			}
			c, err := a.Client(ctx)
			if err != nil {
				return err
			}
			r, err := c.Runs.Results(ctx, id, version)
			if errors.Is(err, api.RunNotFinished) {
				return command.WithNext(err, "evalrouter wait "+id)
			}
			if err != nil {
				return err
			}
			return a.Value(r, func(p *term.Page) {
				command.ShowResult(p, r, all)
				p.Next("evalrouter export " + command.Short(id) + " --format json")
			})
		},
	}
}
