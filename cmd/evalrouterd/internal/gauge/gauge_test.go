package gauge_test

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/gauge"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	var r gauge.Registry
	asked := r.Counter("asked_total", "Requests.\nAll of them.", "route", "status")
	took := r.Histogram("took_seconds", `How long, with a \.`, []float64{0.1, 1})
	r.Gauge("open", "Connections.", func() float64 { return 7 })
	r.Gauge("unknown", "Nobody knows.", math.NaN)
	r.Count("kept_total", "Somebody else counts.", func() float64 { return 1e7 })
	asked.Add(1, "/b", "200")
	asked.Add(2, "/a", "500")
	asked.Add(1, "/b", "200")
	asked.Add(1, "\"\n\\\xff", "404")
	for _, v := range []float64{0.05, 0.1, 0.5, 3} {
		took.Observe(v)
	}
	want := `# HELP asked_total Requests.\nAll of them.
# TYPE asked_total counter
asked_total{route="\"\n\\` + "\uFFFD" + `",status="404"} 1
asked_total{route="/a",status="500"} 2
asked_total{route="/b",status="200"} 2
# HELP took_seconds How long, with a \\.
# TYPE took_seconds histogram
took_seconds_bucket{le="0.1"} 2
took_seconds_bucket{le="1"} 3
took_seconds_bucket{le="+Inf"} 4
took_seconds_sum 3.65
took_seconds_count 4
# HELP open Connections.
# TYPE open gauge
open 7
# HELP kept_total Somebody else counts.
# TYPE kept_total counter
kept_total 1e+07
`
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if diff := cmp.Diff(want, w.Body.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := w.Header().Get("Content-Type"); got != "text/plain; version=0.0.4; charset=utf-8" {
		t.Errorf("the type is %s", got)
	}
}

// TestBounded lets a caller choose labels without end.
func TestBounded(t *testing.T) {
	t.Parallel()
	var r gauge.Registry
	c := r.Counter("c_total", "C.", "who")
	for i := range 5000 {
		c.Add(1, fmt.Sprint(i))
	}
	var b strings.Builder
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n > 1010 || !strings.Contains(b.String(), `c_total{who="other"} 4000`) {
		t.Errorf("%d lines, and of others: %s", n, b.String()[strings.LastIndex(b.String(), "{"):])
	}
}

func TestServeHTTP(t *testing.T) {
	t.Parallel()
	var r gauge.Registry
	for _, tt := range []struct {
		name, method, path string
		want               int
	}{
		{"head", "HEAD", "/metrics", 200}, {"another method", "POST", "/metrics", 405}, {"another path", "GET", "/debug/pprof", 404},
	} {
		w := httptest.NewRecorder()
		if r.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), tt.method, tt.path, nil)); w.Code != tt.want {
			t.Errorf("%s answers %d", tt.name, w.Code)
		}
	}
}
