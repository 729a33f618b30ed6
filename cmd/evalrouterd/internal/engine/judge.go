package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Where models grade, a task goes on after its answer: each judge of the panel
// is asked about it, one after the other, in calls that are journalled, spooled
// and paid like any other, out of what was set aside with the task's own call.
// A judge's call that may have been processed is unknown and never made again;
// one that provably was not is made again, and the answer is never bought
// twice. Every judge is needed, so a judge that cannot be asked at all ends the
// run.

// maxNonces is how many nonces are drawn before a task is given up that seems
// to hold each of them.
const maxNonces = 16

// asker is somebody to ask: the model, or a judge.
type asker struct {
	target  core.Target
	adapter provider.Adapter
	key     provider.Secret
}

func (r *runner) asker(t core.Target) (a asker, err error) {
	a.target = t
	var ok bool
	if a.adapter, ok = r.e.o.Adapters[t.Protocol]; !ok {
		return a, fmt.Errorf("no adapter speaks %s", t.Protocol)
	}
	return a, nil
}

// openKeys opens the credentials of whoever will be asked. What was answered
// before is graded without them.
func (r *runner) openKeys(ctx context.Context) (err error) {
	if r.model.key, err = r.e.o.Keys.Key(ctx, r.scope, r.model.target); err != nil {
		return fmt.Errorf("open credential: %w", err)
	}
	for i := range r.judges {
		if r.judges[i].key, err = r.e.o.Keys.Key(ctx, r.scope, r.judges[i].target); err != nil {
			return fmt.Errorf("open credential of judge %s: %w", r.judges[i].target.Name(), err)
		}
	}
	return nil
}

// loadJudges makes ready what the quote froze about who grades.
func (r *runner) loadJudges() error {
	r.likely, _ = r.grader.(bundle.Likely)
	judged, ok := r.grader.(bundle.Judged)
	if ok != (len(r.quote.Judges) > 0) {
		return errors.New("the grader and the quote do not agree on whether models grade")
	}
	r.judged, r.judges, r.doubts = judged, nil, nil
	for _, j := range r.quote.Judges {
		a, err := r.asker(j.Target)
		if err != nil {
			return fmt.Errorf("judge %s: %w", j.Target.Name(), err)
		}
		r.judges, r.doubts = append(r.judges, a), append(r.doubts, newBreaker(core.JudgesUnavailable, 0))
	}
	return nil
}

// answered is a task with its recorded answer and the replies so far.
type answered struct {
	idx     int
	task    bundle.Task
	answer  bundle.Answer
	replies []bundle.Answer
	tries   map[int]int // calls that each judge had before
	// none is the error code of a recorded answer that is no answer.
	none string
}

// judge asks the judges that have not replied; the last reply is recorded with
// the grade. *j becomes the call in flight, for whoever must settle it after a
// fault of ours.
func (r *runner) judge(j *job, a answered) (settled, error) {
	if g, ok := r.decided(a); ok {
		return settled{}, r.recordGrade(g)
	}
	prompt, nonce, fits, err := r.judgePrompt(a)
	if err != nil {
		return settled{}, err
	}
	if !fits {
		return settled{}, r.recordGrade(r.noVerdict(a.idx, core.CodeJudgeUnbounded, "the answer is too long for what was set aside to judge it"))
	}
	var s settled
	for part := len(a.replies); part < len(r.judges); part++ {
		next, err := r.prepareJudge(a, part, prompt, nonce)
		if err != nil {
			return s, err
		}
		if running, err := r.askJudge(next.intent); err != nil || !running {
			s.unjudged = true
			return s, err
		}
		next.ticket = j.ticket
		*j = *next
		one, err := r.attempts(j)
		s.replies = append(s.replies, settledReply{part, one})
		if err != nil || one.open == nil {
			s.unjudged, s.stop, s.park, s.outage, s.why, s.detail = one.unjudged, one.stop, one.park, one.outage, one.why, one.detail
			return s, err
		}
		a.replies = append(a.replies, *one.open)
	}
	return s, nil
}

