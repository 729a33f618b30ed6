package source

import (
	"context"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/tui/internal/route"
)

// Launch finds or starts the run of a draft. Everything about money and about
// what a repeat means is the launcher's; desk is the person.
func (s *Source) Launch(ctx context.Context, d route.Draft, desk flow.Desk) (flow.Launched, error) {
	began := s.Now()
	c, err := s.connect(ctx)
	if err != nil {
		return flow.Launched{}, err
	}
	l := &flow.Launcher{
		Quotes: c.Quotes, Runs: c.Runs, Journal: s.Journal, Desk: remembering{desk, s.Journal},
		NewKey: s.NewKey, Sleep: s.Sleep, Now: s.Now, Began: began,
	}
	out, err := l.Launch(ctx, s.order(d))
	if err != nil {
		s.Reconnect(err)
	}
	return out, err
}

// order is the draft as the command line would ask for it: the fingerprint is
// the same, so that either finds what the other started.
func (s *Source) order(d route.Draft) flow.Order {
	var auto api.Concurrency
	spend, name, p := d.Cap, "Evaluation", d.Picks[0]
	return flow.Order{
		Request: s.request(d, flow.RunKind),
		Quote: api.NewQuote{
			Selection: api.Selection{ProfileIDs: []string{d.Benchmark.ID}}, Model: p.Model, Coverage: &d.Coverage,
			MaxChargeMicrousd: &spend, Reasoning: p.Reasoning, Concurrency: &auto, Name: &name,
		},
	}
}

func (s *Source) request(d route.Draft, kind string) flow.Request {
	var auto api.Concurrency
	r := flow.Request{Origin: s.Origin, Workspace: s.Workspace, Kind: kind, ProfileID: d.Benchmark.ID, Coverage: d.Coverage}
	for _, p := range d.Picks {
		r.Models = append(r.Models, flow.ModelSetting{Model: p.Model, Reasoning: p.Reasoning, Concurrency: auto.String()})
	}
	return r
}

// LaunchGroup finds or starts the group of a draft with several models.
func (s *Source) LaunchGroup(ctx context.Context, d route.Draft, desk flow.GroupDesk) (flow.LaunchedGroup, error) {
	began := s.Now()
	c, err := s.connect(ctx)
	if err != nil {
		return flow.LaunchedGroup{}, err
	}
	l := &flow.GroupLauncher{Groups: c.Groups, Journal: s.Journal, Desk: desk, NewKey: s.NewKey, Sleep: s.Sleep, Now: s.Now, Began: began}
	var auto api.Concurrency
	spend, name := d.Cap, "Evaluation"
	o := flow.GroupOrder{
		Request: s.request(d, flow.GroupKind),
		Quote: api.NewGroupQuote{
			Selection: api.Selection{ProfileIDs: []string{d.Benchmark.ID}}, Coverage: &d.Coverage, MaxChargeMicrousd: &spend, Concurrency: &auto, Name: &name,
		},
	}
	for _, p := range d.Picks {
		o.Quote.Members = append(o.Quote.Members, api.GroupChoice{Model: p.Model, Reasoning: p.Reasoning})
	}
	out, err := l.Launch(ctx, o)
	if err != nil {
		s.Reconnect(err)
	}
	return out, err
}

// Resume finds or starts the continuation of a run.
func (s *Source) Resume(ctx context.Context, p route.Plan, desk flow.ResumeDesk) (flow.Launched, error) {
	c, err := s.connect(ctx)
	if err != nil {
		return flow.Launched{}, err
	}
	r := &flow.Resumer{Runs: c.Runs, Quotes: c.Quotes, Journal: s.Journal, Desk: desk, NewKey: s.NewKey, Sleep: s.Sleep}
	o := s.continuation(p)
	o.Run = p.Run.ID
	out, err := r.Resume(ctx, o)
	if err != nil {
		s.Reconnect(err)
	}
	return out, err
}

// ResumeGroup finds or starts the continuation of a group.
func (s *Source) ResumeGroup(ctx context.Context, p route.Plan, desk flow.GroupResumeDesk) (flow.LaunchedGroup, error) {
	c, err := s.connect(ctx)
	if err != nil {
		return flow.LaunchedGroup{}, err
	}
	r := &flow.GroupResumer{Groups: c.Groups, Journal: s.Journal, Desk: desk, NewKey: s.NewKey, Sleep: s.Sleep}
	o := s.continuation(p)
	o.Group = p.Group.ID
	out, err := r.Resume(ctx, o)
	if err != nil {
		s.Reconnect(err)
	}
	return out, err
}

// continuation is what was chosen about a resume, as the command line would ask
// for it.
func (s *Source) continuation(p route.Plan) flow.ResumeOrder {
	spend := p.Cap
	return flow.ResumeOrder{
		Origin: s.Origin, Workspace: s.Workspace, Duplicates: p.Duplicates,
		Quote: api.NewContinuationQuote{MaxChargeMicrousd: &spend, IncludeCancelled: p.IncludeCancelled, RetryUnknown: p.RetryUnknown},
	}
}

// remembering keeps the ids of quotes, so that the command line can name them.
type remembering struct {
	flow.Desk
	journal *flow.Journal
}

// Quoted remembers the quote and shows it.
func (r remembering) Quoted(ctx context.Context, q api.QuoteRecord) error {
	if !q.Preview {
		_ = r.journal.RememberQuote(q.ID) // its whole id still works
	}
	return r.Desk.Quoted(ctx, q)
}
