package source_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/langsmith"
	"github.com/evalrouter/evalrouter/langsmith/fakesmith"
	"github.com/evalrouter/evalrouter/langsmith/source"
	"github.com/evalrouter/evalrouter/lib/api"
)

const (
	key     = "lsv2_pt_test0123456789"
	project = "aaaaaaaa-0000-4000-8000-000000000001"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// clock moves when somebody sleeps.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.now = c.now.Add(d)
	return ctx.Err()
}

func client(t *testing.T, s *fakesmith.Server, change func(*source.Config)) (*source.Client, *clock) {
	t.Helper()
	c := &clock{noon}
	cfg := source.Config{Origin: s.URL, AllowHTTP: true, Key: key, Project: project, UserAgent: "test", Timeout: time.Minute, Now: c.Now, Sleep: c.Sleep}
	if change != nil {
		change(&cfg)
	}
	out, err := source.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return out, c
}

func serve(t *testing.T, opt fakesmith.Options) *fakesmith.Server {
	t.Helper()
	opt.Key = key
	opt.Now = func() time.Time { return noon }
	s := fakesmith.New(opt)
	t.Cleanup(s.Close)
	return s
}

// trace is a root with two children, ended an hour before start's offset.
func trace(n int, start time.Time) []*fakesmith.Run {
	id := func(i int) string { return fmt.Sprintf("%08x-%04x-4000-8000-000000000000", n, i) }
	order := start.Format("20060102T150405000000Z") + id(0)
	root := &fakesmith.Run{
		ID: id(0), TraceID: id(0), Order: order, Name: "support agent", Type: "chain", Start: start, End: start.Add(3 * time.Second),
		Inputs: json.RawMessage(`{"question":"hi","api_key":"planted-secret"}`), Outputs: json.RawMessage(`{"answer":"hello"}`),
		Metadata: json.RawMessage(`{"thread_id":"t-1","env":"test"}`), Tags: []string{"prod"}, ProjectID: project, In: 10, Out: 5, Cost: "0.000125",
	}
	llm := &fakesmith.Run{
		ID: id(1), TraceID: id(0), Parents: []string{id(0)}, Order: order + ".1" + id(1), Name: "ChatOpenAI", Type: "llm",
		Start: start.Add(time.Second), End: start.Add(2 * time.Second), Metadata: json.RawMessage(`{"ls_provider":"openai","ls_model_name":"gpt-5"}`),
		Inputs: json.RawMessage(`{"messages":[{"role":"user","content":"hi"}]}`), ProjectID: project, In: 10, Out: 5, Cost: "1.25e-4",
	}
	tool := &fakesmith.Run{
		ID: id(2), TraceID: id(0), Parents: []string{id(0), id(1)}, Order: order + ".1" + id(1) + ".2" + id(2), Name: "search", Type: "tool",
		Start: start.Add(1500 * time.Millisecond), End: start.Add(1600 * time.Millisecond), Error: "no route to 10.0.0.1", ProjectID: project,
	}
	return []*fakesmith.Run{root, tool, llm}
}

