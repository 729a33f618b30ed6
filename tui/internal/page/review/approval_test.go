package review

import (
	"context"
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/tui/internal/consent/consenttest"
	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/route"
)

// sequences is how many random ones of each kind are played. -sequences sets
// another number.
var sequences = flag.Int("sequences", 34_000, "random sequences of events at each kind of review")

// nobody launches nothing: these tests bring the launch's messages themselves.
type nobody struct{}

func (nobody) Launch(context.Context, route.Draft, flow.Desk) (flow.Launched, error) {
	return flow.Launched{}, nil
}
func (nobody) LaunchGroup(context.Context, route.Draft, flow.GroupDesk) (flow.LaunchedGroup, error) {
	return flow.LaunchedGroup{}, nil
}
func (nobody) Resume(context.Context, route.Plan, flow.ResumeDesk) (flow.Launched, error) {
	return flow.Launched{}, nil
}
func (nobody) ResumeGroup(context.Context, route.Plan, flow.GroupResumeDesk) (flow.LaunchedGroup, error) {
	return flow.LaunchedGroup{}, nil
}
func (nobody) Credits(context.Context) (api.CreditsRecord, error) { return api.CreditsRecord{}, nil }

// A start request exists only after two deliberate Enters on the price row,
// whatever else happens in between: more than 100,000 random sequences of keys, pastes,
// resizes, clicks, lost focus, refreshed credit, new quotes and expiry.
func TestApproval_TRN17_RandomSequences(t *testing.T) {
	t.Parallel()
	cap := 5 * usd.Dollar
	run := api.QuoteRecord{MaxChargeMicrousd: &cap}
	half := cap / 2
	several := api.GroupQuoteRecord{MaxChargeMicrousd: &cap, Members: []api.GroupQuoteMember{{MaxChargeMicrousd: &half}, {MaxChargeMicrousd: &half}}}
	for kind, tt := range []struct {
		name  string
		begin func(*game) (kit.Screen, []kit.Effect)
		offer offer
	}{
		{"one run", func(g *game) (kit.Screen, []kit.Effect) {
			return New(nobody{}, g.clock, route.Draft{Cap: cap, Picks: make([]route.Pick, 1)})
		}, ofRun(run)},
		{"a group", func(g *game) (kit.Screen, []kit.Effect) {
			return New(nobody{}, g.clock, route.Draft{Cap: cap, Picks: make([]route.Pick, 2)})
		}, ofGroup(several)},
		{"a resume", func(g *game) (kit.Screen, []kit.Effect) { return Resume(nobody{}, g.clock, route.Plan{Cap: cap}) }, ofResume(run)},
		{"a resume of a group", func(g *game) (kit.Screen, []kit.Effect) {
			return Resume(nobody{}, g.clock, route.Plan{Cap: cap, Continue: route.Continue{Group: &api.GroupRecord{}}})
		}, ofGroup(several)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			starts := 0
			for seed := range uint64(*sequences) {
				g := &game{r: rand.New(rand.NewPCG(seed, uint64(7+kind))), now: time.Date(2026, 11, 29, 14, 0, 0, 0, time.UTC), base: tt.offer}
				g.screen, _ = tt.begin(g)
				g.play(cap)
				if starts += g.starts; g.wrong > 0 {
					t.Fatalf("seed %d starts without two deliberate Enters", seed)
				}
			}
			// The sequences are worth nothing if none of them gets to the end.
			if starts < *sequences/100 {
				t.Errorf("only %d of the sequences start anything", starts)
			}
			t.Logf("%d of %d sequences started, none falsely", starts, *sequences)
		})
	}
}

// game is one sequence: the screen under test, the judge and what happened.
type game struct {
	r       *rand.Rand
	now     time.Time
	screen  kit.Screen
	judge   consenttest.Judge
	base    offer
	allowed bool
	starts  int
	wrong   int
}

func (g *game) clock() time.Time { return g.now }

func (g *game) play(cap usd.Micro) {
	r := g.r
	g.send(kit.Resize{W: 80, H: 19})
	for range 4 + r.IntN(16) {
		g.now = g.now.Add(consenttest.Pause(r))
		g.step(cap)
	}
}

func (g *game) send(m kit.Msg) {
	g.allowed = false
	if p, ok := m.(kit.Press); ok && p.Key == kit.Enter {
		s := g.screen.(review)
		g.allowed = g.judge.Enter(p.At, s.at == rowPrice && s.amount == nil)
	} else if consenttest.Disturbs(m) {
		g.judge.Disturbed()
	}
	g.screen, _ = g.screen.Update(m)
	if s := g.screen.(review); s.answer == nil && g.starts == 0 {
		// Another quote was asked for: nothing is offered, no credit is known.
		g.judge = consenttest.Judge{Shown: g.judge.Shown}
	}
}

func (g *game) answered(yes bool) {
	if !yes {
		return
	}
	g.starts++
	if !g.allowed || g.starts > 1 {
		g.wrong++
	}
}

// step is one random event.
func (g *game) step(cap usd.Micro) {
	switch n := g.r.IntN(24); {
	case n < 19:
		g.send(consenttest.Input(g.r, g.now))
	case n == 19:
		free := usd.Micro(g.r.IntN(3)) * cap / 2 * 2
		m := credits{record: api.CreditsRecord{AvailableMicrousd: free}}
		g.judge.Short = free < cap
		g.send(m)
	case n == 20:
		g.send(noted{"the quote is no longer valid"})
	default:
		g.offer(cap)
	}
	if g.r.IntN(4) == 0 && g.judge.Shown.IsZero() {
		g.judge.Shown = g.now
		g.send(kit.Shown{At: g.now})
	}
}

// offer is a new quote, as the launch asks about it.
func (g *game) offer(cap usd.Micro) {
	if g.starts > 0 || !g.judge.Asked.IsZero() && g.r.IntN(6) > 0 {
		return
	}
	life := []int64{600, 20, 2, 0}[g.r.IntN(4)]
	if g.judge.Asked.IsZero() {
		g.judge.Short = false
		g.screen, _ = g.screen.Update(credits{record: api.CreditsRecord{AvailableMicrousd: 2 * cap}})
	}
	g.judge.Asked, g.judge.Ends = g.now, g.now.Add(time.Duration(life)*time.Second)
	q := g.base
	q.expiresIn = life
	g.send(asked{offer: q, at: g.now, answer: g.answered})
}
