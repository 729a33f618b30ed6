package engine

import "time"

// How the number of calls in flight adapts to a provider that pushes back.
const (
	// paceShrink is how long one overload signal speaks for: the calls that
	// were in flight together all meet it, and they count as one.
	paceShrink = time.Second
	// paceGrow is how long no overload must have been signalled before the
	// window grows by half. From 1 to 256 takes 14 steps, so a run is back at
	// its rate within two minutes of the end of a storm, however long it was.
	paceGrow = 5 * time.Second
)

// pace is how many calls a run may have in flight: the limit of its quote,
// halved by each overload signal, and growing again while there is none.
type pace struct {
	limit   int
	window  int
	shrunk  time.Time // last shrink
	changed time.Time // last shrink or growth
}

func newPace(limit int) pace { return pace{limit: limit, window: limit} }

// overloaded takes a rate limit or overload signal into account.
func (p *pace) overloaded(now time.Time) {
	if !p.shrunk.IsZero() && now.Sub(p.shrunk) < paceShrink {
		p.changed = now
		return
	}
	p.window = max(1, p.window/2)
	p.shrunk, p.changed = now, now
}

// size is the window at a time.
func (p *pace) size(now time.Time) int {
	for p.window < p.limit && now.Sub(p.changed) >= paceGrow {
		p.window = min(p.limit, p.window+max(1, p.window/2))
		p.changed = p.changed.Add(paceGrow)
	}
	return p.window
}
