package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/evalrouter/evalrouter/langsmith/fakesmith"
	"github.com/evalrouter/evalrouter/lib/api"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"evalrouter-langsmith": func() {
			code := connector(os.Getenv("TEST_UNPACED") != "")
			if path := os.Getenv(peakFile); path != "" {
				notePeak(path)
			}
			os.Exit(code)
		},
	})
}

// peakFile names the file in which a program leaves the most memory it had.
const peakFile = "TEST_PEAK"

func notePeak(path string) {
	status, err := os.ReadFile("/proc/self/status")
	if err == nil {
		_, peak, _ := strings.Cut(string(status), "VmHWM:")
		err = os.WriteFile(path, []byte("VmHWM:"+peak), 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "note peak memory:", err)
	}
}

const (
	// sourceKey is the canary: it must be nowhere but at the source. It looks like
	// no known key, so that no rule of redaction helps.
	sourceKey = "canary0123456789abcdef_zz"
	project   = "aaaaaaaa-0000-4000-8000-000000000001"
)

// site is a LangSmith with one project and an EvalRouter beside it.
type site struct {
	smith *fakesmith.Server
	sink  *fakesmith.Sink
}

func newSite(opt fakesmith.Options) *site {
	opt.Key = sourceKey
	s := &site{smith: fakesmith.New(opt), sink: fakesmith.NewSink(true)}
	s.smith.AddProject(fakesmith.Project{ID: project, Name: "support"}, fakesmith.Project{ID: "bbbbbbbb-0000-4000-8000-000000000002", Name: "billing"})
	return s
}

func (s *site) close() {
	s.smith.Close()
	s.sink.Close()
}

// env is the whole environment of the program.
func (s *site) env() []string {
	return []string{
		"LANGSMITH_API_KEY=" + sourceKey, "LANGSMITH_ENDPOINT=" + s.smith.URL + "/api/v1", "EVALROUTER_BASE_URL=" + s.sink.URL,
		"EVALROUTER_TRACE_KEY=" + s.sink.Key, "EVALROUTER_TRACE_CONNECTION_ID=" + s.sink.Connection, "EVALROUTER_WORKSPACE_ID=" + s.sink.Workspace,
		"GORACE=atexit_sleep_ms=0",
	}
}

func traceID(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-000000000000", n) }

// trace is an agent run that started so long ago, with one model call.
func trace(n int, ago time.Duration) []*fakesmith.Run {
	start := time.Now().Add(-ago).UTC().Truncate(time.Millisecond)
	id, child := traceID(n), fmt.Sprintf("%08x-0001-4000-8000-000000000000", n)
	order := start.Format("20060102T150405000000Z") + id
	return []*fakesmith.Run{
		{
			ID: id, TraceID: id, Order: order, Name: "agent", Type: "chain", Start: start, End: start.Add(time.Second), ProjectID: project,
			Inputs:  json.RawMessage(`{"question":"where is my order?","api_key":"planted-secret-1","env":"LANGSMITH_API_KEY is ` + sourceKey + `"}`),
			Outputs: json.RawMessage(`{"answer":"on its way","long":"` + strings.Repeat("x y ", 8_000) + `"}`), In: 12, Out: 7,
			Metadata: json.RawMessage(`{"session_id":"thread-9"}`),
		},
		{
			ID: child, TraceID: id, Parents: []string{id}, Order: order + "." + child, Name: "chat", Type: "llm", ProjectID: project,
			Start: start, End: start.Add(time.Second), Inputs: json.RawMessage(`{"headers":{"Authorization":"Bearer planted-secret-2"}}`),
			Outputs: json.RawMessage(`{"text":"ok"}`), Metadata: json.RawMessage(`{"ls_model_name":"gpt-5"}`), Cost: "0.0001",
		},
	}
}

type siteKey struct{}

// TestScripts runs every script of testdata/script. Each has its own site with
// ten finished runs, 2 to 11 hours old, and one that goes on. Scripts use:
//
//	ls CODE ARGS...        evalrouter-langsmith; must exit with CODE
//	stored N               so many traces are stored
//	duplicates N           so many arrived again unchanged
//	fault WHERE STATUS N [TEXT]  the next N requests to smith or sink fail
//	finish                 the open run ends
//	more N                 adds N finished runs
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: *update, RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			s := newSite(fakesmith.Options{NoV2: strings.Contains(env.WorkDir, "old-server")})
			env.Defer(s.close)
			for i := range 10 {
				s.smith.Add(trace(i+1, time.Duration(i+2)*time.Hour)...)
			}
			open := trace(99, 30*time.Minute)[0]
			open.End = time.Time{}
			s.smith.Add(open)
			env.Values[siteKey{}] = s
			env.Vars = append(env.Vars, s.env()...)
			env.Setenv("PROJECT", project)
			env.Setenv("TEST_UNPACED", "1")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"ls": scriptRun, "stored": scriptStored, "duplicates": scriptDuplicates, "fault": scriptFault, "more": scriptMore, "finish": scriptFinish, "canary": scriptCanary,
		},
	})
}

func scriptSite(ts *testscript.TestScript) *site { return ts.Value(siteKey{}).(*site) }

func number(ts *testscript.TestScript, s string) int {
	n, err := strconv.Atoi(s)
	ts.Check(err)
	return n
}

