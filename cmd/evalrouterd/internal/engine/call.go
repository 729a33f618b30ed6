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

// call takes one task to its end by a work: asked, recorded and graded, or
// settled otherwise. It always reports back exactly once.
func (r *runner) call(j *job, work func(*job) (settled, error)) {
	number, answered := j.number, false
	j.answered = func() {
		answered = true
		r.mail.Put(Message{answered: true})
	}
	var s settled
	err := r.safely(func() (err error) {
		s, err = work(j)
		return err
	})
	switch {
	case errors.Is(err, core.ErrFenced):
		s = settled{err: err} // whoever took over has settled it
	case err != nil:
		s = r.salvage(j, err)
	}
	s.idx, s.number, s.answered = j.intent.Idx, number, answered
	r.mail.Put(Message{settled: &s})
}

// askTask asks the model, and the judges where models grade.
func (r *runner) askTask(j *job) (settled, error) {
	s, err := r.attempts(j)
	if err != nil || s.open == nil {
		return s, err
	}
	if r.likely != nil {
		j.read = s.read
		return r.askParts(j, s)
	}
	after, err := r.judge(j, answered{idx: j.intent.Idx, task: j.task, answer: *s.open})
	after.unreported, after.overBound = s.unreported, s.overBound
	return after, err
}

// salvage settles a task whose call met a fault of ours: a call that may have
// left is unknown, one that did not is planned again.
func (r *runner) salvage(j *job, fault error) settled {
	if r.e.calls.Err() != nil {
		return settled{} // the next start settles it
	}
	r.e.o.Log.Error("a call met a fault", "run_id", string(r.id), "index", j.intent.Idx, "error", fault.Error())
	lost := r.ended(j, provider.Outcome{Reason: "internal_error"})
	err := r.persist("unknown", func(ctx context.Context) error { return r.held.Journal.MarkUnknown(ctx, lost) })
	if !errors.Is(err, core.ErrMoved) {
		return settled{unknown: true, detail: "a call met a fault of the service", err: err}
	}
	err = r.persist("void", func(ctx context.Context) error { return r.held.Journal.Replan(ctx, lost, core.CallVoided) })
	return settled{stop: core.InternalFailure, detail: "a call met a fault of the service", err: err}
}

// attempts makes calls until one of them decides the task; the job is the
// newest of them. Waiting for a retry ends when the run stops; a request that
// has left never does.
func (r *runner) attempts(j *job) (settled, error) {
	began := r.e.o.Clock.Now()
	for {
		// An error here means that the request must not leave.
		if err := r.held.Journal.MarkSent(context.Background(), r.id, j.intent); err != nil {
			return r.unsent(j, err)
		}
		out, left := r.ask(j)
		if left {
			return settled{}, nil
		}
		j.count(out)
		d := decide(out, j.tries(out), r.e.o.Clock.Now().Sub(began), r.e.o.Jitter())
		if out.Reach == provider.Overload {
			r.mail.Put(Message{overload: true})
		}
		if d.do != again {
			return r.apply(j, out, d)
		}
		if err := r.retry(j, out, d); err != nil {
			return settled{}, err
		}
		if !r.rest(d.delay) {
			return r.putBack(j)
		}
	}
}

// unsent plans a task again whose call could not be marked as sent. When the
// mark was made after all, nobody knows that the request did not leave but us.
func (r *runner) unsent(j *job, cause error) (settled, error) {
	r.e.o.Log.Warn("a call was not made", "run_id", string(r.id), "index", j.intent.Idx, "error", cause.Error())
	e := r.ended(j, provider.Outcome{Reason: "not_marked"})
	err := r.persist("void", func(ctx context.Context) error { return r.held.Journal.Replan(ctx, e, core.CallVoided) })
	return back(j), err
}

// back reports a task whose call did no work and is to be made again.
func back(j *job) settled {
	if j.intent.Later() {
		return settled{unjudged: true}
	}
	return settled{again: &core.Redo{Idx: j.intent.Idx, Attempt: j.intent.Attempt}}
}

// ask makes the one request. left is true when the engine stopped waiting for
// it: the call stays sent, and a restart makes it unknown.
func (r *runner) ask(j *job) (out provider.Outcome, left bool) {
	ctx, cancel := context.WithTimeout(r.e.calls, provider.CallTime(j.req.MaxOutput, r.e.o.CallTimeout))
	defer cancel()
	out = r.e.heard.ours(j, r.id, j.by.adapter.Call(ctx, j.req))
	return out, out.Class == provider.Unknown && r.e.calls.Err() != nil
}

