// Package source is the service as pages read it. A page declares the few
// methods that it needs; this package has them all, over one client that is
// made when it is needed first, so that the workspace paints before any
// network is asked.
package source

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
)

// listMost is how many runs a list reads; a longer history is the command
// line's.
const listMost = 1000

// Options is what a Source is made from. All of it is required but Newer.
type Options struct {
	// Connect makes the client. It may start the service on this machine.
	Connect func(context.Context) (*evalrouter.Client, error)
	// Catalog is the public catalog, through local copies where those are kept.
	Catalog func() (*evalrouter.Catalog, error)
	// Refresh is the public catalog read anew.
	Refresh func() (*evalrouter.Catalog, error)
	// Journal is where accepted quotes are written down before they are sent.
	Journal   *flow.Journal
	Origin    string
	Workspace string
	NewKey    func() string
	Now       func() time.Time
	Sleep     flow.Sleeper
	Chance    func() float64
	// SaveDir is where reports are saved.
	SaveDir func() (string, error)
	// Newer is the version of a release newer than this program, "" without one;
	// nil where nobody asks.
	Newer func(context.Context) string
	// Local says that the service runs on this machine and ends when it is idle.
	Local bool
}

// Source reads and starts. It may be used by many goroutines.
type Source struct {
	Options
	mu     sync.Mutex
	client *evalrouter.Client
	old    []*evalrouter.Client
}

// New connects to nothing yet.
func New(o Options) *Source { return &Source{Options: o} }

// Close ends every client.
func (s *Source) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for _, c := range append(s.old, s.client) {
		if c != nil {
			err = errors.Join(err, c.Close())
		}
	}
	return err
}

func (s *Source) connect(ctx context.Context) (*evalrouter.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client != nil {
		return s.client, nil
	}
	c, err := s.Connect(ctx)
	if err == nil {
		s.client = c
	}
	return c, err
}

// Reconnect makes the next call connect anew if nothing listens any more: a
// service on this machine ends when it is idle and comes back elsewhere.
func (s *Source) Reconnect(err error) {
	if !flow.Refused(err) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client != nil {
		// Calls of other pages may still be failing with the old client. It holds
		// no connection to a port where nothing listens, so Close waits for all of
		// them.
		s.old = append(s.old, s.client)
		s.client = nil
	}
}

func (s *Source) catalog(fresh bool) (*evalrouter.Catalog, error) {
	if fresh {
		return s.Refresh()
	}
	return s.Options.Catalog()
}

// Newer is the version of a release newer than this program, "" without one.
func (s *Source) Newer(ctx context.Context) string {
	if s.Options.Newer == nil {
		return ""
	}
	return s.Options.Newer(ctx)
}

// Benchmarks are all benchmark versions.
func (s *Source) Benchmarks(ctx context.Context, fresh bool) iter.Seq2[api.BenchmarkRecord, error] {
	return walk(s, fresh, func(cat *evalrouter.Catalog) iter.Seq2[api.BenchmarkRecord, error] {
		return cat.AllBenchmarks(ctx, evalrouter.BenchmarkQuery{Paging: evalrouter.Paging{Limit: 200}})
	})
}

// Models are all managed routes. There can be very many: whoever walks them keeps
// what is needed of each.
func (s *Source) Models(ctx context.Context, fresh bool) iter.Seq2[api.ManagedRoute, error] {
	return walk(s, fresh, func(cat *evalrouter.Catalog) iter.Seq2[api.ManagedRoute, error] {
		return cat.AllModels(ctx, evalrouter.ModelQuery{Paging: evalrouter.Paging{Limit: 200}})
	})
}

// Model is one managed route.
func (s *Source) Model(ctx context.Context, id string, fresh bool) (api.ManagedRoute, error) {
	cat, err := s.catalog(fresh)
	if err != nil {
		return api.ManagedRoute{}, err
	}
	return cat.Model(ctx, id)
}

