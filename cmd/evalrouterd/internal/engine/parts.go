package engine

import (
	"context"
	"fmt"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

// Where a grader compares how likely texts are, a task is several requests to
// the model, its parts: they are made one after the other, each journalled,
// spooled and paid like any call, out of what was set aside with the first. The
// task is answered when every part was. One part whose outcome is unknown
// leaves it unresolved; a part that was answered is never bought again.

// parts is what a task asks in parts, and what came of it so far.
type parts struct {
	asks []bundle.Ask
	read []bundle.LogProb
	had  map[int]int // calls that each part had before
}

// prepareParts is the first part of a task, with what all others can cost set
// aside beside it.
func (r *runner) prepareParts(p core.Redo, task bundle.Task) (*job, error) {
	asks, err := r.likely.Asks(task)
	if err != nil {
		return nil, fmt.Errorf("task %d: %w", p.Idx, err)
	}
	j, err := r.preparePart(&job{task: task, intent: core.Intent{Idx: p.Idx}, parts: parts{asks: asks, had: map[int]int{0: p.Attempt}}}, 0)
	if err != nil {
		return nil, err
	}
	j.intent.Opened = p.Opened
	if j.intent.Pledge, err = r.e.o.Adapters.AsksWorst(r.quote, task, asks[1:]); err != nil {
		return nil, fmt.Errorf("bound the parts of task %d: %w", p.Idx, err)
	}
	return j, nil
}

// preparePart is the call for one part of the task of a job.
func (r *runner) preparePart(j *job, part int) (*job, error) {
	req := provider.RequestForAsk(r.quote, j.task, j.asks[part])
	req.Key, req.Attempt = r.model.key, j.had[part]+1
	next, err := r.render(&r.model, req)
	if err != nil {
		return nil, fmt.Errorf("part %d of task %d: %w", part, j.intent.Idx, err)
	}
	next.task, next.parts, next.ticket = j.task, j.parts, j.ticket
	next.intent.Idx, next.intent.TaskID, next.intent.Part = j.intent.Idx, j.task.ID, part
	return next, nil
}

// askParts asks the parts that have no answer, after what came of those before;
// the last answer is recorded with the grade. *j becomes the call in flight, for
// whoever must settle it after a fault of ours.
func (r *runner) askParts(j *job, s settled) (settled, error) {
	for part := len(j.read); part < len(j.asks); part++ {
		next, err := r.preparePart(j, part)
		if err != nil {
			return s, err
		}
		if running, err := r.askJudge(next.intent); err != nil || !running {
			s.unjudged = true
			return s, err
		}
		*j = *next
		one, err := r.attempts(j)
		one.earlier = append(s.earlier, s)
		if s = one; err != nil || s.open == nil {
			return s, err
		}
		j.read = s.read
	}
	return s, nil
}

// readPart reads what the answer to a part says, and says that it cannot be
// graded where it does not: then it is paid for, and no score. Nothing before
// the first token of a text makes it likely or not, so an endpoint that puts
// nothing there cannot be asked about a text without a context, in any task.
func (r *runner) readPart(j *job, out *provider.Outcome) {
	if r.likely == nil || out.Malformed || out.Refused {
		return
	}
	ask := j.asks[j.intent.Part]
	p, err := r.likely.Read(ask, out.Raw)
	if err != nil && ask.Context == "" {
		out.Reach = provider.Route
		out.Message = "the server does not say how likely the first token of a text is; the benchmark's grader needs its option prefix here"
	}
	if err != nil {
		r.e.o.Log.Warn("an answer holds no likelihood", "run_id", string(r.id), "index", j.intent.Idx, "part", j.intent.Part, "error", err.Error())
		out.Malformed, out.Code, out.Reason = true, core.CodeInvalidOutput, "echo_unreadable"
		return
	}
	j.read = append(j.read[:len(j.read):len(j.read)], p)
}

// resumeParts goes on with a task of which some parts are recorded.
func (r *runner) resumeParts(j *job) (settled, error) {
	next, ok, err := r.recordedParts(context.Background(), j.intent.Idx)
	if err != nil {
		return settled{}, err
	}
	if !ok || len(next.read) == len(next.asks) {
		g := core.Grade{Run: r.id, Idx: j.intent.Idx}
		if ok {
			g = r.verdict(j.intent.Idx, r.whole(&next))
		}
		g.Unjudged = true
		return settled{resumed: true}, r.recordGrade(g)
	}
	next.ticket = j.ticket
	*j = next
	return r.askParts(j, settled{resumed: true})
}

// whole is the answer of a task whose parts were all read. A grader that cannot
// write it cannot read it either: the empty text is a fault of the grader.
func (r *runner) whole(j *job) answered {
	a := answered{idx: j.intent.Idx, task: j.task}
	if text, err := r.likely.Text(j.task, j.read); err == nil {
		a.answer = bundle.Answer{Text: text, Finish: bundle.FinishStop}
	}
	return a
}

// recordedParts reads a task and the parts of it that are recorded. ok is false
// when an answer is not kept any more, or cannot be read.
func (r *runner) recordedParts(ctx context.Context, idx int) (j job, ok bool, err error) {
	j = job{intent: core.Intent{Idx: idx}, parts: parts{had: map[int]int{}}}
	if j.task, err = r.e.o.Tasks.Task(ctx, r.quote.Profile, r.order.At(idx)); err != nil {
		return j, false, fmt.Errorf("read task %d: %w", idx, err)
	}
	if j.asks, err = r.likely.Asks(j.task); err != nil {
		return j, false, fmt.Errorf("task %d: %w", idx, err)
	}
	recorded, err := r.held.Judging.Parts(ctx, r.scope, r.id, idx, idx+1)
	if err != nil {
		return j, false, fmt.Errorf("read parts of task %d: %w", idx, err)
	}
	for _, p := range recorded {
		j.had[p.Part] = p.Attempt
		if p.State != core.CallResponded || p.Part >= len(j.asks) {
			continue
		}
		read, err := r.likely.Read(j.asks[p.Part], p.Raw)
		if err != nil || p.Part != len(j.read) {
			return j, false, nil
		}
		j.read = append(j.read, read)
	}
	return j, true, nil
}
