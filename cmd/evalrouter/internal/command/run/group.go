package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/stat"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command/group"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// maxModels is how many models one command runs.
const maxModels = 8

// several refuses a list of models that no group can have.
func (o *options) several() error {
	if n := len(o.models); n > maxModels {
		return &argv.UsageError{Message: fmt.Sprintf("run takes one to %d models, not %d; nothing was quoted, started or charged", maxModels, n)}
	}
	for i, m := range o.models {
		if slices.Contains(o.models[:i], m) {
			return &argv.UsageError{Message: "--model " + flow.Typed(m) + " stands there twice; nothing was quoted, started or charged"}
		}
	}
	return nil
}

// settings reads --reasoning, which is for all models or, as MODEL=HOW, for one.
func (o *options) settings() error {
	o.own = map[string]string{}
	for _, s := range o.thinking {
		name, how, named := strings.Cut(s, "=")
		if !named {
			name, how = "", s
		}
		_, twice := o.own[name]
		switch _, err := reasoning(how); {
		case err != nil:
			return err
		case named && how == "":
			return &argv.UsageError{Message: "--reasoning: want MODEL=HOW, such as acme.model-x=low"}
		case twice:
			return &argv.UsageError{Message: "--reasoning is given twice for the same model; nothing was quoted, started or charged"}
		case named && !slices.Contains(o.models, name):
			return &argv.UsageError{Message: "--reasoning names " + flow.Typed(name) + ", which no --model does; spell it the same way"}
		}
		o.own[name] = how
	}
	o.reasoning = o.own[""]
	if len(o.models) == 1 {
		if how, ok := o.own[o.models[0]]; ok {
			o.reasoning = how
		}
	}
	return nil
}

// reasoningOf is the setting of one model of several.
func (o *options) reasoningOf(model string) (*api.ReasoningChoice, error) {
	if how, ok := o.own[model]; ok {
		return reasoning(how)
	}
	return reasoning(o.reasoning)
}

// runGroup is the guided form with several models: one quote, one question, one
// group.
func (o *options) runGroup(ctx context.Context, client *evalrouter.Client, args []string) error {
	order, err := o.groupOrder(ctx, client, args)
	if err != nil {
		return err
	}
	j, err := o.Journal()
	if err != nil {
		return err
	}
	l := &flow.GroupLauncher{
		Groups: client.Groups, Journal: j, Desk: &groupDesk{&desk{App: o.App, yes: o.yes, attended: o.Attended(), again: o.Again(command.Edit{Add: []string{"--new"}})}},
		NewKey: func() string { return string(evalrouter.NewIdempotencyKey()) }, Sleep: o.Sleep, Now: o.Now, Began: o.Began,
	}
	if o.dryRun {
		q, err := l.Quote(ctx, order)
		if err != nil {
			return o.adviseGroup(err)
		}
		return o.Value(q, func(p *term.Page) {
			p.Line("Dry run: nothing was started or charged.")
			p.Next(o.Again(command.Edit{Drop: []string{"dry-run"}, Switches: []string{"dry-run"}}))
		})
	}
	got, err := l.Launch(ctx, order)
	if err != nil {
		return o.adviseGroup(err)
	}
	verb := "Started"
	if got.Existing {
		verb = "Following"
	}
	o.Note("%s group %s. Leaving does not stop it. Come back: evalrouter group status %s --watch", verb, got.Group.ID, command.Short(got.Group.ID))
	if o.open {
		o.show(api.RunRecord{Links: got.Group.Links})
	}
	w := group.Watch{Limit: o.watch.limit, Every: o.watch.every, Disconnect: o.watch.disconnect, Mode: o.watch.mode}
	end, err := w.Follow(ctx, o.App, client, got.Group.ID)
	if end.Status.Terminal() {
		if ferr := l.Finish(context.WithoutCancel(ctx), got); ferr != nil {
			o.Note("The end of the group could not be recorded: %s", ferr)
		}
	}
	return err
}

