package httpapi

import (
	"context"
	"strconv"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/export"
	"github.com/evalrouter/evalrouter/lib/api"
)

type tasksInput struct {
	ID string `path:"id"`
	Paging
	Status string `query:"status" enum:"planned,calling,answered,graded,error,refused,cancelled,time_limit,skipped_budget,pending,left_out"`
}

func (s *Server) listTasks(ctx context.Context, in *tasksInput) (*answer[api.Page[api.TaskRecord]], error) {
	at, err := cursorParts("tasks", in.Cursor, 1)
	if err != nil {
		return nil, err
	}
	from := 0
	if at != nil {
		if from, err = strconv.Atoi(at[0]); err != nil || from < 0 {
			return nil, core.Refuse(invalidCursor, "the cursor is not one of this list; start again without it")
		}
	}
	r, err := s.run(ctx, core.RunID(in.ID))
	if err != nil {
		return nil, err
	}
	out := api.Page[api.TaskRecord]{Data: []api.TaskRecord{}}
	for row, err := range s.source().Rows(ctx, r, from) {
		if err != nil {
			return nil, err
		}
		if !equals(in.Status, row.Status) {
			continue
		}
		if len(out.Data) == in.Limit {
			out.NextCursor = cursorText("tasks", strconv.Itoa(row.Idx))
			break
		}
		out.Data = append(out.Data, taskRecord(r, row))
	}
	return reply(out), nil
}

func (s *Server) source() export.Source {
	return export.Source{Samples: s.o.Answers, Replies: s.o.Answers, Tasks: s.o.Catalog, Adapters: s.o.Adapters}
}
