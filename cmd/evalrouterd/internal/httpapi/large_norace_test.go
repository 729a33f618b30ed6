//go:build !race

// Bodies of many megabytes: each is read by one goroutine, which the race detector
// would only slow down.

package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Who sends more than his share is told when to come again.
func TestTraces_Pace(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.traceConnection("otlp")
	body := "{" + strings.Repeat(" ", 8<<20-2) + "}"
	for range 4 + 4 + 1 { // a second is saved up, and the next batch is in advance
		if r := h.send("POST", "/v1/traces", body, as(c.Secret)); r.status == http.StatusTooManyRequests {
			if r.header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
			h.now.Add(2_000_000)
			h.send("POST", "/v1/traces", body, as(c.Secret)).want(t, 200)
			h.send("POST", "/v1/traces", body+" ", as(c.Secret)).refused(t, 413, "request_too_large")
			return
		}
	}
	t.Error("72 MiB were taken in one second")
}

// More than may be sent is refused, also where it was small on its way.
func TestTraces_TooLarge(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	c := h.traceConnection("sdk")
	for _, tt := range []struct {
		name, body string
		tweaks     []tweak
	}{
		{"a bomb", zipped(strings.Repeat(" ", 33<<20)), []tweak{header("Content-Encoding", "gzip")}},
		{"more than may be sent", strings.Repeat(" ", 8<<20+1), nil},
	} {
		r := h.send("POST", "/v1/otlp/v1/traces", tt.body, append([]tweak{as(c.Secret)}, tt.tweaks...)...)
		if p := r.refused(t, 413, "request_too_large"); !strings.Contains(p.Error.Message, "othing") {
			t.Errorf("%s: %s", tt.name, p.Error.Message)
		}
	}
}

func TestSources_TooManyRows(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	data := strings.Repeat("{\"a\":1}\n", 100_001)
	s := h.announced("f", "jsonl", data)
	h.content(s.ID, data).want(t, 200).into(t, &s)
	if s.Status != api.SourceFailed || text(s.ErrorCode) != "rows_too_many" || text(s.ErrorMessage) == "" || s.RowCount != nil {
		t.Errorf("%s with %s: %s", s.Status, text(s.ErrorCode), text(s.ErrorMessage))
	}
}
