package traces

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	kept "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/traces"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web"
	"github.com/evalrouter/evalrouter/lib/plain"
)

// Reader reads traces and what was found in them.
type Reader interface {
	List(context.Context, core.Scope, kept.Filter, *kept.Place, int) ([]kept.Row, error)
	Trace(context.Context, core.Scope, core.TraceID) (kept.Row, error)
	Outline(context.Context, core.Scope, core.TraceID, int) ([]core.Span, error)
	Step(ctx context.Context, sc core.Scope, id core.TraceID, span string) (core.Trace, core.Span, error)
	FindingList(context.Context, core.Scope, kept.FindingFilter, *core.Place, int) ([]core.Finding, error)
}

const (
	shownTraces = 50
	// shownSteps is how much of a trace one page draws.
	shownSteps = 500
	// shownBytes is how much of an input, output or attributes a page shows.
	shownBytes = 64 << 10
)

type listBody struct {
	Rows           []kept.Row
	Query, Status  string
	Findings       bool
	Older          string
	Anything       bool // some filter is set
	Model, Tool    string
	CompletenessOf func(core.Trace) string
}

func (h *Handlers) list(r *http.Request, v visit) (web.Shown, error) {
	q := r.URL.Query()
	b := listBody{Query: q.Get("q"), Status: q.Get("status"), Findings: q.Get("findings") != "", Model: q.Get("model"), Tool: q.Get("tool")}
	b.Anything = b.Query != "" || b.Status != "" || b.Findings || b.Model != "" || b.Tool != ""
	b.CompletenessOf = func(t core.Trace) string { return t.Completeness(h.Now()) }
	var after *kept.Place
	if q.Get("num") != "" {
		start, bad := strconv.ParseInt(q.Get("start"), 10, 64)
		num, worse := strconv.ParseInt(q.Get("num"), 10, 64)
		if bad != nil || worse != nil {
			return web.Shown{}, core.Missing("page")
		}
		after = &kept.Place{Start: start, Num: num}
	}
	f := kept.Filter{Query: b.Query, Status: b.Status, HasFindings: b.Findings, Model: b.Model, Tool: b.Tool}
	rows, err := h.Reader.List(r.Context(), v.Scope, f, after, shownTraces+1)
	if err != nil {
		return web.Shown{}, err
	}
	if len(rows) > shownTraces {
		rows = rows[:shownTraces]
		last := rows[shownTraces-1]
		q.Set("start", strconv.FormatInt(last.Start, 10))
		q.Set("num", strconv.FormatInt(last.Num, 10))
		q.Set("workspace", string(v.At.ID))
		b.Older = "/traces?" + q.Encode()
	}
	b.Rows = rows
	return h.body("list", v, web.Shown{Title: "Traces"}, b)
}

type traceBody struct {
	kept.Row
	Completeness string
	Steps        []step
	More         bool
	At           *step
	Input        content
	Output       content
	Attributes   content
	Findings     []core.Finding
}

// content is one side of a step as a page shows it.
type content struct {
	Text     string
	Cut      bool // by the page
	Bounded  bool // when it was kept
	Captured bool
}

func shownOf(raw []byte, bounded bool) content {
	c := content{Captured: raw != nil, Bounded: bounded}
	text := readable(raw)
	if len(text) > shownBytes {
		text, c.Cut = text[:shownBytes], true
	}
	c.Text = string(plain.Block(text))
	return c
}

func (h *Handlers) trace(r *http.Request, v visit) (web.Shown, error) {
	id := core.TraceID(r.PathValue("id"))
	row, err := h.Reader.Trace(r.Context(), v.Scope, id)
	if err != nil {
		return web.Shown{}, err
	}
	spans, err := h.Reader.Outline(r.Context(), v.Scope, id, shownSteps+1)
	if err != nil {
		return web.Shown{}, err
	}
	b := traceBody{Row: row, Completeness: row.Completeness(h.Now()), More: len(spans) > shownSteps}
	if b.More {
		spans = spans[:shownSteps]
	}
	b.Steps = waterfall(spans)
	chosen := r.URL.Query().Get("step")
	_, one, err := h.Reader.Step(r.Context(), v.Scope, id, chosen)
	if err != nil && chosen == "" && len(spans) > 0 { // no root has come yet
		_, one, err = h.Reader.Step(r.Context(), v.Scope, id, spans[0].ID)
	}
	if err != nil {
		return web.Shown{}, err
	}
	b.At = &step{Span: one}
	b.Input, b.Output, b.Attributes = shownOf(one.Input, one.InputCut), shownOf(one.Output, one.OutputCut), shownOf(one.Attributes, false)
	for i := range b.Steps {
		b.Steps[i].Here = b.Steps[i].ID == one.ID
		b.Steps[i].Link = v.Path("/traces/"+url.PathEscape(string(id))) + "&step=" + url.QueryEscape(b.Steps[i].ID) + "#step"
	}
	if row.Findings > 0 {
		if b.Findings, err = h.Reader.FindingList(r.Context(), v.Scope, kept.FindingFilter{Trace: id}, nil, shownTraces); err != nil {
			return web.Shown{}, err
		}
	}
	return h.body("trace", v, web.Shown{Title: string(plain.Cut(plain.Line(row.Name), 80))}, b)
}
