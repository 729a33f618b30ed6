package run

import (
	"context"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/progress"
)

// What the demo runs: small enough to be over in seconds, large enough for an
// interval worth looking at.
const (
	demoBenchmark = "arithmetic"
	demoModel     = "practice.solver-0.8"
	demoTasks     = 100
	demoCap       = usd.Dollar
)

// Demo is "evalrouter demo": the whole journey on a practice route.
func Demo(a *command.App) *argv.Command {
	return &argv.Command{
		Name: "demo", Short: "See a whole evaluation, offline, no account",
		Long: "Starts the service on this machine if need be and runs a built-in benchmark on a\npractice route, which makes its answers from the tasks. Nothing leaves the\nmachine and no real money is involved.",
		Examples: []string{
			"evalrouter demo",
			"evalrouter demo --json",
		},
		Exec: func(ctx context.Context, args []string) error {
			if err := command.NoOperands(args); err != nil {
				return err
			}
			return demo(ctx, a)
		},
	}
}

func demo(ctx context.Context, a *command.App) error {
	p, err := a.Profile()
	if err != nil {
		return err
	}
	if !p.Local {
		// The demo promises that nothing leaves this machine.
		a.ForceLocal()
	}
	a.Note("A practice run on this machine: no account, no key, no network, no real money.")
	limit := demoCap
	o := &options{App: a, flags: argv.NewFlags("demo"), models: []string{demoModel}, max: &limit, yes: true, separate: true}
	o.watch = watchFlags{limit: 600, disconnect: 90, mode: progress.Auto, alone: true}
	client, err := a.Client(ctx)
	if err != nil {
		return err
	}
	order, err := o.order(ctx, client, []string{demoBenchmark})
	if err != nil {
		return err
	}
	n, seed := demoTasks, uint32(suggestedSeed)
	order.Quote.Coverage = &api.Coverage{Mode: api.Sample, SampleCount: &n, Seed: &seed}
	order.Request.Coverage = *order.Quote.Coverage
	l, err := o.launcher(client)
	if err != nil {
		return err
	}
	got, err := l.Launch(ctx, order)
	if err != nil {
		return err
	}
	o.watch.next = []string{"evalrouter catalog", "evalrouter run dates --model " + demoModel + " --sample 25", "evalrouter connections create --help"}
	end, err := o.watch.follow(ctx, a, client, got.Run.ID)
	if end.Status.Terminal() {
		if ferr := l.Finish(context.WithoutCancel(ctx), got); ferr != nil {
			a.Note("The end of the run could not be recorded: %s", ferr)
		}
	}
	return err
}