// walk goes through a list of the catalog, a page at a time, to its first error.
func walk[T any](s *Source, fresh bool, all func(*evalrouter.Catalog) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		cat, err := s.catalog(fresh)
		if err != nil {
			var none T
			yield(none, err)
			return
		}
		all(cat)(yield)
	}
}

// Compatible are the routes and connections with whether they can run a
// profile.
func (s *Source) Compatible(ctx context.Context, profile string) iter.Seq2[api.CompatibleRoute, error] {
	return func(yield func(api.CompatibleRoute, error) bool) {
		c, err := s.connect(ctx)
		if err != nil {
			yield(api.CompatibleRoute{}, err)
			return
		}
		for r, err := range c.Catalog.AllCompatible(ctx, evalrouter.CompatibilityQuery{ProfileID: profile, Paging: evalrouter.Paging{Limit: 200}}) {
			if err != nil {
				s.Reconnect(err)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// Runs are the newest runs.
func (s *Source) Runs(ctx context.Context) (out []api.RunRecord, err error) {
	c, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	for r, err := range c.Runs.All(ctx, evalrouter.RunQuery{Paging: evalrouter.Paging{Limit: 100}}) {
		if err != nil {
			s.Reconnect(err)
			return nil, err
		}
		if out = append(out, r); len(out) == listMost {
			break
		}
	}
	return out, nil
}

// Run is one run as it stands.
func (s *Source) Run(ctx context.Context, id string) (api.RunRecord, error) {
	return call(ctx, s, func(c *evalrouter.Client) (api.RunRecord, error) { return c.Runs.Get(ctx, id) })
}

// CancelRun stops a run.
func (s *Source) CancelRun(ctx context.Context, id string) (api.RunRecord, error) {
	return call(ctx, s, func(c *evalrouter.Client) (api.RunRecord, error) { return c.Runs.Cancel(ctx, id) })
}

// Result is the newest result of a finished run.
func (s *Source) Result(ctx context.Context, id string) (api.ResultRecord, error) {
	return call(ctx, s, func(c *evalrouter.Client) (api.ResultRecord, error) { return c.Runs.Results(ctx, id, 0) })
}

// Credits is the workspace's money now.
func (s *Source) Credits(ctx context.Context) (api.CreditsRecord, error) {
	return call(ctx, s, func(c *evalrouter.Client) (api.CreditsRecord, error) { return c.Credits.Get(ctx) })
}

// Ledger is the newest n movements of the workspace's money.
func (s *Source) Ledger(ctx context.Context, n int) ([]api.LedgerEntry, error) {
	page, err := call(ctx, s, func(c *evalrouter.Client) (api.Page[api.LedgerEntry], error) {
		return c.Credits.Ledger(ctx, evalrouter.LedgerQuery{Paging: evalrouter.Paging{Limit: n}})
	})
	return page.Data, err
}

// Meta is what the service says of itself.
func (s *Source) Meta(ctx context.Context) (api.MetaRecord, error) {
	return call(ctx, s, func(c *evalrouter.Client) (api.MetaRecord, error) { return c.Meta.Get(ctx) })
}

// Whoami is who the service sees.
func (s *Source) Whoami(ctx context.Context) (api.WhoamiRecord, error) {
	return call(ctx, s, func(c *evalrouter.Client) (api.WhoamiRecord, error) { return c.Whoami(ctx) })
}

// Tasks is one page of a run's tasks.
func (s *Source) Tasks(ctx context.Context, id, cursor string) (api.Page[api.TaskRecord], error) {
	return call(ctx, s, func(c *evalrouter.Client) (api.Page[api.TaskRecord], error) {
		return c.Runs.Tasks(ctx, id, evalrouter.TaskQuery{Paging: evalrouter.Paging{Limit: 200, Cursor: cursor}})
	})
}

func call[T any](ctx context.Context, s *Source, do func(*evalrouter.Client) (T, error)) (T, error) {
	c, err := s.connect(ctx)
	if err != nil {
		var none T
		return none, err
	}
	v, err := do(c)
	if err != nil {
		s.Reconnect(err)
	}
	return v, err
}
