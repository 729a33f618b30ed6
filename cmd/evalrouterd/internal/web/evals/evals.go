// Package evals is the pages on which people look at runs, groups, benchmarks and
// models.
//
//   - What they say is said by lib/report and its pages, out of the records that
//     clients read: a page asks the routes of the API, and passes their gates.
//   - A run or group that goes on is told as it grows, each time whole: a browser
//     that comes back names what it saw last and gets what is newer. Without a
//     script the page is looked at again every few seconds.
//   - A browser with a signed link sees the one run or group that the link names,
//     no list, no file and no page beside it, for as long as its maker may.
//   - There is one script, of this service, and no other address is asked.
package evals

import (
	"context"
	"embed"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/pass"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web"
	"github.com/evalrouter/evalrouter/lib/report/pages"
)

//go:embed files
var files embed.FS

// Looker is on whose behalf a page asks the API. It may read evaluations.
type Looker struct {
	Workspace core.WorkspaceID
	// Name is who looks, for limits.
	Name string
}

// Changes wakes whoever waits for a run to change.
type Changes interface {
	Watch(...core.RunID) (changed <-chan struct{}, stop func())
}

// Handlers shows the pages. All fields are required.
type Handlers struct {
	// API answers a GET of a route, or of the public catalog for the zero Looker.
	API    func(w http.ResponseWriter, r *http.Request, as Looker)
	Bodies *pages.Pages
	// Keeper reads links, and Stands says whether who made one may still see what
	// it opens.
	Keeper  pass.Keeper
	Stands  func(context.Context, pass.Pass) (bool, error)
	Changes Changes
	// After is a timer, as time.After is.
	After func(time.Duration) <-chan time.Time
	// Self is the origin that requests to the API are made for.
	Self string
	// Secure says that browsers come over TLS.
	Secure bool
	// People says that people sign in here. Where they do not there are no lists.
	People bool
	// Own says that workspaces bring benchmarks of their own.
	Own bool

	mu        sync.Mutex
	followers map[core.WorkspaceID]int
}

// Paths of the files of these pages.
const (
	stylePath  = "/evals.css"
	scriptPath = "/evals.js"
)

// Sections are what the head of every page leads to.
func (h *Handlers) Sections() []web.Section {
	if !h.People {
		return nil
	}
	return []web.Section{{Name: "Runs", Path: "/runs"}, {Name: "Groups", Path: "/groups"}, {Name: "Benchmarks", Path: "/benchmarks"}, {Name: "Models", Path: "/models"}}
}

// Pages is the table.
func (h *Handlers) Pages() []web.Page {
	get := func(path string, open bool, show func(http.ResponseWriter, *http.Request, web.Visit) (web.Shown, error)) web.Page {
		return web.Page{Method: http.MethodGet, Path: path, Open: open, Show: show}
	}
	named := []web.Page{
		get(stylePath, true, web.File(files, "files/evals.css", "text/css; charset=utf-8")), get(scriptPath, true, web.File(files, "files/evals.js", "text/javascript; charset=utf-8")),
		get("/open/{link}", true, h.open),
		get("/runs/{id}", true, h.run), get("/runs/{id}/tasks/{index}", true, h.task), get("/runs/{id}/stream", true, h.runStream),
		get("/groups/{id}", true, h.group), get("/groups/{id}/comparison", true, h.comparison), get("/groups/{id}/stream", true, h.groupStream),
	}
	if !h.People {
		return named
	}
	return append(named,
		get("/runs", false, h.runs), get("/groups", false, h.groups), get("/runs/{id}/export", false, h.export), get("/groups/{id}/export", false, h.exportGroup),
		get("/benchmarks", true, h.benchmarks), get("/benchmarks/{slug}", true, h.benchmark), get("/models", true, h.models), get("/models/{route}", true, h.model),
	)
}

// body renders a page.
func (h *Handlers) body(name string, v any, s web.Shown) (web.Shown, error) {
	var err error
	s.Body, err = h.Bodies.Body(name, v)
	s.Styles = append(s.Styles, stylePath)
	return s, err
}

// stayCookie is what a browser is given for a link; it is sent to one page and what
// lies below it.
func (h *Handlers) stayCookie() string {
	if h.Secure {
		return "__Secure-evr-stay"
	}
	return "evr-stay"
}

func pathOf(p pass.Pass) string {
	if p.Kind == pass.Group {
		return "/groups/" + p.ID
	}
	return "/runs/" + p.ID
}

// open takes a link and gives the browser a stay at the page that it names.
func (h *Handlers) open(w http.ResponseWriter, r *http.Request, _ web.Visit) (web.Shown, error) {
	p, ok := h.Keeper.ReadLink(r.PathValue("link"))
	if ok {
		var err error
		if ok, err = h.Stands(r.Context(), p); err != nil {
			return web.Shown{}, err
		}
	}
	if !ok {
		return web.Shown{}, core.Refuse(core.NotFound, "This link is over, or it is not whole. A link opens a page for a quarter of an hour: ask for a new one, or make it with 'evalrouter open'.")
	}
	http.SetCookie(w, &http.Cookie{
		Name: h.stayCookie(), Value: h.Keeper.Stay(p), Path: pathOf(p), MaxAge: int(pass.StayLife / 1_000_000), HttpOnly: true, Secure: h.Secure, SameSite: http.SameSiteLaxMode,
	})
	to := pathOf(p)
	if p.Kind == pass.Group && r.URL.Query().Get("to") == "comparison" {
		to += "/comparison"
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return web.Shown{}, web.ErrAnswered
}

// guest is whom a browser with a stay looks for, at what the stay names.
func (h *Handlers) guest(r *http.Request, kind, id string) (Looker, bool, error) {
	c, err := r.Cookie(h.stayCookie())
	if err != nil {
		return Looker{}, false, nil
	}
	p, ok := h.Keeper.ReadStay(c.Value)
	if !ok || p.Kind != kind || p.ID != id {
		return Looker{}, false, nil
	}
	ok, err = h.Stands(r.Context(), p)
	return Looker{Workspace: p.Workspace, Name: "guest:" + p.ID}, ok, err
}

// reader is a person in one of their workspaces.
func reader(v web.Visit, w core.WorkspaceID) Looker {
	return Looker{Workspace: w, Name: "page:" + string(v.User.ID)}
}

// found reads a record for whoever looks: of the first of a person's workspaces
// that has it, or what a stay names. own says that it is a person.
func found[T any](h *Handlers, r *http.Request, v web.Visit, kind, id, path string) (record T, as Looker, own bool, err error) {
	if v.In {
		for _, m := range append([]core.Membership{v.At}, v.All...) {
			as = reader(v, m.ID)
			record, err = ask[T](r.Context(), h, as, path)
			if err == nil || !missing(err) {
				return record, as, true, err
			}
		}
	}
	as, ok, err := h.guest(r, kind, id)
	switch {
	case err != nil:
		return record, as, false, err
	case !ok && v.In:
		return record, as, false, core.Missing(kind)
	case !ok:
		return record, as, false, web.ErrSignIn
	}
	record, err = ask[T](r.Context(), h, as, path)
	return record, as, false, err
}

func missing(err error) bool { return errors.Is(err, &core.Refusal{Code: core.NotFound}) }
