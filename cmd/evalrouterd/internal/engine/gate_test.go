package engine

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// pretender is a run at the gate without anything behind it.
type pretender struct {
	*share
	name              string
	ws                core.WorkspaceID
	route             int
	held, want, spare int
	told              bool
	resting           []*note
}

// note is a mail that never blocks: whoever waits looks into it.
type note struct{ told bool }

func (n *note) Put(Message)     { n.told = true }
func (n *note) Take() []Message { return nil }

func quoteOf(route string, ceiling int, judges ...core.Judge) core.Quote {
	return core.Quote{Target: core.Target{Kind: core.Managed, RouteID: core.RouteID(route), Ceiling: ceiling}, Judges: judges}
}

func (p *pretender) ask(want int) {
	n, _ := p.take(p.spare, want)
	p.held, p.spare, p.want, p.told = p.held-p.spare+n, n, want-n, false
}

func TestGate(t *testing.T) {
	t.Parallel()
	judge := core.Judge{Target: core.Target{Kind: core.Managed, RouteID: "j", Ceiling: 3}}
	for _, tt := range []struct {
		name       string
		workspaces []core.WorkspaceID
		quotes     []core.Quote
		ws         int
		wants      []int // asked in this order, again and again, each giving everything back first
		first      int   // what a run has that ends after the others have asked once
		rounds     int
		want       []int
		short      string // what the last one waits for
	}{
		{name: "one alone has all of its route", workspaces: []core.WorkspaceID{"a"}, quotes: []core.Quote{quoteOf("r", 1024)}, ws: 1024, wants: []int{1024}, rounds: 1, want: []int{1024}},
		{name: "two runs of one route", workspaces: []core.WorkspaceID{"a", "b"}, quotes: []core.Quote{quoteOf("r", 8), quoteOf("r", 8)}, ws: 100, wants: []int{8, 8}, rounds: 12, want: []int{4, 4}, short: waitsForRoute},
		{name: "who wants little gets it, the rest is the others'", workspaces: []core.WorkspaceID{"a", "b", "c"}, quotes: []core.Quote{quoteOf("r", 10), quoteOf("r", 10), quoteOf("r", 10)}, ws: 100, wants: []int{10, 10, 2}, rounds: 20, want: []int{4, 4, 2}},
		{name: "places that are free are shared at once", workspaces: []core.WorkspaceID{"a", "b"}, quotes: []core.Quote{quoteOf("r", 256), quoteOf("r", 256)}, ws: 1024, first: 256, wants: []int{256, 256}, rounds: 2, want: []int{128, 127}},
		{name: "two routes of one workspace", workspaces: []core.WorkspaceID{"a", "a"}, quotes: []core.Quote{quoteOf("r", 8), quoteOf("q", 8)}, ws: 6, wants: []int{8, 8}, rounds: 12, want: []int{3, 3}, short: waitsForWorkspace},
		{name: "two routes of two workspaces share nothing", workspaces: []core.WorkspaceID{"a", "b"}, quotes: []core.Quote{quoteOf("r", 8), quoteOf("q", 5)}, ws: 100, wants: []int{8, 8}, rounds: 2, want: []int{8, 5}, short: waitsForRoute},
		{name: "a judge of both", workspaces: []core.WorkspaceID{"a", "b"}, quotes: []core.Quote{quoteOf("r", 8, judge), quoteOf("q", 8, judge)}, ws: 100, wants: []int{8, 8}, rounds: 12, want: []int{2, 1}, short: waitsForJudge},
		{name: "a model that judges itself takes one place", workspaces: []core.WorkspaceID{"a"}, quotes: []core.Quote{quoteOf("j", 3, judge)}, ws: 100, wants: []int{3}, rounds: 1, want: []int{3}},
		{name: "the newest quote knows the limit", workspaces: []core.WorkspaceID{"a", "b"}, quotes: []core.Quote{quoteOf("r", 8), quoteOf("r", 2)}, ws: 100, wants: []int{8, 8}, rounds: 12, want: []int{1, 1}, short: waitsForRoute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := newGate(tt.ws)
			runs := make([]*share, len(tt.quotes))
			held, short := make([]int, len(runs)), make([]string, len(runs))
			for i, q := range tt.quotes {
				runs[i] = g.join(tt.workspaces[i], q, core.Micros(i), func() {})
			}
			first := g.join("first", quoteOf("r", tt.quotes[0].Target.Ceiling), 0, func() {})
			first.take(0, tt.first)
			for round := range tt.rounds {
				if round == min(tt.first, 1) {
					first.leave()
				}
				for i, r := range runs { // one call of each ends, and it asks for as many as it may have
					back := min(held[i], 1)
					held[i] -= back
					n, why := r.take(back, tt.wants[i]-held[i])
					held[i], short[i] = held[i]+n, why
				}
			}
			for i := range runs {
				if held[i] < tt.want[i] || held[i] > tt.want[i]+1 {
					t.Errorf("run %d has %d places, want %d (all have %v)", i, held[i], tt.want[i], held)
				}
			}
			if got := short[len(short)-1]; got != tt.short && tt.short != "" {
				t.Errorf("the last one waits for %q, want %q", got, tt.short)
			}
			for i, r := range runs {
				r.leave()
				held[i] = 0
			}
			if len(g.pools) != 0 || len(g.waiting) != 0 {
				t.Errorf("left behind: %d pools, %d that wait", len(g.pools), len(g.waiting))
			}
		})
	}
}

