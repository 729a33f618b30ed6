package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

// call takes one reserved task to its end: asked, recorded and graded, or
// settled otherwise. It always reports back exactly once.
func (r *runner) call(j job) {
	s := settled{idx: j.intent.Idx}
	err := r.safely(func() error {
		var err error
		s, err = r.attempts(j)
		return err
	})
	if err != nil {
		s.err = err
	}
	s.idx, s.number = j.intent.Idx, j.number
	r.mail.Put(Message{settled: &s})
}

// attempts makes calls until one of them decides the task. Waiting for a
// retry ends when the run stops; a request that has left never does.
func (r *runner) attempts(j job) (settled, error) {
	began := r.e.o.Clock.Now()
	// What is recorded about a call must not depend on who still waits for it.
	ctx := context.Background()
	for {
		if err := r.e.o.Journal.MarkSent(ctx, j.intent.Call); err != nil {
			return settled{}, err
		}
		out, left := r.ask(j)
		if left {
			return settled{}, nil
		}
		d := decide(out, j.retries+1, r.e.o.Clock.Now().Sub(began), r.e.o.Jitter())
		if out.Reach == provider.Overload {
			r.mail.Put(Message{overload: true})
		}
		if d.do != again {
			return r.apply(ctx, j, out, d)
		}
		next, err := r.retry(ctx, j, out, d)
		if err != nil {
			return settled{}, err
		}
		j = next
		if r.e.o.Clock.Sleep(r.waiting, d.delay) != nil {
			return r.putBack(ctx, j)
		}
	}
}

// ask makes the one request. left is true when the engine stopped waiting for
// it: the call stays sent, and a restart makes it unknown.
func (r *runner) ask(j job) (out provider.Outcome, left bool) {
	ctx, cancel := context.WithTimeout(r.e.calls, r.e.o.CallTimeout)
	defer cancel()
	out = r.adapter.Call(ctx, j.req)
	return out, out.Class == provider.Unknown && r.e.calls.Err() != nil
}

// retry journals the next attempt with the same reservation.
func (r *runner) retry(ctx context.Context, j job, out provider.Outcome, d decision) (job, error) {
	next := j
	next.retries++
	next.intent.Call = core.CallID(r.e.o.NewCallID())
	next.intent.Attempt++
	next.req.Attempt = next.intent.Attempt
	err := r.e.o.Journal.Retry(ctx, r.ended(j, out), endState(out), r.lease(), next.intent, map[string]any{
		"index": j.intent.Idx, "attempt": next.intent.Attempt, "reason": reasonOf(out), "delay_seconds": d.delay.Round(time.Millisecond).Seconds(),
	})
	return next, err
}

// putBack plans a task again whose next attempt was never sent.
func (r *runner) putBack(ctx context.Context, j job) (settled, error) {
	if r.e.dispatch.Err() != nil {
		return settled{}, nil // the engine stops; a restart voids the intent
	}
	err := r.e.o.Journal.Replan(ctx, r.ended(j, provider.Outcome{Code: "stopped"}), core.CallVoided)
	return settled{again: &core.Redo{Idx: j.intent.Idx, Attempt: j.intent.Attempt}}, err
}

// apply carries out a decision that ends the task's calls.
func (r *runner) apply(ctx context.Context, j job, out provider.Outcome, d decision) (settled, error) {
	switch d.do {
	case record:
		return r.record(ctx, j, out)
	case giveUp:
		err := r.e.o.Journal.GiveUp(ctx, r.ended(j, out), endState(out), d.code == core.CodeRefused, d.code)
		return settled{}, err
	case replan, park:
		err := r.e.o.Journal.Replan(ctx, r.ended(j, out), endState(out))
		return settled{again: &core.Redo{Idx: j.intent.Idx, Attempt: j.intent.Attempt}, stop: d.stop, park: d.delay, why: reasonOf(out), detail: detailOf(out)}, err
	}
	return settled{unknown: true, why: reasonOf(out), detail: detailOf(out)}, r.e.o.Journal.MarkUnknown(ctx, r.ended(j, out))
}

