package sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"hash/fnv"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// A chain of five runs and more, each stopped by its cap or hurt by the machine's
// death, ends with the scores of one run that nothing stopped, bit for bit.
func TestResumeChains(t *testing.T) {
	t.Parallel()
	chains := min(3, *seeds)
	if *seeds > someSeeds { // scripts/prove sim
		chains = *seeds / 5
	}
	longest, deaths := 0, 0
	for i := range chains {
		n, crashes := resumeChain(t, 1<<33+*first+uint64(i))
		longest, deaths = max(longest, n), deaths+crashes
	}
	t.Logf("%d chains, the longest of %d runs, with %d deaths", chains, longest, deaths)
}

// resumeChain plays one chain and says how many runs it had, and how often the
// machine died.
func resumeChain(t *testing.T, seed uint64) (length, deaths int) {
	t.Helper()
	w := newWorld(t, seed)
	ctx := context.Background()
	w.model.instead = w.steady
	w.check(w.store.Grant(ctx, "chains", core.Local, core.PracticeBook, 100*usd.Dollar, ""))
	p, err := w.catalog.Generate(ctx, "arithmetic", seed, 60)
	w.check(err)
	n, limit := 30, usd.Dollar
	ask := admission.QuoteRequest{Profile: p.ID, Route: target.RouteID, SampleCount: &n, Cap: &limit, Concurrency: core.Concurrency{N: 2}}
	w.submit(ask)
	for w.s.step() {
	}
	whole := w.scores(w.runs[0])
	if len(whole) != n {
		t.Fatalf("seed %d: %d of %d tasks are graded in the run that nothing stopped", seed, len(whole), n)
	}
	w.model.processed = map[string]int{} // the chain asks the same tasks

	little := usd.Micro(700) // for five tasks or six
	ask.Cap = &little
	w.submit(ask)
	for {
		for w.s.step() {
			if w.s.random.IntN(400) == 0 {
				w.crash()
			}
		}
		length++
		r, err := w.store.Run(ctx, scope, w.runs[len(w.runs)-1])
		w.check(err)
		if !r.State.Terminal() {
			t.Fatalf("seed %d: run %d of the chain is %s", seed, length, r.State)
		}
		if r.State == core.Completed {
			break
		}
		if length > 40 {
			t.Fatalf("seed %d: the chain comes to no end: %v", seed, r.Tallies)
		}
		w.goOn(r.ID, little)
	}
	if diff := cmp.Diff(whole, w.scores(w.runs[len(w.runs)-1])); diff != "" {
		t.Errorf("seed %d: after %d runs the scores are others: %s", seed, length, diff)
	}
	if length < 5 {
		t.Errorf("seed %d: the chain has %d runs", seed, length)
	}
	w.oracle()
	w.end()
	return length, w.crashes
}

// steady answers each task the same way each time: two of three rightly. What it
// works on is counted.
func (w *world) steady(r provider.Request) provider.Outcome {
	w.model.processed[prompt(r)]++
	w.point("answer on its way")
	h := fnv.New32()
	h.Write([]byte(r.Gold.ID))
	return w.model.say(bundle.Reply(*r.Gold, h.Sum32()%3 > 0, 1), 40, 20)
}

// goOn resumes a run, with the consents that it needs.
func (w *world) goOn(id core.RunID, limit usd.Micro) {
	w.t.Helper()
	ctx := context.Background()
	q, err := w.admit.Continue(ctx, scope, admission.ContinuationRequest{Run: id, Cap: &limit, Flags: core.Flags{RetryUnknown: true}})
	w.check(err)
	out, err := w.admit.Start(ctx, scope, admission.RunRequest{
		Quote: q.ID, Op: "POST /runs", Key: "key-" + string(q.ID), RequestHash: "h", Accepted: []string{core.ConsentLeftOut, core.ConsentRetryUnknown},
		Encode: func(r core.Run, _ core.Quote) ([]byte, error) { return json.Marshal(r.ID) },
	})
	w.check(err)
	w.began(q, out.Run)
}

// scores are the bits of each score of a run, by task.
func (w *world) scores(id core.RunID) map[string]uint64 {
	w.t.Helper()
	out := map[string]uint64{}
	for s, err := range w.store.Samples(context.Background(), scope, id, 0) {
		w.check(err)
		if s.Score != nil {
			out[s.TaskID] = math.Float64bits(*s.Score)
		}
	}
	return out
}

