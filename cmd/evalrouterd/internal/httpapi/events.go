package httpapi

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/optional"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/history"
	"github.com/evalrouter/evalrouter/lib/api"
)

type eventsInput struct {
	ID          string   `path:"id"`
	After       int64    `query:"after" minimum:"0" doc:"the last sequence that is known"`
	Limit       int      `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Tail        bool     `query:"tail" doc:"the last events instead, in ascending order"`
	Types       []string `query:"type,explode" maxItems:"50"`
	WaitSeconds int      `query:"wait_seconds" minimum:"0" maximum:"20" doc:"hold the answer back until there is something new"`
}

// EventTypes are the types of the contract, those included that this version
// does not write yet.
func EventTypes() []string {
	return []string{
		core.EventQueued, core.EventStarted, core.EventStopping, core.EventWaiting, core.EventProgress, core.EventTaskGraded, "task.reused", "task.saved_response_graded",
		core.EventTaskFailed, "task.skipped", core.EventCallRetry, core.EventHeld, "billing.charged", core.EventReleased, core.EventWaived,
		core.EventSettled, core.EventCapReached, core.EventCancelRequested, core.EventFinalizing, core.EventFinished, core.EventPublished,
		"evidence.expired", core.EventOverBound,
	}
}

func (s *Server) listEvents(ctx context.Context, in *eventsInput) (*answer[api.EventPage], error) {
	for _, t := range in.Types {
		if !slices.Contains(EventTypes(), t) {
			return nil, refuseField("query.type", "unknown_type", "a type is not one of %s", strings.Join(EventTypes(), ", "))
		}
	}
	id := core.RunID(in.ID)
	leave, err := Following(ctx, s.o.Changes, in.WaitSeconds)
	if err != nil {
		return nil, err
	}
	defer leave()
	wait := s.o.After(time.Duration(in.WaitSeconds) * time.Second)
	for {
		// Watching begins before reading: what is written in between wakes.
		changed, stop := s.o.Changes.Watch(id)
		page, err := s.eventPage(ctx, id, in)
		if err != nil || in.WaitSeconds == 0 || in.Tail || len(page.Data) > 0 || page.Terminal {
			stop()
			return reply(page), err
		}
		// Nothing of what is there is asked for, and the next look begins behind it.
		in.After = page.NextSequence
		select {
		case <-changed:
			stop()
			if len(in.Types) > 0 {
				s.settle(id)
			}
			continue
		case <-wait:
		case <-ctx.Done():
		}
		stop()
		return reply(page), ctx.Err()
	}
}

// Following counts a long poll in until leave is called, or refuses it.
func Following(ctx context.Context, c Changes, seconds int) (leave func(), err error) {
	if seconds == 0 {
		return func() {}, nil
	}
	return Waiting(ctx, c)
}

// Waiting counts one who waits for news in until leave is called, or refuses it.
func Waiting(ctx context.Context, c Changes) (leave func(), err error) {
	leave, ok := c.Follow(scopeOf(ctx).Workspace)
	if !ok {
		return leave, core.Refuse(core.Code(api.RateLimited), "too many requests of this workspace wait for news; ask again after the time in Retry-After, or without waiting")
	}
	return leave, nil
}

// A run writes hundreds of events a second, of which a look for some types is about
// few: the next one comes when nothing was written for a moment, as at the run's
// end, or at last after typedPause.
const (
	typedPause = 50 * time.Millisecond
	moment     = 5 * time.Millisecond
)

// settle waits until a run has written nothing for a moment. It is not woken by
// what is written meanwhile.
func (s *Server) settle(id core.RunID) {
	for most := s.o.After(typedPause); ; {
		changed, stop := s.o.Changes.Watch(id)
		select {
		case <-s.o.After(moment):
		case <-most:
			stop()
			return
		}
		select {
		case <-changed:
		default:
			stop()
			return
		}
	}
}

// eventPage reads a piece of the log. The run is read first: if it had ended
// by then, the events after that are all there will be, and up to its last
// sequence of then every one has been looked at.
func (s *Server) eventPage(ctx context.Context, id core.RunID, in *eventsInput) (api.EventPage, error) {
	run, err := s.o.Runs.Run(ctx, scopeOf(ctx), id)
	if err != nil {
		return api.EventPage{}, err
	}
	events, err := s.o.Runs.Events(ctx, scopeOf(ctx), id, history.EventQuery{After: in.After, Limit: in.Limit + 1, Tail: in.Tail, Types: in.Types})
	if err != nil {
		return api.EventPage{}, err
	}
	out := api.EventPage{Data: []api.RunEvent{}, NextSequence: in.After}
	if len(events) > in.Limit {
		if in.Tail {
			events = events[1:]
		} else {
			events, out.HasMore = events[:in.Limit], true
		}
	}
	for _, e := range events {
		out.Data = append(out.Data, api.RunEvent{Sequence: e.Seq, Type: e.Type, CreatedAt: optional.At(e.At), Data: e.Data})
		out.NextSequence = e.Seq
	}
	if !out.HasMore && !in.Tail {
		out.NextSequence = max(out.NextSequence, run.NextSeq-1)
	}
	out.Terminal = run.State.Terminal() && !out.HasMore
	return out, nil
}
