package daemon

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/links"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/pass"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web/evals"
	"github.com/evalrouter/evalrouter/lib/report/pages"
)

// seeing is what whoever looks at pages may do.
const seeing = "eval:read"

// pageOrigin is where browsers find pages, "" for nowhere.
func (o options) pageOrigin() string { return cmp.Or(o.signIn.origin, o.pages) }

// evals is the pages about runs, groups, benchmarks and models, and the routes
// that make links to them; nil where browsers find neither.
func (s *service) evals(o options) (*evals.Handlers, *links.Handlers, error) {
	origin := o.pageOrigin()
	if origin == "" {
		return nil, nil, nil
	}
	p, err := pages.New()
	if err != nil {
		return nil, nil, err
	}
	keeper := pass.Keeper{Master: s.master, Now: s.store.Now}
	shown := &evals.Handlers{
		API: s.read, Bodies: p, Keeper: keeper, Stands: s.stands(o.owner != ""), Changes: s.changes, After: time.After, Self: origin,
		Secure: strings.HasPrefix(origin, "https:"), People: o.signIn.origin != "", Own: !o.own.off,
	}
	return shown, &links.Handlers{Runs: s.store, Groups: s.store.Groups(), Keeper: keeper, Origin: origin}, nil
}

// read answers a GET of the API for whoever looks at a page.
func (s *service) read(w http.ResponseWriter, r *http.Request, as evals.Looker) {
	if as.Workspace != "" {
		c := httpapi.Caller{Kind: httpapi.KindSession, Workspace: as.Workspace, Actor: as.Name, Scopes: []string{seeing}}
		r = r.WithContext(httpapi.As(r.Context(), c))
	}
	s.server.ServeHTTP(w, r)
}

// stands says whether whoever made a link may still see what it opens.
func (s *service) stands(local bool) func(context.Context, pass.Pass) (bool, error) {
	return func(ctx context.Context, p pass.Pass) (bool, error) {
		a := s.store.Access()
		switch p.Maker {
		case pass.Owner:
			return local, nil
		case pass.Person:
			u, err := a.User(ctx, core.UserID(p.MakerID))
			if err != nil || u.State != core.UserActive {
				return false, gone(err)
			}
			if goesOn, err := a.GoesOn(ctx, u.ID, p.Grant); err != nil || !goesOn {
				return false, err
			}
			role, err := a.RoleIn(ctx, u.ID, p.Workspace)
			return slices.Contains(role.Scopes(httpapi.Scopes()), seeing), err
		case pass.Key:
			k, err := a.Key(ctx, p.Workspace, p.MakerID)
			if err != nil {
				return false, gone(err)
			}
			return k.RevokedAt == 0 && (k.ExpiresAt == 0 || s.store.Now() < k.ExpiresAt) && slices.Contains(k.Scopes, seeing), nil
		}
		return false, nil
	}
}

// gone is no error where somebody is simply not there any more.
func gone(err error) error {
	if errors.Is(err, &core.Refusal{Code: core.NotFound}) {
		return nil
	}
	return err
}
