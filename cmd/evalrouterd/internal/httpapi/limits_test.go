package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/allowance"
)

// TestLimits asks for one thing more than a workspace may have at once. What
// bounds callers by time is in TestRates.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		try  func(*testing.T, *harness)
	}{
		{"active runs of a workspace", activeRuns},
		{"active runs: a group begins with all its members or with none", activeGroup},
		{"open quotes of a workspace", openQuotes},
		{"requests that wait for news", followers},
		{"streams of a group", streams},
		{"size of items of a dataset", func(t *testing.T, h *harness) {
			var d struct{ ID string }
			h.send("POST", "/v1/datasets", object{"name": "d"}).want(t, 200).into(t, &d)
			items := func(n int) object {
				one := func(s string) object {
					return object{"input": object{"q": strings.Repeat(s, n)}, "expected": object{"a": "y"}}
				}
				return object{"items": []object{one("x"), one("y")}}
			}
			h.send("POST", "/v1/datasets/"+d.ID+"/items", items(2<<20)).refused(t, 413, "request_too_large")
			h.send("POST", "/v1/datasets/"+d.ID+"/items", items(200<<10)).want(t, 200) // more than other bodies
		}},
		{"cursors", cursors},
		{"rows of a page", func(t *testing.T, h *harness) {
			for _, path := range []string{"/v1/runs", "/v1/catalog/models", "/v1/api-keys", "/v1/traces", "/v1/datasets", "/v1/groups", "/v1/connections", "/v1/credits/ledger"} {
				h.send("GET", path+"?limit=200", nil).want(t, 200)
				h.send("GET", path+"?limit=201", nil).refused(t, 422, "invalid_request")
			}
		}},
		{"steps of a page", func(t *testing.T, h *harness) {
			const path = "/v1/traces/00000000-0000-4000-8000-000000000000/spans"
			h.send("GET", path+"?limit=500", nil).refused(t, 404, "not_found")
			h.send("GET", path+"?limit=501", nil).refused(t, 422, "invalid_request")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.try(t, newHarness(t))
		})
	}
}

func activeRuns(t *testing.T, h *harness) {
	h.store.Bound(allowance.Bounds{ActiveRuns: 1})
	live, q := h.live(t), h.quote(nil)
	accept := func(id, key string) reply {
		return h.send("POST", "/v1/runs", object{"quote_id": id, "name": "Evaluation"}, keyed(key))
	}
	for range 2 { // a refusal is no answer that is kept for its key
		r := accept(q, "one-more")
		r.refused(t, 429, "too_many_runs")
		if r.header.Get("Retry-After") == "" {
			t.Error("it does not say when to ask again")
		}
	}
	h.send("GET", "/v1/quotes/"+q, nil).want(t, 200)
	h.send("POST", "/v1/runs/"+string(live)+"/cancel", nil).want(t, 200)
	h.await(string(live))
	accept(q, "one-more").want(t, 200)
	accept(q, "one-more").want(t, 200) // the same one
}

func activeGroup(t *testing.T, h *harness) {
	h.store.Bound(allowance.Bounds{ActiveRuns: 2})
	h.live(t)
	q := h.groupQuote(newGroup(nil, sure, echo))
	before := h.runs(t)
	h.send("POST", "/v1/groups", object{"group_quote_id": q.ID}, keyed("group")).refused(t, 429, "too_many_runs")
	if now := h.runs(t); now != before {
		t.Errorf("%d runs of the group were begun", now-before)
	}
}

func openQuotes(t *testing.T, h *harness) {
	h.store.Bound(allowance.Bounds{OpenQuotes: 2})
	h.quote(nil)
	q := h.quote(nil)
	h.send("POST", "/v1/quotes", newQuote(nil)).refused(t, 429, "too_many_quotes")
	h.send("POST", "/v1/quotes", newQuote(object{"preview": true})).want(t, 200)
	h.started(q, "accepted")
	h.quote(nil) // one that was accepted is open no more
	h.now.Add(31 * time.Minute.Microseconds())
	h.quote(nil) // nor is one that has expired
}

