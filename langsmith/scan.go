package langsmith

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
)

const (
	// maxPages is how many pages one window may have; a fuller one is halved,
	// so that an interruption costs little.
	maxPages = 50
	// maxWaiting is how many ended roots may wait to settle before a scan
	// pauses for them. It bounds memory.
	maxWaiting = 4000
	// askEvery is how often a root that goes on is asked after, and askChunk
	// how many in one request.
	askEvery = time.Minute
	askChunk = 100
)

// widest bounds a window of a back-fill: the longest retention there is.
const widest = 400 * 24 * time.Hour

var errFull = errors.New("the window has too many pages")

// scanDue reads the widest tier that is due. It covers the narrower ones.
func (s *Syncer) scanDue(ctx context.Context) error {
	now := s.src.Now()
	due := 0
	for i, t := range s.cfg.Tiers {
		if s.read[i].IsZero() || now.Sub(s.read[i]) >= t.Every {
			due = i
		}
	}
	var err error
	if last := len(s.cfg.Tiers) - 1; due == last {
		err = s.scanAll(ctx, now)
	} else {
		err = s.scan(ctx, later(now.Add(-s.cfg.Tiers[due].Span), s.state.Since), s.end(now), 0)
	}
	if err != nil {
		return err
	}
	for i := range due + 1 {
		s.read[i] = now
	}
	return nil
}

func (s *Syncer) end(now time.Time) time.Time {
	if !s.cfg.Until.IsZero() {
		return s.cfg.Until
	}
	return now.Add(Skewed)
}

// scanAll reads everything since the horizon, but at least the look-back, from
// the oldest window to the newest, and moves the horizon behind each window
// that nothing can be added to any more.
func (s *Syncer) scanAll(ctx context.Context, now time.Time) error {
	final := now.Add(-s.cfg.Lookback)
	lo := later(s.state.Since, earlier(s.state.Horizon, final))
	if s.state.Horizon.IsZero() {
		lo = s.state.Since
	}
	end := s.end(now)
	for lo.Before(end) {
		hi := earlier(lo.Add(s.window), end)
		err := s.scan(ctx, lo, hi, maxPages)
		if errors.Is(err, errFull) {
			s.window /= 2
			continue
		}
		if err != nil {
			return err
		}
		s.window = min(s.window*2, widest)
		if h := earlier(hi, final); h.After(s.state.Horizon) {
			forget := h.Add(-time.Hour)
			if err := s.save(Change{Horizon: &h, Prune: &forget}); err != nil {
				return err
			}
		}
		if !hi.Before(end) {
			return nil
		}
		lo = hi.Add(-time.Millisecond) // whether bounds are inclusive is not ours to trust
	}
	return nil
}

// scan reads the roots of one window. What is ready is delivered on the way. A
// window of more than a minute may have most pages, 0 for any number.
func (s *Syncer) scan(ctx context.Context, lo, hi time.Time, most int) error {
	q := Query{Min: lo, Max: hi}
	for pages := 0; ; pages++ {
		page, err := attempt(ctx, s, func() (Page, error) { return s.src.Roots(ctx, q) })
		if err != nil {
			return err
		}
		for _, h := range page.Items {
			s.see(h)
		}
		if err := s.relieve(ctx); err != nil {
			return err
		}
		if page.Next == "" || page.Next == q.Cursor {
			return nil
		}
		if most > 0 && pages >= most && hi.Sub(lo) > time.Minute {
			return errFull
		}
		q.Cursor = page.Next
	}
}

// relieve delivers while a scan goes on, and makes it wait when too many roots
// settle at once.
func (s *Syncer) relieve(ctx context.Context) error {
	for len(s.state.Pending) >= batchTraces {
		ready, next := s.ready()
		if len(ready) >= batchTraces {
			if err := s.deliver(ctx); err != nil {
				return err
			}
			continue
		}
		if s.waiting() < maxWaiting || next.IsZero() {
			return nil
		}
		if err := s.clock.Sleep(ctx, max(time.Second, next.Sub(s.src.Now()))); err != nil {
			return err
		}
	}
	return nil
}

func (s *Syncer) waiting() (n int) {
	for _, p := range s.state.Pending {
		if p.header().Done() {
			n++
		}
	}
	return n
}

