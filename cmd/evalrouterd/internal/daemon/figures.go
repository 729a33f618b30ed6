package daemon

import (
	"context"
	"strconv"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/front"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/gauge"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/logbook"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

// figures is what a collector is told. Labels are routes, protocols, statuses
// and words of ours: no workspace, no model, no address, so that the figures
// are as many on the busiest day as on the first, and name nobody.
type figures struct {
	registry  gauge.Registry
	requests  *gauge.Counter
	took      *gauge.Histogram
	calls     *gauge.Counter
	callsTook *gauge.Histogram
}

// newFigures declares what does not need a running service.
func newFigures(version string, log *logbook.Log) *figures {
	f := &figures{}
	r := &f.registry
	r.Counter("evalrouterd_build_info", "The version that runs.", "version").Add(1, version)
	f.requests = r.Counter("evalrouterd_http_requests_total", "Answers, by route and status.", "route", "status")
	f.took = r.Histogram("evalrouterd_http_request_seconds", "From the head of a request to the end of its answer. Long polls are among them.", []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30})
	f.calls = r.Counter("evalrouterd_provider_calls_total", "Calls to providers, by protocol and what is known about them.", "protocol", "class")
	f.callsTook = r.Histogram("evalrouterd_provider_call_seconds", "How long calls to providers took.", []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600}, "protocol")
	r.Count("evalrouterd_log_warnings_total", "Warnings in the log.", func() float64 { w, _ := log.Counts(); return float64(w) })
	r.Count("evalrouterd_log_errors_total", "Errors in the log.", func() float64 { _, e := log.Counts(); return float64(e) })
	r.Process(time.Now())
	return f
}

// serve declares what a service knows.
func (f *figures) serve(s *service) {
	r := &f.registry
	r.Gauge("evalrouterd_runs_active", "Runs that this process works on.", func() float64 { return float64(s.engine.Active()) })
	r.Gauge("evalrouterd_http_requests_pending", "Handlers at work, long polls included.", func() float64 { return float64(s.server.Pending()) })
	r.Count("evalrouterd_store_commits_total", "Commits to the database.", func() float64 { return float64(s.store.Commits()) })
	r.Gauge("evalrouterd_ending", "1 once the end of the process has begun.", func() float64 {
		if s.ending.Load() {
			return 1
		}
		return 0
	})
}

// front declares what the front knows; cert is nil for plain HTTP.
func (f *figures) front(w *front.Server, cert *front.Certificate) {
	r := &f.registry
	r.Gauge("evalrouterd_connections_open", "Open connections.", func() float64 { n, _ := w.Connections(); return float64(n) })
	r.Count("evalrouterd_connections_refused_total", "Connections that were hung up on.", func() float64 { _, n := w.Connections(); return float64(n) })
	if cert != nil {
		r.Gauge("evalrouterd_certificate_expires_seconds", "When the certificate ends, in unix seconds.", func() float64 { return float64(cert.Expires().Unix()) })
	}
}

// answered counts one answer.
func (f *figures) answered(route string, status int, took time.Duration) {
	if route == "" {
		route = "/"
	}
	f.requests.Add(1, route, strconv.Itoa(status))
	f.took.Observe(took.Seconds())
}

// watch counts the calls of each adapter.
func (f *figures) watch(set provider.Set) provider.Set {
	out := provider.Set{}
	for protocol, a := range set {
		out[protocol] = watched{Adapter: a, protocol: protocol, f: f}
	}
	return out
}

// watched is an adapter whose calls are counted.
type watched struct {
	provider.Adapter
	protocol string
	f        *figures
}

// Call makes the call.
func (w watched) Call(ctx context.Context, r provider.Request) provider.Outcome {
	began := time.Now()
	out := w.Adapter.Call(ctx, r)
	w.f.calls.Add(1, w.protocol, string(out.Class))
	w.f.callsTook.Observe(time.Since(began).Seconds(), w.protocol)
	return out
}
