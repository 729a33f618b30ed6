package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/langsmith/fakesmith"
)

// virtual is a clock that only sleeping moves.
type virtual struct {
	mu    sync.Mutex
	now   time.Time
	stop  func() bool // ends the process when it says so
	state string      // the state file of its processes
}

func (v *virtual) Now() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now
}

func (v *virtual) sleep(cancel context.CancelFunc) func(context.Context, time.Duration) error {
	return func(ctx context.Context, d time.Duration) error {
		v.mu.Lock()
		v.now = v.now.Add(d)
		end := v.stop != nil && v.stop()
		v.mu.Unlock()
		if end {
			cancel()
		}
		return ctx.Err()
	}
}

// inside runs the program in this process on a virtual clock.
func inside(t *testing.T, s *site, v *virtual, args ...string) (code int, out, errs string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	app, stdout, stderr := quiet()
	env := map[string]string{}
	for _, kv := range s.env() {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = value
	}
	app.Env = func(name string) (string, bool) { x, ok := env[name]; return x, ok }
	app.Now, app.Sleep = v.Now, v.sleep(cancel)
	code = app.Execute(ctx, append([]string{"sync", "--project", project, "--state", v.state, "--allow-http"}, args...))
	return code, stdout.String(), stderr.String()
}

func virtualSite(t *testing.T) (*site, *virtual) {
	t.Helper()
	v := &virtual{now: time.Now(), state: filepath.Join(t.TempDir(), "state")}
	s := newSite(fakesmith.Options{Now: v.Now})
	t.Cleanup(s.close)
	for i := range 5 {
		s.smith.Add(trace(i+1, time.Duration(i+2)*time.Hour)...)
	}
	return s, v
}

// What each failure says, its exit code, and that it costs few requests.
func TestFailures(t *testing.T) {
	t.Parallel()
	const ever = 1 << 30
	tests := []struct {
		name  string
		smith *fakesmith.Fault
		sink  *fakesmith.Fault
		code  int
		says  string
		most  int // requests to the failing side
	}{
		{"an expired source key", &fakesmith.Fault{Status: 401}, nil, 1, "wrong, expired or revoked", 1},
		{"another's workspace", &fakesmith.Fault{Status: 403}, nil, 1, "may not read this workspace or project", 1},
		{"an organisation's key", &fakesmith.Fault{Status: 403, Body: `{"error":"org_scoped_key_requires_workspace"}`}, nil, 1, "set LANGSMITH_WORKSPACE_ID", 1},
		{"no such project", &fakesmith.Fault{Status: 404}, nil, 1, "does not know this project", 3},
		{"a permanent 400", &fakesmith.Fault{Status: 400}, nil, 1, "refuses the request (400)", 2},
		{"a redirect", &fakesmith.Fault{Redirect: "https://elsewhere.invalid"}, nil, 1, "not followed", 1},
		{"429 for ever", &fakesmith.Fault{Path: "/traces/", Status: 429, RetryAfter: "30"}, nil, 1, "asks for a pause", 12},
		{"503 for ever", &fakesmith.Fault{Path: "/traces/", Status: 503}, nil, 1, "not available (503)", 12},
		{"torn answers for ever", &fakesmith.Fault{Path: "/traces/", Torn: true}, nil, 1, "not complete", 12},
		{"an unknown ingest key", nil, &fakesmith.Fault{Status: 401, Body: "unauthenticated"}, 1, "check EVALROUTER_TRACE_KEY", 1},
		{"a refused import", nil, &fakesmith.Fault{Status: 422, Body: "invalid_request"}, 2, "EvalRouter: this is a fault", 1},
		{"EvalRouter is down for ever", nil, &fakesmith.Fault{Status: 503, RetryAfter: "20", Body: "unavailable"}, 1, "EvalRouter: this is a fault", 6},
		{"EvalRouter asks for a pause", nil, &fakesmith.Fault{Status: 429, RetryAfter: "20", Body: "rate_limited", N: 2}, 0, "waiting", 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, v := virtualSite(t)
			failing := func() int { n, _ := s.sink.Counts(); return n }
			if tt.smith != nil {
				tt.smith.N = ever
				s.smith.Break(*tt.smith)
				failing = func() (n int) {
					for _, r := range s.smith.Requests() {
						if strings.Contains(r.Path, tt.smith.Path) {
							n++
						}
					}
					return n
				}
			} else {
				if tt.sink.N == 0 {
					tt.sink.N = ever
				}
				s.sink.Break(*tt.sink)
			}
			code, _, errs := inside(t, s, v, "--settle", "0")
			if code != tt.code || !strings.Contains(errs, tt.says) {
				t.Errorf("exit code %d, want %d with %q:\n%s", code, tt.code, tt.says, errs)
			}
			if n := failing(); n < 1 || n > tt.most {
				t.Errorf("%d requests to the failing side, want 1 to %d", n, tt.most)
			}
			if tt.says == "asks for a pause" { // and status says until when
				app, out, _ := quiet()
				if code := app.Execute(t.Context(), []string{"status", "--state", v.state, "--json"}); code != 0 || !strings.Contains(out.String(), `"throttled_until":"20`) {
					t.Errorf("status: exit code %d, %s", code, out)
				}
			}
			if strings.Contains(errs, sourceKey) || strings.Contains(errs, s.sink.Key) {
				t.Errorf("a key is in the message:\n%s", errs)
			}
		})
	}
}

