package engine

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

// at is a clock that a test sets.
type at struct {
	Clock
	now time.Time
}

func (a *at) Now() time.Time { return a.now }

// Who uses a managed route reads nothing that its provider wrote about the
// operator; the operator reads it in the log, once a minute. The owner of a
// connection reads the provider's own words.
func TestHeard(t *testing.T) {
	t.Parallel()
	const said = "Organization org-4711 (Ada Ltd) has used 99.50 of 100.00 USD"
	outcomes := []provider.Outcome{
		{Class: provider.Rejected, Reach: provider.Account, Reason: "quota_exhausted", Status: 429, Message: said},
		{Class: provider.Rejected, Reach: provider.Overload, Reason: "rate_limited", Status: 429, Message: said},
		{Class: provider.Rejected, Reach: provider.Overload, Reason: "overloaded", Message: said},
		{Class: provider.Rejected, Reach: provider.Connection, Reason: "auth", Status: 401, Message: said},
		{Class: provider.Rejected, Reach: provider.Route, Reason: "model_not_found", Message: said},
		{Class: provider.Rejected, Reach: provider.Route, Reason: "endpoint_refused", Message: said},
		{Class: provider.Rejected, Reach: provider.Route, Reason: "a new one", Message: said},
		{Class: provider.Rejected, Reach: provider.ThisTask, Reason: "invalid_content", Message: said},
		{Class: provider.Rejected, Reach: provider.ThisTask, Refused: true, Reason: "content_filter", Message: said},
		{Class: provider.Rejected, Message: said},
		{Class: provider.Answered, Malformed: true, Reason: "error_in_answer", Message: said},
		{Class: provider.Unknown, Reason: "server_error", Status: 500, Message: said},
		{Class: provider.Unknown, Message: said},
	}
	route := core.Target{Kind: core.Managed, RouteID: "acme-1"}
	own := core.Target{Kind: core.Connection, ConnectionID: "c"}
	var log bytes.Buffer
	clock := &at{now: time.Unix(1_800_000_000, 0)}
	h := newHeard(slog.New(slog.NewJSONHandler(&log, nil)), clock)
	sentences := map[string]bool{}
	for _, o := range outcomes {
		for range 3 {
			got := h.ours(&job{by: &asker{target: route}}, "run-1", o)
			if strings.Contains(detailOf(got), "org-4711") || got.Message == "" || got.Class != o.Class || got.Reason != o.Reason || got.Status != o.Status {
				t.Errorf("%s %s: %+v", o.Class, o.Reason, got)
			}
			sentences[got.Message] = true
		}
		if got := h.ours(&job{by: &asker{target: own}}, "run-1", o); got.Message != said {
			t.Errorf("the owner of a connection reads %q", got.Message)
		}
	}
	if n := strings.Count(log.String(), "org-4711"); n != len(outcomes) || !strings.Contains(log.String(), `"route":"acme-1"`) {
		t.Errorf("%d lines of the log for %d kinds of trouble: %s", n, len(outcomes), log.String())
	}
	if len(sentences) < 12 {
		t.Errorf("only %d different sentences", len(sentences))
	}
	log.Reset()
	clock.now = clock.now.Add(heardEvery)
	h.ours(&job{by: &asker{target: route}}, "run-1", outcomes[0])
	if strings.Count(log.String(), "org-4711") != 1 {
		t.Error("a minute later nothing is logged")
	}
}
