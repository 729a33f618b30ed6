package run

import (
	"context"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
)

// Wait is "evalrouter wait".
func Wait(a *command.App) *argv.Command {
	w := &watchFlags{}
	fs := argv.NewFlags("wait")
	w.declare(fs)
	return &argv.Command{
		Name: "wait", Args: "RUN", Short: "Follow a run to its end and print what it found",
		Long:     "RUN is an id or its first characters, at least 4. Leaving does not stop the run.",
		Examples: []string{"evalrouter wait 3f2a9c", "evalrouter wait 3f2a9c --wait-timeout 3600 --json"},
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
			if err := w.gates.Prepare(ctx, a.OneRun, c.Runs); err != nil {
				return err
			}
			_, err = w.follow(ctx, a, c, id)
			return err
		},
	}
}
