package stop

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"

	"github.com/evalrouter/evalrouter/tui/internal/consent/consenttest"
	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/route"
)

// sequences is how many random ones of each kind are played. -sequences sets
// another number.
var sequences = flag.Int("sequences", 50_000, "random sequences of events at each kind of stop")

// nobody stops nothing: these tests bring the answers themselves.
type nobody struct{}

func (nobody) Run(context.Context, string) (api.RunRecord, error)     { return api.RunRecord{}, nil }
func (nobody) Group(context.Context, string) (api.GroupRecord, error) { return api.GroupRecord{}, nil }
func (nobody) CancelRun(context.Context, string) (api.RunRecord, error) {
	return api.RunRecord{}, nil
}
func (nobody) CancelGroup(context.Context, string) (api.GroupRecord, error) {
	return api.GroupRecord{}, nil
}

// Nothing is asked to stop but after two deliberate Enters on its row, and nothing
// twice while the answer is awaited, whatever else happens in between: 100,000
// random sequences of keys, pastes, resizes, clicks, lost focus, states that were
// read again and answers that were lost.
func TestApproval_RandomSequences(t *testing.T) {
	t.Parallel()
	for kind, tt := range []struct {
		name string
		to   route.Stop
		of   func(api.RunStatus) standing
	}{
		{"a run", route.Stop{Run: "r"}, func(s api.RunStatus) standing { return ofRun(api.RunRecord{Status: s}) }},
		{"a group", route.Stop{Group: "g"}, func(s api.RunStatus) standing { return ofGroup(api.GroupRecord{Status: s}) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			stops, again := 0, 0
			for seed := range uint64(*sequences) {
				g := &game{r: rand.New(rand.NewPCG(seed, uint64(70+kind))), now: time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC), of: tt.of}
				g.screen, _ = New(nobody{}, g.clock, tt.to)
				g.play()
				if stops += min(g.stops, 1); g.wrong > 0 {
					t.Fatalf("seed %d stops without two deliberate Enters", seed)
				}
				again += max(g.stops-1, 0)
			}
			// The sequences are worth nothing if few of them get to the end, and none
			// beyond an answer that was lost.
			if stops < *sequences/100 || again == 0 {
				t.Errorf("only %d of the sequences stop anything, and %d once more", stops, again)
			}
			t.Logf("%d of %d sequences stopped, none falsely; %d stopped once more", stops, *sequences, again)
		})
	}
}

// game is one sequence: the screen under test, the judge and what happened.
type game struct {
	r      *rand.Rand
	now    time.Time
	screen kit.Screen
	judge  consenttest.Judge
	of     func(api.RunStatus) standing
	sent   bool // and not answered
	left   bool
	stops  int
	wrong  int
}

func (g *game) clock() time.Time { return g.now }

func (g *game) play() {
	g.send(kit.Resize{W: 80, H: 19})
	for range 4 + g.r.IntN(20) {
		if g.left {
			return
		}
		g.now = g.now.Add(consenttest.Pause(g.r))
		g.step()
	}
}

func (g *game) send(m kit.Msg) {
	allowed := false
	if p, ok := m.(kit.Press); ok && p.Key == kit.Enter {
		allowed = g.judge.Enter(p.At, g.screen.(page).at == rowStop)
	} else if consenttest.Disturbs(m) {
		g.judge.Disturbed()
	}
	next, effects := g.screen.Update(m)
	g.screen = next
	for _, e := range effects {
		switch e := e.(type) {
		case kit.Back:
			g.left = true
		case kit.Load:
			if e.Name != "stop" {
				continue
			}
			g.stops++
			if !allowed || g.sent {
				g.wrong++
			}
			g.sent, g.judge.Asked = true, time.Time{}
		}
	}
}

// step is one random event.
func (g *game) step() {
	switch n := g.r.IntN(24); {
	case n < 19:
		g.send(consenttest.Input(g.r, g.now))
	case n < 21:
		g.read()
	case n == 21:
		g.send(stood{err: errors.New("not read"), at: g.now})
		if !g.sent {
			g.judge.Asked = time.Time{}
		}
	case g.sent:
		g.sent = false
		if g.r.IntN(4) == 0 {
			g.send(told{})
			return
		}
		g.send(told{errors.New("no answer")})
	default:
		if g.judge.Asked.IsZero() {
			g.read()
		}
	}
	if g.r.IntN(4) == 0 && g.judge.Shown.IsZero() {
		g.judge.Shown = g.now
		g.send(kit.Shown{At: g.now})
	}
}

// read brings what goes on, mostly something that can be stopped.
func (g *game) read() {
	states := []api.RunStatus{api.StatusRunning, api.StatusRunning, api.StatusRunning, api.StatusQueued, api.StatusCancelling, api.StatusFinalizing, api.StatusCompleted}
	now := g.of(states[g.r.IntN(len(states))])
	g.send(stood{standing: now, at: g.now})
	if g.sent {
		return // what was read before says nothing of what it will have come to
	}
	g.judge.Asked = g.now
	if !now.stoppable {
		g.judge.Asked = time.Time{}
	}
}
