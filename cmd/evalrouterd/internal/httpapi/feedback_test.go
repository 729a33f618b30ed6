package httpapi_test

import (
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/lib/api"
)

// Feedback is stored once as said and once as a duplicate; its limits hold, and
// another workspace finds none of it.
func TestFeedback(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	n := api.NewFeedback{Kind: "bug", Severity: "degraded", Summary: "It hangs at once", Client: api.FeedbackClient{Name: "evalrouter", Version: "1.0.0"}, Agent: &api.FeedbackAgent{Name: "some agent"}}
	send := func(n api.NewFeedback) (r api.FeedbackReceipt) {
		h.send("POST", "/v1/feedback", n).want(t, 200).into(t, &r)
		return r
	}
	first, again := send(n), send(n)
	if first.DuplicateOf != nil || again.DuplicateOf == nil || *again.DuplicateOf != first.FeedbackID || first.Status != "received" {
		t.Errorf("receipts %+v and %+v", first, again)
	}
	var read api.FeedbackReceipt
	if h.send("GET", "/v1/feedback/"+again.FeedbackID, nil).want(t, 200).into(t, &read); read.FeedbackID != again.FeedbackID {
		t.Errorf("read %+v", read)
	}
	h.send("GET", "/v1/feedback/"+again.FeedbackID, nil, as(h.key(other, nil, httpapi.Scopes()...))).refused(t, 404, "not_found")
	h.send("POST", "/v1/feedback", n, as(h.key(core.Local, nil, "eval:write"))).refused(t, 403, "insufficient_scope")
	bad := map[string]func(*api.NewFeedback){
		"kind":         func(n *api.NewFeedback) { n.Kind = "praise" },
		"severity":     func(n *api.NewFeedback) { n.Severity = "" },
		"no summary":   func(n *api.NewFeedback) { n.Summary = " " },
		"long summary": func(n *api.NewFeedback) { n.Summary = strings.Repeat("x", 201) },
		"long details": func(n *api.NewFeedback) { n.Details = strings.Repeat("x", 5001) },
		"agent":        func(n *api.NewFeedback) { n.Agent = &api.FeedbackAgent{Name: "<b>"} },
		"status":       func(n *api.NewFeedback) { n.HTTPStatus = 99 },
	}
	for name, change := range bad {
		n := n
		change(&n)
		if got := h.send("POST", "/v1/feedback", n).want(t, 422); !strings.Contains(string(got.body), "Nothing was stored") {
			t.Errorf("%s: %s", name, got.body)
		}
	}
}