// retry journals the next attempt with the same reservation.
func (r *runner) retry(j *job, out provider.Outcome, d decision) error {
	next := *j
	next.intent.Call = core.CallID(r.e.o.NewCallID())
	next.intent.Attempt++
	next.req.Attempt = next.intent.Attempt
	e, data := r.ended(j, out), map[string]any{
		"index": j.intent.Idx, "attempt": next.intent.Attempt, "reason": reasonOf(out), "delay_seconds": d.delay.Round(time.Millisecond).Seconds(),
	}
	err := r.persist("retry", func(ctx context.Context) error {
		return r.held.Journal.Retry(ctx, e, endState(out), r.lease(), next.intent, data)
	})
	if err == nil {
		*j = next
	}
	return err
}

// putBack plans a task again whose next attempt was never sent.
func (r *runner) putBack(j *job) (settled, error) {
	if r.e.dispatch.Err() != nil {
		return settled{}, nil // the engine stops; a restart voids the intent
	}
	e := r.ended(j, provider.Outcome{Code: "stopped"})
	err := r.persist("void", func(ctx context.Context) error { return r.held.Journal.Replan(ctx, e, core.CallVoided) })
	return back(j), err
}

// apply carries out a decision that ends the task's calls.
func (r *runner) apply(j *job, out provider.Outcome, d decision) (settled, error) {
	if d.do == record {
		return r.record(j, out)
	}
	if j.intent.Judge {
		d = d.ofJudge(j.by.target)
	}
	e := r.ended(j, out)
	switch d.do {
	case giveUp:
		return settled{}, r.persist("give up", func(ctx context.Context) error {
			return r.held.Journal.GiveUp(ctx, e, endState(out), d.code == core.CodeRefused, d.code)
		})
	case replan, park, outage:
		err := r.persist("plan again", func(ctx context.Context) error { return r.held.Journal.Replan(ctx, e, endState(out)) })
		s := back(j)
		s.stop, s.park, s.outage, s.why, s.detail = d.stop, d.delay, d.do == outage, reasonOf(out), d.who+detailOf(out)
		return s, err
	}
	err := r.persist("unknown", func(ctx context.Context) error { return r.held.Journal.MarkUnknown(ctx, e) })
	return settled{unknown: true, why: reasonOf(out), detail: detailOf(out)}, err
}

// record keeps an answer, grades it and settles it with its money. The grade
// comes after the spool has the answer: a grader may take a process down, never
// what was paid for.
func (r *runner) record(j *job, out provider.Outcome) (settled, error) {
	r.readPart(j, &out)
	resp := r.response(j, out)
	done, err := r.e.o.Spool.Keep(resp)
	if err != nil { // the journal may still have room; without both, the call is unknown
		r.e.o.Log.Error("answer was not spooled", "run_id", string(r.id), "error", err.Error())
		done = func() {}
	}
	if !r.more(j) {
		j.answered()
	}
	s := settled{unreported: resp.Money.Unreported, overBound: resp.Money.OverBound}
	if !resp.Refused && resp.Failed == "" {
		if resp.Grade = r.gradeNow(j, out); resp.Grade == nil {
			a := answerOf(out)
			s.open, s.read = &a, j.read
		}
	}
	s.unusable = j.intent.Judge && (resp.Refused || resp.Failed != "" || resp.Grade != nil && resp.Grade.JudgeCode != "")
	if err := r.persist("record", func(ctx context.Context) error { return r.respond(ctx, resp) }); err != nil {
		return settled{}, err
	}
	done()
	if out.Malformed && out.Reach == provider.Route && !j.intent.Judge { // every task would end so
		s.stop, s.why, s.detail = core.ProviderDown, reasonOf(out), detailOf(out)
	}
	return s, nil
}

// gradeNow is the grade that an answer brings with it, nil when a judge is
// still to be asked.
func (r *runner) gradeNow(j *job, out provider.Outcome) *core.Grade {
	var a answered
	switch {
	case j.intent.Judge:
		a = *j.about
		a.replies = append(a.replies[:len(a.replies):len(a.replies)], answerOf(out))
	case r.more(j):
		return nil
	case r.likely != nil:
		a = r.whole(j)
	default:
		a = answered{task: j.task, answer: answerOf(out)}
	}
	g := r.verdict(j.intent.Idx, a)
	if j.intent.Judge && r.more(j) && g.JudgeCode == "" {
		return nil
	}
	return &g
}