// cursors are places and no permission: with that of another workspace's list there
// is nothing to see but one's own, and one of another list is none.
func cursors(t *testing.T, h *harness) {
	h.workspace(core.WorkspaceInfo{ID: "other", Slug: "other", Name: "Other"})
	h.finished(nil)
	h.finished(nil)
	other := h.key("other", nil, "eval:read", "traces:read", "datasets:read")
	var page struct {
		Data       []struct{ ID string }
		NextCursor string `json:"next_cursor"`
	}
	h.send("GET", "/v1/runs?limit=1", nil).want(t, 200).into(t, &page)
	if page.NextCursor == "" {
		t.Fatal("there is no second page")
	}
	theirs := page.NextCursor
	h.send("GET", "/v1/runs?cursor="+theirs, nil, as(other)).want(t, 200).into(t, &page)
	if len(page.Data) != 0 {
		t.Errorf("with another's cursor somebody sees %+v", page.Data)
	}
	for _, path := range []string{"/v1/traces", "/v1/datasets", "/v1/groups"} {
		h.send("GET", path+"?cursor="+theirs, nil, as(other)).refused(t, 422, "invalid_cursor")
	}
	h.send("GET", "/v1/runs?cursor="+theirs+strings.Repeat("A", 512), nil).refused(t, 422, "invalid_cursor")
}

// going is a group one of whose runs goes on for as long as the test likes.
func (h *harness) going(t *testing.T) (group string) {
	t.Helper()
	g := h.grouped(newGroup(nil, sure, echo))
	for _, m := range g.Members {
		h.await(m.RunID)
	}
	if _, err := h.raw(t).Exec(`UPDATE runs SET state = 'running', ended_at = 0 WHERE id = $1`, g.Members[0].RunID); err != nil {
		t.Fatal(err)
	}
	return g.ID
}

// streams counts whoever follows a group among those who wait, and ends a stream
// after its turn: a key that was revoked meanwhile opens no other one.
func streams(t *testing.T, h *harness) {
	token := h.key(core.Local, nil, "eval:read")
	path := "/v1/groups/" + h.going(t) + "/stream"
	over, waiting, ended := make(chan time.Time), make(chan struct{}, 64), make(chan reply)
	h.after.Store(&over)
	h.changes.mu.Lock()
	h.changes.began = func() { waiting <- struct{}{} }
	h.changes.mu.Unlock()
	for range 2 {
		go func() {
			r, err := h.try("GET", path, nil, as(token))
			if err != nil {
				t.Error(err)
			}
			ended <- r
		}()
		<-waiting
	}
	h.send("GET", path, nil).refused(t, 429, "rate_limited")
	h.keys.mu.Lock()
	key := h.keys.byToken[token]
	key.RevokedAt = 1
	h.keys.byToken[token] = key
	h.keys.mu.Unlock()
	close(over)
	for range 2 {
		if r := (<-ended).want(t, 200); !strings.Contains(string(r.body), "event: run.started") {
			t.Errorf("the stream tells %s", r.body)
		}
	}
	h.send("GET", path, nil, as(token)).refused(t, 401, "key_revoked")
}

func followers(t *testing.T, h *harness) {
	run := h.live(t)
	path := "/v1/runs/" + string(run) + "/events?after=2&wait_seconds=20"
	over, waiting, ended := make(chan time.Time), make(chan struct{}, 8), make(chan reply)
	h.after.Store(&over)
	h.changes.mu.Lock()
	h.changes.began = func() { waiting <- struct{}{} }
	h.changes.mu.Unlock()
	for range 2 { // as many as this service lets wait
		go func() {
			r, err := h.try("GET", path, nil)
			if err != nil {
				t.Error(err)
			}
			ended <- r
		}()
		<-waiting
	}
	h.send("GET", path, nil).refused(t, 429, "rate_limited")
	h.send("GET", fmt.Sprintf("/v1/runs/%s/events?after=2", run), nil).want(t, 200)
	<-waiting
	close(over)
	for range 2 {
		(<-ended).want(t, 200)
	}
	h.send("GET", path, nil).want(t, 200)
}
