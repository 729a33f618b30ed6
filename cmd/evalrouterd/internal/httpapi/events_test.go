package httpapi_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/lib/api"
)

// live starts a run that never ends by itself: it was admitted, and no engine
// knows it.
func (h *harness) live(t *testing.T) core.RunID {
	t.Helper()
	return h.liveOf(t, h.quote(nil))
}

// liveOf is live of a quote.
func (h *harness) liveOf(t *testing.T, quote string) core.RunID {
	t.Helper()
	q, err := h.store.Quote(t.Context(), core.Scope{Workspace: core.Local}, core.QuoteID(quote))
	if err != nil {
		t.Fatal(err)
	}
	out, err := h.store.Admit(t.Context(), core.Admission{
		Scope: core.Scope{Workspace: core.Local, Actor: "test"}, Quote: q.ID, Op: "test", Key: string(q.ID), RequestHash: "x", RunID: "b0000000-0000-4000-8000-000000000001",
		TransferID: "live-transfer", ConsentID: "live-consent", Practice: true, Encode: func(core.Run, core.Quote) ([]byte, error) { return []byte("{}"), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Run
}

func (h *harness) events(t *testing.T, run core.RunID, query string) (p api.EventPage) {
	t.Helper()
	h.send("GET", "/v1/runs/"+string(run)+"/events?"+query, nil).want(t, 200).into(t, &p)
	return p
}

func TestLongPoll(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	run := h.live(t)
	known := h.events(t, run, "").NextSequence
	query := "wait_seconds=20&after=2"
	if known != 2 {
		t.Fatalf("the new run has %d events", known)
	}

	t.Run("wakes for a new event", func(t *testing.T) {
		waiting := make(chan struct{}, 8)
		h.changes.mu.Lock()
		h.changes.began = func() { waiting <- struct{}{} }
		h.changes.mu.Unlock()
		got := make(chan reply)
		go func() {
			r, err := h.try("GET", "/v1/runs/"+string(run)+"/events?"+query, nil)
			if err != nil {
				t.Error(err)
			}
			got <- r
		}()
		<-waiting
		if err := h.store.AppendEvent(t.Context(), run, core.EventProgress, map[string]any{"phase": "running"}); err != nil {
			t.Fatal(err)
		}
		h.changes.Publish(run)
		var p api.EventPage
		(<-got).want(t, 200).into(t, &p)
		if len(p.Data) != 1 || p.Data[0].Sequence != 3 || p.NextSequence != 3 || p.Terminal || p.HasMore {
			t.Errorf("the page is %+v", p)
		}
	})
	t.Run("answers at once when something is there", func(t *testing.T) {
		if p := h.events(t, run, query); len(p.Data) != 1 {
			t.Errorf("the page is %+v", p)
		}
	})
	t.Run("answers with nothing when the time is over", func(t *testing.T) {
		over := make(chan time.Time)
		close(over)
		h.after.Store(&over)
		defer h.after.Store(nil)
		if p := h.events(t, run, "wait_seconds=20&after=3"); len(p.Data) != 0 || p.NextSequence != 3 {
			t.Errorf("the page is %+v", p)
		}
	})
	t.Run("a change of another kind does not end it", func(t *testing.T) {
		over := make(chan time.Time)
		h.after.Store(&over)
		defer h.after.Store(nil)
		waiting := make(chan struct{}, 8)
		h.changes.mu.Lock()
		h.changes.began = func() { waiting <- struct{}{} }
		h.changes.mu.Unlock()
		got := make(chan reply)
		go func() {
			r, err := h.try("GET", "/v1/runs/"+string(run)+"/events?wait_seconds=20&after=3", nil)
			if err != nil {
				t.Error(err)
			}
			got <- r
		}()
		for range 3 {
			<-waiting // it looked, found nothing, and waits again
			h.changes.Publish(run)
		}
		<-waiting
		close(over)
		var p api.EventPage
		if (<-got).want(t, 200).into(t, &p); len(p.Data) != 0 {
			t.Errorf("the page is %+v", p)
		}
	})
}

// Whoever waits for events of some types is not woken by each of the others: the
// next look comes when the run has been quiet for a moment, and it has a limit.
func TestLongPoll_OfSomeTypes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		fires time.Duration // the timer that fires
	}{
		{"a moment without news", 5 * time.Millisecond},
		{"news without end", 50 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			set, fire := make(chan time.Duration, 64), make(chan time.Time)
			h := newHarness(t, func(o *httpapi.Options) {
				o.After = func(d time.Duration) <-chan time.Time {
					set <- d
					if d == tt.fires {
						return fire
					}
					return nil
				}
			})
			run := h.live(t)
			got, waiting := make(chan reply), make(chan struct{}, 64)
			h.changes.mu.Lock()
			h.changes.began = func() { waiting <- struct{}{} }
			h.changes.mu.Unlock()
			go func() {
				r, err := h.try("GET", "/v1/runs/"+string(run)+"/events?wait_seconds=20&after=2&type=run.progress", nil)
				if err != nil {
					t.Error(err)
				}
				got <- r
			}()
			for settling := false; !settling; {
				select {
				case <-waiting:
					h.changes.Publish(run)
				case d := <-set:
					settling = d == 5*time.Millisecond
				}
			}
			if err := h.store.AppendEvent(t.Context(), run, core.EventProgress, map[string]any{"phase": "running"}); err != nil {
				t.Fatal(err)
			}
			close(fire)
			var p api.EventPage
			if (<-got).want(t, 200).into(t, &p); len(p.Data) != 1 || p.Data[0].Type != core.EventProgress {
				t.Errorf("the page is %+v", p)
			}
		})
	}
}

