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
	// Brief is Samples without how and when a task was graded.
	Brief(ctx context.Context, sc core.Scope, run core.RunID, from int) iter.Seq2[history.SampleRow, error]
	// SamplesAt reads those at some places, by their places.
	SamplesAt(ctx context.Context, sc core.Scope, run core.RunID, at []int) (map[int]history.SampleRow, error)
}

// Replies is where the replies of judges, and of models about parts of tasks,
// are read from.
type Replies interface {
	Replies(ctx context.Context, sc core.Scope, run core.RunID, from, to int) ([]core.Reply, error)
	Parts(ctx context.Context, sc core.Scope, run core.RunID, from, to int) ([]core.Reply, error)
}

// Tasks is where the tasks of a benchmark are read from.
type Tasks interface {
	// TasksAt gives the tasks at positions: all of them, or as many as may be
	// held in memory at once, and at least one.
	TasksAt(ctx context.Context, p core.Profile, positions []int) (map[int]bundle.Task, error)
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
	return s.rows(ctx, r, from, s.Samples.Samples(ctx, core.Scope{Workspace: r.Workspace}, r.ID, from))
}

// Brief is Rows from the first on, without how and when a task was graded.
func (s Source) Brief(ctx context.Context, r Run) iter.Seq2[Row, error] {
	return s.rows(ctx, r, 0, s.Samples.Brief(ctx, core.Scope{Workspace: r.Workspace}, r.ID, 0))
}

func (s Source) rows(ctx context.Context, r Run, from int, opened iter.Seq2[history.SampleRow, error]) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		next, tasks := from, s.Reader(r)
		for row, err := range opened {
			if err != nil {
				yield(Row{}, fmt.Errorf("read tasks: %w", err))
				return
			}
			if next = fill(ctx, tasks, next, row.Idx, yield); next < 0 {
				return
			}
			if row.TaskID == "" { // left out before anybody opened it
				task, err := tasks.Task(ctx, row.Idx)
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
		fill(ctx, tasks, next, r.Planned, yield)
	}
}

// fill yields the tasks without a row in [from, to). It returns -1 when the
// reader has had enough.
func fill(ctx context.Context, tasks *Reader, from, to int, yield func(Row, error) bool) int {
	for i := from; i < to; i++ {
		task, err := tasks.Task(ctx, i)
		if err != nil {
			yield(Row{}, fmt.Errorf("name task %d: %w", i, err))
			return -1
		}
		row := history.SampleRow{Sample: core.Sample{Run: tasks.r.ID, Idx: i, TaskID: task.ID, State: core.SamplePlanned}}
		if !yield(finish(tasks.r, row), nil) {
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
