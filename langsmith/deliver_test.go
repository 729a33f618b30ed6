package langsmith_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/langsmith"
	"github.com/evalrouter/evalrouter/lib/api"
)

// sides wraps a world to change one of its answers.
type sides struct {
	*world
	tree  func(h langsmith.Header) error
	batch func(traces []api.ImportedTrace) (*api.TraceImportResult, error)
	sizes []int
}

func (s *sides) Tree(ctx context.Context, h langsmith.Header, visit func(langsmith.Run) error) error {
	if s.tree != nil {
		if err := s.tree(h); err != nil {
			s.requests++
			return err
		}
	}
	return s.world.Tree(ctx, h, visit)
}

func (s *sides) Import(ctx context.Context, key string, traces []api.ImportedTrace) (api.TraceImportResult, error) {
	s.sizes = append(s.sizes, len(traces))
	if s.batch != nil {
		if res, err := s.batch(traces); res != nil || err != nil {
			return *orEmpty(res), err
		}
	}
	return s.world.Import(ctx, key, traces)
}

func orEmpty(r *api.TraceImportResult) *api.TraceImportResult {
	if r == nil {
		return &api.TraceImportResult{}
	}
	return r
}

// calm is a world of n plain roots that all ended.
func calm(t *testing.T, n int) (*sides, *langsmith.State) {
	t.Helper()
	w := newWorld(5, n, time.Hour)
	for _, r := range w.roots {
		r.end, r.shown, r.broken = r.start.Add(time.Second), r.start, false
		r.closed, r.totals, r.childrenShown = r.end, r.end, r.end
	}
	w.now = w.epoch.Add(2 * time.Hour)
	state, err := w.load()
	if err != nil {
		t.Fatal(err)
	}
	return &sides{world: w}, state
}

func polls(t *testing.T, s *sides, state *langsmith.State, cfg langsmith.Config, n int) error {
	t.Helper()
	sync := langsmith.New(cfg, state, s, s, s, s)
	for range n {
		if err := sync.Poll(t.Context()); err != nil {
			return err
		}
		s.now = s.now.Add(30 * time.Second)
	}
	return nil
}

// A batch that is too large is halved; a trace that is too large by itself is
// given up, with its code, and asked about no more.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	s, state := calm(t, 100)
	giant := s.roots[17].id
	s.batch = func(traces []api.ImportedTrace) (*api.TraceImportResult, error) {
		for _, x := range traces {
			if x.SourceTraceID == giant || len(traces) > 40 {
				return nil, langsmith.ErrTooLarge
			}
		}
		return nil, nil
	}
	if err := polls(t, s, state, langsmith.Config{}, 6); err != nil {
		t.Fatal(err)
	}
	if len(s.stored) != 99 || state.Dead[giant].Reason != string(api.RequestTooLarge) || len(state.Pending) > 0 {
		t.Errorf("%d stored, %v, %d pending", len(s.stored), state.Dead, len(state.Pending))
	}
	requests := s.requests
	if err := polls(t, s, state, langsmith.Config{}, 3); err != nil || s.requests-requests > 4 {
		t.Errorf("%d more requests, %v", s.requests-requests, err)
	}
}

// Traces that the destination rejects are dead with its code.
func TestRejected(t *testing.T) {
	t.Parallel()
	s, state := calm(t, 10)
	bad := s.roots[3].id
	s.batch = func(traces []api.ImportedTrace) (*api.TraceImportResult, error) {
		for i, x := range traces {
			if x.SourceTraceID == bad {
				rest := append(append([]api.ImportedTrace{}, traces[:i]...), traces[i+1:]...)
				res, err := s.world.Import(context.Background(), "", rest)
				res.Rejected = []api.TraceRejection{{SourceTraceID: bad, Code: "trace_invalid"}}
				return &res, err
			}
		}
		return nil, nil
	}
	if err := polls(t, s, state, langsmith.Config{}, 6); err != nil {
		t.Fatal(err)
	}
	if len(s.stored) != 9 || state.Dead[bad].Reason != "trace_invalid" || state.Stats.Rejected != 1 || len(s.sizes) != 1 {
		t.Errorf("%d stored in %d batches, %v, %+v", len(s.stored), len(s.sizes), state.Dead, state.Stats)
	}
}

// A destination that does not answer for every trace has acknowledged none.
func TestMiscountedAnswer(t *testing.T) {
	t.Parallel()
	s, state := calm(t, 5)
	s.batch = func([]api.ImportedTrace) (*api.TraceImportResult, error) {
		return &api.TraceImportResult{Accepted: 4}, nil
	}
	err := polls(t, s, state, langsmith.Config{}, 6)
	if err == nil || !strings.Contains(err.Error(), "4 of 5") || state.Delivered() != 0 {
		t.Errorf("%d marked, %v", state.Delivered(), err)
	}
}

