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
	spend, name := d.Cap, "Evaluation"
	return flow.Order{
		Request: flow.Request{
			Origin: s.Origin, Workspace: s.Workspace, Kind: flow.RunKind, ProfileID: d.Benchmark.ID, Coverage: d.Coverage,
			Models: []flow.ModelSetting{{Model: d.Model, Reasoning: d.Reasoning, Concurrency: auto.String()}},
		},
		Quote: api.NewQuote{
			Selection: api.Selection{ProfileIDs: []string{d.Benchmark.ID}}, Model: d.Model, Coverage: &d.Coverage,
			MaxChargeMicrousd: &spend, Reasoning: d.Reasoning, Concurrency: &auto, Name: &name,
		},
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
