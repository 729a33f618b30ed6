// Package e2e_test drives the built binaries as a user would: in an empty
// home, over real sockets, with nothing of the product linked in.
package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/scripts/internal/replay"
)

// patience bounds one command; nothing here is expected to come near it.
const patience = 3 * time.Minute

// site is one person's machine: a home of its own with the built binaries.
type site struct {
	t    testing.TB
	home string
	bin  string
	env  []string // beyond the plain ones
	// under comes before every command, for what a process inherits from one.
	under []string
}

func newSite(t testing.TB) *site {
	t.Helper()
	bin := os.Getenv("EVALROUTER_TEST_BIN")
	if bin == "" {
		t.Skip("EVALROUTER_TEST_BIN names no folder of built binaries; scripts/test sets it")
	}
	s := &site{t: t, home: t.TempDir(), bin: bin}
	t.Cleanup(func() {
		if t.Failed() {
			s.showLog()
		}
		s.run("evalrouter", "local", "stop")
	})
	return s
}

// shared is the folder of reference data beside the repository.
func shared(t testing.TB, parts ...string) string {
	t.Helper()
	root := os.Getenv("EVALROUTER_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	path := filepath.Join(append([]string{root}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("../shared is not there: %s", strings.Join(parts, "/"))
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

func (s *site) data() string { return filepath.Join(s.home, ".local", "share", "evalrouter") }

// output is what a command did.
type output struct {
	stdout, stderr string
	code           int
}

func (s *site) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	line := append(append(append([]string{}, s.under...), filepath.Join(s.bin, name)), args...)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Dir = s.home
	cmd.Env = append([]string{"HOME=" + s.home, "PATH=/usr/bin:/bin", "LANG=C.UTF-8"}, s.env...)
	return cmd
}

func (s *site) run(name string, args ...string) output {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := s.command(ctx, name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return output{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// ok runs a command that must succeed.
func (s *site) ok(name string, args ...string) output {
	s.t.Helper()
	out := s.run(name, args...)
	if out.code != 0 {
		s.t.Fatalf("%s %s: exit %d\n%s%s", name, strings.Join(args, " "), out.code, out.stdout, out.stderr)
	}
	return out
}

// refused runs a command that must end with a code and say why.
func (s *site) refused(exit int, code string, name string, args ...string) output {
	s.t.Helper()
	out := s.run(name, args...)
	if out.code != exit || !strings.Contains(out.stdout+out.stderr, code) {
		s.t.Errorf("%s %s: exit %d, want %d and %s\n%s%s", name, strings.Join(args, " "), out.code, exit, code, out.stdout, out.stderr)
	}
	for _, bad := range []string{"panic", "goroutine ", "unexpected"} {
		if strings.Contains(out.stdout+out.stderr, bad) {
			s.t.Errorf("%s %s shows %q:\n%s%s", name, strings.Join(args, " "), bad, out.stdout, out.stderr)
		}
	}
	return out
}

func (s *site) showLog() {
	if b, err := os.ReadFile(filepath.Join(s.data(), "evalrouterd.log")); err == nil {
		s.t.Logf("log of the service:\n%s", b[max(0, len(b)-4000):])
	}
}

// audit asks the service's own oracle.
func (s *site) audit() {
	s.t.Helper()
	if out := s.run("evalrouterd", "audit", "--data", s.data()); out.code != 0 {
		s.t.Errorf("audit: exit %d\n%s%s", out.code, out.stdout, out.stderr)
	}
}

// decode reads one JSON document.
func decode[T any](t testing.TB, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("read JSON: %v\n%s", err, text)
	}
	return v
}

// run is the part of a run's record that these tests read.
type run struct {
	ID                    string         `json:"id"`
	Status                string         `json:"status"`
	TerminalReason        string         `json:"terminal_reason"`
	CapMicrousd           string         `json:"cap_microusd"`
	SpendMicrousd         string         `json:"spend_microusd"`
	ExternalSpendMicrousd string         `json:"external_spend_microusd"`
	PlannedCount          int            `json:"planned_count"`
	ProcessedCount        int            `json:"processed_count"`
	GradedCount           int            `json:"graded_count"`
	Outcomes              map[string]int `json:"outcomes"`
}

// endpoint serves the real answers of one published model.
type endpoint struct {
	*httptest.Server
	log string
}

func serveRecorded(t testing.TB, model string, latency time.Duration) *endpoint {
	t.Helper()
	f, err := os.Open(shared(t, "data", "gsm8k", "example_model_solutions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rec, err := replay.ReadRecording(f, "question", model+".solution")
	if err != nil {
		t.Fatal(err)
	}
	e := &endpoint{log: filepath.Join(t.TempDir(), "questions.log")}
	srv, err := replay.New(replay.Config{Recording: rec, Model: model, Latency: latency, LogPath: e.log})
	if err != nil {
		t.Fatal(err)
	}
	e.Server = httptest.NewServer(srv)
	t.Cleanup(func() { e.Server.Close(); srv.Close() })
	return e
}

// counters is what the endpoint saw.
type counters struct {
	Requests   int `json:"requests"`
	Unique     int `json:"unique"`
	Duplicates int `json:"duplicates"`
}

func (e *endpoint) counters(t testing.TB) counters {
	t.Helper()
	resp, err := http.Get(e.URL + "/counters")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var c counters
	if err := json.NewDecoder(resp.Body).Decode(&c); err != nil {
		t.Fatal(err)
	}
	return c
}

// addGSM8K admits the benchmark from its manifest and the shared data.
func (s *site) addGSM8K() {
	s.t.Helper()
	manifest, err := filepath.Abs(filepath.Join("..", "..", "bundle", "manifests", "gsm8k.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.ok("evalrouterd", "catalog", "add", "--data", s.data(), "--manifest", manifest, "--file", shared(s.t, "data", "gsm8k", "test.jsonl"))
}

// connect registers an endpoint with declared rates in dollars a million tokens.
func (s *site) connect(e *endpoint, model, in, out string) string {
	s.t.Helper()
	made := s.ok("evalrouter", "connections", "create", "--name", model, "--endpoint", e.URL+"/v1", "--model", model,
		"--price-in", in, "--price-out", out, "--no-key", "--json")
	id := decode[struct{ ID string }](s.t, made.stdout).ID
	if id == "" {
		s.t.Fatalf("connections create gave no id:\n%s", made.stdout)
	}
	return id
}

func (s *site) status(id string) run {
	s.t.Helper()
	return decode[run](s.t, s.ok("evalrouter", "status", id, "--json").stdout)
}

// pid is the service's process.
func (s *site) pid() int { return s.service().PID }

// listener is where the service says it is.
type listener struct{ PID, Port int }

func (s *site) service() listener {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.data(), "service.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	return decode[listener](s.t, string(b))
}

func contains(t testing.TB, where, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%s does not show %q:\n%s", where, w, text)
		}
	}
}

func micros(t testing.TB, s string) (n int64) {
	t.Helper()
	if _, err := fmt.Sscan(s, &n); err != nil {
		t.Fatalf("read amount %q: %v", s, err)
	}
	return n
}
