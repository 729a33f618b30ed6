package httpapi_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/pass"
	"github.com/evalrouter/evalrouter/lib/api"
)

// TestLinks: a link names one run or group, whoever made it, and an end within a
// quarter of an hour; what it is not for is refused.
func TestLinks(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	run, group := h.finished(nil), h.grouped(newGroup(nil, solver, echo)).ID
	keeper := pass.Keeper{Master: h.master, Now: h.store.Now}
	for _, tt := range []struct{ name, path, purpose, kind, id, to string }{
		{"a run's report", "/v1/runs/" + run + "/links", "report", pass.Run, run, ""},
		{"a live run", "/v1/runs/" + run + "/links", "live", pass.Run, run, ""},
		{"a live group", "/v1/groups/" + group + "/links", "live", pass.Group, group, ""},
		{"a comparison", "/v1/groups/" + group + "/links", "comparison", pass.Group, group, "comparison"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var l api.Link
			h.send("POST", tt.path, object{"purpose": tt.purpose}).want(t, 200).into(t, &l)
			text, to, _ := strings.Cut(strings.TrimPrefix(l.URL, origin+"/open/"), "?to=")
			p, ok := keeper.ReadLink(text)
			if !ok || to != tt.to || p.Kind != tt.kind || p.ID != tt.id || p.Workspace != core.Local || p.Maker != pass.Owner {
				t.Errorf("the link is %s, which says %+v", l.URL, p)
			}
			if life := l.ExpiresAt.Sub(h.clock()).Minutes(); life <= 0 || life > 15 {
				t.Errorf("the link lives %.1f minutes", life)
			}
		})
	}
	h.send("POST", "/v1/runs/"+run+"/links", object{"purpose": "comparison"}).refused(t, 422, "invalid_request")
	h.send("POST", "/v1/groups/"+group+"/links", object{"purpose": "report"}).refused(t, 422, "invalid_request")
	h.send("POST", "/v1/runs/"+run+"/links", object{}).refused(t, 422, "invalid_request")
}

// TestTaskDetail: a task is shown with what was asked, what was answered and the
// place of what was graded in it.
func TestTaskDetail(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	run := h.finished(nil)
	var list api.Page[api.TaskRecord]
	h.send("GET", "/v1/runs/"+run+"/tasks", nil).want(t, 200).into(t, &list)
	spans := 0
	for i, row := range list.Data {
		var d api.TaskDetail
		h.send("GET", "/v1/runs/"+run+"/tasks/"+strconv.Itoa(i), nil).want(t, 200).into(t, &d)
		if d.Index != i || d.TaskID != row.TaskID || len(d.Input) == 0 || len(d.Target) == 0 || d.Answer == nil || d.AnswerSHA256 == nil || d.Usage == nil || d.Withheld != nil {
			t.Fatalf("task %d is %+v", i, d)
		}
		if d.Span != nil && d.Extracted != nil {
			spans++
			if got := string([]rune(*d.Answer)[d.Span[0]:d.Span[1]]); got != *d.Extracted {
				t.Errorf("task %d: the span holds %q, extracted is %q", i, got, *d.Extracted)
			}
		}
	}
	if len(list.Data) == 0 || spans == 0 {
		t.Errorf("%d tasks, %d with a span", len(list.Data), spans)
	}
	h.send("GET", "/v1/runs/"+run+"/tasks/100000", nil).refused(t, 404, "not_found")
	h.send("GET", "/v1/runs/"+run+"/tasks/x", nil).refused(t, 422, "invalid_request")
}
