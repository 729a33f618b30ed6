package run

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// resumeFlags are what a resume is asked with: what it may cost and what is agreed
// to.
type resumeFlags struct {
	dryRun     bool
	yes        bool
	max        *usd.Micro
	cancelled  bool
	leftOut    bool
	retry      bool
	retryMax   int
	duplicates bool
}

// declare adds the flags to a command; capped says what the cap is of.
func (f *resumeFlags) declare(fs *argv.Flags, capped string) {
	fs.Bool(&f.dryRun, "dry-run", "stop after the quote")
	fs.Bool(&f.yes, "yes", "start without asking")
	fs.Money(&f.max, "max-cost", capped)
	fs.Bool(&f.cancelled, "include-cancelled", "run what a person or the time limit stopped")
	fs.Bool(&f.leftOut, "accept-left-out", "let tasks stay out of this and all later resumes")
	fs.Bool(&f.retry, "retry-unknown", "pay for a new attempt of tasks of unknown outcome")
	fs.Int(&f.retryMax, "retry-unknown-max", "N", "refuse a quote with more such tasks", 0, 1<<31-1)
	fs.Bool(&f.duplicates, "accept-duplicate-provider-charges", "your own provider may bill such tasks twice")
}

// check refuses what cannot be meant, and to spend without explicit consent where
// nobody can be asked, before any request.
func (f *resumeFlags) check(a *command.App, fs *argv.Flags) error {
	if fs.Given("retry-unknown-max") && !f.retry {
		return &argv.UsageError{Message: "--retry-unknown-max belongs to --retry-unknown"}
	}
	if a.Attended() || f.dryRun {
		return nil
	}
	return unattended(a, f.yes, f.max != nil)
}

// order is what the flags ask for, of nothing in particular yet.
func (f *resumeFlags) order(a *command.App, fs *argv.Flags) (flow.ResumeOrder, error) {
	p, err := a.Profile()
	if err != nil {
		return flow.ResumeOrder{}, err
	}
	o := flow.ResumeOrder{
		Origin: p.BaseURL.Value, Workspace: p.Workspace.Value, LeftOut: f.leftOut, Duplicates: f.duplicates,
		Quote: api.NewContinuationQuote{MaxChargeMicrousd: f.max, IncludeCancelled: f.cancelled, RetryUnknown: f.retry},
	}
	if fs.Given("retry-unknown-max") {
		o.Quote.RetryUnknownMax = &f.retryMax
	}
	return o, nil
}

// desk is who answers for the flags.
func (f *resumeFlags) desk(a *command.App) resumeTalk {
	return resumeTalk{desk: desk{App: a, yes: f.yes, attended: a.Attended()}, dry: f.dryRun}
}

// consented adds the way on to an error of any resume that a consent, credit or
// the same command again gets over.
func consented(a *command.App, err error) (out error, ok bool) {
	var lost *flow.Error
	if errors.As(err, &lost) && lost.IdempotencyKey != "" {
		return command.WithNext(err, a.Again(command.Edit{})), true
	}
	switch command.Explain(err).Code {
	case api.LeftOutUnacknowledged:
		return command.WithNext(err, a.Again(command.Edit{Add: []string{"--accept-left-out"}})), true
	case api.DuplicateCharges:
		return command.WithNext(err, a.Again(command.Edit{Add: []string{"--accept-duplicate-provider-charges"}})), true
	case api.InsufficientCredit:
		return command.WithNext(err, "evalrouter credits", a.Again(command.Edit{})), true
	}
	return err, false
}

// resumeCmd is "evalrouter resume".
type resumeCmd struct {
	*command.App
	resumeFlags
	flags *argv.Flags
	watch watchFlags
}

