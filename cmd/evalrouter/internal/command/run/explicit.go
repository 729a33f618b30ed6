package run

import (
	"context"
	"errors"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// explicit submits one quote under one key, both of which the caller keeps.
// There is nothing to ask and nothing to remember here: giving both is the
// consent, and giving both again is the recovery.
func (o *options) explicit(ctx context.Context, args []string) error {
	if err := command.NoOperands(args); err != nil {
		return err
	}
	if o.quote == "" || o.key == "" {
		return &argv.UsageError{Message: "--quote and --idempotency-key go together: without the key a lost answer could start a second run"}
	}
	for _, f := range []string{"model", "sample", "full", "max-cost", "seed", "reasoning", "concurrency", "output-format", "dry-run", "new"} {
		if o.flags.Given(f) {
			return &argv.UsageError{Message: "--" + f + " cannot change a finished quote; leave it out with --quote"}
		}
	}
	var err error
	if o.quote, err = o.OneQuote(o.quote); err != nil {
		return err
	}
	client, err := o.Client(ctx)
	if err != nil {
		return err
	}
	if o.watch.gates.Any() && !o.wait {
		return &argv.UsageError{Message: "a gate such as --min-score is for the end of a run; give --wait, or hold the run to it later: evalrouter wait RUN --min-score SHARE"}
	}
	if err := o.watch.gates.Prepare(ctx, o.OneRun, client.Runs); err != nil {
		return err
	}
	run, err := flow.Submit(ctx, client.Runs, api.NewRun{QuoteID: o.quote, Name: o.runName()}, o.key, o.Sleep)
	if err != nil {
		var lost *flow.Error
		if errors.As(err, &lost) && lost.IdempotencyKey != "" {
			return command.WithNext(err, o.Again(command.Edit{}))
		}
		return err
	}
	if o.open {
		o.show(run)
	}
	if o.wait {
		o.Note("Run %s. Leaving does not stop it. Come back: evalrouter wait %s", run.ID, command.Short(run.ID))
		_, err := o.watch.follow(ctx, o.App, client, run.ID)
		return err
	}
	return o.Value(run, func(p *term.Page) {
		p.Line("Run %s is %s under a cap of %s.", run.ID, run.Status, command.Money(run.CapMicrousd))
		p.Next("evalrouter wait " + run.ID)
	})
}

func (o *options) runName() string {
	if o.name == "" {
		return "Evaluation"
	}
	return o.name
}
