package engine_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/engine"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// everything is what a continuation may need to be agreed to.
var everything = []string{core.ConsentLeftOut, core.ConsentRetryUnknown, core.ConsentDuplicates}

func (w *world) continuation(run core.RunID, cap usd.Micro, f core.Flags) (core.Quote, error) {
	return w.admit.Continue(context.Background(), scope, admission.ContinuationRequest{Run: run, Cap: &cap, Flags: f})
}

func (w *world) accept(q core.Quote, accepted ...string) (core.RunID, error) {
	out, err := w.admit.Start(context.Background(), scope, admission.RunRequest{
		Quote: q.ID, Op: "POST /runs", Key: string(q.ID), RequestHash: "h", Accepted: accepted,
		Encode: func(r core.Run, _ core.Quote) ([]byte, error) { return json.Marshal(r.ID) },
	})
	return out.Run, err
}

// resume continues a run to its end.
func (w *world) resume(run core.RunID, cap usd.Micro, f core.Flags) core.Run {
	w.t.Helper()
	q, err := w.continuation(run, cap, f)
	if err != nil {
		w.t.Fatal(err)
	}
	id, err := w.accept(q, everything...)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.wait(id)
}

// scores are the bits of each score of a run, by task.
func (w *world) scores(run core.RunID) map[string]uint64 {
	w.t.Helper()
	out := map[string]uint64{}
	for row, err := range w.store.Samples(context.Background(), scope, run, 0) {
		if err != nil {
			w.t.Fatal(err)
		}
		if row.Score != nil {
			out[row.TaskID] = math.Float64bits(*row.Score)
		}
	}
	return out
}

func refused(t *testing.T, err error, code core.Code) *core.Refusal {
	t.Helper()
	var no *core.Refusal
	if !errors.As(err, &no) || no.Code != code {
		t.Fatalf("%v, want %s", err, code)
	}
	return no
}

// half answers every other task rightly: a deterministic model.
func half(task bundle.Task, _ int) provider.Outcome {
	if len(task.ID)%2 == 0 || strings.ContainsAny(task.ID[len(task.ID)-1:], "02468ace") {
		return say(right(task), 10, 10)
	}
	return say(wrong(task), 10, 10)
}

// A run that its cap stopped is continued twice. Every task is asked once in the
// whole chain, what was graded costs nothing again, and the scores are those of
// a run that nothing stopped, bit for bit.
func TestResume_RES03_RES04_RES05_RES06_ScoreOfTheWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, half)
	whole := w.wait(w.start(24, 10*usd.Dollar, 4))
	one := whole.Charged / 24
	for task := range w.adapter.asked {
		delete(w.adapter.asked, task)
	}
	first := w.wait(w.start(24, worstCase+8*one, 4))
	if first.Reason != core.SpendingCap || first.Tallies.Graded() == 0 {
		t.Fatalf("the first run ended as %s with %v", first.Reason, first.Tallies)
	}
	before := w.result(first.ID)
	second := w.resume(first.ID, worstCase+6*one, core.Flags{})
	third := w.resume(second.ID, 10*usd.Dollar, core.Flags{})
	if third.State != core.Completed || third.ChainPos != 2 || third.ChainRoot != first.ID || third.SourceRun != second.ID {
		t.Fatalf("the last run is %s, place %d of chain %s", third.State, third.ChainPos, third.ChainRoot)
	}
	if diff := cmp.Diff(w.scores(whole.ID), w.scores(third.ID)); diff != "" {
		t.Error("the scores differ from those of a run that nothing stopped:", diff)
	}
	if diff := cmp.Diff(w.result(whole.ID).Metrics, w.result(third.ID).Metrics); diff != "" {
		t.Error("the figures differ:", diff)
	}
	for task, n := range w.adapter.asked {
		if n != 1 {
			t.Errorf("%s was asked %d times", task, n)
		}
	}
	if sum := first.Charged + second.Charged + third.Charged; len(w.adapter.asked) != 24 || sum != whole.Charged {
		t.Errorf("%d tasks were asked for %s, want 24 for %s", len(w.adapter.asked), sum, whole.Charged)
	}
	if after := w.result(first.ID); after.Checksum != before.Checksum {
		t.Error("the result of the first run has changed")
	}
}