// record keeps an answer, settles its money and grades it.
func (r *runner) record(ctx context.Context, j job, out provider.Outcome) (settled, error) {
	usage := out.Usage
	if usage != nil && !usage.Believable(j.bound, int64(j.req.MaxOutput)) {
		usage = nil
	}
	var money core.Settlement
	if r.quote.Target.Priced {
		money = r.quote.Target.Prices.Settle(j.intent.Worst, usage)
	}
	sum := sha256.Sum256(out.Raw)
	resp := core.Response{
		Run: r.id, Workspace: r.scope.Workspace, Book: r.book, Metered: r.quote.Target.Metered(), Idx: j.intent.Idx, Call: j.intent.Call,
		Raw: out.Raw, RawSHA256: hex.EncodeToString(sum[:]), Finish: string(out.Finish), Usage: usage, RequestID: out.RequestID,
		Refused: out.Refused, Money: money, Reserved: j.intent.Worst, Transfer: r.e.o.NewCallID(), AbsorbTransfer: r.e.o.NewCallID(),
		ExpiresAt: core.Micros(r.e.o.Clock.Now().Add(core.RawDays * 24 * time.Hour).UnixMicro()),
	}
	if out.Malformed {
		resp.Failed = codeOr(out.Code, core.CodeInvalidOutput)
	}
	done, err := r.e.o.Spool.Keep(resp)
	if err != nil { // the journal may still have room; without both, the call is unknown
		r.e.o.Log.Error("answer was not spooled", "run_id", string(r.id), "error", err.Error())
		done = func() {}
	}
	if err := r.e.o.Journal.Respond(ctx, resp); err != nil {
		return settled{}, err
	}
	done()
	s := settled{unreported: money.Unreported}
	if resp.Refused || resp.Failed != "" {
		return s, nil
	}
	return s, r.grade(ctx, j.intent.Idx, j.task, out)
}

// grade decides a recorded answer. A grader that fails is an error of ours.
func (r *runner) grade(ctx context.Context, idx int, task bundle.Task, out provider.Outcome) error {
	g := core.Grade{Run: r.id, Idx: idx, Grader: r.grader.Identity()}
	_ = r.safely(func() error {
		v, err := r.grader.Grade(task, bundle.Answer{Text: out.Text, Finish: out.Finish})
		if err == nil {
			g.Verdict = &v
		}
		return err
	})
	return r.e.o.Answers.RecordGrade(ctx, g)
}

// gradeStored grades answers that an earlier process recorded and did not
// grade. It asks nobody and costs nothing.
func (r *runner) gradeStored(ctx context.Context) error {
	p, err := r.e.o.Runs.Progress(ctx, r.id)
	if err != nil {
		return err
	}
	for _, idx := range p.Answered {
		task, err := r.e.o.Tasks.Task(ctx, r.quote.Profile, r.order.At(idx))
		if err != nil {
			return err
		}
		ev, ok, err := r.e.o.Answers.Evidence(ctx, r.id, idx)
		if err != nil {
			return err
		}
		if !ok || ev.Raw == nil {
			if err := r.e.o.Answers.RecordGrade(ctx, core.Grade{Run: r.id, Idx: idx}); err != nil {
				return err
			}
			continue
		}
		if err := r.grade(ctx, idx, task, r.adapter.Parse(ev.Raw)); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) ended(j job, out provider.Outcome) core.Ended {
	return core.Ended{Run: r.id, Idx: j.intent.Idx, Call: j.intent.Call, Reserved: j.intent.Worst, Outcome: reasonOf(out), Message: out.Message}
}

// endState is the call state that an outcome without an answer proves.
func endState(o provider.Outcome) core.CallState {
	if o.Class == provider.NotSent {
		return core.CallVoided
	}
	return core.CallRejected
}

// reasonOf is the finest word there is for what happened.
func reasonOf(o provider.Outcome) string { return codeOr(o.Reason, codeOr(o.Code, string(o.Class))) }

// detailOf is a sentence for what happened: the provider's own where there is
// one.
func detailOf(o provider.Outcome) string {
	text := o.Message
	if text == "" {
		text = reasonOf(o)
	}
	if o.Status != 0 {
		return fmt.Sprintf("HTTP %d: %s", o.Status, text)
	}
	return text
}