// With one place for two runs, they have it in turns.
func TestGate_Turns(t *testing.T) {
	t.Parallel()
	g := newGate(9)
	told := [2]int{}
	runs := [2]*share{}
	for i := range runs {
		runs[i] = g.join("a", quoteOf("r", 1), 0, func() { told[i]++ })
	}
	if n, _ := runs[0].take(0, 5); n != 1 {
		t.Fatalf("the first got %d", n)
	}
	if n, short := runs[1].take(0, 5); n != 0 || short != waitsForRoute {
		t.Fatalf("the second got %d, waiting for %q", n, short)
	}
	for i := range 6 {
		had, next := i%2, (i+1)%2
		if n, _ := runs[had].take(1, 5); n != 0 || told[next] != i/2+1 {
			t.Fatalf("turn %d: who had the place got %d, the next was told %d times", i, n, told[next])
		}
		if n, _ := runs[next].take(0, 5); n != 1 {
			t.Fatalf("turn %d: whose turn it is got %d", i, n)
		}
	}
}

// A call that rests has no place; it gets one back before new tasks of its run,
// and never beyond a limit. The end of the run ends its wait.
func TestGate_Rest(t *testing.T) {
	t.Parallel()
	g := newGate(9)
	pokes := 0
	a, b := g.join("a", quoteOf("r", 2), 0, func() { pokes++ }), g.join("b", quoteOf("r", 2), 0, func() {})
	if n, _ := a.take(0, 2); n != 2 {
		t.Fatal(n)
	}
	a.rest()
	if n, _ := b.take(0, 2); n != 1 {
		t.Fatalf("the place of a call that rests: got %d", n)
	}
	n := &note{}
	if !a.back(true, func() Mail { return n }) || n.told || a.held != 1 {
		t.Fatalf("told %t with %d of 2 places taken", n.told, a.held+b.held)
	}
	if got, _ := a.take(0, 1); got != 0 {
		t.Fatal("a new task overtook a call that rested")
	}
	b.take(1, 0)
	if !n.told || a.held != 2 {
		t.Fatalf("told %t, the run has %d", n.told, a.held)
	}
	a.rest()
	b.take(0, 1)
	n = &note{}
	a.back(true, func() Mail { return n })
	a.close()
	if !n.told || a.held != 2 || a.back(true, nil) {
		t.Errorf("told %t with %d places at the end of the run", n.told, a.held)
	}
}

// Whatever runs do, no pool has more than its limit, and at every rest nobody
// who could have a place waits without having been told; whoever was told gets
// it.
func TestGate_Property(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := newGate(rapid.IntRange(1, 6).Draw(t, "workspace"))
		limits := []int{rapid.IntRange(1, 5).Draw(t, "r0"), rapid.IntRange(1, 5).Draw(t, "r1")}
		var runs []*pretender
		for i := range rapid.IntRange(1, 5).Draw(t, "runs") {
			p := &pretender{name: fmt.Sprint(i), ws: core.WorkspaceID(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "ws")), route: rapid.IntRange(0, 1).Draw(t, "route")}
			p.share = g.join(p.ws, quoteOf(fmt.Sprint("r", p.route), limits[p.route]), 0, func() { p.told = true })
			runs = append(runs, p)
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			p := rapid.SampledFrom(runs).Draw(t, "who")
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				p.ask(rapid.IntRange(0, 6).Draw(t, "want"))
			case 1: // a task ends
				if p.held > p.spare {
					p.spare++
				}
				p.ask(p.want)
			case 2:
				if p.held > p.spare {
					p.held--
					p.rest()
					n := &note{}
					if before := p.share.held; p.back(true, func() Mail { return n }) && p.share.held > before {
						n.told = true
					}
					p.resting = append(p.resting, n)
				}
			case 3:
				if p.told {
					p.ask(p.want)
				}
			}
			for _, p := range runs {
				kept := p.resting[:0]
				for _, n := range p.resting {
					if n.told {
						p.held++
					} else {
						kept = append(kept, n)
					}
				}
				p.resting = kept
			}
			atRest(t, g, runs)
		}
	})
}

func atRest(t *rapid.T, g *gate, runs []*pretender) {
	for _, p := range g.pools {
		sum := 0
		for _, r := range runs {
			for _, q := range r.pools {
				if q == p {
					sum += r.held
				}
			}
		}
		if p.held > p.limit || sum != p.held {
			t.Fatalf("%s: %d places of %d, the runs have %d", p.key, p.held, p.limit, sum)
		}
	}
	for _, r := range runs {
		if r.want > 0 && !r.told && g.may(r.share) {
			t.Fatalf("run %s waits for a place that it could have", r.name)
		}
		if len(r.resting) > 0 && g.may(r.share) {
			t.Fatalf("a call of run %s rests though there is a place", r.name)
		}
	}
	for _, r := range runs { // free places are somebody's turn, or nobody could use them
		if (r.want > 0 || len(r.resting) > 0) && r.fits() > 0 && !somebodyTold(runs) {
			t.Fatalf("run %s waits, there is a place, and nobody was told", r.name)
		}
	}
}

func somebodyTold(runs []*pretender) bool {
	for _, r := range runs {
		if r.told && r.want > 0 {
			return true
		}
	}
	return false
}

// BenchmarkGate is what one turn of a runner costs: each of 64 runs of one route
// gives back four places and takes what it gets.
func BenchmarkGate(b *testing.B) {
	for _, n := range []int{1, 64} {
		b.Run(fmt.Sprint("runs=", n), func(b *testing.B) {
			g := newGate(1024)
			runs := make([]*share, n)
			held := make([]int, n)
			for i := range runs {
				runs[i] = g.join("w", quoteOf("r", 256), 0, func() {})
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				k := i % n
				back := min(held[k], 4)
				got, _ := runs[k].take(back, 256-held[k]+back)
				held[k] += got - back
			}
		})
	}
}