// Resume is "evalrouter resume".
func Resume(a *command.App) *argv.Command {
	c := &resumeCmd{App: a, flags: argv.NewFlags("resume")}
	fs := c.flags
	c.declare(fs, "hard spending cap of the new run")
	c.watch.declare(fs)
	for _, f := range fs.List() {
		if f.Long == "wait-timeout" || f.Long == "progress" {
			f.Rare()
		}
	}
	return &argv.Command{
		Name: "resume", Args: "RUN [flags]", Short: "Go on with a run that stopped early",
		Long: `Quotes a new run over the same tasks. What the old run graded is reused at $0,
an answer that it recorded is graded at $0, and only the rest is asked, under a
new cap. The old run is never changed. A run that goes on is only watched.`,
		Examples: []string{"evalrouter resume 3f2a9c --dry-run", "evalrouter resume 3f2a9c --max-cost 5 --yes"},
		Flags:    fs, Exec: c.exec,
	}
}

func (c *resumeCmd) exec(ctx context.Context, args []string) error {
	if err := c.check(c.App, c.flags); err != nil {
		return err
	}
	id, err := c.OneRun(ctx, args)
	if err != nil {
		return err
	}
	client, err := c.Client(ctx)
	if err != nil {
		return err
	}
	if err := c.watch.gates.Prepare(ctx, c.OneRun, client.Runs); err != nil {
		return err
	}
	order, err := c.order(c.App, c.flags)
	if err != nil {
		return err
	}
	order.Run = id
	j, err := c.Journal()
	if err != nil {
		return err
	}
	r := &flow.Resumer{
		Runs: client.Runs, Quotes: client.Quotes, Journal: j, Sleep: c.Sleep,
		Desk:   &resumeDesk{c.desk(c.App)},
		NewKey: func() string { return string(evalrouter.NewIdempotencyKey()) },
	}
	if c.dryRun {
		return c.dry(ctx, r, client, order)
	}
	got, err := r.Resume(ctx, order)
	if err != nil {
		return c.advise(err, id)
	}
	return c.follow(ctx, client, j, got)
}

func (c *resumeCmd) follow(ctx context.Context, client *evalrouter.Client, j *flow.Journal, got flow.Launched) error {
	verb := "Started"
	if got.Existing {
		verb = "Following"
	}
	c.Note("%s run %s. Leaving does not stop it. Come back: evalrouter wait %s", verb, got.Run.ID, command.Short(got.Run.ID))
	end, err := c.watch.follow(ctx, c.App, client, got.Run.ID)
	if end.Status.Terminal() {
		l := &flow.Launcher{Journal: j}
		if ferr := l.Finish(context.WithoutCancel(ctx), got); ferr != nil {
			c.Note("The end of the run could not be recorded: %s", ferr)
		}
	}
	return err
}

func (c *resumeCmd) dry(ctx context.Context, r *flow.Resumer, client *evalrouter.Client, order flow.ResumeOrder) error {
	q, live, err := r.Preview(ctx, order)
	if err != nil {
		return c.advise(err, order.Run)
	}
	if live != nil {
		c.Note("Following run %s. Leaving does not stop it. Come back: evalrouter wait %s", live.ID, command.Short(live.ID))
		_, err := c.watch.follow(ctx, c.App, client, live.ID)
		return err
	}
	return c.Value(*q, func(p *term.Page) {
		p.Line("Dry run: nothing was started or charged.")
		p.Next(c.Again(command.Edit{Drop: []string{"dry-run"}, Switches: []string{"dry-run"}}))
	})
}

// advise adds the way on to an error of a resume.
func (c *resumeCmd) advise(err error, id string) error {
	if err, ok := consented(c.App, err); ok {
		return err
	}
	switch e := command.Explain(err); e.Code {
	case api.ContinuationExists:
		if next, ok := e.Details["run_id"].(string); ok && strings.Trim(next, "0123456789abcdef-") == "" {
			return command.WithNext(err, "evalrouter resume "+next)
		}
	case api.NothingToResume:
		if n, bad := strconv.Atoi(fmt.Sprint(e.Details["stopped"])); bad == nil && n > 0 && !c.cancelled {
			return command.WithNext(err, c.Again(command.Edit{Add: []string{"--include-cancelled"}}), "evalrouter results "+command.Short(id))
		}
		return command.WithNext(err, "evalrouter results "+command.Short(id))
	case api.ResumeUnsupported, api.EvidenceExpired, api.EvidenceIncompatible, api.FeatureUnavailable:
		return command.WithNext(err, "evalrouter run --from "+command.Short(id))
	}
	return err
}
