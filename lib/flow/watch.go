package flow

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Defaults of a Watcher.
const (
	DefaultDisconnect = 90 * time.Second
	attemptLimit      = 10 * time.Second
	pollLeast         = 500 * time.Millisecond
	pollMost          = 5 * time.Second
)

// RunReader reads a run as it stands.
type RunReader interface {
	Get(ctx context.Context, id string) (api.RunRecord, error)
}

// Update is what a watcher knows at one moment.
type Update struct {
	Run api.RunRecord
	// Elapsed is the time since the run was started, or since watching began
	// while it was not.
	Elapsed time.Duration
	// Down is how long the service has been out of reach, 0 when it answers.
	Down time.Duration
	// Retry is the pause before the next attempt while it is out of reach.
	Retry time.Duration
	// Cause is why it is out of reach.
	Cause error
}

// Watcher follows a run to its end without touching it.
type Watcher struct {
	Runs RunReader
	// Disconnect is how long the service may be continuously out of reach
	// before watching stops. Limit bounds all of watching; 0 means no bound.
	Disconnect time.Duration
	Limit      time.Duration
	// Every is the pause between two reads; 0 lets it grow from half a second
	// to five as the run gets older.
	Every time.Duration
	// Ends, if set, waits for the end of a run, which spares a watcher the rest
	// of its pause: it returns nil when the run has ended and an error when it
	// cannot tell. Ends makes one for a service.
	Ends func(ctx context.Context, id string) error
	// Seen gets every update, in order, from the caller's goroutine.
	Seen  func(Update)
	Now   func() time.Time
	Sleep Sleeper
	// Chance is a random number in [0,1): watchers that lost the service
	// together must not come back together.
	Chance func() float64
	// What is what is watched, in messages; "" is a run.
	What string
	// Stays is the sentence about the run that an ended watch leaves behind;
	// "" says that it goes on without this terminal.
	Stays string
}

// Watch reads a run until its status is final. A short outage is reported and
// survived; a longer one ends watching with watch_lost. The end of ctx is
// wait_cancelled, and the end of Limit is request_timeout. None of them touches
// the run, and the last known record is returned beside the error.
func (w *Watcher) Watch(ctx context.Context, id string) (api.RunRecord, error) {
	s := &watch{Watcher: w, id: id, start: w.Now()}
	defer s.listen(ctx)()
	for {
		pause, err := s.step(ctx)
		if err != nil || s.last.Status.Terminal() {
			return s.last, err
		}
		if err := s.rest(ctx, pause); err != nil {
			return s.last, err
		}
	}
}

type watch struct {
	*Watcher
	id    string
	start time.Time
	last  api.RunRecord
	// failedAt is when the first of the failures in a row began.
	failedAt time.Time
	failures int
	cause    error // of the last of them
	// over is done once the run is known to have ended, and never again after
	// it has woken the watcher.
	over context.Context
}

// listen waits for the end of the run beside the reads. The function returned
// ends the waiting.
func (s *watch) listen(ctx context.Context) (stop func()) {
	s.over = context.Background()
	if s.Ends == nil {
		return func() {}
	}
	over, end := context.WithCancel(s.over)
	s.over = over
	ctx, cancel := context.WithCancel(ctx)
	var listening sync.WaitGroup
	listening.Go(func() {
		if s.Ends(ctx, s.id) == nil {
			end()
		}
	})
	return func() {
		cancel()
		listening.Wait()
		end()
	}
}

func (s *watch) what() string { return orElse(s.What, "run") }

// step reads once and says how long to pause.
func (s *watch) step(ctx context.Context) (time.Duration, error) {
	began := s.Now()
	limit := s.attemptLimit(began)
	attempt, cancel := context.WithTimeout(ctx, limit)
	run, err := s.Runs.Get(attempt, s.id)
	late := attempt.Err() != nil
	cancel()
	now := s.Now()
	switch {
	case ctx.Err() != nil:
		return 0, s.stopped(api.WaitCancelled, "stopped watching "+s.what()+" "+s.id, context.Cause(ctx))
	case err == nil && !run.Status.Known():
		return 0, refuse(api.InvalidResponse, "the service answered with an unknown run status")
	case err == nil:
		s.last, s.failures = run, 0
		s.Seen(Update{Run: run, Elapsed: s.elapsed(now)})
		return s.pause(now.Sub(s.start)), nil
	case !Outage(err) && !late:
		return 0, err
	}
	if late && limit < attemptLimit && s.failures > 0 {
		err = s.cause // the budget cut this attempt short, so it tells nothing new
	}
	s.cause = err
	if s.failures == 0 {
		s.failedAt = began
	}
	s.failures++
	down := now.Sub(s.failedAt)
	if down >= s.Disconnect {
		return 0, s.stopped(api.WatchLost, fmt.Sprintf("stopped watching: the service did not answer for %s%s", s.Disconnect, because(err)), err)
	}
	retry := min(max(backoff(s.failures, s.Chance()), retryAfter(err)), s.Disconnect-down)
	s.Seen(Update{Run: s.last, Elapsed: s.elapsed(now), Down: max(down, 1), Retry: retry, Cause: err})
	return retry, nil
}

