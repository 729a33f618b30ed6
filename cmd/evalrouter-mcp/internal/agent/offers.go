package agent

import (
	"context"
	"strings"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/approval"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/usd"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// wish is what a quote is asked for.
type wish struct {
	Benchmark string `json:"benchmark" jsonschema:"a benchmark's id such as arithmetic@1, or its slug or name"`
	Model     string `json:"model" jsonschema:"a route id or name of list_models, or connection:ID"`
	Tasks     int    `json:"tasks,omitempty" jsonschema:"how many tasks of the benchmark to sample; 25 when left out"`
	Full      bool   `json:"full,omitempty" jsonschema:"every task of the benchmark instead of a sample"`
	Seed      uint32 `json:"seed,omitempty" jsonschema:"which sample; 42 when left out"`
	MaxCost   string `json:"max_cost" jsonschema:"the hard spending cap in US dollars, such as 1 or 0.25"`
	Name      string `json:"name,omitempty" jsonschema:"a name for the run"`
}

type start struct {
	QuoteID string `json:"quote_id" jsonschema:"the whole id of a quote that a person approved"`
}

// offer is a quote with the one way to have it started.
type offer struct {
	Quote   api.QuoteRecord `json:"quote"`
	Approve string          `json:"approve_command"`
	Note    string          `json:"note"`
}

// started is the run of a quote.
type started struct {
	Run      api.RunRecord `json:"run"`
	Existing bool          `json:"existing"`
}

// offers is quoting, and starting what was approved.
func (d *Desk) offers(s *mcp.Server) {
	add(s, d, tool{"quote_run", "Quote a run", "Ask what measuring one model on one benchmark may cost, under a hard cap. Starts nothing and costs nothing. The person approves the quote in a terminal.", false}, d.quote)
	add(s, d, tool{"start_run", "Start an approved run", "Start the run of a quote that a person approved with `evalrouter approve`. Refused for any other quote. The same quote always leads to the same run.", true}, d.start)
}

func (d *Desk) quote(ctx context.Context, c *evalrouter.Client, in wish) (any, error) {
	spend, err := usd.Parse(in.MaxCost)
	if err != nil || spend == 0 {
		return nil, invalid("max_cost is an amount in US dollars such as 1 or 0.25")
	}
	cover, err := in.coverage()
	if err != nil {
		return nil, err
	}
	b, err := benchmark(ctx, c, in.Benchmark)
	if err != nil {
		return nil, err
	}
	m, err := model(ctx, c, in.Model)
	if err != nil {
		return nil, err
	}
	name := in.Name
	if name == "" {
		name = "Evaluation"
	}
	q, err := c.Quotes.Create(ctx, api.NewQuote{
		Selection: api.Selection{ProfileIDs: []string{b.ID}}, Model: m.Ref, Coverage: &cover, MaxChargeMicrousd: &spend, Name: &name,
	})
	if err != nil {
		return nil, err
	}
	_ = d.Journal.RememberQuote(q.ID) // its whole id still works
	return offer{q, approveCommand(q.ID), "Nothing has started. A person decides, in a terminal, with the approve_command."}, nil
}

func (w wish) coverage() (api.Coverage, error) {
	seed := w.Seed
	if seed == 0 {
		seed = 42
	}
	switch {
	case w.Full && w.Tasks != 0:
		return api.Coverage{}, invalid("give either tasks or full")
	case w.Full:
		return api.Coverage{Mode: api.Full}, nil
	case w.Tasks < 0:
		return api.Coverage{}, invalid("tasks is a number above 0")
	case w.Tasks == 0:
		w.Tasks = 25
	}
	return api.Coverage{Mode: api.Sample, SampleCount: &w.Tasks, Seed: &seed}, nil
}

func benchmark(ctx context.Context, c *evalrouter.Client, typed string) (*api.BenchmarkRecord, error) {
	var known []api.BenchmarkRecord
	for b, err := range c.Catalog.AllBenchmarks(ctx, evalrouter.BenchmarkQuery{Paging: evalrouter.Paging{Limit: 200}}) {
		if err != nil {
			return nil, err
		}
		known = append(known, b)
	}
	return flow.Benchmark(typed, known)
}

// model reads the person's connections only where one is named.
func model(ctx context.Context, c *evalrouter.Client, typed string) (*flow.Target, error) {
	if id, ok := strings.CutPrefix(typed, "connection:"); ok && flow.WholeID(id) {
		return &flow.Target{Ref: api.ModelRef{Kind: api.ConnectionKind, ConnectionID: id}}, nil
	}
	var routes []api.ManagedRoute
	for r, err := range c.Catalog.AllModels(ctx, evalrouter.ModelQuery{Paging: evalrouter.Paging{Limit: 200}}) {
		if err != nil {
			return nil, err
		}
		routes = append(routes, r)
	}
	return flow.Model(typed, routes, nil)
}

// start submits the quote with a key that follows from it. What the quote has
// started already needs no approval: nothing more is started.
func (d *Desk) start(ctx context.Context, c *evalrouter.Client, in start) (any, error) {
	if !flow.WholeID(in.QuoteID) {
		return nil, invalid("quote_id is the whole id of a quote")
	}
	q, err := c.Quotes.Get(ctx, in.QuoteID)
	if err != nil {
		return nil, err
	}
	if q.ID != in.QuoteID {
		return nil, invalid("the service answered with another quote")
	}
	if q.RunID != nil {
		run, err := c.Runs.Get(ctx, *q.RunID)
		return started{run, true}, err
	}
	if err := d.Approvals.Check(q); err != nil {
		return nil, &advised{err, "a person decides: " + approveCommand(q.ID)}
	}
	run, err := flow.Submit(ctx, c.Runs, api.NewRun{QuoteID: q.ID}, approval.Key(q.ID), d.Sleep)
	return started{run, false}, err
}

func approveCommand(quoteID string) string { return "evalrouter approve " + quoteID }
