// Package traces is the pages on which people look at what agents did, and make
// datasets of it.
//
//   - A page asks the same services as the routes of the API, with the scopes that
//     the person's role has. Who may only read sees no form.
//   - What an agent took in and gave out is another's text: it passes lib/plain
//     and html/template, and stands in blocks that nothing in it can leave.
//   - The waterfall is a drawing of rectangles: the policy of the pages lets no
//     style stand in a page.
//   - A key stands on the one page that made it, as on the pages of accounts.
package traces

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/datasets"
	kept "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/traces"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/traces"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/usd"
)

//go:embed files
var files embed.FS

// Scopes of these pages, those of the routes.
const (
	readTraces    = "traces:read"
	writeTraces   = "traces:write"
	readDatasets  = "datasets:read"
	writeDatasets = "datasets:write"
)

// Handlers shows the pages. All fields are required.
type Handlers struct {
	Reader     Reader
	Service    *traces.Service
	Evaluation *traces.Evaluation
	Datasets   *datasets.Service
	// Origin is where agents and browsers find the service.
	Origin string
	// Scopes are all that a role can have.
	Scopes []string
	Now    func() core.Micros
	pages  map[string]*template.Template
}

// New reads the templates.
func New(h Handlers) (*Handlers, error) {
	funcs := template.FuncMap{
		"line":   func(v string) string { return string(plain.Line(v)) },
		"block":  func(v string) string { return string(plain.Block(v)) },
		"stamp":  func(t core.Micros) string { return stamp(time.UnixMicro(int64(t)), t == 0) },
		"moment": func(ns int64) string { return stamp(time.Unix(0, ns), ns == 0) },
		"took":   took,
		"cost":   cost,
		"count":  count,
		"list":   func(v []string) string { return string(plain.Line(strings.Join(v, ", "))) },
		"list3":  func(a, b, c string) []string { return []string{a, b, c} },
		"list4":  func(a, b, c, d string) []string { return []string{a, b, c, d} },
		"args":   func(title string, ids []core.ItemID) titled { return titled{title, ids} },
		"short":  func(v string) string { return string(plain.Cut(plain.Line(v), 12)) },
	}
	h.pages = map[string]*template.Template{}
	for _, name := range []string{"list", "trace", "connect", "findings", "datasets", "dataset", "version"} {
		t, err := template.New(name+".html").Funcs(funcs).ParseFS(files, "files/"+name+".html", "files/parts.html")
		if err != nil {
			return nil, err
		}
		h.pages[name] = t
	}
	return &h, nil
}

// titled is a list with its heading.
type titled struct {
	Title string
	IDs   []core.ItemID
}

// Sections are what the head of every page leads to.
func (h *Handlers) Sections() []web.Section {
	return []web.Section{{Name: "Traces", Path: "/traces"}, {Name: "Datasets", Path: "/datasets"}}
}

// stylePath is the style sheet of these pages.
const stylePath = "/traces.css"

// Pages is the table.
func (h *Handlers) Pages() []web.Page {
	page := func(method, path, scope string, show show) web.Page {
		return web.Page{Method: method, Path: path, Show: h.scoped(scope, show)}
	}
	get := func(path, scope string, s show) web.Page { return page(http.MethodGet, path, scope, s) }
	post := func(path, scope string, s show) web.Page { return page(http.MethodPost, path, scope, s) }
	return []web.Page{
		{Method: http.MethodGet, Path: stylePath, Open: true, Show: web.File(files, "files/traces.css", "text/css; charset=utf-8")},
		get("/traces", readTraces, h.list), get("/traces/{id}", readTraces, h.trace),
		get("/traces/connect", readTraces, h.connect), post("/traces/connect", writeTraces, h.changeConnection),
		get("/traces/findings", readTraces, h.findings), post("/traces/findings", writeTraces, h.setFinding),
		get("/datasets", readDatasets, h.sets), get("/datasets/{id}", readDatasets, h.set), post("/datasets/{id}", writeDatasets, h.changeSet),
		get("/datasets/{id}/versions/{version}", readDatasets, h.version),
	}
}

type show func(r *http.Request, v visit) (web.Shown, error)

// visit is who looks at a page, and what of.
type visit struct {
	web.Visit
	core.Scope
	// May says that the person may change what the page shows.
	May bool
}

// Path is a path with the workspace that is looked at.
func (v visit) Path(path string) string { return path + "?workspace=" + string(v.At.ID) }

// scoped lets a page be seen by a role that has the scope.
func (h *Handlers) scoped(scope string, s show) func(http.ResponseWriter, *http.Request, web.Visit) (web.Shown, error) {
	return func(_ http.ResponseWriter, r *http.Request, who web.Visit) (web.Shown, error) {
		if !who.In {
			return web.Shown{}, web.ErrSignIn
		}
		has := who.At.Role.Scopes(h.Scopes)
		if !slices.Contains(has, scope) {
			return web.Shown{}, core.Refuse(core.InsufficientScope, "Your role in this workspace does not include %s. Nothing was changed.", scope)
		}
		area, _, _ := strings.Cut(scope, ":")
		return s(r, visit{who, core.Scope{Workspace: who.At.ID, Actor: string(who.User.ID)}, slices.Contains(has, area+":write")})
	}
}

// body renders a page. Nothing is shown unless all of it can be made.
func (h *Handlers) body(name string, v visit, s web.Shown, more any) (web.Shown, error) {
	var b bytes.Buffer
	err := h.pages[name].Execute(&b, struct {
		visit
		Body any
	}{v, more})
	s.Body, s.Styles, s.Choose = template.HTML(b.String()), append(s.Styles, stylePath), true
	if s.Section == "" {
		s.Section = "/traces"
	}
	return s, err
}

// stamp is a time in UTC, a dash for none.
func stamp(t time.Time, none bool) string {
	if none {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

// took is how long something took, a dash for what goes on.
func took(start, end int64) string {
	d := time.Duration(end - start)
	switch {
	case end == 0:
		return "–"
	case d < time.Second:
		return d.Round(time.Millisecond / 10).String()
	}
	return d.Round(time.Millisecond * 10).String()
}

func cost(m *usd.Micro) string {
	if m == nil {
		return "–"
	}
	return m.String()
}

func count(n *int64) string {
	if n == nil {
		return "–"
	}
	return strconv.FormatInt(*n, 10)
}

var _ Reader = (*kept.Store)(nil)