// groupOrder resolves the typed names and builds the request.
func (o *options) groupOrder(ctx context.Context, c *evalrouter.Client, args []string) (flow.GroupOrder, error) {
	conc, err := api.ParseConcurrency(o.concurrency)
	if err != nil {
		return flow.GroupOrder{}, &argv.UsageError{Message: "--concurrency: " + err.Error()}
	}
	b, err := o.benchmark(ctx, c, args)
	if err != nil {
		return flow.GroupOrder{}, err
	}
	targets, err := o.targets(ctx, c)
	if err != nil {
		return flow.GroupOrder{}, err
	}
	cover, err := o.askCoverage(ctx, b)
	if err != nil {
		return flow.GroupOrder{}, err
	}
	p, err := o.Profile()
	if err != nil {
		return flow.GroupOrder{}, err
	}
	name := o.runName()
	order := flow.GroupOrder{
		New:     o.separate,
		Request: flow.Request{Origin: p.BaseURL.Value, Workspace: p.Workspace.Value, Kind: flow.GroupKind, ProfileID: b.ID, Coverage: cover, Cap: o.max, SourceRunID: o.from},
		Quote:   api.NewGroupQuote{Selection: api.Selection{ProfileIDs: []string{b.ID}}, Coverage: &cover, MaxChargeMicrousd: o.max, Concurrency: &conc, Name: &name},
	}
	for i, t := range targets {
		think, err := o.reasoningOf(o.models[i])
		if err != nil {
			return flow.GroupOrder{}, err
		}
		m := api.GroupChoice{Model: t.Ref, Reasoning: think}
		if o.format != "" {
			m.OutputFormat = &o.format
		}
		order.Quote.Members = append(order.Quote.Members, m)
		order.Request.Models = append(order.Request.Models, flow.ModelSetting{Model: t.Ref, Reasoning: think, Concurrency: conc.String(), OutputFormat: o.format})
	}
	return order, nil
}

// targets are the models that the flags name, in that order.
func (o *options) targets(ctx context.Context, c *evalrouter.Client) (out []*flow.Target, err error) {
	var routes []api.ManagedRoute
	for r, err := range c.Catalog.AllModels(ctx, evalrouter.ModelQuery{Paging: evalrouter.Paging{Limit: 200}}) {
		if err != nil {
			return nil, err
		}
		routes = append(routes, r)
	}
	conns, err := o.connections(ctx, c, routes)
	if err != nil {
		return nil, err
	}
	for _, typed := range o.models {
		t, err := flow.Model(typed, routes, conns)
		if err != nil {
			return nil, o.closest(err, typed, "evalrouter catalog --models")
		}
		if slices.ContainsFunc(out, func(other *flow.Target) bool { return other.Ref == t.Ref }) {
			return nil, &argv.UsageError{Message: "--model " + flow.Typed(typed) + " names a model that another --model names; nothing was quoted, started or charged"}
		}
		out = append(out, t)
	}
	return out, nil
}

// adviseGroup adds the way on to an error of the launch.
func (o *options) adviseGroup(err error) error {
	if err, ok := atLeast(o.App, err); ok {
		return err
	}
	var lost *flow.Error
	if errors.As(err, &lost) && lost.IdempotencyKey != "" {
		return command.WithNext(err, o.Again(command.Edit{}))
	}
	return err
}

// atLeast names the cap that is large enough, where a cap was too small for a task
// of each member.
func atLeast(a *command.App, err error) (out error, ok bool) {
	e := command.Explain(err)
	if e.Code != api.CapBelowMinimum {
		return err, false
	}
	if m, bad := usd.ParseWire(fmt.Sprint(e.Details["minimum_cap_microusd"])); bad == nil && e.Details["member"] == nil {
		err = command.WithNext(err, a.Again(command.Edit{Drop: []string{"max-cost"}, Add: []string{"--max-cost", strings.TrimPrefix(m.String(), "$")}}))
	}
	return err, true
}

// groupDesk answers a group's questions as a desk answers a run's.
type groupDesk struct{ *desk }

var _ flow.GroupDesk = (*groupDesk)(nil)

// Quoted shows the quote to people.
func (d *groupDesk) Quoted(_ context.Context, q api.GroupQuoteRecord) error {
	p := d.Term.ErrPage()
	showGroupQuote(p, q)
	return p.Failure()
}

// Cap asks for the cap of all members, suggesting $5 or what a task of each
// needs.
func (d *groupDesk) Cap(ctx context.Context, preview api.GroupQuoteRecord) (usd.Micro, error) {
	return d.desk.Cap(ctx, api.QuoteRecord{MinimumCapMicrousd: preview.MinimumCapMicrousd})
}