// decided is the grade of a task that no further judge is needed for: its
// answer alone decides, or a reply holds no verdict.
func (r *runner) decided(a answered) (core.Grade, bool) {
	if len(a.replies) > 0 {
		g := r.verdict(a.idx, a)
		return g, g.JudgeCode != ""
	}
	if _, err := r.judged.Verdict(a.task, a.answer, nil); errors.Is(err, bundle.ErrNeedsJudges) {
		return core.Grade{}, false
	}
	g := r.verdict(a.idx, a)
	g.Unjudged = true
	return g, true
}

// judgePrompt fences the answer, and says whether asking every judge about it
// costs no more than was set aside.
func (r *runner) judgePrompt(a answered) (prompt []bundle.Message, nonce string, fits bool, err error) {
	err = bundle.ErrNonce
	for try := 0; errors.Is(err, bundle.ErrNonce); try++ {
		if try == maxNonces {
			return nil, "", false, fmt.Errorf("fence answer %d: %w", a.idx, err)
		}
		nonce = r.e.o.NewNonce()
		prompt, err = r.judged.Prompt(a.task, a.answer, nonce)
	}
	if err != nil {
		return nil, "", false, fmt.Errorf("write judge prompt %d: %w", a.idx, err)
	}
	pledge, err := r.e.o.Adapters.Pledge(r.quote, r.judged, a.task)
	if err != nil {
		return nil, "", false, fmt.Errorf("bound the judges of task %d: %w", a.idx, err)
	}
	var total usd.Micro
	for _, j := range r.quote.Judges {
		w, err := r.e.o.Adapters.JudgeWorst(j, provider.RequestForJudge(j, prompt))
		if err != nil || w > pledge-total {
			return nil, "", false, err
		}
		total += w
	}
	return prompt, nonce, true, nil
}

func (r *runner) prepareJudge(a answered, part int, prompt []bundle.Message, nonce string) (*job, error) {
	judge := r.quote.Judges[part]
	req := provider.RequestForJudge(judge, prompt)
	req.Key, req.Attempt = r.judges[part].key, a.tries[part]+1
	j, err := r.render(&r.judges[part], req)
	if err != nil {
		return nil, fmt.Errorf("judge %s of task %d: %w", judge.Target.Name(), a.idx, err)
	}
	j.task, j.about = a.task, &a
	j.intent.Idx, j.intent.TaskID, j.intent.Judge, j.intent.Part, j.intent.Nonce = a.idx, a.task.ID, true, part, nonce
	return j, nil
}

// askJudge journals a later call of a task. When nobody knows whether it was
// journalled, it is taken back, and the call is made later.
func (r *runner) askJudge(in core.Intent) (running bool, err error) {
	running, err = r.held.Judging.AskJudge(context.Background(), r.id, r.lease(), in)
	if err == nil || errors.Is(err, core.ErrMoved) || errors.Is(err, core.ErrFenced) {
		return running, err
	}
	r.e.o.Log.Warn("a later call was not made", "run_id", string(r.id), "index", in.Idx, "error", err.Error())
	lost := core.Ended{Run: r.id, Idx: in.Idx, Call: in.Call, Reserved: in.Worst, Judge: in.Judge, Part: in.Part, Outcome: "not_reserved"}
	err = r.persist("void", func(ctx context.Context) error { return r.held.Journal.Replan(ctx, lost, core.CallVoided) })
	if errors.Is(err, core.ErrMoved) {
		err = nil // it was not journalled
	}
	_ = r.e.o.Clock.Sleep(r.waiting, firstDelay) // an end of the wait is no fault
	return false, err
}

// resumeJudging asks the judges of answered tasks, as far as there is room. It
// goes before new tasks: their answers are paid for.
func (r *runner) resumeJudging() {
	for r.row.State == core.Running && r.room() > 0 && len(r.unjudged) > 0 {
		idx := r.unjudged[0]
		r.unjudged = r.unjudged[1:]
		j := &job{intent: core.Intent{Idx: idx}, ticket: ticket{number: r.begin()}}
		r.e.o.Spawn(func() { r.call(j, r.resumeTask) })
	}
}

