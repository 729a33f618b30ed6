package langsmith

import (
	"context"
	"time"
)

// onceWait bounds how long Once waits for roots that ended a moment ago.
const onceWait = 90 * time.Second

// Outcome is what one pass came to.
type Outcome struct {
	Accepted   int64 `json:"accepted"`
	Duplicates int64 `json:"duplicates"`
	Rejected   int64 `json:"rejected"`
	Partial    int64 `json:"partial"`
	// Pending are roots that go on or whose trees are not complete yet.
	Pending int `json:"pending"`
}

// Once reads everything from the horizon to now, delivers it, and waits at
// most 90 seconds for what has just ended.
func (s *Syncer) Once(ctx context.Context) (Outcome, error) {
	before := s.state.Stats
	err := s.pass(ctx)
	after := s.state.Stats
	return Outcome{
		Accepted: after.Accepted - before.Accepted, Duplicates: after.Duplicates - before.Duplicates,
		Rejected: after.Rejected - before.Rejected, Partial: after.Partial - before.Partial,
		Pending: len(s.state.Pending),
	}, err
}

func (s *Syncer) pass(ctx context.Context) error {
	if err := s.scanAll(ctx, s.src.Now()); err != nil {
		return err
	}
	if err := s.watchPending(ctx); err != nil {
		return err
	}
	until := s.src.Now().Add(onceWait)
	for {
		if err := s.deliver(ctx); err != nil {
			return err
		}
		ready, next := s.ready()
		if len(ready) > 0 {
			continue
		}
		if next.IsZero() || next.After(until) {
			break
		}
		if err := s.clock.Sleep(ctx, max(time.Second, next.Sub(s.src.Now()))); err != nil {
			return err
		}
	}
	s.state.Stats.LastPoll = s.src.Now()
	s.state.Stats.LastError, s.state.Stats.ThrottledUntil = "", time.Time{}
	return s.save(Change{})
}

// Counts is what a dry run found. It reads no tree and changes nothing.
type Counts struct {
	From      time.Time `json:"from"`
	To        time.Time `json:"to"`
	Roots     int       `json:"roots"`
	Ended     int       `json:"ended"`
	Open      int       `json:"open"`
	Delivered int       `json:"delivered"` // and would not be sent again
}

// Count looks at what Once would read.
func (s *Syncer) Count(ctx context.Context) (Counts, error) {
	now := s.src.Now()
	c := Counts{From: later(s.state.Since, earlier(s.state.Horizon, now.Add(-s.cfg.Lookback))), To: s.end(now)}
	if s.state.Horizon.IsZero() {
		c.From = s.state.Since
	}
	q := Query{Min: c.From, Max: c.To}
	for {
		page, err := attempt(ctx, s, func() (Page, error) { return s.src.Roots(ctx, q) })
		if err != nil {
			return c, err
		}
		for _, h := range page.Items {
			c.Roots++
			if h.Done() {
				c.Ended++
			} else {
				c.Open++
			}
			if delivered, _ := s.state.knows(h); delivered {
				c.Delivered++
			}
		}
		if page.Next == "" || page.Next == q.Cursor {
			return c, nil
		}
		q.Cursor = page.Next
	}
}

// Sample is one trace as it would be sent.
type Sample struct {
	Found     bool     `json:"found"`
	Spans     int      `json:"spans"`
	Bytes     int      `json:"bytes"`
	Fields    int      `json:"fields_redacted"`
	Values    int      `json:"values_redacted"`
	Truncated int      `json:"truncated"`
	Reasons   []string `json:"reasons"`
}

// Try reads the newest root that has ended and makes its record, without
// sending it.
func (s *Syncer) Try(ctx context.Context) (Sample, error) {
	now := s.src.Now()
	page, err := attempt(ctx, s, func() (Page, error) {
		return s.src.Roots(ctx, Query{Min: now.Add(-s.cfg.Lookback), Max: now})
	})
	if err != nil {
		return Sample{}, err
	}
	for _, h := range page.Items {
		if !h.Done() {
			continue
		}
		b := newBuilder(s.redactor, h)
		if err := s.src.Tree(ctx, h, func(r Run) error { b.add(r); return nil }); err != nil {
			return Sample{}, err
		}
		t, n, err := b.build(b.incomplete(0))
		return Sample{
			Found: true, Spans: len(t.Spans), Bytes: n, Reasons: t.Reasons,
			Fields: t.Redaction.Fields, Values: t.Redaction.Values, Truncated: t.Redaction.Truncated,
		}, err
	}
	return Sample{Reasons: []string{}}, nil
}
