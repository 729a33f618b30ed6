package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// What a task's judges and its further parts may cost is set aside with its
// first call, as its pledge. It stands in the run's reservation, is moved into a
// call when a judge or the next part is asked, and is free again when the task
// needs no more of them.

// AskJudge journals a later call about a task that is answered in part, to a
// judge or about the next part, paid for out of the task's pledge. running is false when the run begins no more calls; then
// nothing was written.
func (s *Store) AskJudge(ctx context.Context, run core.RunID, l core.Lease, in core.Intent) (running bool, err error) {
	err = s.writer.book(ctx, func(t *tx) error {
		a, err := t.account(run)
		if err != nil {
			return err
		}
		if a.fence != l.Fence {
			return core.ErrFenced
		}
		if running = a.state == core.Running; !running {
			return nil
		}
		if err := t.one(`UPDATE samples SET pledged = pledged - $1 WHERE run = `+numOf(2)+` AND idx = $3 AND state = 'judging' AND pledged >= $1`,
			int64(in.Worst), string(run), in.Idx); err != nil {
			return fmt.Errorf("pay call %d of sample %d: %w", in.Part, in.Idx, err)
		}
		return t.insertCalls(run, l, in)
	})
	return running, err
}

// LeaveUnjudged settles a task that is answered in part and about which nobody
// will be asked any more, because its run has stopped. Its outcome is what the stop means for a task
// that was not run; its answer is kept and stays paid for.
func (s *Store) LeaveUnjudged(ctx context.Context, run core.RunID, idx int) error {
	return s.writer.book(ctx, func(t *tx) error {
		if err := t.holds(s.claim); err != nil {
			return err
		}
		return t.leaveUnjudged(run, idx)
	})
}

func (t *tx) leaveUnjudged(run core.RunID, idx int) error {
	var stop core.Reason
	if err := moved(t.row(`SELECT stop_reason FROM runs WHERE id = $1 AND state = 'stopping'`, string(run)).Scan(&stop)); err != nil {
		return fmt.Errorf("leave sample %d unjudged: %w", idx, err)
	}
	outcome, state := core.NotRun(stop), core.SamplePending
	if outcome == core.CancelledTask {
		state = core.SampleCancelled
	}
	return t.settleSample(run, idx, state, outcome, "", 0, core.EventTaskSkipped)
}

// afterAnswer is the state of a task of which one more answer was recorded.
func afterAnswer(open bool) core.SampleState {
	if open {
		return core.SampleJudging
	}
	return core.SampleAnswered
}

// unpledge frees what is set aside for a task's judges, and tells what the
// task has cost so far.
func (t *tx) unpledge(run core.RunID, idx int) (charge usd.Micro, err error) {
	var pledged usd.Micro
	if err := moved(t.row(`SELECT pledged, charge FROM samples WHERE run = `+numOf(1)+` AND idx = $2`, string(run), idx).Scan(&pledged, &charge)); err != nil {
		return 0, fmt.Errorf("read pledge of sample %d: %w", idx, err)
	}
	if pledged == 0 {
		return charge, nil
	}
	if err := t.one(`UPDATE samples SET pledged = 0 WHERE run = `+numOf(1)+` AND idx = $2`, string(run), idx); err != nil {
		return 0, err
	}
	if err := t.change(run, func(a *account) error { return a.release(pledged) }); err != nil {
		return 0, fmt.Errorf("free pledge of sample %d: %w", idx, err)
	}
	return charge, nil
}

// moved tells a row that was not in the state that a step needs.
func moved(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: 0 rows", core.ErrMoved)
	}
	return err
}

// askAgain gives the reservation of a later call that did no work back to the
// task's pledge: the judge, or the part, is still to be asked.
func (t *tx) askAgain(e core.Ended) error {
	return t.one(`UPDATE samples SET pledged = pledged + $1 WHERE run = `+numOf(2)+` AND idx = $3 AND state = 'judging'`, int64(e.Reserved), string(e.Run), e.Idx)
}
