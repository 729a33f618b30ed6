package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Retry replaces a rejected or voided call by the next attempt in the same
// transaction: the reservation moves with it and is never free in between. A
// crash leaves an intent, which was provably not sent.
func (s *Store) Retry(ctx context.Context, e core.Ended, to core.CallState, l core.Lease, next core.Intent, data map[string]any) error {
	return s.writer.book(ctx, func(t *tx) error {
		if err := t.endCall(e, to); err != nil {
			return err
		}
		if !e.Later() {
			if err := t.one(`UPDATE samples SET attempt = $1 WHERE run = `+numOf(2)+` AND idx = $3 AND state = 'in_call'`, next.Attempt, string(e.Run), e.Idx); err != nil {
				return err
			}
		}
		if err := t.insertCalls(e.Run, l, next); err != nil {
			return err
		}
		return t.event(e.Run, core.EventCallRetry, copyData(data))
	})
}

// Replan ends a call that provably did no work and plans its task again. After
// a later call the task keeps its answers, and that one is to be made again.
func (s *Store) Replan(ctx context.Context, e core.Ended, to core.CallState) error {
	return s.writer.book(ctx, func(t *tx) error { return t.replan(e, to) })
}

func (t *tx) replan(e core.Ended, to core.CallState) error {
	if err := t.endCall(e, to); err != nil {
		return err
	}
	if e.Later() {
		return t.askAgain(e)
	}
	if err := t.release(e); err != nil {
		return err
	}
	if _, err := t.unpledge(e.Run, e.Idx); err != nil {
		return err
	}
	return t.one(`UPDATE samples SET state = 'planned' WHERE run = `+numOf(1)+` AND idx = $2 AND state = 'in_call'`, string(e.Run), e.Idx)
}

// GiveUp ends a call that did no work and settles its task as an error.
func (s *Store) GiveUp(ctx context.Context, e core.Ended, to core.CallState, refused bool, code string) error {
	return s.writer.book(ctx, func(t *tx) error {
		if err := t.endCall(e, to); err != nil {
			return err
		}
		if err := t.release(e); err != nil {
			return err
		}
		state, outcome := core.SampleFailed, core.ProviderError
		switch {
		case e.Judge:
			outcome = core.JudgeError
		case refused:
			state, outcome = core.SampleRefused, "refused"
		}
		return t.settleSample(e.Run, e.Idx, state, outcome, code, 0, core.EventTaskFailed)
	})
}

// MarkUnknown records that a call may have been processed and no answer will
// be recorded. The reservation is released and waived: nobody is charged for
// what cannot be known, and nothing is sent again by itself.
func (s *Store) MarkUnknown(ctx context.Context, e core.Ended) error {
	return s.writer.book(ctx, func(t *tx) error { return t.unknown(e) })
}

func (t *tx) unknown(e core.Ended) error {
	if err := t.endCall(e, core.CallUnknown); err != nil {
		return err
	}
	err := t.change(e.Run, func(a *account) error {
		a.now.waived += e.Reserved
		return a.release(e.Reserved)
	})
	if err != nil {
		return fmt.Errorf("waive: %w", err)
	}
	if err := t.event(e.Run, core.EventWaived, map[string]any{"index": e.Idx, "waived_microusd": e.Reserved.Wire()}); err != nil {
		return err
	}
	if e.Raw != nil {
		if err := t.keep(e.Call, e.Raw, e.RawSHA256, e.ExpiresAt); err != nil {
			return err
		}
	}
	if e.Judge {
		return t.settleSample(e.Run, e.Idx, core.SampleUnresolved, core.JudgeError, core.CodeJudgeUnknown, 0, core.EventTaskFailed)
	}
	code := e.Code
	if code == "" {
		code = core.CodeOutcomeUnknown
	}
	return t.settleSample(e.Run, e.Idx, core.SampleUnresolved, core.ProviderError, code, 0, core.EventTaskFailed)
}

// endCall moves a call to its last state.
func (t *tx) endCall(e core.Ended, to core.CallState) error {
	err := t.one(`UPDATE calls SET state = $1, live = 0, outcome = $2, message = $3, ended_at = $4 WHERE run = `+numOf(5)+` AND idx = $6 AND id = $7 AND `+stateBefore(to),
		string(to), e.Outcome, e.Message, int64(t.now), string(e.Run), e.Idx, string(e.Call))
	if err != nil {
		return fmt.Errorf("end call as %s: %w", to, err)
	}
	return nil
}

// stateBefore is the condition under which a call may go to a state.
func stateBefore(to core.CallState) string {
	var any []string
	for _, s := range core.Before(to) {
		any = append(any, "state = '"+string(s)+"'")
	}
	return "(" + strings.Join(any, " OR ") + ")"
}

func (t *tx) release(e core.Ended) error {
	if err := t.change(e.Run, func(a *account) error { return a.release(e.Reserved) }); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}
