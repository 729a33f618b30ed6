package group

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/lib/api"
)

type eventsInput struct {
	ID          string   `path:"id"`
	After       int64    `query:"after" minimum:"0" doc:"the last sequence that is known"`
	Limit       int      `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Types       []string `query:"type,explode" maxItems:"50"`
	WaitSeconds int      `query:"wait_seconds" minimum:"0" maximum:"20" doc:"hold the answer back until there is something new"`
}

// events reads a group's log, whose events name the run that they are of.
func (h *Handlers) events(_ *httpapi.Server, ctx context.Context, in *eventsInput) (*httpapi.Answer[api.EventPage], error) {
	for _, t := range in.Types {
		if !slices.Contains(httpapi.EventTypes(), t) {
			return nil, httpapi.RefuseFields(core.InvalidRequest, "a type is one of "+strings.Join(httpapi.EventTypes(), ", "), []api.FieldError{{Path: "query.type", Code: "unknown_type"}})
		}
	}
	g, err := h.Groups.Group(ctx, httpapi.ScopeOf(ctx), core.GroupID(in.ID))
	if err != nil {
		return nil, err
	}
	leave, err := httpapi.Following(ctx, h.Changes, in.WaitSeconds)
	if err != nil {
		return nil, err
	}
	defer leave()
	wait := h.After(time.Duration(in.WaitSeconds) * time.Second)
	for {
		// Watching begins before reading: what is written in between wakes.
		changed, stop := h.Changes.Watch(g.Members...)
		page, err := h.page(ctx, g, in)
		if err != nil || in.WaitSeconds == 0 || len(page.Data) > 0 || page.Terminal {
			stop()
			return httpapi.Reply(page), err
		}
		select {
		case <-changed:
			stop()
			continue
		case <-wait:
		case <-ctx.Done():
		}
		stop()
		return httpapi.Reply(page), ctx.Err()
	}
}

// page reads a piece of the log. The members are read first: if all had ended
// by then, the events after that are all there will be.
func (h *Handlers) page(ctx context.Context, g core.Group, in *eventsInput) (api.EventPage, error) {
	ended := true
	for _, id := range g.Members {
		run, err := h.Runs.Run(ctx, httpapi.ScopeOf(ctx), id)
		if err != nil {
			return api.EventPage{}, err
		}
		ended = ended && run.State.Terminal()
	}
	events, err := h.Groups.Events(ctx, g, in.After, in.Types, in.Limit+1)
	if err != nil {
		return api.EventPage{}, err
	}
	out := api.EventPage{Data: []api.RunEvent{}, NextSequence: in.After}
	if len(events) > in.Limit {
		events, out.HasMore = events[:in.Limit], true
	}
	for _, e := range events {
		e.Data["run_id"] = string(e.Run)
		out.Data = append(out.Data, api.RunEvent{Sequence: e.Seq, Type: e.Type, CreatedAt: httpapi.TimeOf(e.At), Data: e.Data})
		out.NextSequence = e.Seq
	}
	out.Terminal = ended && !out.HasMore
	return out, nil
}
