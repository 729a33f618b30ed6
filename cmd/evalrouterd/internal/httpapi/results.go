package httpapi

import (
	"context"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/api"
)

type resultsInput struct {
	ID      string `path:"id"`
	Version int    `query:"version" minimum:"1" doc:"the newest when absent"`
}

func (s *Server) getResults(ctx context.Context, in *resultsInput) (*answer[api.ResultRecord], error) {
	e, err := s.ended(ctx, core.RunID(in.ID), in.Version)
	if err != nil {
		return nil, err
	}
	return reply(resultRecord(e, s.micros())), nil
}

// ended reads a finished run with a version of its result; 0 is the newest.
func (s *Server) ended(ctx context.Context, id core.RunID, version int) (ended, error) {
	r, err := s.run(ctx, id)
	if err != nil {
		return ended{}, err
	}
	if !r.State.Terminal() {
		return ended{}, core.Refuse(core.RunNotFinished, "the run has not finished; its result is frozen when it has").With("status", string(runStatus(r.Run))).With("run_id", string(id))
	}
	if s.micros() >= r.CreatedAt+core.SummaryDays*day {
		return ended{}, core.Refuse(core.ResultExpired, "the result was kept for %d days", core.SummaryDays)
	}
	res, err := s.o.Runs.Result(ctx, scopeOf(ctx), id, version)
	return ended{Run: r, result: res}, err
}
