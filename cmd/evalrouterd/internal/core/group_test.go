package core_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// TestGroupState walks every combination of two and of three members, and holds
// each to the counts of its members' states.
func TestGroupState(t *testing.T) {
	t.Parallel()
	all := []core.State{core.Queued, core.Running, core.Stopping, core.Completed, core.Partial, core.Failed, core.Cancelled}
	want := func(members ...core.State) core.State {
		n := map[core.State]int{}
		for _, m := range members {
			n[m]++
		}
		switch {
		case n[core.Queued]+n[core.Running]+n[core.Stopping] > 0:
			return core.Running
		case n[core.Completed] == len(members):
			return core.Completed
		case n[core.Failed] == len(members):
			return core.Failed
		case n[core.Cancelled] == len(members):
			return core.Cancelled
		}
		return core.Partial
	}
	check := func(members ...core.State) {
		t.Helper()
		if got := core.GroupState(members); got != want(members...) {
			t.Errorf("%v is %s, want %s", members, got, want(members...))
		}
	}
	for _, a := range all {
		for _, b := range all {
			check(a, b)
			for _, c := range all {
				check(a, b, c)
			}
		}
	}
	if got := core.GroupState([]core.State{core.Completed, core.Completed, core.Completed, core.Completed, core.Completed, core.Completed, core.Completed, core.Cancelled}); got != core.Partial {
		t.Errorf("seven completed and one cancelled is %s", got)
	}
}

func micros(v ...int64) (out []usd.Micro) {
	for _, m := range v {
		out = append(out, usd.Micro(m))
	}
	return out
}

func TestSplitCap(t *testing.T) {
	t.Parallel()
	six := usd.Micro(6)
	for _, c := range []struct {
		name  string
		total usd.Micro
		least []usd.Micro
		fixed []*usd.Micro
		want  []usd.Micro // nil for none
	}{
		{name: "equal", total: 10, least: micros(1, 1), want: micros(5, 5)},
		{name: "remainder to the first", total: 11, least: micros(1, 1, 1), want: micros(4, 4, 3)},
		{name: "one needs more", total: 10, least: micros(1, 8, 1), want: micros(1, 8, 1)},
		{name: "one need makes another's share too small", total: 12, least: micros(5, 1, 6), want: micros(5, 1, 6)},
		{name: "not enough", total: 10, least: micros(5, 6)},
		{name: "one is asked for", total: 10, least: micros(1, 1, 1), fixed: []*usd.Micro{nil, &six, nil}, want: micros(2, 6, 2)},
		{name: "asked for below its need", total: 10, least: micros(1, 7), fixed: []*usd.Micro{nil, &six}},
		{name: "all asked for, too little", total: 13, least: micros(1, 1), fixed: []*usd.Micro{&six, &six}},
		{name: "all asked for", total: 12, least: micros(1, 1), fixed: []*usd.Micro{&six, &six}, want: micros(6, 6)},
		{name: "more asked for than there is", total: 9, least: micros(1, 1), fixed: []*usd.Micro{&six, &six}},
		{name: "nothing for one of them", total: 1, least: micros(0, 0)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.fixed == nil {
				c.fixed = make([]*usd.Micro, len(c.least))
			}
			got, ok := core.SplitCap(c.total, c.least, c.fixed)
			if ok != (c.want != nil) || ok && fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got %v, %v; want %v", got, ok, c.want)
			}
		})
	}
}

// TestSplitCapProperties: the caps add up to the total, nobody has less than it
// needs, those that have more than they need are within one micro-dollar of
// each other, and a total that covers every need always finds caps.
func TestSplitCapProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(core.MinMembers, core.MaxMembers).Draw(t, "members")
		var need usd.Micro
		least := make([]usd.Micro, n)
		for i := range least {
			least[i] = usd.Micro(rapid.Int64Range(1, 2_000_000).Draw(t, "least"))
			need += least[i]
		}
		total := usd.Micro(rapid.Int64Range(1, 20_000_000).Draw(t, "total"))
		caps, ok := core.SplitCap(total, least, make([]*usd.Micro, n))
		if ok != (total >= need) {
			t.Fatalf("a total of %d for needs of %d: %v", total, need, ok)
		}
		if !ok {
			return
		}
		var sum usd.Micro
		low, high := usd.Micro(1<<62), usd.Micro(0)
		for i, c := range caps {
			sum += c
			if c < least[i] {
				t.Fatalf("member %d has %d and needs %d", i, c, least[i])
			}
			if c > least[i] {
				low, high = min(low, c), max(high, c)
			}
		}
		if sum != total {
			t.Fatalf("caps add up to %d, not %d", sum, total)
		}
		if high > low+1 {
			t.Fatalf("caps %v differ without a need", caps)
		}
		for i, c := range caps {
			if c == least[i] && high > 0 && c < low-1 {
				t.Fatalf("member %d has its need of %d while others share %d", i, c, low)
			}
		}
	})
}
