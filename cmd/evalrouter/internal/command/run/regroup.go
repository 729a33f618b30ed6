package run

import (
	"context"
	"fmt"
	"slices"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command/group"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// regroupCmd is "evalrouter group resume".
type regroupCmd struct {
	*command.App
	resumeFlags
	flags *argv.Flags
	watch group.Watch
}

// ResumeGroup is "evalrouter group resume".
func ResumeGroup(a *command.App) *argv.Command {
	c := &regroupCmd{App: a, flags: argv.NewFlags("resume")}
	c.declare(c.flags, "hard spending cap of all new runs together")
	c.watch.Declare(c.flags)
	return &argv.Command{
		Name: "resume", Args: "GROUP [flags]", Short: "Go on with what is left of a group's members",
		Long: `One quote, one cap and one yes for every member that has something left; all of
their new runs start or none does. What was graded is reused at $0. Members that
go on, or have nothing left, stand in the quote with the reason and stay as they
are.`,
		Examples: []string{"evalrouter group resume 3f2a9c --dry-run", "evalrouter group resume 3f2a9c --max-cost 5 --yes"},
		Flags:    c.flags, Exec: c.exec,
	}
}

func (c *regroupCmd) exec(ctx context.Context, args []string) error {
	if err := c.check(c.App, c.flags); err != nil {
		return err
	}
	id, err := group.One(ctx, c.App, args)
	if err != nil {
		return err
	}
	client, err := c.Client(ctx)
	if err != nil {
		return err
	}
	order, err := c.order(c.App, c.flags)
	if err != nil {
		return err
	}
	order.Group = id
	j, err := c.Journal()
	if err != nil {
		return err
	}
	r := &flow.GroupResumer{
		Groups: client.Groups, Journal: j, Sleep: c.Sleep, Desk: &regroupDesk{c.desk(c.App)},
		NewKey: func() string { return string(evalrouter.NewIdempotencyKey()) },
	}
	if c.dryRun {
		return c.dry(ctx, r, client, order)
	}
	got, err := r.Resume(ctx, order)
	if err != nil {
		return c.advise(err, id)
	}
	verb := "Started"
	if got.Existing {
		verb = "Following"
	}
	end, err := c.follow(ctx, client, verb, got.Group.ID)
	if end.Status.Terminal() {
		if ferr := r.Finish(context.WithoutCancel(ctx), got); ferr != nil {
			c.Note("The end of the group could not be recorded: %s", ferr)
		}
	}
	return err
}

func (c *regroupCmd) follow(ctx context.Context, client *evalrouter.Client, verb, id string) (api.GroupRecord, error) {
	c.Note("%s group %s. Leaving does not stop it. Come back: evalrouter group status %s --watch", verb, id, id)
	return c.watch.Follow(ctx, c.App, client, id)
}

func (c *regroupCmd) dry(ctx context.Context, r *flow.GroupResumer, client *evalrouter.Client, order flow.ResumeOrder) error {
	q, live, err := r.Preview(ctx, order)
	if err != nil {
		return c.advise(err, order.Group)
	}
	if live != nil {
		_, err := c.follow(ctx, client, "Following", live.ID)
		return err
	}
	return c.Value(*q, func(p *term.Page) {
		p.Line("Dry run: nothing was started or charged.")
		p.Next(c.Again(command.Edit{Drop: []string{"dry-run"}, Switches: []string{"dry-run"}}))
	})
}

// advise adds the way on to an error of a group's resume.
func (c *regroupCmd) advise(err error, id string) error {
	if err, ok := consented(c.App, err); ok {
		return err
	}
	if err, ok := atLeast(c.App, err); ok {
		return err
	}
	switch e := command.Explain(err); e.Code {
	case api.NothingToResume:
		if c.stopped(e.Details["members"]) {
			return command.WithNext(err, c.Again(command.Edit{Add: []string{"--include-cancelled"}}), "evalrouter group status "+id)
		}
		return command.WithNext(err, "evalrouter group status "+id, "evalrouter group compare "+id+" --format html")
	case api.RunNotFinished:
		return command.WithNext(err, "evalrouter group status "+id+" --watch")
	case api.FeatureUnavailable, api.QuoteChanged:
		return command.WithNext(err, "evalrouter group status "+id)
	}
	return err
}

// stopped says that members in the details of a refusal have nothing left but what
// --include-cancelled would run.
func (c *regroupCmd) stopped(members any) bool {
	all, _ := members.([]any) // absent, or a shape that is not known here
	return !c.cancelled && slices.ContainsFunc(all, func(m any) bool {
		one, _ := m.(map[string]any)
		return one["reason"] == "cancelled"
	})
}

// regroupDesk answers the questions of a group's resume as a resumeDesk does a
// run's.
type regroupDesk struct{ resumeTalk }

var _ flow.GroupResumeDesk = (*regroupDesk)(nil)

// Quoted shows the quote to people; JSON readers get the final record.
func (d *regroupDesk) Quoted(_ context.Context, q api.GroupQuoteRecord) error {
	p := d.Term.ErrPage()
	showGroupQuote(p, q)
	return p.Failure()
}

// Cap asks for the cap of all members that go on.
func (d *regroupDesk) Cap(ctx context.Context, preview api.GroupQuoteRecord) (usd.Micro, error) {
	return d.desk.Cap(ctx, api.QuoteRecord{MinimumCapMicrousd: preview.MinimumCapMicrousd})
}

// Newest refuses scripts: they said yes to the group that they named.
func (d *regroupDesk) Newest(_ context.Context, asked string, newest api.GroupRecord) error {
	next := []string{"evalrouter group status " + newest.ID}
	if newest.Status != api.StatusCompleted {
		next = append(next, "evalrouter group resume "+newest.ID)
	}
	return d.newest(&flow.Error{}, "group", asked, newest.ID, newest.Status, next)
}

// LeaveOut asks once for all members.
func (d *regroupDesk) LeaveOut(ctx context.Context, q api.GroupQuoteRecord) (bool, error) {
	return d.leaveOut(ctx, flow.GroupLeftOut(q))
}

// Approve asks the one question that spends.
func (d *regroupDesk) Approve(ctx context.Context, q api.GroupQuoteRecord, anew bool) (bool, error) {
	n := 0
	for _, m := range q.Members {
		if m.Eligible {
			n++
		}
	}
	return d.approve(ctx, fmt.Sprintf("Start resume of %s with a %s cap together?", command.Count(n, "model"), command.Money(*q.MaxChargeMicrousd)), anew)
}

// showAside prints why a member is not gone on with.
func showAside(p *term.Page, m api.GroupQuoteMember) {
	run, why := "", ""
	if m.SourceRunID != nil {
		run = " (run " + *m.SourceRunID + ")"
	}
	if m.IneligibleReason != nil {
		why = asideWord(*m.IneligibleReason)
	}
	p.Line("               not resumed: %s%s", why, run)
}

// asideWord is a reason for people, with the flag that gets over it.
func asideWord(code string) string {
	if code == "cancelled" {
		return flow.Aside(code) + "; --include-cancelled runs that"
	}
	return flow.Aside(code)
}