// all reads every page of a window.
func all(t *testing.T, c *source.Client, q langsmith.Query) (ids []string, pages int) {
	t.Helper()
	for {
		page, err := c.Roots(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		pages++
		for _, h := range page.Items {
			ids = append(ids, h.ID)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return ids, pages
		}
	}
}

// Both versions page through everything, older than the default of 24 hours
// too, and say the same about a trace.
func TestBothVersions(t *testing.T) {
	t.Parallel()
	s := serve(t, fakesmith.Options{PageMost: 7})
	for i := range 40 {
		s.Add(trace(i, noon.Add(-time.Duration(i)*5*time.Hour))...)
	}
	window := langsmith.Query{Min: noon.Add(-9 * 24 * time.Hour), Max: noon.Add(10 * time.Minute)}
	var trees [][]langsmith.Run
	var lists [][]string
	for _, version := range []string{source.V2, source.V1} {
		c, _ := client(t, s, func(cfg *source.Config) { cfg.API = version })
		ids, pages := all(t, c, window)
		if len(ids) != 40 || version == source.V2 && pages != 6 {
			t.Errorf("%s: %d roots on %d pages, want 40", version, len(ids), pages)
		}
		lists = append(lists, ids)
		page, err := c.Roots(t.Context(), langsmith.Query{IDs: ids[30:33], Min: window.Min, Max: window.Max})
		if err != nil || len(page.Items) != 3 || !page.Items[0].Done() || page.Items[0].Tokens != 15 {
			t.Fatalf("%s: by id: %+v, %v", version, page, err)
		}
		var tree []langsmith.Run
		if err := c.Tree(t.Context(), page.Items[0], func(r langsmith.Run) error { tree = append(tree, r); return nil }); err != nil {
			t.Fatal(err)
		}
		for i := range tree { // how it is written differs, what it means does not
			tree[i].Type, tree[i].Cost, tree[i].Tags = strings.ToLower(tree[i].Type), "", nil
		}
		trees = append(trees, tree)
	}
	if diff := cmp.Diff(lists[0], lists[1]); diff != "" {
		t.Errorf("roots (-v2 +v1):\n%s", diff)
	}
	if diff := cmp.Diff(trees[0], trees[1]); diff != "" || len(trees[0]) != 3 {
		t.Errorf("tree (-v2 +v1):\n%s", diff)
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		opt  fakesmith.Options
		want string
		code api.Code
	}{
		{"both versions", fakesmith.Options{}, source.V2, ""},
		{"an old server", fakesmith.Options{NoV2: true}, source.V1, ""},
		{"after the end of version 1", fakesmith.Options{NoV1: true}, source.V2, ""},
		{"neither", fakesmith.Options{NoV1: true, NoV2: true}, source.V1, source.ProjectUnknown},
		{"an organisation's key", fakesmith.Options{Workspace: "w"}, source.V2, source.WorkspaceNeeded},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, _ := client(t, serve(t, tt.opt), nil)
			err := c.Probe(t.Context())
			if c.API() != tt.want || tt.code == "" && err != nil || tt.code != "" && !errors.Is(err, tt.code) {
				t.Errorf("version %s, error %v", c.API(), err)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		fault fakesmith.Fault
		code  api.Code
		again bool
		after time.Duration
	}{
		{"429 with seconds", fakesmith.Fault{Status: 429, RetryAfter: "7"}, source.RateLimited, true, 7 * time.Second},
		{"429 with a date", fakesmith.Fault{Status: 429, RetryAfter: noon.Add(90 * time.Second).Format("Mon, 02 Jan 2006 15:04:05 GMT")}, source.RateLimited, true, 90 * time.Second},
		{"500", fakesmith.Fault{Status: 500}, source.Unavailable, true, 0},
		{"503", fakesmith.Fault{Status: 503, RetryAfter: "2"}, source.Unavailable, true, 2 * time.Second},
		{"an expired key", fakesmith.Fault{Status: 401}, source.KeyRefused, false, 0},
		{"another's project", fakesmith.Fault{Status: 403}, source.KeyRefused, false, 0},
		{"no workspace", fakesmith.Fault{Status: 403, Body: `{"error":"org_scoped_key_requires_workspace"}`}, source.WorkspaceNeeded, false, 0},
		{"a bad request", fakesmith.Fault{Status: 400}, source.RequestNotAllowed, false, 0},
		{"a redirect", fakesmith.Fault{Redirect: "https://elsewhere.invalid/"}, source.RedirectRejected, false, 0},
		{"a torn page", fakesmith.Fault{Torn: true}, source.InvalidResponse, true, 0},
		{"a page without its last byte", fakesmith.Fault{Cut: 1}, source.InvalidResponse, true, 0},
		{"no answer", fakesmith.Fault{Hang: true}, source.RequestTimeout, true, 0},
		{"the key in the answer", fakesmith.Fault{Status: 400, Body: `{"detail":"bad key ` + key + `"}`}, source.RequestNotAllowed, false, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, fakesmith.Options{})
			s.Add(trace(1, noon.Add(-time.Hour))...)
			tt.fault.N = 10
			s.Break(tt.fault)
			c, _ := client(t, s, func(cfg *source.Config) {
				cfg.API = source.V2
				if tt.fault.Hang {
					cfg.Timeout = 50 * time.Millisecond
				}
			})
			page, err := c.Roots(t.Context(), langsmith.Query{Min: noon.Add(-2 * time.Hour), Max: noon})
			var e *source.Error
			if !errors.As(err, &e) || !errors.Is(err, tt.code) || len(page.Items) > 0 {
				t.Fatalf("%d roots, error %v; want code %s", len(page.Items), err, tt.code)
			}
			if after, again := e.RetryAfter(); again != tt.again || after != tt.after {
				t.Errorf("again %v after %s", again, after)
			}
			if strings.Contains(err.Error(), key) {
				t.Errorf("the key is in the error: %v", err)
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%d requests, want 1: repeating is decided elsewhere", n)
			}
		})
	}
}

