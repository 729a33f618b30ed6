package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

// call takes one reserved task to its end: asked, recorded and graded, or
// settled otherwise. It always reports back exactly once.
func (r *runner) call(j job) {
	var s settled
	err := r.safely(func() (err error) {
		s, err = r.attempts(&j)
		return err
	})
	if err != nil {
		s = r.salvage(j, err)
	}
	s.idx, s.number = j.intent.Idx, j.number
	r.mail.Put(Message{settled: &s})
}

// salvage settles a task whose call met a fault of ours: a call that may have
// left is unknown, one that did not is planned again.
func (r *runner) salvage(j job, fault error) settled {
	if r.e.calls.Err() != nil {
		return settled{} // the next start settles it
	}
	r.e.o.Log.Error("a call met a fault", "run_id", string(r.id), "index", j.intent.Idx, "error", fault.Error())
	lost := r.ended(j, provider.Outcome{Reason: "internal_error"})
	err := r.persist("unknown", func(ctx context.Context) error { return r.e.o.Journal.MarkUnknown(ctx, lost) })
	if !errors.Is(err, core.ErrMoved) {
		return settled{unknown: true, detail: "a call met a fault of the service", err: err}
	}
	err = r.persist("void", func(ctx context.Context) error { return r.e.o.Journal.Replan(ctx, lost, core.CallVoided) })
	return settled{stop: core.InternalFailure, detail: "a call met a fault of the service", err: err}
}

// attempts makes calls until one of them decides the task; the job is the
// newest of them. Waiting for a retry ends when the run stops; a request that
// has left never does.
func (r *runner) attempts(j *job) (settled, error) {
	began := r.e.o.Clock.Now()
	for {
		// An error here means that the request must not leave.
		if err := r.e.o.Journal.MarkSent(context.Background(), j.intent.Call); err != nil {
			return r.unsent(*j, err)
		}
		out, left := r.ask(*j)
		if left {
			return settled{}, nil
		}
		j.count(out)
		d := decide(out, j.tries(out), r.e.o.Clock.Now().Sub(began), r.e.o.Jitter())
		if out.Reach == provider.Overload {
			r.mail.Put(Message{overload: true})
		}
		if d.do != again {
			return r.apply(*j, out, d)
		}
		if err := r.retry(j, out, d); err != nil {
			return settled{}, err
		}
		if r.e.o.Clock.Sleep(r.waiting, d.delay) != nil {
			return r.putBack(*j)
		}
	}
}

