package sim_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// What happens to those who resume. A larger number of histories must meet all
// of it.
var resumeEdges = []string{
	"resumed", "resumed with consent", "resume lost to another", "resume quote was stale", "late answer before the yes",
	"resume refused nothing_to_resume", "resume refused run_not_finished", "resume refused continuation_exists", "resume refused resume_unsupported",
	"chain of 2", "chain of 3", "saved response", "left out",
}

// resume lets two processes go on with one run at the same time.
func (w *world) resume() {
	id := w.runs[w.s.random.IntN(len(w.runs))]
	f := core.Flags{IncludeCancelled: w.s.random.IntN(2) == 0, RetryUnknown: w.s.random.IntN(3) == 0}
	for range 2 {
		w.s.spawn(func() { w.continues(id, f) })
	}
}

// continues is one process: it quotes, thinks, and says yes.
func (w *world) continues(id core.RunID, f core.Flags) {
	ctx := context.Background()
	cap := usd.Micro(300 + w.s.random.IntN(12_000))
	q, err := w.admit.Continue(ctx, scope, admission.ContinuationRequest{Run: id, Cap: &cap, Flags: f})
	if w.declined("resume refused ", err) {
		return
	}
	w.check(err)
	w.point("resume quoted")
	if w.s.random.IntN(3) == 0 {
		w.arrive(id)
	}
	w.point("resume accepted")
	req := admission.RunRequest{
		Quote: q.ID, Op: "POST /runs", Key: "key-" + string(q.ID), RequestHash: "h", Accepted: []string{core.ConsentLeftOut, core.ConsentRetryUnknown},
		Encode: func(r core.Run, _ core.Quote) ([]byte, error) { return json.Marshal(r.ID) },
	}
	out, err := w.admit.Start(ctx, scope, req)
	if errors.Is(err, &core.Refusal{Code: core.InsufficientCredit}) {
		w.check(w.store.Grant(ctx, w.id(), core.Local, core.PracticeBook, q.Cap, "top up"))
		out, err = w.admit.Start(ctx, scope, req)
	}
	var no *core.Refusal
	switch {
	case errors.As(err, &no) && no.Code == core.ContinuationExists:
		w.seen["resume lost to another"]++
		if now, err := w.store.Run(ctx, scope, id); err != nil || now.ContinuedBy == "" {
			w.t.Errorf("run %s is continued by %q, %v, and a second one was refused", id, now.ContinuedBy, err)
		}
		return
	case errors.As(err, &no) && no.Code == core.QuoteStale:
		w.seen["resume quote was stale"]++
		return
	}
	w.check(err)
	w.began(q, out.Run)
}

func (w *world) declined(what string, err error) bool {
	var no *core.Refusal
	if !errors.As(err, &no) {
		return false
	}
	w.seen[what+string(no.Code)]++
	return true
}

// began takes a continuation into account: what somebody consented to have asked
// again may be worked on once more.
func (w *world) began(q core.Quote, run core.RunID) {
	c := q.Continuation
	w.seen["resumed"]++
	w.seen[fmt.Sprintf("chain of %d", len(c.Chain)+1)]++
	w.seen["saved response"] += c.Cells.Saved
	w.seen["left out"] += c.Cells.Left()
	w.adopt()
	if c.Cells.Retried > 0 {
		w.seen["resumed with consent"]++
	}
	r, err := w.store.Run(context.Background(), scope, run)
	w.check(err)
	if r.SourceRun != c.Source || r.ChainPos != len(c.Chain) || r.Tallies.Graded() != c.Cells.Reused {
		w.t.Errorf("run %s goes on with %s at place %d and holds %v; quoted were %+v", run, r.SourceRun, r.ChainPos, r.Tallies, c)
	}
}

// adopt finds the runs that a process started and did not live to tell of.
func (w *world) adopt() {
	ctx := context.Background()
	known := map[core.RunID]bool{}
	for _, id := range w.runs {
		known[id] = true
	}
	found, err := w.store.Runs(ctx, scope, store.RunFilter{Limit: 16})
	w.check(err)
	for i := len(found) - 1; i >= 0; i-- {
		r := found[i]
		if known[r.ID] {
			continue
		}
		w.runs = append(w.runs, r.ID)
		q, err := w.store.Quote(ctx, scope, r.QuoteID)
		w.check(err)
		w.likely[r.ID] = len(q.Profile.Needs) > 0
		w.allow(r, q.Quote)
	}
}

