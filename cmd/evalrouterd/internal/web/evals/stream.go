package evals

import (
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/pass"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/report/pages"
)

// Times of a stream. A reader that takes nothing for as long as patience is gone;
// one that is told nothing for a heartbeat is told that it is heard, and sees then
// what no process told this one. After turn the browser comes again, and is asked
// again who it is.
const (
	heartbeat = 10 * time.Second
	patience  = 10 * time.Second
	pace      = 500 * time.Millisecond
	turn      = 5 * time.Minute
	// maxFollowers bounds the streams of a workspace.
	maxFollowers = 50
)

// alive puts a body where the script puts newer ones. seq is what it shows.
func alive(body template.HTML, stream string, seq int64) template.HTML {
	address := template.HTMLEscapeString(stream + "?after=" + strconv.FormatInt(seq, 10))
	// What is put around an escaped body is our own, but for the id in the address,
	// which is escaped here.
	return template.HTML(`<div id="live" data-stream="`+address+`">`) + body + `</div><p id="lost" class="note" role="status" hidden>Not connected. This page goes on by itself once the service answers again; the run does not need it.</p>`
}

// view is what a stream tells: a whole body under a sequence that grows.
type view struct {
	seq   int64
	body  template.HTML
	ended bool
}

func (h *Handlers) runStream(w http.ResponseWriter, r *http.Request, v web.Visit) (web.Shown, error) {
	id := r.PathValue("id")
	path := "/v1/runs/" + url.PathEscape(id)
	first, as, own, err := found[api.RunRecord](h, r, v, pass.Run, id, path)
	if err != nil {
		return web.Shown{}, err
	}
	look := func(ctx context.Context) (view, error) {
		p, rec, seq, err := h.standing(ctx, first.ID, as)
		if err != nil {
			return view{}, err
		}
		neighbours(&p, rec, own)
		body, err := h.Bodies.Body(pages.NameLive, p)
		return view{seq, body, rec.Status.Terminal()}, err
	}
	return h.stream(w, r, as, []core.RunID{core.RunID(first.ID)}, look)
}

func (h *Handlers) groupStream(w http.ResponseWriter, r *http.Request, v web.Visit) (web.Shown, error) {
	id := r.PathValue("id")
	path := "/v1/groups/" + url.PathEscape(id)
	first, as, own, err := found[api.GroupRecord](h, r, v, pass.Group, id, path)
	if err != nil {
		return web.Shown{}, err
	}
	var runs []core.RunID
	for _, m := range first.Members {
		runs = append(runs, core.RunID(m.RunID))
	}
	look := func(ctx context.Context) (view, error) {
		seq, err := h.groupSeq(ctx, first, as)
		if err != nil {
			return view{}, err
		}
		rec, err := ask[api.GroupRecord](ctx, h, as, path)
		if err != nil {
			return view{}, err
		}
		body, err := h.Bodies.Body(pages.NameGroup, pages.GroupOf(rec, own))
		return view{seq, body, rec.Status.Terminal()}, err
	}
	return h.stream(w, r, as, runs, look)
}

// groupSeq is how far the logs of a group's members are in all. It grows with each
// event, and costs a look at the end of each log.
func (h *Handlers) groupSeq(ctx context.Context, g api.GroupRecord, as Looker) (sum int64, err error) {
	for _, m := range g.Members {
		log, err := ask[api.EventPage](ctx, h, as, "/v1/runs/"+url.PathEscape(m.RunID)+"/events?tail=true&limit=1")
		if err != nil {
			return 0, err
		}
		if n := len(log.Data); n > 0 {
			sum += log.Data[n-1].Sequence
		}
	}
	return sum, nil
}

// stream tells a page as it changes until what it shows has ended.
func (h *Handlers) stream(w http.ResponseWriter, r *http.Request, as Looker, runs []core.RunID, look func(context.Context) (view, error)) (web.Shown, error) {
	last, err := seen(r)
	if err != nil {
		return web.Shown{}, err
	}
	if !h.enter(as.Workspace) {
		return web.Shown{}, core.Refuse(core.Code(api.RateLimited), "Too many pages of this workspace are being followed at once; this one is looked at again in a while.")
	}
	defer h.leave(as.Workspace)
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	// Whoever has gone needs no answer, and the headers are sent: the browser comes
	// again for what it has not seen.
	_ = h.tell(r.Context(), w, runs, last, look)
	return web.Shown{}, web.ErrAnswered
}

// seen is the sequence that the browser has seen: what it says when it comes again,
// or what the page was made of.
func seen(r *http.Request) (int64, error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.URL.Query().Get("after")
	}
	if text == "" {
		return -1, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, core.Refuse(core.InvalidRequest, "Last-Event-ID is a number that this page gave.")
	}
	return n, nil
}

func (h *Handlers) tell(ctx context.Context, w http.ResponseWriter, runs []core.RunID, last int64, look func(context.Context) (view, error)) error {
	out, over := http.NewResponseController(w), h.After(turn)
	for {
		// Watching begins before looking: what changes in between wakes.
		changed, stop := h.Changes.Watch(runs...)
		v, err := look(ctx)
		if err == nil {
			// A recorder of tests has no deadlines.
			_ = out.SetWriteDeadline(time.Now().Add(patience))
			err = put(w, v, last)
		}
		if err == nil {
			err = out.Flush()
		}
		if err != nil || v.ended {
			stop()
			return err
		}
		last = max(last, v.seq)
		select {
		case <-changed:
		case <-h.After(heartbeat):
		case <-over:
			stop()
			return nil
		case <-ctx.Done():
			stop()
			return ctx.Err()
		}
		stop()
		select {
		case <-h.After(pace):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// put tells a view that the browser has not seen, and the end. The data of an event
// is one line: JSON has no line breaks of its own.
func put(w http.ResponseWriter, v view, last int64) error {
	if v.ended {
		_, err := fmt.Fprintf(w, "id: %d\nevent: end\ndata: {}\n\n", v.seq)
		return err
	}
	if v.seq <= last {
		_, err := fmt.Fprint(w, ": still here\n\n")
		return err
	}
	b, err := json.Marshal(map[string]string{"html": string(v.body)})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "id: %d\nevent: page\ndata: %s\n\n", v.seq, b)
	return err
}

func (h *Handlers) enter(w core.WorkspaceID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.followers == nil {
		h.followers = map[core.WorkspaceID]int{}
	}
	if h.followers[w] >= maxFollowers {
		return false
	}
	h.followers[w]++
	return true
}

func (h *Handlers) leave(w core.WorkspaceID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.followers[w]--; h.followers[w] <= 0 {
		delete(h.followers, w)
	}
}
