package httpapi

import (
	"context"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/export"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/optional"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/sample"
	"github.com/evalrouter/evalrouter/lib/api"
)

type taskInput struct {
	ID    string `path:"id"`
	Index int    `path:"index" minimum:"0" doc:"the place in the run's order"`
}

// getTask shows one task: what was asked, what was answered and how it was
// graded.
func (s *Server) getTask(ctx context.Context, in *taskInput) (*answer[api.TaskDetail], error) {
	r, err := s.run(ctx, core.RunID(in.ID))
	if err != nil {
		return nil, err
	}
	if in.Index >= r.Planned {
		return nil, core.Missing("task")
	}
	source := s.source()
	for row, err := range source.Rows(ctx, r, in.Index) {
		if err != nil {
			return nil, err
		}
		d, err := s.taskDetail(ctx, source, r, row)
		if err != nil {
			return nil, err
		}
		return reply(d), nil
	}
	return nil, core.Missing("task")
}

func (s *Server) taskDetail(ctx context.Context, source export.Source, r export.Run, row export.Row) (api.TaskDetail, error) {
	tasks := sample.New(source, r)
	task, err := tasks.Task(ctx, row.Idx)
	if err != nil {
		return api.TaskDetail{}, fmt.Errorf("read task %d: %w", row.Idx, err)
	}
	one, err := tasks.Of(ctx, row)
	if err != nil {
		return api.TaskDetail{}, err
	}
	out := api.TaskDetail{
		TaskRecord: taskRecord(r, row), Input: []api.TaskMessage{}, Target: append([]string{}, task.Target...), Answer: one.Answer, Span: row.Span, Rule: optional.Text(row.Rule),
		Grader: one.Grader, FinishReason: one.FinishReason, Usage: one.Usage, Withheld: one.AnswerWithheld, AnswerSHA256: one.AnswerSHA256, Judges: one.Judges,
	}
	out.Extracted = optional.Text(row.Extracted)
	for _, m := range task.Input {
		out.Input = append(out.Input, api.TaskMessage{Role: string(m.Role), Text: m.Text})
	}
	return out, nil
}
