package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/api"
)

// TestTerminalDetail ends runs at endpoints that refuse them: the run and its
// result say why, in a sentence that is safe to show.
func TestTerminalDetail(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, reason, detail string
		serve                http.HandlerFunc
	}{
		{"wrong key", "credential_rejected", `Incorrect \x1b[31mkey<U+202E>`, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			w.Write([]byte(`{"error":{"message":"Incorrect \u001b[31mkey\u202e","code":"invalid_api_key"}}`))
		}},
		{"redirect", "provider_unavailable", "redirects are never followed", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://attacker.example/steal", http.StatusTemporaryRedirect)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t)
			stub := httptest.NewServer(tt.serve)
			defer stub.Close()
			var c struct{ ID string }
			h.send("POST", "/v1/connections", object{"name": "n", "base_url": stub.URL + "/v1", "model_id": "m", "api_key": "sk-detail-canary-001"}).want(t, 200).into(t, &c)
			id := h.finished(object{"model": object{"kind": "connection", "connection_id": c.ID}})
			var r api.RunRecord
			h.send("GET", "/v1/runs/"+id, nil).want(t, 200).into(t, &r)
			var res api.ResultRecord
			h.send("GET", "/v1/runs/"+id+"/results", nil).want(t, 200).into(t, &res)
			if r.TerminalReason == nil || *r.TerminalReason != tt.reason {
				t.Errorf("the reason is %v", r.TerminalReason)
			}
			open := r.Outcomes["pending"]
			if open == 0 || r.ProcessedCount != r.PlannedCount-open {
				t.Errorf("%d of %d are processed, and %d are pending", r.ProcessedCount, r.PlannedCount, open)
			}
			for where, d := range map[string]*string{"run": r.TerminalDetail, "result": res.TerminalDetail} {
				if d == nil || !strings.Contains(*d, tt.detail) || len([]rune(*d)) > 300 || strings.Contains(*d, "canary") {
					t.Errorf("the %s says %v", where, show(d))
				}
			}
		})
	}
}

func show(s *string) string {
	if s == nil {
		return "nothing"
	}
	return *s
}

// REC-14: a run needs nobody who watches it. Its watchers' connections are cut
// while its calls are in flight, and it goes on to its end.
func TestWatchersLeave_REC14(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	release := make(chan struct{})
	stub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		<-release
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{"choices":[{"message":{"content":"4"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6}}`))
	}))
	defer stub.Close()
	var c struct{ ID string }
	h.send("POST", "/v1/connections", object{"name": "n", "base_url": stub.URL + "/v1", "model_id": "m"}).want(t, 200).into(t, &c)
	id := h.started(h.quote(object{"model": object{"kind": "connection", "connection_id": c.ID}}), "rec-14")
	ctx, cut := context.WithCancel(t.Context())
	left := make(chan error)
	for range 3 {
		go func() {
			_, err := h.try("GET", "/v1/runs/"+id+"/events?wait_seconds=20&after=1000000", nil, func(r *http.Request) { *r = *r.WithContext(ctx) })
			left <- err
		}()
	}
	cut()
	for range 3 {
		if err := <-left; err == nil {
			t.Error("a watcher got an answer, so that nothing was cut")
		}
	}
	close(release)
	h.await(id)
	var r api.RunRecord
	h.send("GET", "/v1/runs/"+id, nil).want(t, 200).into(t, &r)
	if r.Status != api.StatusCompleted || r.GradedCount != r.PlannedCount {
		t.Errorf("the run is %s with %d of %d graded", r.Status, r.GradedCount, r.PlannedCount)
	}
}