// Two processes that resume one group, each with a quote of its own and a person
// who thinks: one group begins, with every member that has something left, and the
// other process learns which it is.
func TestGroupResumeRaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 5)
	ctx := context.Background()
	w.model.instead = w.steady
	races := min(4, *seeds)
	if *seeds > someSeeds { // scripts/prove sim
		races = 1000
	}
	w.check(w.store.Grant(ctx, "races", core.Local, core.PracticeBook, 10_000*usd.Dollar, ""))
	p, err := w.catalog.Generate(ctx, "arithmetic", 78, 60)
	w.check(err)
	for range races {
		g := w.halted(p.ID)
		for range 2 {
			w.s.spawn(func() { w.regroups(g.ID) })
		}
		for w.s.step() {
		}
		now, err := w.store.Groups().Group(ctx, scope, g.ID)
		w.check(err)
		if now.ContinuedBy == "" {
			t.Fatalf("nobody goes on with group %s: %v", g.ID, w.seen)
		}
		next, err := w.store.Groups().Group(ctx, scope, now.ContinuedBy)
		w.check(err)
		for i, id := range g.Members {
			r, err := w.store.Run(ctx, scope, id)
			w.check(err)
			if len(next.Members) != len(g.Members) || r.ContinuedBy != next.Members[i] {
				t.Fatalf("run %s is continued by %q, beside group %s of %v", id, r.ContinuedBy, next.ID, next.Members)
			}
		}
	}
	if won, lost := w.seen["group resumed"], w.seen["group resume lost"]+w.seen["group resume refused continuation_exists"]; won != races || lost != races {
		t.Errorf("of %d races %d were won and %d lost: %v", races, won, lost, w.seen)
	}
	w.model.processed = map[string]int{} // every group of this test asks the same tasks
	w.adopt()
	w.oracle()
	w.s.crash()
	w.check(w.store.Close())
	t.Logf("%d races: %d lost at the yes, %d at the quote", races, w.seen["group resume lost"], w.seen["group resume refused continuation_exists"])
}

// halted is a group of two that its caps have stopped.
func (w *world) halted(p core.ProfileID) core.Group {
	w.t.Helper()
	ctx := context.Background()
	n, limit := 3, usd.Micro(2*380)
	r := admission.GroupQuoteRequest{Cap: &limit}
	for _, t := range siblings()[:2] {
		r.Members = append(r.Members, admission.QuoteRequest{Profile: p, Route: t.RouteID, SampleCount: &n, Concurrency: core.Concurrency{N: 1}})
	}
	q, err := w.admit.QuoteGroup(ctx, scope, r)
	w.check(err)
	out, err := w.admit.StartGroup(ctx, scope, groupRequest(q.ID))
	w.check(err)
	for w.s.step() {
	}
	g, err := w.store.Groups().Group(ctx, scope, core.GroupID(out.Run))
	w.check(err)
	w.runs = append(w.runs, g.Members...)
	return g
}

func groupRequest(q core.GroupQuoteID) admission.GroupRequest {
	return admission.GroupRequest{
		Quote: q, Name: "sim", Once: core.Once{Op: "POST /groups", Key: "key-" + string(q), Hash: "h"},
		Encode: func(g core.Group, _ []core.GroupMember) ([]byte, error) { return json.Marshal(g.ID) },
	}
}

// regroups is one process that resumes a group: it quotes, thinks, and says yes.
func (w *world) regroups(id core.GroupID) {
	ctx := context.Background()
	limit := usd.Micro(20_000)
	q, err := w.admit.ContinueGroup(ctx, scope, admission.GroupContinuationRequest{Group: id, Cap: &limit})
	if w.declined("group resume refused ", err) {
		return
	}
	w.check(err)
	w.point("group resume quoted")
	w.point("group resume accepted")
	_, err = w.admit.StartGroup(ctx, scope, groupRequest(q.ID))
	var no *core.Refusal
	if errors.As(err, &no) && no.Code == core.ContinuationExists {
		w.seen["group resume lost"]++
		now, err := w.store.Groups().Group(ctx, scope, id)
		w.check(err)
		if now.ContinuedBy == "" || no.Details["group_id"] != string(now.ContinuedBy) {
			w.t.Errorf("whoever came second is told %v; group %s is continued by %q", no.Details, id, now.ContinuedBy)
		}
		return
	}
	w.check(err)
	w.seen["group resumed"]++
}
