package evals

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/pass"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/report"
	"github.com/evalrouter/evalrouter/lib/report/pages"
)

func (h *Handlers) groups(_ http.ResponseWriter, r *http.Request, v web.Visit) (web.Shown, error) {
	q, l := listed(r, v)
	page, err := ask[api.Page[api.GroupRecord]](r.Context(), h, reader(v, v.At.ID), "/v1/groups?"+q.Encode())
	if err != nil {
		return web.Shown{}, err
	}
	for _, g := range page.Data {
		l.Rows = append(l.Rows, pages.GroupRow(g))
	}
	l.Next = nextOf(r, page.NextCursor)
	return h.body(pages.NameGroups, l, web.Shown{Title: "Groups", Section: "/groups", Choose: true})
}

// group is a group as it stands.
func (h *Handlers) group(_ http.ResponseWriter, r *http.Request, v web.Visit) (web.Shown, error) {
	id := r.PathValue("id")
	rec, as, own, err := found[api.GroupRecord](h, r, v, pass.Group, id, "/v1/groups/"+url.PathEscape(id))
	if err != nil {
		return web.Shown{}, err
	}
	g := pages.GroupOf(rec, own)
	s := web.Shown{Title: groupTitle(g), Own: true, Section: "/groups"}
	if !g.Live {
		return h.body(pages.NameGroup, g, s)
	}
	seq, err := h.groupSeq(r.Context(), rec, as)
	if err != nil {
		return web.Shown{}, err
	}
	s.Scripts, s.Refresh = []string{scriptPath}, 5
	s, err = h.body(pages.NameGroup, g, s)
	s.Body = alive(s.Body, "/groups/"+rec.ID+"/stream", seq)
	return s, err
}

func groupTitle(g pages.Group) string {
	if g.Name != "" {
		return string(g.Name)
	}
	return string("Group " + g.Benchmark)
}

// comparison is the members' results side by side.
func (h *Handlers) comparison(_ http.ResponseWriter, r *http.Request, v web.Visit) (web.Shown, error) {
	id := r.PathValue("id")
	path := "/v1/groups/" + url.PathEscape(id)
	rec, as, own, err := found[api.GroupRecord](h, r, v, pass.Group, id, path)
	if err != nil {
		return web.Shown{}, err
	}
	page := "/groups/" + rec.ID
	if !rec.Status.Terminal() {
		return web.Shown{}, core.Refuse(core.RunNotFinished, "The models of this group are still being asked; they are compared when all have ended. Until then the group is at %s.", page)
	}
	c, err := ask[api.Comparison](r.Context(), h, as, path+"/comparison")
	var no *core.Refusal
	if errors.As(err, &no) {
		return web.Shown{}, core.Refuse(no.Code, "The models of this group cannot be compared: %s. The group is at %s.", no.Message, page)
	}
	if err != nil {
		return web.Shown{}, err
	}
	p := pages.Comparison{Shown: report.Compared(c), Group: page}
	if own {
		p.Files = []pages.File{{Path: page + "/export?format=html", Name: "Comparison", For: "one file that needs no network"}, {Path: page + "/export?format=json", Name: "JSON", For: "the same for programs"}}
	}
	return h.body(pages.NameComparison, p, web.Shown{Title: "Comparison", Own: true, Section: "/groups"})
}