// LSM-03: --watch imports what comes while it runs, and a source that asks for
// pauses for an hour gets at most one request for each.
func TestWatch_LSM03(t *testing.T) {
	t.Parallel()
	s, v := virtualSite(t)
	began := v.now
	added, broken := false, false
	v.stop = func() bool {
		at := v.now.Sub(began)
		if at > 20*time.Minute && !added {
			added = true
			run := trace(500, 0)
			for _, r := range run {
				r.Start, r.End = v.now.Add(-10*time.Second), v.now.Add(-5*time.Second)
			}
			s.smith.Add(run...)
		}
		if at > 40*time.Minute && !broken {
			broken = true
			s.smith.Break(fakesmith.Fault{Status: 429, RetryAfter: "60", N: 30})
		}
		return at > 2*time.Hour
	}
	code, out, errs := inside(t, s, v, "--watch", "--json")
	if code != 0 || !strings.Contains(out, `"accepted":6`) {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	var paused []time.Time
	for _, r := range s.smith.Requests() {
		if r.Status == 429 {
			paused = append(paused, r.At)
		}
	}
	for i := 1; i < len(paused); i++ {
		if gap := paused[i].Sub(paused[i-1]); gap < time.Minute {
			t.Errorf("after a request for a pause of 60 s the next request came in %s", gap)
		}
	}
	if len(paused) != 30 {
		t.Errorf("%d answers asked for a pause, want 30", len(paused))
	}
	if !strings.Contains(errs, "waiting") {
		t.Errorf("nothing says that it waits:\n%s", errs)
	}
}

// The source key is in no argument, file, output or byte that leaves for
// EvalRouter, whichever way it came in. LSM-05 LSM-07
func TestCanary_LSM07(t *testing.T) {
	t.Parallel()
	s, v := virtualSite(t)
	v.now = v.now.Add(time.Second)
	code, out, errs := inside(t, s, v, "--settle", "0", "--json")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	sent := s.sink.Bytes()
	if len(sent) < 1000 || !strings.Contains(sent, "where is my order?") {
		t.Fatalf("only %d bytes were sent", len(sent))
	}
	for name, text := range map[string]string{"EvalRouter": sent, "stdout": out, "stderr": errs} {
		if strings.Contains(text, "canary0123") {
			t.Errorf("the key went to %s", name)
		}
	}
	seen := 0
	for _, r := range s.smith.Requests() {
		if bytes.Contains([]byte(r.Path+r.Query+r.Body), []byte("canary0123")) {
			t.Errorf("the key is in the address or body of a request: %s %s", r.Method, r.Path)
		}
		seen++
	}
	if seen < 6 {
		t.Errorf("only %d requests", seen)
	}
}