// resumeTask goes on with a task whose answer, or a part of it, is recorded.
func (r *runner) resumeTask(j *job) (settled, error) {
	if r.likely != nil {
		return r.resumeParts(j)
	}
	a, ok, err := r.recorded(context.Background(), j.intent.Idx)
	if err != nil {
		return settled{}, err
	}
	if !ok {
		return settled{resumed: true}, r.recordGrade(core.Grade{Run: r.id, Idx: a.idx, Unjudged: true})
	}
	s, err := r.judge(j, a)
	s.resumed = true
	return s, err
}

// recorded reads a task's answer and the replies to it. ok is false when the
// answer is not kept any more.
func (r *runner) recorded(ctx context.Context, idx int) (a answered, ok bool, err error) {
	if r.likely != nil {
		j, ok, err := r.recordedParts(ctx, idx)
		if err != nil || !ok || len(j.read) < len(j.asks) {
			return answered{idx: idx}, false, err
		}
		return r.whole(&j), true, nil
	}
	a = answered{idx: idx, tries: map[int]int{}}
	if a.task, err = r.e.o.Tasks.Task(ctx, r.quote.Profile, r.order.At(idx)); err != nil {
		return a, false, fmt.Errorf("read task %d: %w", idx, err)
	}
	ev, ok, err := r.held.Answers.Evidence(ctx, r.id, idx)
	if err != nil {
		return a, false, fmt.Errorf("read answer %d: %w", idx, err)
	}
	if !ok || ev.Raw == nil {
		return a, false, nil
	}
	out := r.model.adapter.Parse(ev.Raw)
	a.answer = answerOf(out)
	switch {
	case out.Refused:
		a.none = core.CodeRefused
	case out.Malformed:
		a.none = codeOr(out.Code, core.CodeInvalidOutput)
	}
	if r.judged == nil {
		return a, true, nil
	}
	replies, err := r.held.Judging.Replies(ctx, r.scope, r.id, idx, idx+1)
	if err != nil {
		return a, false, fmt.Errorf("read replies about answer %d: %w", idx, err)
	}
	for _, p := range replies {
		a.tries[p.Part] = p.Attempt
		if p.State == core.CallResponded && p.Raw != nil && p.Part == len(a.replies) && p.Part < len(r.judges) {
			a.replies = append(a.replies, answerOf(r.judges[p.Part].adapter.Parse(p.Raw)))
		}
	}
	return a, true, nil
}

func answerOf(o provider.Outcome) bundle.Answer { return bundle.Answer{Text: o.Text, Finish: o.Finish} }

// leaveUnjudged settles answered tasks whose judges will not be asked any more.
func (r *runner) leaveUnjudged() error {
	for _, idx := range r.unjudged {
		err := r.persist("leave unjudged", func(ctx context.Context) error { return r.held.Judging.LeaveUnjudged(ctx, r.id, idx) })
		if err != nil && !errors.Is(err, core.ErrMoved) { // moved: settled already
			return err
		}
	}
	r.unjudged = nil
	return nil
}

// noVerdict is the grade of a task that its judges left without one.
func (r *runner) noVerdict(idx int, code, why string) core.Grade {
	return core.Grade{Run: r.id, Idx: idx, Grader: r.grader.Identity(), JudgeCode: code, JudgeFault: why}
}

// trip says whether what became of a task's calls stops the run.
func (r *runner) trip(s settled) core.Stop {
	for _, c := range append(s.earlier, s) {
		if c.resumed {
			continue
		}
		c.number = s.number
		if why := r.breaker.record(c, r.dispatched); why.Reason != "" {
			return why
		}
	}
	for _, p := range s.replies {
		p.number = s.number
		why := r.breaker.usage(p.settled)
		if why.Reason == "" {
			why = r.doubts[p.part].loss(p.settled, r.dispatched)
		}
		if why.Reason == "" {
			why = r.doubts[p.part].verdict(p.settled, r.dispatched)
		}
		if why.Reason != "" {
			why.Detail = "judge " + r.judges[p.part].target.Name() + ": " + why.Detail
			return why
		}
	}
	return core.Stop{}
}
