package traces

import (
	"net/http"
	"strconv"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	kept "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/traces"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web"
)

type findingsBody struct {
	Rows       []core.Finding
	Status     string
	Older      string
	Evaluators []core.Evaluator
}

const shownFindings = 50

func (h *Handlers) findings(r *http.Request, v visit) (web.Shown, error) {
	return h.found(r, v, web.Shown{Good: saved(r)})
}

func (h *Handlers) found(r *http.Request, v visit, s web.Shown) (web.Shown, error) {
	q := r.URL.Query()
	b := findingsBody{Status: q.Get("status")}
	var after *core.Place
	if q.Get("id") != "" {
		at, err := strconv.ParseInt(q.Get("at"), 10, 64)
		if err != nil {
			return web.Shown{}, core.Missing("page")
		}
		after = &core.Place{At: core.Micros(at), ID: q.Get("id")}
	}
	var err error
	if b.Rows, err = h.Reader.FindingList(r.Context(), v.Scope, kept.FindingFilter{Status: b.Status}, after, shownFindings+1); err != nil {
		return web.Shown{}, err
	}
	if len(b.Rows) > shownFindings {
		b.Rows = b.Rows[:shownFindings]
		last := b.Rows[shownFindings-1]
		q.Set("at", strconv.FormatInt(int64(last.LastAt), 10))
		q.Set("id", string(last.ID))
		q.Set("workspace", string(v.At.ID))
		b.Older = "/traces/findings?" + q.Encode()
	}
	if b.Evaluators, err = h.Evaluation.Evaluators(r.Context(), v.Scope, nil, shownFindings); err != nil {
		return web.Shown{}, err
	}
	s.Title = "Findings"
	return h.body("findings", v, s, b)
}

func (h *Handlers) setFinding(r *http.Request, v visit) (web.Shown, error) {
	status, note := r.PostForm.Get("status"), r.PostForm.Get("note")
	_, err := h.Evaluation.SetFinding(r.Context(), v.Scope, core.FindingID(r.PostForm.Get("id")), &status, &note)
	if text, ok := wrong(err); ok {
		return h.found(r, v, web.Shown{Bad: text, Status: http.StatusUnprocessableEntity})
	}
	if err != nil {
		return web.Shown{}, err
	}
	return h.found(r, v, web.Shown{Good: "Saved."})
}
