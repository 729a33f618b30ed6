package sim_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
)

// journal is the production store with a place to give way, and so to crash,
// before and after every commit of the engine.
type journal struct {
	*store.Store
	w *world
}

// errDisk is a commit that the database could not take, or of which nobody
// was told that it was taken.
var errDisk = errors.New("disk I/O error")

func around[T any](j *journal, name string, f func() (T, error)) (T, error) {
	j.w.point("before " + name)
	fails := j.w.model.faults && j.w.s.random.IntN(100) == 0
	taken := j.w.s.random.IntN(2) == 0
	var v T
	var err error
	if !fails || taken {
		v, err = f()
	}
	j.w.point("after " + name)
	if fails && err == nil {
		j.w.seen["lost commit, taken "+fmt.Sprint(taken)]++
		var none T
		return none, errDisk
	}
	return v, err
}

func around0(j *journal, name string, f func() error) error {
	_, err := around(j, name, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

func (j *journal) Reserve(ctx context.Context, id core.RunID, l core.Lease, b []core.Intent) (core.Reserved, error) {
	return around(j, "reserve", func() (core.Reserved, error) { return j.Store.Reserve(ctx, id, l, b) })
}

func (j *journal) MarkSent(ctx context.Context, run core.RunID, in core.Intent) error {
	return around0(j, "sent", func() error { return j.Store.MarkSent(ctx, run, in) })
}

func (j *journal) Respond(ctx context.Context, r core.Response) error {
	if j.w.s.cur == nil {
		return j.Store.Respond(ctx, r) // at the start of a process, before its functions run
	}
	return around0(j, "respond", func() error { return j.Store.Respond(ctx, r) })
}

func (j *journal) Retry(ctx context.Context, e core.Ended, to core.CallState, l core.Lease, n core.Intent, d map[string]any) error {
	return around0(j, "retry", func() error { return j.Store.Retry(ctx, e, to, l, n, d) })
}

func (j *journal) Replan(ctx context.Context, e core.Ended, to core.CallState) error {
	return around0(j, "replan", func() error { return j.Store.Replan(ctx, e, to) })
}

func (j *journal) GiveUp(ctx context.Context, e core.Ended, to core.CallState, refused bool, code string) error {
	return around0(j, "give up", func() error { return j.Store.GiveUp(ctx, e, to, refused, code) })
}

func (j *journal) MarkUnknown(ctx context.Context, e core.Ended) error {
	return around0(j, "unknown", func() error { return j.Store.MarkUnknown(ctx, e) })
}

func (j *journal) AskJudge(ctx context.Context, id core.RunID, l core.Lease, in core.Intent) (bool, error) {
	return around(j, "ask judge", func() (bool, error) { return j.Store.AskJudge(ctx, id, l, in) })
}

func (j *journal) LeaveUnjudged(ctx context.Context, id core.RunID, idx int) error {
	return around0(j, "leave unjudged", func() error { return j.Store.LeaveUnjudged(ctx, id, idx) })
}

func (j *journal) RecordGrade(ctx context.Context, g core.Grade) error {
	return around0(j, "grade", func() error { return j.Store.RecordGrade(ctx, g) })
}

func (j *journal) Start(ctx context.Context, id core.RunID) error {
	return around0(j, "start", func() error { return j.Store.Start(ctx, id) })
}

func (j *journal) Stop(ctx context.Context, id core.RunID, why core.Stop) error {
	return around0(j, "stop", func() error { return j.Store.Stop(ctx, id, why) })
}

func (j *journal) Abandon(ctx context.Context, id core.RunID) error {
	return around0(j, "abandon", func() error { return j.Store.Abandon(ctx, id) })
}

func (j *journal) Park(ctx context.Context, id core.RunID, until core.Micros, why string) error {
	return around0(j, "park", func() error { return j.Store.Park(ctx, id, until, why) })
}

func (j *journal) AppendEvent(ctx context.Context, id core.RunID, kind string, d map[string]any) error {
	return around0(j, "event", func() error { return j.Store.AppendEvent(ctx, id, kind, d) })
}

func (j *journal) Finalize(ctx context.Context, id core.RunID, a, b string, f func(core.Ending) core.Result) (core.State, error) {
	return around(j, "finalize", func() (core.State, error) { return j.Store.Finalize(ctx, id, a, b, f) })
}

// clock is the scheduler's time.
type clock struct{ s *sched }

func (c clock) Now() time.Time { return c.s.now }

func (c clock) Sleep(ctx context.Context, d time.Duration) error {
	until := c.s.now.Add(d)
	c.s.cur.until = until
	c.s.yield(func() bool { return ctx.Err() != nil || !c.s.now.Before(until) })
	return ctx.Err()
}