// see files one root as it is now.
func (s *Syncer) see(h Header) {
	if h.Start.Before(s.state.Since) || !s.cfg.Until.IsZero() && h.Start.After(s.cfg.Until) {
		return
	}
	now := s.src.Now()
	delivered, dead := s.state.knows(h)
	if delivered || dead {
		if _, ok := s.state.Pending[h.ID]; ok {
			s.drop(h.ID)
		}
		return
	}
	old, known := s.state.Pending[h.ID]
	p := Pending{
		ID: h.ID, Start: h.Start, End: h.End, Status: h.Status, Tokens: h.Tokens,
		FirstSeen: now, Runs: old.Runs, Tries: old.Tries, Next: old.Next, DoneSeen: old.DoneSeen,
	}
	if known {
		p.FirstSeen = old.FirstSeen
	}
	// Totals that arrive while it settles are no new end.
	if h.Done() && (!known || !old.End.Equal(h.End) || old.Status != h.Status) {
		p.DoneSeen, p.Tries, p.Next = now, 0, time.Time{}
	}
	s.checked[h.ID] = now
	if p != old {
		s.put(p)
	}
}

// watchPending asks by id after the roots that go on and that no scan has seen
// lately, and gives up those that have gone on for too long.
func (s *Syncer) watchPending(ctx context.Context) error {
	now := s.src.Now()
	var ask []string
	for _, id := range slices.Sorted(maps.Keys(s.state.Pending)) {
		p := s.state.Pending[id]
		if p.header().Done() {
			continue
		}
		if now.Sub(p.FirstSeen) >= s.cfg.PendingMax {
			s.giveUp(p, now)
			continue
		}
		if now.Sub(s.checked[id]) >= askEvery {
			ask = append(ask, id)
		}
	}
	for ids := range slices.Chunk(ask, askChunk) {
		q := Query{IDs: ids, Min: s.state.Pending[ids[0]].Start, Max: s.state.Pending[ids[0]].Start}
		for _, id := range ids {
			q.Min, q.Max = earlier(q.Min, s.state.Pending[id].Start), later(q.Max, s.state.Pending[id].Start)
		}
		q.Min, q.Max = q.Min.Add(-time.Second), q.Max.Add(time.Second)
		for {
			page, err := attempt(ctx, s, func() (Page, error) { return s.src.Roots(ctx, q) })
			if err != nil {
				return err
			}
			for _, h := range page.Items {
				s.see(h)
			}
			if page.Next == "" || page.Next == q.Cursor {
				break
			}
			q.Cursor = page.Next
		}
		for _, id := range ids {
			s.checked[id] = now // also the ones that the source no longer has
		}
	}
	return nil
}

// giveUp ends the wait for a root that never ended.
func (s *Syncer) giveUp(p Pending, now time.Time) {
	if s.cfg.IncludeIncomplete {
		if p.DoneSeen.IsZero() {
			p.DoneSeen = now.Add(-s.cfg.PartialAfter) // no tree of it will be complete
			s.put(p)
		}
		return
	}
	s.bury(p, NeverCompleted)
}

// ready lists the roots whose trees can be read now, in the order in which
// they ended, and says when the next one will be.
func (s *Syncer) ready() (ready []Pending, next time.Time) {
	now := s.src.Now()
	for _, p := range s.state.Pending {
		at, ok := s.readyAt(p)
		switch {
		case !ok:
		case !at.After(now):
			ready = append(ready, p)
		case next.IsZero() || at.Before(next):
			next = at
		}
	}
	slices.SortFunc(ready, func(a, b Pending) int {
		if c := a.End.Compare(b.End); c != 0 {
			return c
		}
		return compare(a.ID, b.ID)
	})
	return ready, next
}

// readyAt is when a root has settled. Children and totals arrive after the
// end, and a delayed client brings both late; what is older than the look-back
// has nothing to wait for.
func (s *Syncer) readyAt(p Pending) (time.Time, bool) {
	if p.DoneSeen.IsZero() {
		return time.Time{}, false
	}
	// An end in the future is a clock that is wrong, not a reason to wait.
	at := p.DoneSeen.Add(s.cfg.Settle)
	if p.Status != api.TraceOpen && s.src.Now().Sub(p.End) >= s.cfg.Lookback {
		at = p.DoneSeen
	}
	return later(at, p.Next), true
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
