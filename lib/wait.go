package evalrouter

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
)

// WaitOptions say how to wait for a run. The zero value asks every 2 seconds
// for up to an hour.
type WaitOptions struct {
	Every time.Duration
	Limit time.Duration
	// Seen, if set, gets every record that was read.
	Seen func(api.RunRecord)
}

// Wait reads a run until its status is final and answers that record. Ending
// ctx ends only the waiting: the run goes on, and the error is wait_cancelled.
// A status that is none of the eight is invalid_response. Past the limit the
// error is request_timeout, with the last record beside it.
func (s *Runs) Wait(ctx context.Context, id string, o WaitOptions) (api.RunRecord, error) {
	orElse(&o.Every, 2*time.Second)
	orElse(&o.Limit, time.Hour)
	op := "wait for run " + id
	until := s.c.cfg.Now().Add(o.Limit)
	var last api.RunRecord
	for {
		run, err := s.Get(ctx, id)
		if err != nil {
			if ctx.Err() != nil {
				return last, stopped(ctx, op)
			}
			return last, err
		}
		last = run
		if !run.Status.Known() {
			return last, &Error{Problem: Problem{Code: api.InvalidResponse, Message: "the service answered with an unknown run status"}, Op: op}
		}
		if o.Seen != nil {
			o.Seen(run)
		}
		if run.Status.Terminal() {
			return run, nil
		}
		if s.c.cfg.Now().Add(o.Every).After(until) {
			return last, &Error{Problem: Problem{Code: api.RequestTimeout, Message: fmt.Sprintf("the run has not finished within %s; it continues", o.Limit)}, Op: op}
		}
		if err := s.c.cfg.Sleep(ctx, o.Every); err != nil {
			return last, stopped(ctx, op)
		}
	}
}

func stopped(ctx context.Context, op string) *Error {
	return &Error{Problem: Problem{Code: api.WaitCancelled, Message: "waiting was stopped; the run continues"}, Op: op, err: context.Cause(ctx)}
}

// Follow yields the events of a run after the sequence in.After, as they
// happen, until the run has ended and every event was yielded. It holds one
// request open at a time. A gap in the sequences is invalid_response, unless
// in.Types filters. Tail is ignored.
func (s *Runs) Follow(ctx context.Context, id string, in EventQuery) iter.Seq2[api.RunEvent, error] {
	in.Tail = false
	orElse(&in.Wait, 20*time.Second)
	return func(yield func(api.RunEvent, error) bool) {
		for {
			page, err := s.Events(ctx, id, in)
			if err != nil {
				yield(api.RunEvent{}, err)
				return
			}
			for _, e := range page.Data {
				if e.Sequence <= in.After || len(in.Types) == 0 && e.Sequence != in.After+1 {
					yield(api.RunEvent{}, &Error{Problem: Problem{Code: api.InvalidResponse, Message: "the service left out or repeated events of the run"}, Op: "follow run " + id})
					return
				}
				in.After = e.Sequence
				if !yield(e, nil) {
					return
				}
			}
			if page.Terminal && !page.HasMore {
				return
			}
			if len(page.Data) == 0 {
				// A service that cannot hold an answer back must not be asked
				// in a tight loop.
				if err := s.c.cfg.Sleep(ctx, 250*time.Millisecond); err != nil {
					yield(api.RunEvent{}, stopped(ctx, "follow run "+id))
					return
				}
			}
		}
	}
}