func scriptRun(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: ls CODE ARGS...")
	}
	all := args[1:]
	if len(all) > 0 && (all[0] == "sync" || all[0] == "projects" || all[0] == "doctor") && !strings.Contains(strings.Join(all, " "), "--help") {
		all = append(all, "--allow-http")
	}
	err := ts.Exec("evalrouter-langsmith", all...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("start: %v", err)
	}
	if want := number(ts, args[0]); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func scriptStored(ts *testscript.TestScript, _ bool, args []string) {
	if got, want := len(scriptSite(ts).sink.Revisions()), number(ts, args[0]); got != want {
		ts.Fatalf("%d traces are stored, want %d", got, want)
	}
}

func scriptDuplicates(ts *testscript.TestScript, _ bool, args []string) {
	if _, got := scriptSite(ts).sink.Counts(); got != number(ts, args[0]) {
		ts.Fatalf("%d traces came again, want %s", got, args[0])
	}
}

func scriptFault(ts *testscript.TestScript, _ bool, args []string) {
	f := fakesmith.Fault{Status: number(ts, args[1]), N: number(ts, args[2])}
	if len(args) > 3 {
		f.Body = args[3]
	}
	if args[0] == "sink" {
		scriptSite(ts).sink.Break(f)
		return
	}
	scriptSite(ts).smith.Break(f)
}

func scriptMore(ts *testscript.TestScript, _ bool, args []string) {
	for i := range number(ts, args[0]) {
		scriptSite(ts).smith.Add(trace(1000+i, time.Hour)...)
	}
}

func scriptFinish(ts *testscript.TestScript, _ bool, _ []string) {
	scriptSite(ts).smith.Finish(traceID(99), time.Now())
}

// scriptCanary fails if the source key is in any file or anything that reached
// EvalRouter.
func scriptCanary(ts *testscript.TestScript, _ bool, _ []string) {
	where := []string{scriptSite(ts).sink.Bytes(), ts.ReadFile("stdout"), ts.ReadFile("stderr")}
	ts.Check(filepath.WalkDir(ts.MkAbs("."), func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			b, rerr := os.ReadFile(path)
			where, err = append(where, string(b)), rerr
		}
		return err
	}))
	for _, text := range where {
		if strings.Contains(text, sourceKey) || strings.Contains(text, "canary0123") {
			ts.Fatalf("the source key has leaked: %.400q", text[strings.Index(text, "canary0123"):])
		}
	}
}

// PKG-05: the help pages are golden and fit a terminal.
func TestHelpPages_PKG05(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "projects", "sync", "status", "doctor"} {
		t.Run("page "+name, func(t *testing.T) {
			t.Parallel()
			app, out, errs := quiet()
			if code := app.Execute(t.Context(), strings.Fields(name+" --help")); code != 0 || errs.Len() > 0 {
				t.Fatalf("exit code %d, stderr %q", code, errs)
			}
			for line := range strings.Lines(out.String()) {
				if len(line) > 81 {
					t.Errorf("a line of %d characters: %q", len(line), line)
				}
			}
			golden(t, filepath.Join("testdata", "help", strings.TrimSpace("evalrouter-langsmith "+name)+".txt"), out.String())
		})
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	path = strings.ReplaceAll(path, " ", "-")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// What a trace becomes on its way, whole. LSM-09 LSM-10 LSM-11
func TestTraceOnItsWay_LSM09_LSM10(t *testing.T) {
	t.Parallel()
	s := newSite(fakesmith.Options{})
	t.Cleanup(s.close)
	s.smith.Add(trace(1, 3*time.Hour)...)
	out := runIn(t, s, 0, "sync", "--project", project, "--state", filepath.Join(t.TempDir(), "state"), "--settle", "0", "--json")
	if !strings.Contains(out, `"accepted":1`) {
		t.Errorf("result %s", out)
	}
	got, ok := s.sink.Trace(traceID(1))
	if !ok || len(got.Spans) != 2 {
		t.Fatalf("stored %v: %+v", ok, got)
	}
	if got.Status != api.TraceOK || got.Completeness != api.TraceComplete || got.ThreadID == nil || *got.ThreadID != "thread-9" {
		t.Errorf("trace %+v", got)
	}
	root, call := got.Spans[0], got.Spans[1]
	if root.Kind != api.SpanAgent || call.Kind != api.SpanModel || *call.ParentSpanID != root.SourceSpanID || *call.Model != "gpt-5" || *call.Cost != 100 || *root.InputTokens != 12 {
		t.Errorf("spans %+v", got.Spans)
	}
	if want := `"api_key":{"$redacted":"api_key"}`; !strings.Contains(string(root.Input), want) || !strings.Contains(string(root.Input), "where is my order?") {
		t.Errorf("input %s", root.Input)
	}
	if len(root.Output) > 64<<10 || !strings.Contains(string(root.Output), "[truncated: 32000 bytes]") {
		t.Errorf("an output of %d bytes", len(root.Output))
	}
	sent := s.sink.Bytes()
	for _, secret := range []string{"planted-secret", sourceKey, "share.invalid", "files.invalid", "in the manifest"} {
		if strings.Contains(sent, secret) {
			t.Errorf("%q was sent", secret)
		}
	}
}

// LSM-12: the help page and the docs say that imports need the running process.
func TestDocs_LSM12(t *testing.T) {
	t.Parallel()
	app, out, _ := quiet()
	if code := app.Execute(t.Context(), []string{"--help"}); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	docs, err := os.ReadFile(filepath.Join("..", "..", "docs", "langsmith.md"))
	if err != nil {
		t.Fatal(err)
	}
	for where, x := range map[string][2]string{
		"help page": {out.String(), "Imports are automatic only while sync --watch runs."},
		"docs":      {string(docs), "The process must stay running for automatic imports."},
	} {
		if !strings.Contains(x[0], x[1]) {
			t.Errorf("%s: %q is not there", where, x[1])
		}
	}
}