// allow lets the provider work once more on what a run asks again with consent.
func (w *world) allow(r core.Run, q core.Quote) {
	ctx := context.Background()
	for s, err := range w.store.Samples(ctx, scope, r.ID, 0) {
		w.check(err)
		if s.Origin != core.OriginRetried {
			continue
		}
		task, err := w.catalog.Task(ctx, q.Profile, q.Order().At(s.Idx))
		w.check(err)
		if w.likely[r.ID] {
			for _, ask := range w.asks(q, task) {
				w.allowed[prompt(provider.RequestForAsk(q, task, ask))]++
			}
			continue
		}
		w.allowed[prompt(provider.RequestFor(q, task))]++
	}
}

// asks are the parts of a task.
func (w *world) asks(q core.Quote, task bundle.Task) []bundle.Ask {
	g, err := w.catalog.Grader(q.Profile)
	w.check(err)
	asks, err := g.(bundle.Likely).Asks(task)
	w.check(err)
	return asks
}

// lostCall is the first call of a run whose outcome nobody knows.
func (w *world) lostCall(id core.RunID) (idx int, call core.CallID) {
	w.raw(func(db *sql.DB) error {
		err := db.QueryRow(`SELECT idx, id FROM calls WHERE run = (SELECT num FROM runs WHERE id = ?) AND state = 'unknown' ORDER BY idx LIMIT 1`, string(id)).Scan(&idx, &call)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return idx, call
}

// arrive makes an answer come that its run had given up.
func (w *world) arrive(id core.RunID) {
	ctx := context.Background()
	r, err := w.store.Run(ctx, scope, id)
	w.check(err)
	q, err := w.store.Quote(ctx, scope, r.QuoteID)
	w.check(err)
	if len(q.Judges) > 0 || len(q.Profile.Needs) > 0 || !r.State.Terminal() {
		return
	}
	idx, call := w.lostCall(id)
	if call == "" {
		return
	}
	raw := []byte("42")
	sum := sha256.Sum256(raw)
	state, err := w.store.Late(ctx, core.Response{
		Run: id, Workspace: core.Local, Book: core.PracticeBook, Idx: idx, Call: call, Raw: raw, RawSHA256: hex.EncodeToString(sum[:]), Finish: "stop", ExpiresAt: 1 << 60,
	})
	w.check(err)
	if state == core.CallLate {
		w.seen["late answer before the yes"]++
	}
}

// Two processes that resume one run, a thousand times: one of them wins, and the
// other learns which run it is.
func TestResumeRaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.model.faults = false
	ctx := context.Background()
	races := min(16, *seeds)
	if *seeds > someSeeds { // scripts/prove sim
		races = 1000
	}
	w.check(w.store.Grant(ctx, "races", core.Local, core.PracticeBook, usd.Dollar*1000, ""))
	p, err := w.catalog.Generate(ctx, "arithmetic", 77, 60)
	w.check(err)
	n, cap := 2, usd.Micro(300)
	for range races {
		w.submit(admission.QuoteRequest{Profile: p.ID, Route: target.RouteID, SampleCount: &n, Cap: &cap, Concurrency: core.Concurrency{N: 1}})
		for w.s.step() {
		}
		id, before := w.runs[len(w.runs)-1], w.seen["resumed"]
		lost := w.seen["resume lost to another"] + w.seen["resume refused continuation_exists"]
		for range 2 {
			w.s.spawn(func() { w.continues(id, core.Flags{}) })
		}
		for w.s.step() {
		}
		if won := w.seen["resumed"] - before; won != 1 || w.seen["resume lost to another"]+w.seen["resume refused continuation_exists"]-lost != 1 {
			t.Fatalf("%d processes continue run %s: %v", won, id, w.seen)
		}
	}
	w.model.processed = map[string]int{} // every run of this test asks the same tasks
	w.oracle()
	w.s.crash()
	w.check(w.store.Close())
	t.Logf("%d races: %d lost at the yes, %d at the quote", races, w.seen["resume lost to another"], w.seen["resume refused continuation_exists"])
}