// One tree that cannot be read does not stop the others, and is given up in the
// end; when no tree can be read, the poll fails.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	s, state := calm(t, 20)
	poison := s.roots[9].id
	s.tree = func(h langsmith.Header) error {
		if h.ID == poison {
			return passing{}
		}
		return nil
	}
	cfg := langsmith.Config{PendingMax: time.Hour, Attempts: 2}
	if err := polls(t, s, state, cfg, 400); err != nil {
		t.Fatal(err)
	}
	if len(s.stored) != 19 || state.Dead[poison].Reason != langsmith.Unreadable {
		t.Errorf("%d stored, %v", len(s.stored), state.Dead)
	}
	s, state = calm(t, 20)
	s.tree = func(langsmith.Header) error { return passing{} }
	if err := polls(t, s, state, langsmith.Config{Attempts: 2}, 6); !errors.As(err, &passing{}) || s.requests > 16 {
		t.Errorf("%v after %d requests", err, s.requests)
	}
}

// A tree with a hole waits for the rest, and is sent as partial when that has
// not come within ten minutes.
func TestIncompleteTree(t *testing.T) {
	t.Parallel()
	s, state := calm(t, 2)
	late, never := s.roots[0], s.roots[1]
	late.children, never.children, late.broken, never.broken = 2, 2, true, true
	if err := polls(t, s, state, langsmith.Config{}, 8); err != nil || len(s.stored) > 0 || len(state.Pending) != 2 {
		t.Fatalf("%d stored, %d pending, %v", len(s.stored), len(state.Pending), err)
	}
	late.broken = false
	if err := polls(t, s, state, langsmith.Config{}, 30); err != nil {
		t.Fatal(err)
	}
	if a := s.stored[late.id]; a == nil || a.partial || a.accepted != 1 {
		t.Errorf("the one that became whole: %+v", a)
	}
	if b := s.stored[never.id]; b == nil || !b.partial || b.accepted != 1 || b.first.Sub(s.epoch.Add(2*time.Hour)) < 10*time.Minute {
		t.Errorf("the one that stayed broken: %+v", b)
	}
}

// A trace that is gone is noted and left alone.
func TestGone(t *testing.T) {
	t.Parallel()
	s, state := calm(t, 5)
	s.tree = func(h langsmith.Header) error {
		if h.ID == s.roots[2].id {
			return langsmith.ErrGone
		}
		return nil
	}
	if err := polls(t, s, state, langsmith.Config{}, 6); err != nil || len(s.stored) != 4 || state.Dead[s.roots[2].id].Reason != langsmith.Gone {
		t.Errorf("%d stored, %v, %v", len(s.stored), state.Dead, err)
	}
}

// A root that never ends is given up, or sent as partial when that is wanted,
// and its end makes a new revision.
func TestNeverEnds(t *testing.T) {
	t.Parallel()
	for _, include := range []bool{false, true} {
		s, state := calm(t, 3)
		r := s.roots[1]
		end := r.end
		r.end = time.Time{}
		cfg := langsmith.Config{PendingMax: time.Hour, IncludeIncomplete: include}
		if err := polls(t, s, state, cfg, 140); err != nil {
			t.Fatal(err)
		}
		got := s.stored[r.id]
		if include != (got != nil && got.partial) || include == (state.Dead[r.id].Reason == langsmith.NeverCompleted) {
			t.Errorf("include %v: stored %+v, dead %v", include, got, state.Dead)
		}
		r.end, r.closed, r.totals = end, s.now, s.now
		if err := polls(t, s, state, cfg, 30); err != nil {
			t.Fatal(err)
		}
		if got := s.stored[r.id]; got == nil || got.partial || len(state.Dead) > 0 || len(state.Pending) > 0 {
			t.Errorf("include %v: after its end stored %+v, dead %v", include, got, state.Dead)
		}
	}
}

// A trace whose end changes after its delivery is sent again, once.
func TestLaterEnd(t *testing.T) {
	t.Parallel()
	s, state := calm(t, 3)
	if err := polls(t, s, state, langsmith.Config{}, 6); err != nil {
		t.Fatal(err)
	}
	s.roots[0].end = s.roots[0].end.Add(time.Minute)
	if err := polls(t, s, state, langsmith.Config{}, 60); err != nil {
		t.Fatal(err)
	}
	if a, b := s.stored[s.roots[0].id].accepted, s.stored[s.roots[1].id].accepted; a != 2 || b != 1 || s.duplicate > 0 {
		t.Errorf("accepted %d and %d times, %d duplicates", a, b, s.duplicate)
	}
}

// Count and Try change nothing.
func TestLookingChangesNothing(t *testing.T) {
	t.Parallel()
	s, state := calm(t, 12)
	sync := langsmith.New(langsmith.Config{}, state, s, s, s, s)
	c, err := sync.Count(t.Context())
	if err != nil || c.Roots != 12 || c.Ended != 12 {
		t.Errorf("%+v, %v", c, err)
	}
	sample, err := sync.Try(t.Context())
	if err != nil || !sample.Found || sample.Spans < 1 {
		t.Errorf("%+v, %v", sample, err)
	}
	if len(s.disk) > 0 || len(s.stored) > 0 || len(state.Pending) > 0 {
		t.Error("something was written, sent or noted")
	}
}