// more says that somebody is to be asked about a task after this call.
func (r *runner) more(j *job) bool {
	switch {
	case r.likely != nil:
		return j.intent.Part < len(j.asks)-1
	case j.intent.Judge:
		return j.intent.Part < len(r.judges)-1
	}
	return r.judged != nil
}

// respond records an answer. One whose call was settled meanwhile by another
// process, which took this one for dead, is kept as a late one.
func (r *runner) respond(ctx context.Context, resp core.Response) error {
	err := r.held.Journal.Respond(ctx, resp)
	if !errors.Is(err, core.ErrMoved) {
		return err
	}
	switch state, late := r.held.Journal.Late(ctx, resp); {
	case late != nil:
		return late
	case state == core.CallResponded:
		return nil
	case state == core.CallLate:
		return core.ErrFenced
	}
	return err
}

// response is an answer with its money decided.
func (r *runner) response(j *job, out provider.Outcome) core.Response {
	if out.Usage != nil && !out.Usage.Believable(j.bound, j.outBound) {
		out.Usage = nil
	}
	var money core.Settlement
	if j.by.target.Priced {
		money = out.Settle(j.by.target.Prices, j.intent.Worst, j.inputCost)
		if j.by.target.Metered() {
			money = money.OfOwner()
		}
	}
	resp := core.Response{
		Run: r.id, Workspace: r.scope.Workspace, Book: r.book, Metered: j.by.target.Metered(), Idx: j.intent.Idx, Call: j.intent.Call,
		Judge: j.intent.Judge, Part: j.intent.Part, Open: r.more(j),
		Raw: out.Raw, RawSHA256: digest(out.Raw), Finish: string(out.Finish), Usage: out.Usage, RequestID: out.RequestID,
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
	return r.createdAt + core.RawDays*24*3600*1_000_000
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// verdict decides an answer, from the replies to it where models grade. A
// reply without a verdict is the judge's error, never a score. A grader that
// fails, or gives what no grader may, is an error of ours.
func (r *runner) verdict(idx int, a answered) core.Grade {
	g := core.Grade{Run: r.id, Idx: idx, Grader: r.grader.Identity()}
	err := r.safely(func() error {
		v, err := r.decideAnswer(a)
		if err == nil {
			err = sound(v)
		}
		if err == nil {
			g.Verdict = &v
		}
		return err
	})
	var fault *bundle.JudgeFault
	if errors.As(err, &fault) {
		return r.noVerdict(idx, core.CodeJudgeInvalid, fault.Error())
	}
	if err != nil {
		r.e.o.Log.Error("the grader failed", "run_id", string(r.id), "index", idx, "grader", g.Grader.ID, "error", err.Error())
	}
	return g
}

func (r *runner) decideAnswer(a answered) (bundle.Verdict, error) {
	if r.judged != nil {
		return r.judged.Verdict(a.task, a.answer, a.replies)
	}
	return r.grader.Grade(a.task, a.answer)
}

// gradeStored grades answers that an earlier process recorded and did not
// grade. It asks nobody and costs nothing.
func (r *runner) gradeStored(ctx context.Context, waiting []int) error {
	for _, idx := range waiting {
		a, ok, err := r.recorded(ctx, idx)
		if err != nil {
			return err
		}
		g := core.Grade{Run: r.id, Idx: idx, Grader: r.grader.Identity(), Answer: a.none}
		if ok && a.none == "" {
			g = r.verdict(idx, a)
		}
		if err := r.recordGrade(g); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) recordGrade(g core.Grade) error {
	return r.persist("grade", func(ctx context.Context) error { return r.held.Answers.RecordGrade(ctx, g) })
}

func (r *runner) ended(j *job, out provider.Outcome) core.Ended {
	return core.Ended{
		Run: r.id, Idx: j.intent.Idx, Call: j.intent.Call, Reserved: j.intent.Worst, Judge: j.intent.Judge, Part: j.intent.Part,
		Outcome: reasonOf(out), Message: out.Message,
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