func TestEventsOfSomeTypesAreLookedForOnce(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	run := core.RunID(h.finished(nil))
	all := h.events(t, run, "limit=200")
	if p := h.events(t, run, "type=run.waiting"); len(p.Data) != 0 || p.NextSequence != all.NextSequence {
		t.Errorf("the page is %+v; everything up to %d was looked at", p, all.NextSequence)
	}
	if p := h.events(t, run, "type=run.finished&limit=1"); len(p.Data) != 1 || p.NextSequence != all.NextSequence {
		t.Errorf("the page is %+v; it ends with the log, at %d", p, all.NextSequence)
	}
	if p := h.events(t, run, "type=task.graded&limit=1"); !p.HasMore || p.NextSequence != p.Data[0].Sequence {
		t.Errorf("the page is %+v; more of the type follow it", p)
	}
}

func TestEventQueries(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	run := core.RunID(h.finished(nil))
	all := h.events(t, run, "limit=200")
	n := int64(len(all.Data))
	for i, e := range all.Data {
		if e.Sequence != int64(i+1) {
			t.Fatalf("event %d has the sequence %d", i, e.Sequence)
		}
	}
	if !all.Terminal || all.HasMore || all.NextSequence != n || all.Data[n-1].Type != "run.finished" {
		t.Errorf("the log ends with terminal %v, has_more %v, next %d of %d, %s", all.Terminal, all.HasMore, all.NextSequence, n, all.Data[n-1].Type)
	}
	if p := h.events(t, run, "limit=1"); !p.HasMore || p.Terminal || p.NextSequence != 1 {
		t.Errorf("the first event alone: %+v", p)
	}
	if p := h.events(t, run, "tail=true&limit=2"); len(p.Data) != 2 || p.Data[0].Sequence != n-1 || p.Data[1].Sequence != n || !p.Terminal {
		t.Errorf("the tail is %+v", p)
	}
	if p := h.events(t, run, "type=run.queued&type=run.finished"); len(p.Data) != 2 || p.Data[0].Type != "run.queued" || p.Data[1].Type != "run.finished" {
		t.Errorf("two types list %+v", p)
	}
	if p := h.events(t, run, "wait_seconds=20&after="+"999"); len(p.Data) != 0 || !p.Terminal || p.NextSequence != 999 {
		t.Errorf("after the end: %+v", p)
	}
	for _, e := range all.Data {
		if e.Data["spend_microusd"] == nil || e.Data["reserved_microusd"] == nil {
			t.Errorf("event %d (%s) does not carry the run's money: %v", e.Sequence, e.Type, e.Data)
		}
	}
}

// TestStoppingStatus shows a run that stops by a person as cancelling and
// one that stops by itself as finalizing; both words are among the eight.
func TestStoppingStatus(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		stop func(h *harness, run core.RunID) error
		want api.RunStatus
	}{
		{"by a person", func(h *harness, run core.RunID) error {
			return h.store.RequestCancel(h.t.Context(), core.Scope{Workspace: core.Local}, run)
		}, api.StatusCancelling},
		{"by itself", func(h *harness, run core.RunID) error {
			return h.store.Stop(h.t.Context(), run, core.Stop{Reason: core.SpendingCap, Event: core.EventCapReached})
		}, api.StatusFinalizing},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t)
			run := h.live(t)
			if err := tt.stop(h, run); err != nil {
				t.Fatal(err)
			}
			var r api.RunRecord
			h.send("GET", "/v1/runs/"+string(run), nil).want(t, 200).into(t, &r)
			if r.Status != tt.want || r.TerminalReason != nil || r.BillingState != "pending" {
				t.Errorf("the run is %s because of %v, billing %s", r.Status, r.TerminalReason, r.BillingState)
			}
			for _, path := range []string{"/results", "/export"} {
				h.send("GET", "/v1/runs/"+string(run)+path, nil).refused(t, 409, "run_not_finished")
			}
		})
	}
}

// TestEventTypes holds the filter's words to every type that the domain can
// write: each is in its source, and each may be asked for.
func TestEventTypes(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "core", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	constant := regexp.MustCompile(`(?m)^\s*Event[A-Za-z]+\s*=\s*"([a-z_.]+)"`)
	found := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range constant.FindAllStringSubmatch(string(b), -1) {
			found++
			if !slices.Contains(httpapi.EventTypes(), m[1]) {
				t.Errorf("events of the type %s are written, and cannot be asked for", m[1])
			}
		}
	}
	if found < 18 {
		t.Errorf("only %d types were found in the source", found)
	}
}