// lost loses the answers of tasks whose order says so, as long as they are to.
type lost struct {
	mu    sync.Mutex
	lose  func(task string, attempt int) bool
	tries map[string]int
}

func (l *lost) answer(task bundle.Task, _ int) provider.Outcome {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tries[task.ID]++
	if l.lose(task.ID, l.tries[task.ID]) {
		return provider.Outcome{Class: provider.Unknown, Reason: "timeout"}
	}
	return say(right(task), 10, 10)
}

// A task whose outcome is unknown stays pending, is asked again only with
// consent, and with another consent if that was lost too.
func TestResume_RES46_RES48_RES49_RES51_UnknownOutcomes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	l := &lost{tries: map[string]int{}}
	var unlucky string
	l.lose = func(task string, attempt int) bool {
		if unlucky == "" {
			unlucky = task
		}
		return task == unlucky && attempt <= 2
	}
	w.adapter.answer = l.answer
	first := w.wait(w.start(8, 10*usd.Dollar, 1))
	if first.State != core.Partial || first.Tallies[core.ProviderError] != 1 {
		t.Fatalf("the first run is %s, %v", first.State, first.Tallies)
	}
	_, err := w.continuation(first.ID, 10*usd.Dollar, core.Flags{})
	if no := refused(t, err, core.NothingToResume); no.Details["unknown"] != 1 {
		t.Errorf("the refusal does not tell of the unknown task: %v", no.Details)
	}
	q, err := w.continuation(first.ID, 10*usd.Dollar, core.Flags{RetryUnknown: true})
	if err != nil {
		t.Fatal(err)
	}
	if c := q.Continuation.Cells; c.Reused != 7 || c.Retried != 1 || c.Unknown != 1 || c.Tries != 1 {
		t.Errorf("the quote counts %+v", c)
	}
	refusedStart(t, w, q)
	id, err := w.accept(q, core.ConsentRetryUnknown)
	if err != nil {
		t.Fatal(err)
	}
	second := w.wait(id)
	if second.Charged != 0 || second.Tallies[core.ProviderError] != 1 || l.tries[unlucky] != 2 {
		t.Errorf("the new attempt that was lost too cost %s; %v", second.Charged, second.Tallies)
	}
	_, err = w.continuation(second.ID, 10*usd.Dollar, core.Flags{})
	refused(t, err, core.NothingToResume)
	third := w.resume(second.ID, 10*usd.Dollar, core.Flags{RetryUnknown: true})
	if third.State != core.Completed || third.Tallies.Graded() != 8 || l.tries[unlucky] != 3 {
		t.Errorf("the third run is %s, %v", third.State, third.Tallies)
	}
}

// refusedStart starts nothing without the consent to ask again.
func refusedStart(t *testing.T, w *world, q core.Quote) {
	t.Helper()
	_, err := w.accept(q)
	no := refused(t, err, core.InvalidRequest)
	if !strings.Contains(fmt.Sprint(no.Details), core.ConsentRetryUnknown) {
		t.Errorf("the refusal names %v", no.Details)
	}
}

