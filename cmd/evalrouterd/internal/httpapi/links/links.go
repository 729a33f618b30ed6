// Package links is the routes that make signed addresses of pages, for a browser
// that is not signed in. It belongs to httpapi, whose gate and answers it uses.
package links

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/pass"
	"github.com/evalrouter/evalrouter/lib/api"
)

// Runs says that a run is there.
type Runs interface {
	Run(context.Context, core.Scope, core.RunID) (core.Run, error)
}

// Groups says that a group is there.
type Groups interface {
	Group(context.Context, core.Scope, core.GroupID) (core.Group, error)
}

// Handlers answers the routes. All fields are required.
type Handlers struct {
	Runs   Runs
	Groups Groups
	Keeper pass.Keeper
	// Origin is where browsers find the pages.
	Origin string
}

// Features is what the routes add to the service.
func (h *Handlers) Features() []string { return []string{"links"} }

// Routes lists the routes.
func (h *Handlers) Routes() []httpapi.Route {
	at := func(path, id, summary string) httpapi.Route {
		return httpapi.Route{Method: http.MethodPost, Path: path, ID: id, Summary: summary, Tag: "pages", Scope: "eval:read", Body: true}
	}
	return []httpapi.Route{
		httpapi.On(at("/v1/runs/{id}/links", "link-run", "An address that shows one run for a quarter of an hour"), h.run),
		httpapi.On(at("/v1/groups/{id}/links", "link-group", "An address that shows one group for a quarter of an hour"), h.group),
	}
}

type input struct {
	ID string `path:"id"`
	httpapi.With[api.NewLink]
}

func (h *Handlers) run(_ *httpapi.Server, ctx context.Context, in *input) (*httpapi.Answer[api.Link], error) {
	if err := purpose(in.Value().Purpose, api.LinkReport, api.LinkLive); err != nil {
		return nil, err
	}
	r, err := h.Runs.Run(ctx, httpapi.ScopeOf(ctx), core.RunID(in.ID))
	if err != nil {
		return nil, err
	}
	return h.link(ctx, pass.Pass{Kind: pass.Run, ID: string(r.ID), Workspace: r.Workspace}, ""), nil
}

func (h *Handlers) group(_ *httpapi.Server, ctx context.Context, in *input) (*httpapi.Answer[api.Link], error) {
	want := in.Value().Purpose
	if err := purpose(want, api.LinkLive, api.LinkComparison); err != nil {
		return nil, err
	}
	sc := httpapi.ScopeOf(ctx)
	g, err := h.Groups.Group(ctx, sc, core.GroupID(in.ID))
	if err != nil {
		return nil, err
	}
	to := ""
	if want == api.LinkComparison {
		to = "comparison"
	}
	return h.link(ctx, pass.Pass{Kind: pass.Group, ID: string(g.ID), Workspace: sc.Workspace}, to), nil
}

// purpose refuses what a link is not for.
func purpose(got string, known ...string) error {
	for _, k := range known {
		if got == k {
			return nil
		}
	}
	return httpapi.RefuseFields(core.InvalidRequest, "a link is for "+strings.Join(known, " or ")+"; none was made", []api.FieldError{{Path: "purpose", Code: "unknown_value"}})
}

func (h *Handlers) link(ctx context.Context, p pass.Pass, to string) *httpapi.Answer[api.Link] {
	c := httpapi.CallerOf(ctx)
	switch c.Kind {
	case httpapi.KindOwner:
		p.Maker = pass.Owner
	case httpapi.KindSession:
		p.Maker, p.MakerID, p.Grant = pass.Person, string(c.User.ID), c.Grant
	default:
		p.Maker, p.MakerID = pass.Key, c.Key.ID
	}
	text, until := h.Keeper.Link(p)
	address := h.Origin + "/open/" + text
	if to != "" {
		address += "?to=" + url.QueryEscape(to)
	}
	return httpapi.Reply(api.Link{URL: address, ExpiresAt: httpapi.TimeOf(until)})
}