// Approve asks the one question that spends.
func (d *groupDesk) Approve(ctx context.Context, q api.GroupQuoteRecord, before *api.GroupQuoteRecord) (bool, error) {
	return d.approve(ctx, fmt.Sprintf("Start %d runs with caps of %s together?", len(q.Members), command.Money(*q.MaxChargeMicrousd)), "Start runs", before != nil)
}

// Repeat asks whether the same work is wanted again.
func (d *groupDesk) Repeat(ctx context.Context, ended api.GroupRecord) (bool, error) {
	if !d.attended {
		return false, command.WithNext(&flow.Error{
			Code: api.RepeatNeedsNew, Message: fmt.Sprintf("group %s did the same and has ended (%s)", ended.ID, ended.Status),
			Facts: []string{"nothing was started or charged; --new starts it again as separate work"},
		}, "evalrouter group status "+ended.ID, d.again)
	}
	d.App.Note("Group %s did the same and has just ended (%s).", ended.ID, ended.Status)
	ok, err := d.Term.Confirm(ctx, "Run it again as separate work?", "Run again", "Cancel", "again")
	if errors.Is(err, term.ErrDeclined) {
		return false, nil
	}
	return ok, err
}

// showGroupQuote prints one quote for all: what they have in common, then each
// model with its rates, settings and cap.
func showGroupQuote(p *term.Page, q api.GroupQuoteRecord) {
	title := "Preview, not yet a quote"
	if !q.Preview {
		title = fmt.Sprintf("Group quote %s   expires %s (in %d min)", command.Short(q.ID), q.ExpiresAt.Local().Format("15:04"), (q.ExpiresIn+59)/60)
	}
	p.Line("%s", title)
	if q.SourceGroupID != nil {
		p.Line("  Continues    group %s", *q.SourceGroupID)
	}
	for _, s := range q.Profiles {
		p.Line("  Benchmark    %s", s.ID)
		p.Line("  Coverage     %s, for each of %d models", coverageText(s, q.Coverage), len(q.Members))
		if d, ok := stat.Detectable(s.SelectedCount); ok {
			p.Line("  Can show     differences of about %s points between two models (paired, 80 %% power)", points(d))
		}
		for _, r := range judgeTerms(s.Judge) {
			p.Line("  %-12s %s", r.label, r.text)
		}
	}
	for _, m := range q.Members {
		showMember(p, m)
	}
	switch {
	case q.MaxChargeMicrousd != nil:
		least := ""
		if q.MinimumCapMicrousd != nil {
			least = fmt.Sprintf(" (the least that pays for a task of each is %s)", command.Money(*q.MinimumCapMicrousd))
		}
		p.Line("  Cap          %s for all together, hard%s", command.Money(*q.MaxChargeMicrousd), least)
	case q.MinimumCapMicrousd != nil:
		p.Line("  Cap          at least %s for all together", command.Money(*q.MinimumCapMicrousd))
	}
	for _, w := range q.Warnings {
		p.Line("  Warning      %s", w)
	}
}

// showMember prints one model of a group quote: its rates, settings and cap, and
// what becomes of the tasks of the run that it goes on with. One that stands aside
// has the reason instead.
func showMember(p *term.Page, m api.GroupQuoteMember) {
	p.Line("  Model %d      %s%s", m.Index+1, api.Model{Selected: &m.Model}.Name(), simulated(api.Model{Selected: &m.Model}))
	if m.Reasoning != nil {
		p.Line("               reasoning %s", reasoningText(*m.Reasoning))
	}
	if !m.Eligible {
		showAside(p, m)
		return
	}
	p.Line("               %s", rates(m.Pricing))
	if m.Pricing != nil && m.Pricing.LongContext != nil {
		p.Line("               %s", longRates(*m.Pricing.LongContext))
	}
	capText := "no cap yet"
	if m.MaxChargeMicrousd != nil {
		capText = "cap " + command.Money(*m.MaxChargeMicrousd) + ", hard"
	}
	p.Line("               %s%s; at most %s", capText, minimum(m.MinimumCapMicrousd), command.Count(m.Concurrency.RunCeiling, "call"))
	if m.ExternalCharges != nil {
		p.Line("               %s", *m.ExternalCharges)
	}
	if m.Continuation != nil {
		showContinuation(p, *m.Continuation)
	}
}
