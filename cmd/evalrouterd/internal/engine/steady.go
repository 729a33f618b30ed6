package engine

import (
	"context"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

// A database on another machine restarts while runs go on. Writes are repeated
// by persist; these make reads wait for it as well, so that a run does not end
// as failed because nobody could look at it for a minute.

// untilRead repeats a read while the database cannot be reached.
func untilRead[T any](ctx context.Context, e *Engine, what string, read func() (T, error)) (T, error) {
	for try := 0; ; try++ {
		v, err := read()
		if err == nil || !e.o.Transient(err) {
			return v, err
		}
		e.o.Log.Warn("not read yet", "what", what, "error", err.Error())
		if e.o.Clock.Sleep(ctx, min(firstPersist<<min(try, 12), maxPersist)) != nil {
			return v, err
		}
	}
}

// steady makes the reads of a holder wait.
func (e *Engine) steady(h Held) Held {
	if e.o.Transient != nil {
		h.Answers = steadyAnswers{h.Answers, e}
	}
	return h
}

type steadyAnswers struct {
	Answers
	e *Engine
}

// evidence is the two results of a look for an answer.
type evidence struct {
	core.Evidence
	ok bool
}

func (s steadyAnswers) Evidence(ctx context.Context, run core.RunID, idx int) (core.Evidence, bool, error) {
	v, err := untilRead(ctx, s.e, "answer", func() (v evidence, err error) {
		v.Evidence, v.ok, err = s.Answers.Evidence(ctx, run, idx)
		return v, err
	})
	return v.Evidence, v.ok, err
}

type steadyRuns struct {
	Runs
	e *Engine
}

func (s steadyRuns) Run(ctx context.Context, sc core.Scope, id core.RunID) (core.Run, error) {
	return untilRead(ctx, s.e, "run", func() (core.Run, error) { return s.Runs.Run(ctx, sc, id) })
}

func (s steadyRuns) Quote(ctx context.Context, sc core.Scope, id core.QuoteID) (core.QuoteState, error) {
	return untilRead(ctx, s.e, "quote", func() (core.QuoteState, error) { return s.Runs.Quote(ctx, sc, id) })
}

func (s steadyRuns) Progress(ctx context.Context, id core.RunID) (core.Progress, error) {
	return untilRead(ctx, s.e, "progress", func() (core.Progress, error) { return s.Runs.Progress(ctx, id) })
}

type steadyTasks struct {
	Tasks
	e *Engine
}

func (s steadyTasks) Task(ctx context.Context, p core.Profile, pos int) (bundle.Task, error) {
	return untilRead(ctx, s.e, "task", func() (bundle.Task, error) { return s.Tasks.Task(ctx, p, pos) })
}

func (s steadyTasks) TasksAt(ctx context.Context, p core.Profile, places []int) (map[int]bundle.Task, error) {
	return untilRead(ctx, s.e, "tasks", func() (map[int]bundle.Task, error) { return s.Tasks.TasksAt(ctx, p, places) })
}

type steadyKeys struct {
	Keys
	e *Engine
}

func (s steadyKeys) Key(ctx context.Context, sc core.Scope, t core.Target) (provider.Secret, error) {
	return untilRead(ctx, s.e, "credential", func() (provider.Secret, error) { return s.Keys.Key(ctx, sc, t) })
}