// unsent plans a task again whose call could not be marked as sent. When the
// mark was made after all, nobody knows that the request did not leave but us.
func (r *runner) unsent(j job, cause error) (settled, error) {
	r.e.o.Log.Warn("a call was not made", "run_id", string(r.id), "index", j.intent.Idx, "error", cause.Error())
	e := r.ended(j, provider.Outcome{Reason: "not_marked"})
	err := r.persist("void", func(ctx context.Context) error { return r.e.o.Journal.Replan(ctx, e, core.CallVoided) })
	return settled{again: &core.Redo{Idx: j.intent.Idx, Attempt: j.intent.Attempt}}, err
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
func (r *runner) retry(j *job, out provider.Outcome, d decision) error {
	next := *j
	next.intent.Call = core.CallID(r.e.o.NewCallID())
	next.intent.Attempt++
	next.req.Attempt = next.intent.Attempt
	e, data := r.ended(*j, out), map[string]any{
		"index": j.intent.Idx, "attempt": next.intent.Attempt, "reason": reasonOf(out), "delay_seconds": d.delay.Round(time.Millisecond).Seconds(),
	}
	err := r.persist("retry", func(ctx context.Context) error {
		return r.e.o.Journal.Retry(ctx, e, endState(out), r.lease(), next.intent, data)
	})
	if err == nil {
		*j = next
	}
	return err
}

// putBack plans a task again whose next attempt was never sent.
func (r *runner) putBack(j job) (settled, error) {
	if r.e.dispatch.Err() != nil {
		return settled{}, nil // the engine stops; a restart voids the intent
	}
	e := r.ended(j, provider.Outcome{Code: "stopped"})
	err := r.persist("void", func(ctx context.Context) error { return r.e.o.Journal.Replan(ctx, e, core.CallVoided) })
	return settled{again: &core.Redo{Idx: j.intent.Idx, Attempt: j.intent.Attempt}}, err
}

// apply carries out a decision that ends the task's calls.
func (r *runner) apply(j job, out provider.Outcome, d decision) (settled, error) {
	e := r.ended(j, out)
	switch d.do {
	case record:
		return r.record(j, out)
	case giveUp:
		return settled{}, r.persist("give up", func(ctx context.Context) error {
			return r.e.o.Journal.GiveUp(ctx, e, endState(out), d.code == core.CodeRefused, d.code)
		})
	case replan, park:
		err := r.persist("plan again", func(ctx context.Context) error { return r.e.o.Journal.Replan(ctx, e, endState(out)) })
		return settled{again: &core.Redo{Idx: j.intent.Idx, Attempt: j.intent.Attempt}, stop: d.stop, park: d.delay, why: reasonOf(out), detail: detailOf(out)}, err
	}
	err := r.persist("unknown", func(ctx context.Context) error { return r.e.o.Journal.MarkUnknown(ctx, e) })
	return settled{unknown: true, why: reasonOf(out), detail: detailOf(out)}, err
}

// record keeps an answer, grades it and settles it with its money. The grade
// comes after the spool has the answer: a grader may take a process down, never
// what was paid for.
func (r *runner) record(j job, out provider.Outcome) (settled, error) {
	resp := r.response(j, out)
	done, err := r.e.o.Spool.Keep(resp)
	if err != nil { // the journal may still have room; without both, the call is unknown
		r.e.o.Log.Error("answer was not spooled", "run_id", string(r.id), "error", err.Error())
		done = func() {}
	}
	if !resp.Refused && resp.Failed == "" {
		g := r.grade(j.intent.Idx, j.task, out)
		resp.Grade = &g
	}
	if err := r.persist("record", func(ctx context.Context) error { return r.e.o.Journal.Respond(ctx, resp) }); err != nil {
		return settled{}, err
	}
	done()
	return settled{unreported: resp.Money.Unreported, overBound: resp.Money.OverBound}, nil
}

// response is an answer with its money decided.
func (r *runner) response(j job, out provider.Outcome) core.Response {
	usage := out.Usage
	if usage != nil && !usage.Believable(j.bound, int64(j.req.MaxOutput)) {
		usage = nil
	}
	var money core.Settlement
	if r.quote.Target.Priced {
		money = r.quote.Target.Prices.Settle(j.intent.Worst, usage)
	}
	resp := core.Response{
		Run: r.id, Workspace: r.scope.Workspace, Book: r.book, Metered: r.quote.Target.Metered(), Idx: j.intent.Idx, Call: j.intent.Call,
		Raw: out.Raw, RawSHA256: digest(out.Raw), Finish: string(out.Finish), Usage: usage, RequestID: out.RequestID,
		Refused: out.Refused, Money: money, Reserved: j.intent.Worst, Transfer: r.e.o.NewCallID(), AbsorbTransfer: r.e.o.NewCallID(),
		ExpiresAt: r.evidenceUntil(),
	}
	if out.Malformed {
		resp.Failed = codeOr(out.Code, core.CodeInvalidOutput)
	}
	return resp
}

// evidenceUntil is how long raw answers are kept: it counts from the run's
// beginning, so that a run's answers go together.
func (r *runner) evidenceUntil() core.Micros {
	return r.row.CreatedAt + core.RawDays*24*3600*1_000_000
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// grade decides an answer. A grader that fails, or gives what no
// grader may, is an error of ours.
func (r *runner) grade(idx int, task bundle.Task, out provider.Outcome) core.Grade {
	g := core.Grade{Run: r.id, Idx: idx, Grader: r.grader.Identity()}
	err := r.safely(func() error {
		v, err := r.grader.Grade(task, bundle.Answer{Text: out.Text, Finish: out.Finish})
		if err == nil {
			err = sound(v)
		}
		if err == nil {
			g.Verdict = &v
		}
		return err
	})
	if err != nil {
		r.e.o.Log.Error("the grader failed", "run_id", string(r.id), "index", idx, "grader", g.Grader.ID, "error", err.Error())
	}
	return g
}

// gradeStored grades answers that an earlier process recorded and did not
// grade. It asks nobody and costs nothing.
func (r *runner) gradeStored(ctx context.Context, answered []int) error {
	for _, idx := range answered {
		task, err := r.e.o.Tasks.Task(ctx, r.quote.Profile, r.order.At(idx))
		if err != nil {
			return fmt.Errorf("read task %d: %w", idx, err)
		}
		ev, ok, err := r.e.o.Answers.Evidence(ctx, r.id, idx)
		if err != nil {
			return fmt.Errorf("read answer %d: %w", idx, err)
		}
		g := core.Grade{Run: r.id, Idx: idx}
		if ok && ev.Raw != nil {
			g = r.grade(idx, task, r.adapter.Parse(ev.Raw))
		}
		if err := r.persist("grade", func(ctx context.Context) error { return r.e.o.Answers.RecordGrade(ctx, g) }); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) ended(j job, out provider.Outcome) core.Ended {
	return core.Ended{
		Run: r.id, Idx: j.intent.Idx, Call: j.intent.Call, Reserved: j.intent.Worst, Outcome: reasonOf(out), Message: out.Message,
		Code: out.Code, Raw: out.Raw, RawSHA256: digest(out.Raw), ExpiresAt: r.evidenceUntil(),
	}
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