// A run is continued once. Whoever comes second is told by whom.
func TestResume_RES25_OnlyOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, half)
	first := w.wait(w.start(20, worstCase, 1))
	var quotes []core.Quote
	for range 4 {
		q, err := w.continuation(first.ID, 10*usd.Dollar, core.Flags{})
		if err != nil {
			t.Fatal(err)
		}
		quotes = append(quotes, q)
	}
	ids, errs := make([]core.RunID, len(quotes)), make([]error, len(quotes))
	var all sync.WaitGroup
	for i, q := range quotes {
		all.Go(func() { ids[i], errs[i] = w.accept(q) })
	}
	all.Wait()
	winner := core.RunID("")
	for i := range ids {
		if errs[i] == nil {
			if winner != "" {
				t.Errorf("two continuations began: %s and %s", winner, ids[i])
			}
			winner = ids[i]
		}
	}
	for i := range errs {
		if errs[i] != nil {
			if no := refused(t, errs[i], core.ContinuationExists); no.Details["run_id"] != string(winner) {
				t.Errorf("the refusal names %v, and %s is the continuation", no.Details, winner)
			}
		}
	}
	if got := w.wait(winner); got.State != core.Completed {
		t.Errorf("the continuation is %s", got.State)
	}
}

// fickle is a catalog whose graders can begin to judge otherwise under the same
// name, as a change of a library beneath them would make them.
type fickle struct {
	engine.Tasks
	changed *atomic.Bool
}

func (f fickle) Grader(p core.Profile) (bundle.Grader, error) {
	g, err := f.Tasks.Grader(p)
	return moody{g, f.changed}, err
}

type moody struct {
	bundle.Grader
	changed *atomic.Bool
}

func (m moody) Grade(t bundle.Task, a bundle.Answer) (bundle.Verdict, error) {
	v, err := m.Grader.Grade(t, a)
	if m.changed.Load() && v.Outcome == bundle.Right {
		v.Outcome, v.Score = bundle.Wrong, 0
	}
	return v, err
}

// A reused answer is graded again when the continuation ends. Where that gives
// another score the grade that was taken over stands, and the chain says so.
func TestResume_CHN09_Mismatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(task bundle.Task, _ int) provider.Outcome { return say(right(task), 10, 10) })
	changed := &atomic.Bool{}
	w.rewire(func(o *engine.Options) { o.Tasks = fickle{o.Tasks, changed} })
	first := w.wait(w.start(12, worstCase+4*30, 1))
	graded := first.Tallies.Graded()
	changed.Store(true)
	second := w.resume(first.ID, 10*usd.Dollar, core.Flags{})
	found, err := w.store.Continuation().Mismatches(context.Background(), scope, second.ID)
	if err != nil || len(found) != graded || graded == 0 {
		t.Fatalf("%d mismatches of %d reused answers, %v", len(found), graded, err)
	}
	if found[0].Original != 1 || *found[0].Replayed != 0 || second.Tallies[bundle.Right] != graded || second.Tallies[bundle.Wrong] != 12-graded {
		t.Errorf("%+v; the run holds %v", found[0], second.Tallies)
	}
	if !strings.Contains(strings.Join(w.result(second.ID).Warnings, " "), "reuse_score_mismatch") {
		t.Errorf("the result warns of %q", w.result(second.ID).Warnings)
	}
	changed.Store(false)
	clean := w.wait(w.start(12, worstCase+4*30, 1))
	third := w.resume(clean.ID, 10*usd.Dollar, core.Flags{})
	if found, err := w.store.Continuation().Mismatches(context.Background(), scope, third.ID); err != nil || len(found) > 0 {
		t.Errorf("a grader that did not change mismatches: %v, %v", found, err)
	}
}

