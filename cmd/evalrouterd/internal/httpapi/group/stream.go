package group

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/lib/api"
)

type streamInput struct {
	ID    string `path:"id"`
	After int64  `query:"after" minimum:"0" doc:"the last sequence that is known"`
	Last  string `header:"Last-Event-ID" doc:"the same, as browsers send it when they connect again"`
}

// Times of a stream: a reader that takes nothing for as long as patience is
// gone, and one that is told nothing for a heartbeat is told that it is heard.
// After turn it ends: whoever comes again is asked again who it is.
const (
	heartbeat = 15 * time.Second
	patience  = 10 * time.Second
	turn      = 5 * time.Minute
	piece     = 200
)

// stream tells a group's log as it grows, each event under its sequence, until
// every member has ended, or its turn is over. A reader that comes back names the
// last it had. It counts among those who wait for news.
func (h *Handlers) stream(_ *httpapi.Server, ctx context.Context, in *streamInput) (*httpapi.Exported, error) {
	after := in.After
	if in.Last != "" {
		n, err := strconv.ParseInt(in.Last, 10, 64)
		if err != nil || n < 0 {
			return nil, httpapi.RefuseFields(core.InvalidRequest, "Last-Event-ID is a sequence of this log", []api.FieldError{{Path: "header.Last-Event-ID", Code: "invalid_value"}})
		}
		after = n
	}
	g, err := h.Groups.Group(ctx, httpapi.ScopeOf(ctx), core.GroupID(in.ID))
	if err != nil {
		return nil, err
	}
	leave, err := httpapi.Waiting(ctx, h.Changes)
	if err != nil {
		return nil, err
	}
	return &httpapi.Exported{Body: func(hc huma.Context) {
		defer leave()
		_, w := humago.Unwrap(hc)
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		// Whoever has gone needs no answer, and the headers are sent.
		_ = h.tell(hc.Context(), w, g, after)
	}}, nil
}

func (h *Handlers) tell(ctx context.Context, w http.ResponseWriter, g core.Group, after int64) error {
	out, over := http.NewResponseController(w), h.After(turn)
	for {
		changed, stop := h.Changes.Watch(g.Members...)
		page, err := h.page(ctx, g, &eventsInput{After: after, Limit: piece})
		if err == nil {
			// A recorder of tests has no deadlines.
			_ = out.SetWriteDeadline(time.Now().Add(patience))
			err = put(w, page)
		}
		if err == nil {
			err = out.Flush()
		}
		if after = page.NextSequence; err != nil || page.Terminal {
			stop()
			return err
		}
		if page.HasMore {
			stop()
			continue
		}
		select {
		case <-changed:
		case <-h.After(heartbeat):
			_ = out.SetWriteDeadline(time.Now().Add(patience))
			_, err = fmt.Fprint(w, ": still here\n\n")
		case <-over:
			stop()
			return nil
		case <-ctx.Done():
			err = ctx.Err()
		}
		stop()
		if err != nil {
			return err
		}
	}
}

// put puts events into the form of a stream. The data of one is a line: JSON
// has no line breaks of its own.
func put(w http.ResponseWriter, page api.EventPage) error {
	for _, e := range page.Data {
		b, err := httpapi.Record(e)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "id: %d\nevent: %s\ndata: %s\n\n", e.Sequence, e.Type, b); err != nil {
			return err
		}
	}
	return nil
}
