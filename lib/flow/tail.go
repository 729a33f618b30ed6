package flow

import (
	"context"
	"fmt"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
)

// EventReader reads a piece of a run's log.
type EventReader interface {
	Events(ctx context.Context, id string, in evalrouter.EventQuery) (api.EventPage, error)
}

// Tail follows the log of a run to its end, over outages, without leaving an
// event out or giving one twice.
type Tail struct {
	Runs EventReader
	// Disconnect is how long the service may be continuously out of reach.
	Disconnect time.Duration
	Now        func() time.Time
	Sleep      Sleeper
	// Chance is a random number in [0,1).
	Chance func() float64
	// Down is told when an outage begins and, with nil, when it is over; it may
	// be nil itself.
	Down func(cause error)
}

// tailWait is how long the service may hold an answer back; an attempt gets
// some more, as a silent service must be noticed.
const (
	tailWait  = 20 * time.Second
	tailLimit = tailWait + attemptLimit
	tailPause = 250 * time.Millisecond
)

// Ends waits for the end of a run by its log, for Watcher.Ends: the service holds
// its answer back until there is something to say.
func Ends(r EventReader, sleep Sleeper) func(ctx context.Context, id string) error {
	return func(ctx context.Context, id string) error {
		in := evalrouter.EventQuery{Types: []string{"run.finished"}, Limit: 1, Wait: tailWait}
		for {
			page, err := r.Events(ctx, id, in)
			if err != nil || page.Terminal || len(page.Data) > 0 {
				return err
			}
			in.After = max(in.After, page.NextSequence)
			if err := sleep(ctx, tailPause); err != nil {
				return err
			}
		}
	}
}

// Follow gives every event behind in.After to seen, in order. An error of seen
// ends it. The sequence of the last event that was given is returned in any
// case: it is where to go on. A gap is invalid_response, unless in.Types leaves
// events out.
func (t *Tail) Follow(ctx context.Context, id string, in evalrouter.EventQuery, seen func(api.RunEvent) error) (int64, error) {
	s := &tail{Tail: t, id: id, in: in, seen: seen}
	s.in.Tail, s.in.Wait = false, tailWait
	for {
		done, pause, err := s.step(ctx)
		if err != nil || done {
			return s.in.After, err
		}
		if pause > 0 {
			if err := t.Sleep(ctx, pause); err != nil {
				return s.in.After, s.stopped(err)
			}
		}
	}
}

type tail struct {
	*Tail
	id       string
	in       evalrouter.EventQuery
	seen     func(api.RunEvent) error
	failedAt time.Time
	failures int
}

func (s *tail) step(ctx context.Context) (done bool, pause time.Duration, err error) {
	began := s.Now()
	attempt, cancel := context.WithTimeout(ctx, s.limit(began))
	page, err := s.Runs.Events(attempt, s.id, s.in)
	late := attempt.Err() != nil
	cancel()
	switch {
	case ctx.Err() != nil:
		return false, 0, s.stopped(context.Cause(ctx))
	case err != nil && !Outage(err) && !late:
		return false, 0, err
	case err != nil:
		return s.outage(began, err)
	}
	if s.failures > 0 && s.Down != nil {
		s.Down(nil)
	}
	s.failures = 0
	for _, e := range page.Data {
		if e.Sequence <= s.in.After || len(s.in.Types) == 0 && e.Sequence != s.in.After+1 {
			return false, 0, refuse(api.InvalidResponse, "the service left out or repeated events of run "+s.id)
		}
		if err := s.seen(e); err != nil {
			return false, 0, err
		}
		s.in.After = e.Sequence
	}
	if page.Terminal && !page.HasMore {
		return true, 0, nil
	}
	if len(page.Data) == 0 { // a service that does not hold answers back must not be asked in a tight loop
		pause = tailPause
	}
	return false, pause, nil
}

func (s *tail) limit(now time.Time) time.Duration {
	if s.failures == 0 {
		return min(tailLimit, max(s.Disconnect, time.Millisecond))
	}
	return max(min(tailLimit, s.Disconnect-now.Sub(s.failedAt)), time.Millisecond)
}

func (s *tail) outage(began time.Time, cause error) (bool, time.Duration, error) {
	if s.failures == 0 {
		s.failedAt = began
		if s.Down != nil {
			s.Down(cause)
		}
	}
	s.failures++
	left := s.Disconnect - s.Now().Sub(s.failedAt)
	if left <= 0 {
		return false, 0, &Error{
			Code: api.WatchLost, Message: fmt.Sprintf("stopped following: the service did not answer for %s%s", s.Disconnect, because(cause)),
			RunID: s.id, Err: cause, Facts: []string{"the run goes on without this terminal, and its cap still holds"},
		}
	}
	return false, min(max(backoff(s.failures, s.Chance()), retryAfter(cause)), left), nil
}

func (s *tail) stopped(cause error) *Error {
	return &Error{
		Code: api.WaitCancelled, Message: "stopped following run " + s.id, RunID: s.id, Err: cause,
		Facts: []string{"the run goes on without this terminal, and its cap still holds"},
	}
}
