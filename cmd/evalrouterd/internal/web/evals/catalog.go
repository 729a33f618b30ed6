package evals

import (
	"net/http"
	"net/url"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web/bring"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/report/pages"
)

// catalogReader is who looks at the catalog: it is everybody's, and a workspace
// sees its own benchmarks too.
func catalogReader(v web.Visit) Looker {
	if !v.In {
		return Looker{}
	}
	return reader(v, v.At.ID)
}

// searched is what a list of the catalog is asked for.
func searched(r *http.Request) (q url.Values, c pages.Catalog) {
	in := r.URL.Query()
	q, c = url.Values{"limit": {listLimit}}, pages.Catalog{Query: in.Get("q")}
	for _, k := range []string{"q", "cursor"} {
		if v := in.Get(k); v != "" {
			q.Set(k, v)
		}
	}
	return q, c
}

func (h *Handlers) benchmarks(_ http.ResponseWriter, r *http.Request, v web.Visit) (web.Shown, error) {
	q, c := searched(r)
	page, err := ask[api.Page[api.BenchmarkRecord]](r.Context(), h, catalogReader(v), "/v1/catalog/benchmarks?"+q.Encode())
	if err != nil {
		return web.Shown{}, err
	}
	for _, b := range page.Data {
		c.Items = append(c.Items, pages.BenchmarkItem(b))
	}
	c.Next = nextOf(r, page.NextCursor)
	if h.Own && v.In {
		c.Bring = bring.Path + "?workspace=" + url.QueryEscape(string(v.At.ID))
	}
	return h.body(pages.NameBenchmarks, c, web.Shown{Title: "Benchmarks", Section: "/benchmarks"})
}

func (h *Handlers) benchmark(_ http.ResponseWriter, r *http.Request, v web.Visit) (web.Shown, error) {
	slug := r.PathValue("slug")
	d, err := ask[api.BenchmarkDetail](r.Context(), h, catalogReader(v), "/v1/catalog/benchmarks/"+url.PathEscape(slug))
	if err != nil {
		return web.Shown{}, err
	}
	var c pages.Catalog
	for _, b := range d.Versions {
		c.Items = append(c.Items, pages.BenchmarkItem(b))
	}
	return h.body(pages.NameBenchmark, c, web.Shown{Title: "Benchmark " + d.Slug, Section: "/benchmarks"})
}

func (h *Handlers) models(_ http.ResponseWriter, r *http.Request, v web.Visit) (web.Shown, error) {
	q, c := searched(r)
	page, err := ask[api.Page[api.ManagedRoute]](r.Context(), h, catalogReader(v), "/v1/catalog/models?"+q.Encode())
	if err != nil {
		return web.Shown{}, err
	}
	for _, m := range page.Data {
		c.Items = append(c.Items, pages.ModelItem(m))
	}
	c.Next = nextOf(r, page.NextCursor)
	return h.body(pages.NameModels, c, web.Shown{Title: "Models", Section: "/models"})
}

func (h *Handlers) model(_ http.ResponseWriter, r *http.Request, v web.Visit) (web.Shown, error) {
	m, err := ask[api.ManagedRoute](r.Context(), h, catalogReader(v), "/v1/catalog/models/"+url.PathEscape(r.PathValue("route")))
	if err != nil {
		return web.Shown{}, err
	}
	item := pages.ModelItem(m)
	return h.body(pages.NameModel, pages.Catalog{Items: []pages.Item{item}}, web.Shown{Title: string(item.Name), Section: "/models"})
}