// LSM-07: a redirect to another host is not followed, so that host sees nothing.
func TestRedirectElsewhere_LSM07(t *testing.T) {
	t.Parallel()
	elsewhere := serve(t, fakesmith.Options{})
	s := serve(t, fakesmith.Options{})
	s.Break(fakesmith.Fault{N: 10, Redirect: elsewhere.URL + "/api/v2/runs/query"})
	c, _ := client(t, s, nil)
	if err := c.Probe(t.Context()); !errors.Is(err, source.RedirectRejected) {
		t.Errorf("error %v", err)
	}
	if n := len(elsewhere.Requests()); n > 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
}

func TestOrigins(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"the default", "", source.DefaultOrigin},
		{"as copied from old settings", "https://eu.api.smith.langchain.com/api/v1/", "https://eu.api.smith.langchain.com"},
		{"with /api", "https://h.example/api", "https://h.example"},
		{"with /api/v2", "https://h.example/api/v2", "https://h.example"},
		{"this machine", "http://127.0.0.1:99", "http://127.0.0.1:99"},
		{"plain http", "http://h.example", ""},
		{"a password", "https://u:p@h.example", ""},
		{"a query", "https://h.example?x=" + key, ""},
		{"another path", "https://h.example/runs", ""},
		{"no address", "smith", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := source.New(source.Config{Origin: tt.in, AllowHTTP: true, Key: key, Now: time.Now})
			if (err == nil) != (tt.want != "") || err == nil && c.Origin() != tt.want {
				t.Errorf("origin %v, error %v", c, err)
			}
			if err != nil && (!errors.Is(err, api.InvalidConfiguration) || strings.Contains(err.Error(), key)) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// A server that refuses windows in the future is asked again up to now, and
// from then on at once.
func TestNoFuture(t *testing.T) {
	t.Parallel()
	s := serve(t, fakesmith.Options{NoFuture: true})
	s.Add(trace(1, noon.Add(-time.Hour))...)
	c, _ := client(t, s, func(cfg *source.Config) { cfg.API = source.V2 })
	for range 2 {
		page, err := c.Roots(t.Context(), langsmith.Query{Min: noon.Add(-2 * time.Hour), Max: noon.Add(10 * time.Minute)})
		if err != nil || len(page.Items) != 1 {
			t.Fatalf("%d roots, %v", len(page.Items), err)
		}
	}
	if n := len(s.Requests()); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}

// The clock is LangSmith's, and requests keep the pace of each version.
func TestClockAndPace(t *testing.T) {
	t.Parallel()
	s := serve(t, fakesmith.Options{Skew: 7 * time.Minute})
	for _, tt := range []struct {
		version string
		least   time.Duration
	}{{source.V2, 4 * time.Second}, {source.V1, 58 * time.Second}} {
		c, clock := client(t, s, func(cfg *source.Config) { cfg.API = tt.version })
		for range 50 {
			if _, err := c.Roots(t.Context(), langsmith.Query{Min: noon, Max: noon}); err != nil {
				t.Fatal(err)
			}
		}
		if took := clock.now.Sub(noon); took < tt.least {
			t.Errorf("%s: 50 requests in %s, want at least %s", tt.version, took, tt.least)
		}
	}
	c, _ := client(t, s, nil)
	if err := c.Probe(t.Context()); err != nil || c.Skew() != 7*time.Minute || !c.Now().Equal(noon.Add(7*time.Minute)) {
		t.Errorf("skew %s, error %v", c.Skew(), err)
	}
}

func TestProjects(t *testing.T) {
	t.Parallel()
	for _, old := range []bool{false, true} {
		s := serve(t, fakesmith.Options{NoV2: old})
		for i := range 250 {
			s.AddProject(fakesmith.Project{ID: fmt.Sprint("id-", i), Name: fmt.Sprintf("project %03d", i)})
		}
		c, _ := client(t, s, nil)
		var names []string
		if err := c.Projects(t.Context(), func(p source.Project) error { names = append(names, p.Name); return nil }); err != nil {
			t.Fatal(err)
		}
		if len(names) != 250 || names[0] != "project 000" || names[249] != "project 249" {
			t.Errorf("old %v: %d projects", old, len(names))
		}
	}
}
