package store

import (
	"context"
	"fmt"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/scribe"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Reserve journals calls in order, each with its worst case set aside, until
// one does not fit: a later, cheaper task never overtakes a dearer one. This
// is the first of two commits before a request leaves the machine; a call
// that died here was provably not sent.
func (s *Store) Reserve(ctx context.Context, run core.RunID, l core.Lease, batch []core.Intent) (out core.Reserved, err error) {
	err = s.writer.book(ctx, func(t *tx) error {
		out = core.Reserved{}
		a, err := t.account(run)
		if err != nil {
			return err
		}
		if a.fence != l.Fence {
			return core.ErrFenced
		}
		if out.Running = a.state == core.Running; !out.Running {
			return nil
		}
		var total usd.Micro
		for _, in := range batch {
			if in.Worst+in.Pledge > a.free()-total {
				break
			}
			total += in.Worst + in.Pledge
			out.Granted++
		}
		if out.Granted == 0 {
			return nil
		}
		if err := a.reserve(total); err != nil {
			return err
		}
		var fresh []core.Intent
		for _, in := range batch[:out.Granted] {
			if in.Attempt == 1 && !in.Opened {
				fresh = append(fresh, in)
				continue
			}
			if err := t.reopen(run, l, in); err != nil {
				return err
			}
		}
		return t.open(run, l, fresh)
	})
	return out, err
}

// What each call writes by itself. The texts are made once.
var (
	markSent     = `UPDATE calls SET state = 'sent', sent_at = $1 WHERE run = $2 AND idx = $3 AND id = $4 AND ` + stateBefore(core.CallSent)
	recordAnswer = `UPDATE calls SET state = 'responded', live = 0, spent = $1, absorbed = $2, usage_doc = $3, finish = $4, provider_request_id = $5, ended_at = $6
		WHERE run = $7 AND idx = $8 AND id = $9 AND ` + stateBefore(core.CallResponded)
)

// MarkSent is the second commit before a request leaves: from here on the
// provider may have it. An error means that the request must not be sent.
func (s *Store) MarkSent(ctx context.Context, run core.RunID, in core.Intent) error {
	return s.writer.book(ctx, func(t *tx) error {
		num, err := t.num(run)
		if err != nil {
			return err
		}
		return t.one(markSent, int64(t.now), num, in.Idx, string(in.Call))
	})
}

// Respond records a paid answer and settles its money, once: what was
// reserved is released, what it cost is charged, and the raw answer is kept.
// A graded sample never needs the provider again.
func (s *Store) Respond(ctx context.Context, r core.Response) error {
	usage := usageDoc(r)
	return s.writer.book(ctx, func(t *tx) error {
		num, err := t.num(r.Run)
		if err != nil {
			return err
		}
		err = t.one(recordAnswer,
			int64(r.Money.Spend), int64(r.Money.Absorbed), usage, r.Finish, r.RequestID, int64(t.now), num, r.Idx, string(r.Call))
		if err != nil {
			return fmt.Errorf("record answer: %w", err)
		}
		if err := t.keep(r.Call, r.Raw, r.RawSHA256, r.ExpiresAt); err != nil {
			return err
		}
		if err := t.settle(r); err != nil {
			return err
		}
		if r.Money.OverBound {
			if err := t.event(r.Run, core.EventOverBound, map[string]any{"index": r.Idx, "absorbed_microusd": r.Money.Absorbed.Wire()}); err != nil {
				return err
			}
		}
		return t.answered(r)
	})
}

// answered takes a recorded answer of the model, or of a judge, into account.
func (t *tx) answered(r core.Response) error {
	switch {
	case r.Judge && r.Refused:
		return t.settleSample(r.Run, r.Idx, core.SampleFailed, core.JudgeError, core.CodeJudgeRefused, r.Money.Spend, core.EventTaskFailed)
	case r.Judge && r.Failed != "":
		return t.settleSample(r.Run, r.Idx, core.SampleFailed, core.JudgeError, core.CodeJudgeInvalid, r.Money.Spend, core.EventTaskFailed)
	case r.Refused:
		return t.settleSample(r.Run, r.Idx, core.SampleRefused, bundle.Refused, core.CodeRefused, r.Money.Spend, core.EventTaskFailed)
	case r.Failed != "":
		return t.settleSample(r.Run, r.Idx, core.SampleFailed, core.ProviderError, r.Failed, r.Money.Spend, core.EventTaskFailed)
	}
	from := core.SampleInCall
	if r.Later() {
		from = core.SampleJudging
	}
	if r.Later() && (r.Grade != nil || !r.Open) { // nobody else will be asked
		if _, err := t.unpledge(r.Run, r.Idx); err != nil {
			return err
		}
	}
	if r.Grade != nil {
		return t.grade(*r.Grade, from, r.Money.Spend)
	}
	return t.one(`UPDATE samples SET state = $1, charge = charge + $2 WHERE run = `+numOf(3)+` AND idx = $4 AND state = $5`,
		string(afterAnswer(r.Open)), int64(r.Money.Spend), string(r.Run), r.Idx, string(from))
}

func usageDoc(r core.Response) string {
	if r.Usage == nil {
		return ""
	}
	return string(scribe.Usage(nil, *r.Usage))
}

func (t *tx) keep(call core.CallID, raw []byte, sum string, until core.Micros) error {
	if raw == nil {
		raw = []byte{} // no bytes are an answer too
	}
	err := t.add(intoBlobs, nil, string(call), sum, len(raw), raw, int64(until))
	if err != nil {
		return fmt.Errorf("keep answer: %w", err)
	}
	return nil
}

// keepHash keeps of an answer whose time is over what stays of every other: its
// hash and size.
func (t *tx) keepHash(r core.Response) error {
	_, err := t.exec(`INSERT INTO blobs (call_id, hash, size, codec, data, expires_at) VALUES ($1, $2, $3, 'expired', NULL, $4)`,
		string(r.Call), r.RawSHA256, len(r.Raw), int64(r.ExpiresAt))
	if err != nil {
		return fmt.Errorf("keep the hash of an answer: %w", err)
	}
	return nil
}

// settle moves the money of one answer.
func (t *tx) settle(r core.Response) error {
	charged, metered := r.Money.Spend, usd.Micro(0)
	if r.Metered {
		charged, metered = 0, r.Money.Spend
	}
	err := t.change(r.Run, func(a *account) error {
		a.now.charged += charged
		a.now.metered += metered
		a.now.absorbed += r.Money.Absorbed
		a.now.unreported += flag(r.Money.Unreported)
		return a.release(r.Reserved)
	})
	if err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	if err := t.move(transfer{id: r.Transfer, workspace: r.Workspace, book: r.Book, from: accHeld, to: accSpent, amount: charged, code: "charge", run: r.Run, call: r.Call}); err != nil {
		return fmt.Errorf("charge: %w", err)
	}
	if r.Metered {
		return nil
	}
	if err := t.move(transfer{id: r.AbsorbTransfer, workspace: r.Workspace, book: r.Book, from: accAbsorbed, to: accProvider, amount: r.Money.Absorbed, code: "absorb", run: r.Run, call: r.Call}); err != nil {
		return fmt.Errorf("absorb: %w", err)
	}
	return nil
}

// settleSample ends a task without a score. charge is what its last call cost,
// and whatever is still set aside for the task is free again.
func (t *tx) settleSample(run core.RunID, idx int, state core.SampleState, o bundle.Outcome, code string, charge usd.Micro, event string) error {
	before, err := t.unpledge(run, idx)
	if err != nil {
		return err
	}
	err = t.one(`UPDATE samples SET state = $1, outcome = $2, code = $3, charge = charge + $4, ended_at = $5
		WHERE run = `+numOf(6)+` AND idx = $7 AND state IN ('in_call', 'judging', 'answered')`,
		string(state), string(o), code, int64(charge), int64(t.now), string(run), idx)
	if err != nil {
		return fmt.Errorf("settle sample %d: %w", idx, err)
	}
	if err := t.tally(run, o); err != nil {
		return err
	}
	data := map[string]any{"index": idx, "outcome": string(o), "charge_microusd": (before + charge).Wire()}
	if code != "" {
		data["error_code"] = code
	} else {
		data["reason"] = string(o)
	}
	return t.event(run, event, data)
}

func (t *tx) tally(run core.RunID, o bundle.Outcome) error {
	return t.change(run, func(a *account) error {
		a.count(o)
		return nil
	})
}
