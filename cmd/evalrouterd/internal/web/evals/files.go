package evals

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/pass"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/report/pages"
)

// formats are the files of a finished run.
func formats() []pages.File {
	return []pages.File{
		{Path: "html", Name: "Report", For: "one file that needs no network"},
		{Path: "md", Name: "Markdown", For: "a summary for a comment or a wiki"},
		{Path: "csv", Name: "CSV", For: "a line for each task"},
		{Path: "parquet", Name: "Parquet", For: "the same with types, for data frames"},
		{Path: "json", Name: "JSON", For: "everything that the export holds"},
		{Path: "junit", Name: "JUnit XML", For: "for continuous integration"},
		{Path: "bundle", Name: "Evidence bundle", For: "every score and charge can be derived from it again, offline"},
	}
}

func runFiles(run string) (out []pages.File) {
	for _, f := range formats() {
		f.Path = run + "/export?format=" + f.Path
		out = append(out, f)
	}
	return out
}

// export sends a file of a finished run.
func (h *Handlers) export(w http.ResponseWriter, r *http.Request, v web.Visit) (web.Shown, error) {
	id, format := r.PathValue("id"), r.URL.Query().Get("format")
	if !slices.ContainsFunc(formats(), func(f pages.File) bool { return f.Path == format }) {
		return web.Shown{}, core.Missing("file")
	}
	path := "/v1/runs/" + url.PathEscape(id)
	rec, as, own, err := found[api.RunRecord](h, r, v, pass.Run, id, path)
	if err != nil || !own || !rec.Status.Terminal() {
		return web.Shown{}, orMissing(err)
	}
	return h.send(w, r, as, path+"/export?format="+format)
}

// exportGroup sends the comparison of a group.
func (h *Handlers) exportGroup(w http.ResponseWriter, r *http.Request, v web.Visit) (web.Shown, error) {
	id, format := r.PathValue("id"), r.URL.Query().Get("format")
	path := "/v1/groups/" + url.PathEscape(id)
	g, as, own, err := found[api.GroupRecord](h, r, v, pass.Group, id, path)
	if err != nil || !own || !g.Status.Terminal() || format != "html" && format != "json" {
		return web.Shown{}, orMissing(err)
	}
	return h.send(w, r, as, path+"/comparison?format="+format)
}

func orMissing(err error) error {
	if err == nil {
		return core.Missing("file")
	}
	return err
}

func (h *Handlers) send(w http.ResponseWriter, r *http.Request, as Looker, path string) (web.Shown, error) {
	req, err := h.request(r.Context(), path)
	if err != nil {
		return web.Shown{}, err
	}
	h.API(w, req, as)
	return web.Shown{}, web.ErrAnswered
}
