package run

import (
	"context"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// Cancel is "evalrouter cancel", the only command that stops a run.
func Cancel(a *command.App) *argv.Command {
	return &argv.Command{
		Name: "cancel", Args: "RUN", Short: "Stop a run",
		Long:     "Calls in flight are finished and charged; nothing new starts. Graded answers are\nkept.",
		Examples: []string{"evalrouter cancel 3f2a9c", "evalrouter cancel 3f2a9c --json"},
		Exec: func(ctx context.Context, args []string) error {
			id, err := a.OneRun(ctx, args)
			if err != nil {
				return err
			}
			c, err := a.Client(ctx)
			if err != nil {
				return err
			}
			r, err := c.Runs.Cancel(ctx, id)
			if err != nil {
				return err
			}
			return a.Value(r, func(p *term.Page) {
				if r.Status.Terminal() {
					p.Line("Run %s is %s.", r.ID, r.Status)
					p.Next("evalrouter results " + command.Short(r.ID))
					return
				}
				p.Line("Run %s is %s; calls in flight are finished first.", r.ID, r.Status)
				p.Next("evalrouter wait " + command.Short(r.ID))
			})
		},
	}
}
