package httpapi

import (
	"context"
	"strconv"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/export"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/lineage"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/lib/api"
)

type newRunInput struct {
	Keyed
	With[api.NewRun]
}

func (s *Server) createRun(ctx context.Context, in *newRunInput) (*replayable[api.RunRecord], error) {
	o, err := in.once("POST /v1/runs", in.RawBody)
	if err != nil {
		return nil, err
	}
	n := in.Body.value
	if n.QuoteID == "" {
		return nil, refuseField("quote_id", "required", "a run needs the id of an open quote; nothing was started")
	}
	return exactlyOnce[api.RunRecord](s, ctx, o, func() (core.Admitted, error) { return s.start(ctx, o, n) })
}

// start admits the run of a quote. It goes on when the caller leaves.
func (s *Server) start(ctx context.Context, o once, n api.NewRun) (core.Admitted, error) {
	quote, metadata := core.QuoteID(n.QuoteID), n.Metadata
	if err := runName(n.Name); err != nil {
		return core.Admitted{}, err
	}
	if err := runMetadata(metadata); err != nil {
		return core.Admitted{}, err
	}
	// Whatever else is wrong with the quote, admission says.
	if q, err := s.o.Runs.Quote(ctx, scopeOf(ctx), quote); err == nil && q.Run == "" {
		if err := s.o.Connections.Usable(ctx, scopeOf(ctx), q.Target); err != nil {
			return core.Admitted{}, err
		}
	}
	if metadata == nil {
		metadata = map[string]string{}
	}
	return s.o.Admission.Start(context.WithoutCancel(ctx), scopeOf(ctx), admission.RunRequest{
		Quote: quote, Name: n.Name, Metadata: metadata, Accepted: lineage.Accepted(n.Acknowledgements), Op: o.op, Key: o.key, RequestHash: o.hash,
		Encode: func(r core.Run, q core.Quote) ([]byte, error) { return marshal(s.linked(runRecord(r, q, r.CreatedAt))) },
	})
}

type runInput struct {
	ID string `path:"id"`
}

func (s *Server) getRun(ctx context.Context, in *runInput) (*answer[api.RunRecord], error) {
	r, err := s.run(ctx, core.RunID(in.ID))
	if err != nil {
		return nil, err
	}
	return reply(s.linked(runRecord(r.Run, r.Quote, s.micros()))), nil
}

// run reads a run with its quote.
func (s *Server) run(ctx context.Context, id core.RunID) (export.Run, error) {
	r, err := s.o.Runs.Run(ctx, scopeOf(ctx), id)
	if err != nil {
		return export.Run{}, err
	}
	q, err := s.o.Runs.Quote(ctx, scopeOf(ctx), r.QuoteID)
	return export.Run{Run: r, Quote: q.Quote, RawExpired: retention(r, s.micros()).RawEvidenceExpired}, err
}

func (s *Server) getReceipt(ctx context.Context, in *runInput) (*answer[api.RunReceipt], error) {
	r, err := s.o.Runs.Run(ctx, scopeOf(ctx), core.RunID(in.ID))
	if err != nil {
		return nil, err
	}
	q, err := s.o.Runs.Quote(ctx, scopeOf(ctx), r.QuoteID)
	if err != nil {
		return nil, err
	}
	return reply(receipt(r, q.Quote, s.micros())), nil
}

type executionsInput struct {
	ID string `path:"id"`
	Paging
	SampleID string `query:"sample_id"`
}

// listExecutions is empty: this service runs nothing in sandboxes.
func (s *Server) listExecutions(ctx context.Context, in *executionsInput) (*answer[api.SandboxExecutionPage], error) {
	if _, err := s.o.Runs.Run(ctx, scopeOf(ctx), core.RunID(in.ID)); err != nil {
		return nil, err
	}
	if in.Cursor != "" {
		return nil, core.Refuse(invalidCursor, "the cursor is not one of this list; start again without it")
	}
	return reply(api.SandboxExecutionPage{Data: []api.SandboxExecutionRecord{}}), nil
}

func (s *Server) cancelRun(ctx context.Context, in *runInput) (*answer[api.RunRecord], error) {
	id := core.RunID(in.ID)
	if err := s.o.Runs.RequestCancel(ctx, scopeOf(ctx), id); err != nil {
		return nil, err
	}
	s.o.Waker.Wake(scopeOf(ctx).Workspace, id)
	return s.getRun(ctx, in)
}

type runsInput struct {
	Paging
	IDPrefix      string    `query:"id_prefix" minLength:"4" maxLength:"36"`
	Status        string    `query:"status" enum:"queued,running,cancelling,finalizing,completed,partial,failed,cancelled"`
	ProfileID     string    `query:"profile_id"`
	RouteID       string    `query:"route_id"`
	ConnectionID  string    `query:"connection_id"`
	GroupID       string    `query:"group_id"`
	CreatedBefore time.Time `query:"created_before"`
	CreatedAfter  time.Time `query:"created_after"`
}

// prefixAnswers bounds the runs that a prefix may find: enough to tell unique
// from ambiguous.
const prefixAnswers = 5

func (s *Server) listRuns(ctx context.Context, in *runsInput) (*answer[api.Page[api.RunRecord]], error) {
	f, err := in.filter()
	if err != nil {
		return nil, err
	}
	found, err := s.o.Runs.Runs(ctx, scopeOf(ctx), f)
	if err != nil {
		return nil, err
	}
	out := api.Page[api.RunRecord]{Data: []api.RunRecord{}}
	for i, r := range found {
		if i == f.Limit-1 {
			last := found[i-1]
			out.NextCursor = cursorText("runs", strconv.FormatInt(int64(last.CreatedAt), 10), string(last.ID))
			break
		}
		q, err := s.o.Runs.Quote(ctx, scopeOf(ctx), r.QuoteID)
		if err != nil {
			return nil, err
		}
		out.Data = append(out.Data, s.linked(runRecord(r, q.Quote, s.micros())))
	}
	if in.IDPrefix != "" {
		out.NextCursor = nil
	}
	return reply(out), nil
}

// filter asks for one run more than the page shows, to know whether more
// follow.
func (in *runsInput) filter() (store.RunFilter, error) {
	f := store.RunFilter{IDPrefix: in.IDPrefix, Profile: core.ProfileID(in.ProfileID), Target: in.RouteID, GroupID: in.GroupID, Limit: in.Limit + 1}
	if in.IDPrefix != "" {
		f.Limit = min(f.Limit, prefixAnswers+1)
	}
	if in.ConnectionID != "" {
		f.Target = "connection:" + in.ConnectionID
		if in.RouteID != "" {
			return f, refuseField("query.connection_id", "conflicts_with_route_id", "filter by a route or by a connection, not both")
		}
	}
	switch api.RunStatus(in.Status) {
	case "":
	case api.StatusCancelling, api.StatusFinalizing:
		f.States = []core.State{core.Stopping}
	default:
		f.States = []core.State{core.State(in.Status)}
	}
	if !in.CreatedBefore.IsZero() {
		f.CreatedBefore = core.Micros(in.CreatedBefore.UnixMicro())
	}
	if !in.CreatedAfter.IsZero() {
		f.CreatedAfter = core.Micros(in.CreatedAfter.UnixMicro())
	}
	at, err := cursorParts("runs", in.Cursor, 2)
	if err != nil || at == nil {
		return f, err
	}
	created, err := microsOf(at[0])
	f.After = &store.RunCursor{CreatedAt: created, ID: core.RunID(at[1])}
	return f, err
}
