package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/langsmith/fakesmith"
)

// What the fake LangSmith is asked with.
const (
	smithKey     = "lsv2_pt_end_to_end"
	smithProject = "aaaaaaaa-0000-4000-8000-000000000001"
)

// smithRuns is an agent's run of a few hours ago, with one model call.
func smithRuns(i int) []*fakesmith.Run {
	start := time.Now().Add(-2*time.Hour - time.Duration(i)*time.Minute).UTC().Truncate(time.Millisecond)
	id, child := fmt.Sprintf("%08x-0000-4000-8000-000000000000", i), fmt.Sprintf("%08x-0001-4000-8000-000000000000", i)
	order := start.Format("20060102T150405000000Z") + id
	return []*fakesmith.Run{
		{
			ID: id, TraceID: id, Order: order, Name: fmt.Sprint("agent ", i), Type: "chain", Start: start, End: start.Add(time.Second), ProjectID: smithProject,
			Inputs: json.RawMessage(`{"question":"where is my order?","api_key":"planted-secret"}`), Outputs: json.RawMessage(`{"answer":"on its way"}`),
			Metadata: json.RawMessage(`{"session_id":"thread-9"}`),
		},
		{
			ID: child, TraceID: id, Parents: []string{id}, Order: order + "." + child, Name: "chat", Type: "llm", ProjectID: smithProject, In: 12, Out: 7, Cost: "0.0001",
			Start: start, End: start.Add(time.Second), Inputs: json.RawMessage(`{}`), Outputs: json.RawMessage(`{"text":"ok"}`), Metadata: json.RawMessage(`{"ls_model_name":"gpt-5"}`),
		},
	}
}

// traceConnection is the part of a trace connection that these tests read.
type traceConnection struct {
	ID     string `json:"id"`
	Secret string `json:"secret"`
	Traces int    `json:"trace_count"`
}

// traceRecord is the part of a trace that these tests read.
type traceRecord struct {
	ID           string `json:"id"`
	SourceID     string `json:"source_trace_id"`
	Name         string `json:"name"`
	Status       string `json:"status"`
	Completeness string `json:"completeness"`
	Revision     int    `json:"revision"`
	Spans        int    `json:"span_count"`
	Models       int    `json:"model_calls"`
	Tools        int    `json:"tool_calls"`
	Usage        struct {
		In  int `json:"input_tokens"`
		Out int `json:"output_tokens"`
	} `json:"usage"`
	Cost string `json:"cost_microusd"`
}

func (s *site) traceConnection(name, kind string) traceConnection {
	s.t.Helper()
	return decode[traceConnection](s.t, s.ok("evalrouter", "traces", "connections", "create", "--name", name, "--kind", kind, "--json").stdout)
}

// traces reads every trace of the workspace.
func (s *site) traces(args ...string) (all []traceRecord) {
	s.t.Helper()
	type page struct {
		Data []traceRecord `json:"data"`
		Next string        `json:"next_cursor"`
	}
	for cursor := ""; ; {
		more := append([]string{"traces", "list", "--limit", "200", "--json"}, args...)
		if cursor != "" {
			more = append(more, "--cursor", cursor)
		}
		p := decode[page](s.t, s.ok("evalrouter", more...).stdout)
		all = append(all, p.Data...)
		if cursor = p.Next; cursor == "" {
			return all
		}
	}
}

// serviceURL is where the local service answers.
func (s *site) serviceURL() string {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.data(), "service.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	return decode[struct {
		URL string `json:"base_url"`
	}](s.t, string(b)).URL
}

// The connector and the service, neither of them a fake: every trace of a
// project is there exactly once, over kills of the connector in the middle of
// its deliveries, a new start from nothing, and answers that were lost.
func TestLangSmith_TDS01_LSM02_LSM04_EveryTraceOnceInTheService(t *testing.T) {
	t.Parallel()
	const roots = 24
	s := newSite(t)
	var requests, killAt atomic.Int64
	var kill atomic.Pointer[context.CancelFunc]
	smith := fakesmith.New(fakesmith.Options{Key: smithKey, On: func() {
		if n := requests.Add(1); n == killAt.Load() {
			if stop := kill.Load(); stop != nil {
				(*stop)()
			}
		}
	}})
	t.Cleanup(smith.Close)
	smith.AddProject(fakesmith.Project{ID: smithProject, Name: "support"})
	for i := range roots {
		smith.Add(smithRuns(i)...)
	}
	c := s.traceConnection("ls", "langsmith")
	s.env = append(s.env, "LANGSMITH_API_KEY="+smithKey, "LANGSMITH_ENDPOINT="+smith.URL, "EVALROUTER_TRACE_KEY="+c.Secret,
		"EVALROUTER_TRACE_CONNECTION_ID="+c.ID, "EVALROUTER_WORKSPACE_ID=local")
	origin, lost := s.serviceURL(), atomic.Int64{}
	target, err := url.Parse(origin)
	if err != nil {
		t.Fatal(err)
	}
	through := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/imports") || lost.Add(1) > 2 {
			through.ServeHTTP(w, r)
			return
		}
		through.ServeHTTP(httptest.NewRecorder(), r) // the service has done it, and nobody learns of it
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(proxy.Close)
	sync := func(state string) []string {
		return []string{"sync", "--project", smithProject, "--state", filepath.Join(s.home, state), "--base-url", proxy.URL, "--allow-http", "--settle", "0"}
	}
	for _, at := range []int64{6, 12, 20} { // killed while it reads
		ctx, stop := context.WithTimeout(context.Background(), patience)
		kill.Store(&stop)
		killAt.Store(requests.Load() + at)
		if err := s.command(ctx, "evalrouter-langsmith", sync("state.json")...).Run(); err == nil {
			t.Errorf("a connector that was to be killed at request %d ended by itself", at)
		}
		stop()
	}
	kill.Store(nil)
	s.ok("evalrouter-langsmith", sync("state.json")...)
	if lost.Load() < 3 {
		t.Errorf("%d imports, of which two were to lose their answer", lost.Load())
	}
	check := func(when string) {
		t.Helper()
		seen := map[string]int{}
		for _, tr := range s.traces() {
			seen[tr.SourceID]++
			if tr.Spans != 2 || tr.Models != 1 || tr.Status != "ok" || tr.Completeness != "complete" || tr.Revision != 1 || tr.Usage.In != 12 || tr.Cost != "100" {
				t.Errorf("%s: %+v", when, tr)
			}
		}
		for i := range roots {
			if id := fmt.Sprintf("%08x-0000-4000-8000-000000000000", i); seen[id] != 1 {
				t.Errorf("%s: trace %s is there %d times", when, id, seen[id])
			}
		}
		if len(seen) != roots {
			t.Errorf("%s: %d traces of %d", when, len(seen), roots)
		}
	}
	check("after three kills")
	s.ok("evalrouter-langsmith", sync("another.json")...)
	check("after a start from nothing")
	all := s.traces("--query", "agent 23")
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	shown := s.ok("evalrouter", "traces", "show", all[0].ID, "--content", "--json").stdout
	contains(t, "the trace", shown, "where is my order?", `"$redacted"`, `"gpt-5"`)
	if strings.Contains(shown, "planted-secret") || strings.Contains(shown, smithKey) {
		t.Errorf("a secret came through:\n%s", shown)
	}
}