// elapsed is the age of the run. The first record tells how old it was then by
// the service's times against this clock; a clock that is behind counts from
// the beginning of watching, and an ended run stands still.
func (s *watch) elapsed(now time.Time) time.Duration {
	r := s.last
	if r.StartedAt == nil {
		return now.Sub(s.start)
	}
	if r.FinishedAt != nil && r.FinishedAt.After(*r.StartedAt) {
		return r.FinishedAt.Sub(*r.StartedAt)
	}
	return max(now.Sub(*r.StartedAt), now.Sub(s.start))
}

// attemptLimit bounds one read, so that a silent service is noticed and the
// budget of an outage is kept.
func (s *watch) attemptLimit(now time.Time) time.Duration {
	left := s.Disconnect
	if s.failures > 0 {
		left -= now.Sub(s.failedAt)
	}
	return max(min(attemptLimit, left), time.Millisecond)
}

func (s *watch) pause(elapsed time.Duration) time.Duration {
	if s.Every > 0 {
		return s.Every
	}
	return min(max(elapsed/20, pollLeast), pollMost)
}

// backoff doubles from half a second to five, give or take 30 %.
func backoff(failures int, chance float64) time.Duration {
	d := min(pollLeast<<min(failures-1, 5), pollMost)
	return time.Duration(float64(d) * (0.7 + 0.6*chance))
}

// rest pauses, at most until the limit of all of watching.
func (s *watch) rest(ctx context.Context, pause time.Duration) error {
	if s.Limit > 0 {
		left := s.Limit - s.Now().Sub(s.start)
		if left <= 0 {
			return s.stopped(api.RequestTimeout, fmt.Sprintf("%s %s has not ended within %s", s.what(), s.id, s.Limit), nil)
		}
		pause = min(pause, left)
	}
	resting, wake := context.WithCancel(ctx)
	defer wake()
	defer context.AfterFunc(s.over, wake)()
	err := s.Sleep(resting, pause)
	if s.over.Err() != nil {
		s.over = context.Background()
		err = context.Cause(ctx)
	}
	if err != nil {
		return s.stopped(api.WaitCancelled, "stopped watching "+s.what()+" "+s.id, err)
	}
	return nil
}

func because(err error) string {
	if why := Cause(err); why != "" {
		return ": " + why
	}
	return ""
}

func (s *watch) stopped(code api.Code, message string, cause error) *Error {
	stays := s.Stays
	if stays == "" {
		stays = "the run goes on without this terminal, and its cap still holds"
	}
	return &Error{Code: code, Message: message, RunID: s.id, Err: cause, Facts: []string{stays}}
}

// Progress is an update as the record that --progress json prints.
func Progress(u Update, at time.Time) api.Progress {
	p := api.Progress{
		Schema: api.ProgressSchema, At: at.UTC(), RunID: u.Run.ID, GroupID: u.Run.GroupID, Phase: u.Run.Status,
		Processed: Processed(u.Run), Errors: u.Run.ErrorCount, SpendMicrousd: u.Run.SpendMicrousd,
		ElapsedSeconds: u.Elapsed.Round(time.Millisecond).Seconds(),
	}
	if u.Run.PlannedCount > 0 {
		p.Planned = &u.Run.PlannedCount
	}
	return p
}

// Processed is how many tasks of a run were processed: graded, or ended in an
// error. A service may also count what it cancelled, skipped or gave back as
// done with; nobody processed that, and the percentage must not reach 100 by
// giving up.
func Processed(r api.RunRecord) int {
	if len(r.Outcomes) == 0 { // a service that does not tell them apart
		return r.ProcessedCount
	}
	return min(r.ProcessedCount, r.GradedCount+r.ErrorCount)
}

// Percent is the share of processed tasks, from 0 to 100, and false when the
// counts do not make sense together. It says nothing about the score.
func Percent(p api.Progress) (int, bool) {
	if p.Planned == nil || *p.Planned <= 0 || p.Processed < 0 || p.Processed > *p.Planned {
		return 0, false
	}
	return p.Processed * 100 / *p.Planned, true
}
