package sim_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/group"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// siblings are the route of single runs and those that a group has beside it.
func siblings() []core.Target {
	all := []core.Target{target}
	for i := range core.MaxMembers - 1 {
		t := target
		t.RouteID = core.RouteID(fmt.Sprint("practice.sim-", i))
		t.ModelID = fmt.Sprint("sim-", i)
		all = append(all, t)
	}
	return all
}

// together is a group of a history with what was read of it before.
type together struct {
	group core.Group
	cap   usd.Micro
	told  []group.Event
	state core.State
}

// TestGroupHistories plays histories of groups: members that run side by side,
// are cancelled one by one or all at once, and die with the machine. At every
// look the charges are within the caps, a group's state is what its members
// give and final once it is, and its log only grows.
func TestGroupHistories(t *testing.T) {
	seen := map[core.State]int{}
	for i := range max(*seeds/8, 1) {
		seed := 1<<32 + *first + uint64(i)
		one, ends := groupHistory(t, seed)
		two, _ := groupHistory(t, seed)
		if one != two {
			t.Errorf("seed %d gave two histories", seed)
		}
		for s, n := range ends {
			seen[s] += n
		}
	}
	t.Logf("groups ended as %v", seen)
	if *seeds >= 20 && (seen[core.Partial] == 0 || seen[core.Completed]+seen[core.Failed]+seen[core.Cancelled] == 0) {
		t.Errorf("the histories are all alike: groups ended as %v", seen)
	}
}

func groupHistory(t *testing.T, seed uint64) (string, map[core.State]int) {
	t.Helper()
	w := newWorld(t, seed)
	var all []*together
	for range 1 + w.s.random.IntN(2) {
		all = append(all, w.startGroup())
	}
	for range 200 + w.s.random.IntN(2000) {
		switch n := w.s.random.IntN(1000); {
		case n < 4:
			w.crash()
		case n < 6:
			w.cancel()
		case n < 7:
			w.cancelGroup(all[w.s.random.IntN(len(all))])
		case n < 27:
			w.look(all[w.s.random.IntN(len(all))])
		}
		if !w.s.step() {
			break
		}
	}
	w.crash()
	w.model.faults = false
	for w.s.step() {
	}
	ends := map[core.State]int{}
	for _, g := range all {
		w.look(g)
		if !g.state.Terminal() {
			t.Errorf("seed %d: a group is %s at the end", seed, g.state)
		}
		ends[g.state]++
	}
	return w.end(), ends
}

// startGroup admits a group, as an impatient user does.
func (w *world) startGroup() *together {
	ctx := context.Background()
	p, err := w.catalog.Generate(ctx, "arithmetic", uint64(2000+len(w.runs)), 30)
	w.check(err)
	n, members := 1+w.s.random.IntN(20), core.MinMembers+w.s.random.IntN(core.MaxMembers-core.MinMembers+1)
	cap := usd.Micro(members * (310 + w.s.random.IntN(4000)))
	r := admission.GroupQuoteRequest{Cap: &cap}
	for _, t := range siblings()[:members] {
		r.Members = append(r.Members, admission.QuoteRequest{Profile: p.ID, Route: t.RouteID, SampleCount: &n, Concurrency: core.Concurrency{N: 1 + w.s.random.IntN(4)}})
	}
	q, err := w.admit.QuoteGroup(ctx, scope, r)
	w.check(err)
	req := groupRequest(q.ID)
	before := w.held()
	out, err := w.admit.StartGroup(ctx, scope, req)
	if errors.Is(err, &core.Refusal{Code: core.InsufficientCredit}) {
		if now := w.held(); now != before {
			w.t.Errorf("a refused group holds %s", now-before)
		}
		w.check(w.store.Grant(ctx, w.id(), core.Local, core.PracticeBook, cap, "top up"))
		out, err = w.admit.StartGroup(ctx, scope, req)
	}
	w.check(err)
	again, err := w.admit.StartGroup(ctx, scope, req)
	w.check(err)
	if again.Run != out.Run || !again.Replayed {
		w.t.Errorf("a repeated submission gave %+v after %+v", again, out)
	}
	req.Once.Key = "another"
	if _, err := w.admit.StartGroup(ctx, scope, req); !errors.Is(err, &core.Refusal{Code: core.QuoteAlreadyAccepted}) {
		w.t.Errorf("another key with the same quote: %v", err)
	}
	g, err := w.store.Groups().Group(ctx, scope, core.GroupID(out.Run))
	w.check(err)
	if len(g.Members) != members {
		w.t.Errorf("%d of %d members were admitted", len(g.Members), members)
	}
	w.runs = append(w.runs, g.Members...)
	return &together{group: g, cap: cap}
}

func (w *world) held() usd.Micro {
	c, err := w.store.Credits(context.Background(), core.Local, core.PracticeBook)
	w.check(err)
	return c.Held
}

func (w *world) cancelGroup(g *together) {
	for _, id := range g.group.Members {
		w.check(w.store.RequestCancel(context.Background(), scope, id))
		w.engine.Wake(core.Local, id)
	}
}

// look reads a group as its user does and holds it to what was read before.
func (w *world) look(g *together) {
	w.t.Helper()
	ctx := context.Background()
	var states []core.State
	var caps, used usd.Micro
	for _, id := range g.group.Members {
		r, err := w.store.Run(ctx, scope, id)
		w.check(err)
		states = append(states, r.State)
		caps, used = caps+r.Cap, used+r.Spend()+r.Reserved
	}
	if caps != g.cap || used > g.cap {
		w.t.Errorf("caps of %s and %s used in a group of %s", caps, used, g.cap)
	}
	state := core.GroupState(states)
	if g.state.Terminal() && state != g.state {
		w.t.Errorf("a group that was %s is %s", g.state, state)
	}
	g.state = state
	told, err := w.store.Groups().Events(ctx, g.group, 0, nil, 1<<20)
	w.check(err)
	if len(told) < len(g.told) || fmt.Sprint(told[:len(g.told)]) != fmt.Sprint(g.told) {
		w.t.Errorf("a group's log changed: %d events, %d before", len(told), len(g.told))
	}
	for i, e := range told {
		if e.Seq != int64(i+1) {
			w.t.Errorf("event %d has sequence %d", i, e.Seq)
		}
	}
	g.told = told
}
