// Package export lays out a run task by task, for task lists and files.
//
// The store keeps rows only for tasks that were opened; a reader wants every
// planned task exactly once. Rows joins both, in the run's order, without
// holding a run in memory.
package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/history"
)

// Samples is where opened tasks are read from.
type Samples interface {
	Samples(ctx context.Context, sc core.Scope, run core.RunID, from int) iter.Seq2[history.SampleRow, error]
}

// Replies is where the replies of judges, and of models about parts of tasks,
// are read from.
type Replies interface {
	Replies(ctx context.Context, sc core.Scope, run core.RunID, from, to int) ([]core.Reply, error)
	Parts(ctx context.Context, sc core.Scope, run core.RunID, from, to int) ([]core.Reply, error)
}

// Tasks names the tasks of a benchmark.
type Tasks interface {
	Task(ctx context.Context, p core.Profile, pos int) (bundle.Task, error)
}

// Run is a run with what it was quoted.
type Run struct {
	core.Run
	Quote core.Quote
	// RawExpired says that recorded answers are past their retention: they are
	// not shown, whether or not they were deleted already.
	RawExpired bool
}

// Row is one planned task.
type Row struct {
	history.SampleRow
	// Status is the task's state in the words of the contract.
	Status string
}

// Source reads the tasks of runs.
type Source struct {
	Samples  Samples
	Replies  Replies
	Tasks    Tasks
	Adapters provider.Set
}

// Rows yields the planned tasks of a run from a place on, each exactly once.
func (s Source) Rows(ctx context.Context, r Run, from int) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		next := from
		for row, err := range s.Samples.Samples(ctx, core.Scope{Workspace: r.Workspace}, r.ID, from) {
			if err != nil {
				yield(Row{}, fmt.Errorf("read tasks: %w", err))
				return
			}
			if next = s.fill(ctx, r, next, row.Idx, yield); next < 0 {
				return
			}
			if row.TaskID == "" { // left out before anybody opened it
				task, err := s.Tasks.Task(ctx, r.Quote.Profile, r.Quote.Order().At(row.Idx))
				if err != nil {
					yield(Row{}, fmt.Errorf("name task %d: %w", row.Idx, err))
					return
				}
				row.TaskID = task.ID
			}
			if !yield(finish(r, row), nil) {
				return
			}
			next = row.Idx + 1
		}
		s.fill(ctx, r, next, r.Planned, yield)
	}
}

// fill yields the tasks without a row in [from, to). It returns -1 when the
// reader has had enough.
func (s Source) fill(ctx context.Context, r Run, from, to int, yield func(Row, error) bool) int {
	order := r.Quote.Order()
	for i := from; i < to; i++ {
		task, err := s.Tasks.Task(ctx, r.Quote.Profile, order.At(i))
		if err != nil {
			yield(Row{}, fmt.Errorf("name task %d: %w", i, err))
			return -1
		}
		row := history.SampleRow{Sample: core.Sample{Run: r.ID, Idx: i, TaskID: task.ID, State: core.SamplePlanned}}
		if !yield(finish(r, row), nil) {
			return -1
		}
	}
	return to
}

// finish settles how a task reads: one that was never decided in a run that
// has ended has the outcome which that end implies.
func finish(r Run, row history.SampleRow) Row {
	out := Row{SampleRow: row}
	if out.Outcome == "" && r.State.Terminal() {
		_, _, rest := core.Conclude(1, nil, 0, r.Reason)
		for o := range rest {
			out.Outcome = o
		}
	}
	out.Status = status(r, out.SampleRow)
	return out
}

func status(r Run, row history.SampleRow) string {
	switch row.State {
	case core.SampleInCall, core.SampleJudging:
		return "calling"
	case core.SampleUnresolved, core.SampleFailed:
		return "error"
	case core.SamplePlanned, core.SampleCancelled, core.SamplePending:
		if row.Outcome == core.CancelledTask && r.Reason == core.TimeLimit {
			return "time_limit"
		}
		if row.Outcome != "" {
			return string(row.Outcome)
		}
	}
	return string(row.State)
}

// Answer is what a model said, read again from the recorded bytes.
type Answer struct {
	Text   *string // nil when there is none, or it expired
	SHA256 string  // of Text; "" without it
	// Expired says that an answer was recorded and is no longer kept.
	Expired bool
	Finish  string
	Usage   *core.Usage
	// Likely is what the answer was made of where a task is asked in parts.
	Likely []Likelihood
}

func (a *Answer) say(text string) {
	sum := sha256.Sum256([]byte(text))
	a.Text, a.SHA256 = &text, hex.EncodeToString(sum[:])
}

// Answer reads the recorded answer of a row.
func (s Source) Answer(ctx context.Context, r Run, row Row) (Answer, error) {
	if g, err := likely(r); err != nil || g != nil && row.State != core.SamplePlanned {
		if err != nil {
			return Answer{}, err
		}
		return s.parts(ctx, r, row, g)
	}
	a := Answer{Finish: row.Finish}
	if row.UsageDoc != "" {
		a.Usage = &core.Usage{}
		if err := json.Unmarshal([]byte(row.UsageDoc), a.Usage); err != nil {
			return a, fmt.Errorf("read usage of task %d: %w", row.Idx, err)
		}
	}
	switch {
	case r.RawExpired && (row.Raw != nil || row.Finish != ""):
		a.Expired = true
	case row.Raw != nil:
		adapter, ok := s.Adapters[r.Quote.Target.Protocol]
		if !ok {
			return a, fmt.Errorf("read answer of task %d: no adapter for %s", row.Idx, r.Quote.Target.Protocol)
		}
		if o := adapter.Parse(row.Raw); o.Class == provider.Answered {
			a.say(o.Text)
		}
	case row.Finish != "":
		a.Expired = true
	}
	return a, nil
}

// Extension is the end of a file's name for a format: .eval is Inspect's own.
func Extension(format string) string {
	switch format {
	case "summary":
		return "summary.json"
	case "scores":
		return "scores.jsonl"
	case "inspect":
		return "eval"
	case "inspect-json":
		return "eval.json"
	case "lm-eval":
		return "lm-eval.zip"
	case "bundle":
		return "bundle.zip"
	case "github":
		return "github.md"
	case "junit":
		return "junit.xml"
	}
	return format
}
