package run

import (
	"context"
	"errors"
	"fmt"
	"strings"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// options are the flags of run.
type options struct {
	*command.App
	flags *argv.Flags

	models       []string
	sample, seed int
	full         bool
	max          *usd.Micro
	dryRun, yes  bool
	separate     bool
	reasoning    string // for every model without one of its own
	thinking     []string
	own          map[string]string // by --model as it was typed
	concurrency  string
	format       string
	name         string
	open, noView bool
	from         string
	earlier      *api.Coverage // that of --from, nil without one

	quote, key string
	wait       bool
	watch      watchFlags
}

// Run is "evalrouter run", in its guided and its explicit form.
func Run(a *command.App) *argv.Command {
	o := &options{App: a, flags: argv.NewFlags("run")}
	return o.command()
}

func (o *options) command() *argv.Command {
	fs := o.flags
	fs.Strings(&o.models, "model", "MODEL", "route id, name, or connection:ID; up to 8 times")
	fs.Int(&o.sample, "sample", "N", "N tasks (25)", 1, maxSample)
	fs.Bool(&o.full, "full", "every task")
	fs.Money(&o.max, "max-cost", "hard spending cap, of all models together")
	fs.Bool(&o.yes, "yes", "start without asking")
	fs.Bool(&o.dryRun, "dry-run", "stop after the quote")
	fs.String(&o.from, "from", "RUN", "the same setup as an earlier run")
	fs.Bool(&o.separate, "new", "separate work, even if the same was just run")
	fs.Int(&o.seed, "seed", "S", "which sample (42)", 0, 1<<32-1).Rare()
	fs.Strings(&o.thinking, "reasoning", "HOW", "an effort, tokens, off, default; MODEL=HOW for one").Rare()
	fs.String(&o.concurrency, "concurrency", "N", "auto, max or 1 to 100 (auto)").Rare()
	fs.String(&o.format, "output-format", "FORMAT", "how answers are asked for").Rare()
	fs.String(&o.name, "name", "NAME", "a name for the run").Rare()
	fs.Bool(&o.open, "open", "open the live page when the run starts").Rare()
	fs.Bool(&o.noView, "no-browser", "with --open: print the address only").Rare()
	fs.String(&o.quote, "quote", "ID", "submit exactly this quote; needs --idempotency-key").Rare()
	fs.String(&o.key, "idempotency-key", "KEY", "the key of that submission").Rare()
	fs.Bool(&o.wait, "wait", "with --quote: follow the run to its end").Rare()
	o.watch.declare(fs)
	for _, f := range fs.List() {
		if f.Long == "wait-timeout" || f.Long == "progress" {
			f.Rare()
		}
	}
	return &argv.Command{
		Name: "run", Args: "BENCHMARK --model MODEL [flags]",
		Short: "Quote, review and run a benchmark",
		Long:  "Nothing is spent before you see a quote and say yes. Repeating the command while\nits run is alive follows that run and starts no second one.",
		Examples: []string{
			"evalrouter run arithmetic --model practice.solver-0.8 --sample 100",
			"evalrouter run dates --model practice.solver-0.8 --max-cost 1 --yes --json",
			"evalrouter run dates --model practice.solver-0.8 --model practice.echo",
		},
		Flags: fs, Exec: o.exec,
	}
}

func (o *options) exec(ctx context.Context, args []string) error {
	if o.quote != "" || o.key != "" {
		return o.explicit(ctx, args)
	}
	if o.wait {
		return &argv.UsageError{Message: "--wait belongs to --quote; the guided form always follows the run"}
	}
	if len(args) > 1 {
		return &argv.UsageError{Message: flow.Typed(args[1]) + " is one word too many; run takes one benchmark"}
	}
	if err := o.several(); err != nil {
		return err
	}
	if len(o.models) > 1 && o.watch.gates.Any() {
		return &argv.UsageError{Message: "a gate such as --min-score is for the run of one model; nothing was quoted, started or charged. The runs of a group are held to gates one by one: evalrouter wait RUN --min-score SHARE"}
	}
	if err := o.settings(); err != nil {
		return err
	}
	if err := o.unattended(args); err != nil {
		return err
	}
	client, err := o.Client(ctx)
	if err != nil {
		return err
	}
	if o.from != "" {
		if args, err = o.copySetup(ctx, client, args); err != nil {
			return err
		}
	}
	if len(o.models) > 1 {
		return o.runGroup(ctx, client, args)
	}
	if err := o.watch.gates.Prepare(ctx, o.OneRun, client.Runs); err != nil {
		return err
	}
	order, err := o.order(ctx, client, args)
	if err != nil {
		return err
	}
	l, err := o.launcher(client)
	if err != nil {
		return err
	}
	if o.dryRun {
		return o.dry(ctx, l, order)
	}
	got, err := l.Launch(ctx, order)
	if err != nil {
		return o.advise(err, order)
	}
	if got.Existing {
		o.Note("Following run %s. Leaving does not stop it. Come back: evalrouter wait %s", got.Run.ID, command.Short(got.Run.ID))
	} else {
		o.Note("Started run %s. Leaving does not stop it. Come back: evalrouter wait %s", got.Run.ID, command.Short(got.Run.ID))
	}
	if o.open {
		o.show(got.Run)
	}
	end, err := o.watch.follow(ctx, o.App, client, got.Run.ID)
	if end.Status.Terminal() {
		if ferr := l.Finish(context.WithoutCancel(ctx), got); ferr != nil {
			o.Note("The end of the run could not be recorded: %s", ferr)
		}
	}
	return err
}

// show opens the live page of a run. That it could not be opened is a note.
func (o *options) show(r api.RunRecord) {
	page := command.PageOf(r)
	if page == "" {
		o.Note("Not opened: this service has no pages for people.")
		return
	}
	if why := o.Viewer(o.noView).Page(page); why != "" {
		o.Note("Live page, not opened: %s. %s", why, page)
		return
	}
	o.Note("Opened %s", page)
}

// unattended refuses to spend without explicit consent. It comes before any
// request, so that nothing at all has happened.
func (o *options) unattended(args []string) error {
	if err := o.complete(args); err != nil || o.Attended() || o.dryRun {
		return err
	}
	return unattended(o.App, o.yes, o.max != nil)
}

// complete checks that nothing is left to ask where nobody can be asked.
func (o *options) complete(args []string) error {
	switch {
	case o.Attended() || o.from != "":
		return nil
	case len(args) == 0:
		return &argv.UsageError{Message: "name a benchmark; nothing was quoted, started or charged", Next: "evalrouter catalog"}
	case len(o.models) == 0:
		return &argv.UsageError{Message: "name a model with --model; nothing was quoted, started or charged", Next: "evalrouter catalog --models"}
	}
	return nil
}

func (o *options) launcher(client *evalrouter.Client) (*flow.Launcher, error) {
	j, err := o.Journal()
	if err != nil {
		return nil, err
	}
	return &flow.Launcher{
		Quotes: client.Quotes, Runs: client.Runs, Journal: j,
		Desk:   &desk{App: o.App, yes: o.yes, attended: o.Attended(), again: o.Again(command.Edit{Add: []string{"--new"}})},
		NewKey: func() string { return string(evalrouter.NewIdempotencyKey()) },
		Sleep:  o.Sleep, Now: o.Now, Began: o.Began,
	}, nil
}

func (o *options) dry(ctx context.Context, l *flow.Launcher, order flow.Order) error {
	q, err := l.Quote(ctx, order)
	if err != nil {
		return o.advise(err, order)
	}
	return o.Value(q, func(p *term.Page) {
		p.Line("Dry run: nothing was started or charged.")
		p.Next(o.Again(command.Edit{Drop: []string{"dry-run"}, Switches: []string{"dry-run"}}))
	})
}

// advise adds the way on to an error of the launch.
func (o *options) advise(err error, order flow.Order) error {
	e := command.Explain(err)
	if e.Code == api.CapBelowMinimum {
		least := "5"
		if m, bad := usd.ParseWire(fmt.Sprint(e.Details["minimum_cap_microusd"])); bad == nil {
			least = strings.TrimPrefix(m.String(), "$")
		}
		return command.WithNext(err, o.Again(command.Edit{Drop: []string{"max-cost"}, Add: []string{"--max-cost", least}}))
	}
	var lost *flow.Error
	switch id := order.Quote.Model.ConnectionID; {
	case errors.As(err, &lost) && lost.IdempotencyKey != "":
		// The one failure after which the same command is the way on: it asks
		// for the answer that got lost.
		return command.WithNext(err, o.Again(command.Edit{}))
	case e.Code == api.ConnectionUnverified && id != "":
		return command.WithNext(err, "evalrouter connections check "+command.Short(id))
	}
	return err
}