// A recorded answer that came too late for its run is graded by the
// continuation, and nobody is asked or charged.
func TestResume_RES43_RES50_SavedResponse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var late core.Response
	l := &lost{tries: map[string]int{}}
	l.lose = func(string, int) bool { return len(l.tries) == 1 }
	w.adapter.answer = func(task bundle.Task, n int) provider.Outcome {
		out := l.answer(task, n)
		if out.Class == provider.Unknown {
			late.Raw = []byte(right(task))
		}
		return out
	}
	first := w.wait(w.start(6, 10*usd.Dollar, 1))
	ctx := context.Background()
	late.Run, late.Idx, late.RawSHA256, late.ExpiresAt = first.ID, 0, sum(late.Raw), 1<<60
	late.Call = callOf(t, w, first.ID, 0)
	if state, err := w.store.Late(ctx, late); err != nil || state != core.CallLate {
		t.Fatalf("the late answer is %s, %v", state, err)
	}
	q, err := w.continuation(first.ID, 10*usd.Dollar, core.Flags{})
	if err != nil {
		t.Fatal(err)
	}
	if c := q.Continuation.Cells; c.Saved != 1 || c.Reused != 5 || c.Asked() != 0 {
		t.Fatalf("the quote counts %+v", c)
	}
	id, err := w.accept(q)
	if err != nil {
		t.Fatal(err)
	}
	if second := w.wait(id); second.State != core.Completed || second.Charged != 0 || second.Tallies[bundle.Right] != 6 {
		t.Errorf("it is %s for %s, %v", second.State, second.Charged, second.Tallies)
	}
	if after, err := w.store.Run(ctx, scope, first.ID); err != nil || after.Charged != first.Charged {
		t.Errorf("the late answer was charged: %s after %s, %v", after.Charged, first.Charged, err)
	}
	if n := len(l.tries); n != 6 || l.tries[taskAt(t, w, first.ID, 0)] != 1 {
		t.Errorf("%d tasks were asked: %v", n, l.tries)
	}
}

func sum(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

func callOf(t *testing.T, w *world, run core.RunID, idx int) core.CallID {
	t.Helper()
	s, err := sql.Open("sqlite", "file:"+w.database()+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var id core.CallID
	if err := s.QueryRow(`SELECT c.id FROM calls c JOIN runs r ON r.num = c.run WHERE r.id = ? AND c.idx = ?`, string(run), idx).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return id
}

func taskAt(t *testing.T, w *world, run core.RunID, idx int) string {
	t.Helper()
	for row, err := range w.store.Samples(context.Background(), scope, run, idx) {
		if err != nil {
			t.Fatal(err)
		}
		return row.TaskID
	}
	return ""
}

// What a quote asked must be what is asked now: a benchmark or a model that has
// changed refuses the evidence.
func TestResume_RES58_OtherScope(t *testing.T) {
	t.Parallel()
	w := newWorld(t, half)
	first := w.wait(w.start(20, worstCase+3*30, 1))
	for _, tt := range []struct{ name, path, value, want string }{
		{"model", "$.target.revision", "2", "model"},
		{"manifest", "$.profile.manifest_sha256", `"other"`, "benchmark"},
		{"grader", "$.profile.grader.compat", `"other"`, "grader"},
	} {
		s, err := sql.Open("sqlite", "file:"+w.database()+"?_pragma=busy_timeout(5000)")
		if err != nil {
			t.Fatal(err)
		}
		var was string
		if err := s.QueryRow(`SELECT doc FROM quotes WHERE id = ?`, string(first.QuoteID)).Scan(&was); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Exec(`UPDATE quotes SET doc = json_set(doc, ?, json(?), '$.scope_hash', 'other') WHERE id = ?`, tt.path, tt.value, string(first.QuoteID)); err != nil {
			t.Fatal(err)
		}
		_, err = w.continuation(first.ID, 10*usd.Dollar, core.Flags{})
		if no := refused(t, err, core.EvidenceUnfit); !strings.Contains(fmt.Sprint(no.Details["reasons"]), tt.want) {
			t.Errorf("%s: the refusal names %v", tt.name, no.Details)
		}
		if _, err := s.Exec(`UPDATE quotes SET doc = ? WHERE id = ?`, was, string(first.QuoteID)); err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
	if got := w.resume(first.ID, 10*usd.Dollar, core.Flags{}); got.State != core.Completed {
		t.Errorf("unchanged, it ends as %s", got.State)
	}
}
