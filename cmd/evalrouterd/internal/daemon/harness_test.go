package daemon_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/daemon"
	"github.com/evalrouter/evalrouter/lib/apitest/shipped"
)

// asProgram makes the test binary the program itself.
const asProgram = "EVALROUTERD_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) == "" {
		os.Exit(withTemplate(m.Run))
	}
	if mask := os.Getenv("EVALROUTERD_TEST_UMASK"); mask == "0" {
		syscall.Umask(0)
	}
	limitFiles()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	os.Exit(daemon.Run(context.Background(), os.Args[1:], daemon.System{
		Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Version: "0.0.0-test", Signals: signals, Now: skewed(),
	}))
}

// skewed is a clock that is wrong by what the test says.
func skewed() func() time.Time {
	by, err := time.ParseDuration(os.Getenv("EVALROUTERD_TEST_SKEW"))
	if err != nil {
		return nil
	}
	return func() time.Time { return time.Now().Add(by) }
}

// limitFiles makes writing beyond a size fail as a full disk does.
func limitFiles() {
	n, err := strconv.ParseUint(os.Getenv("EVALROUTERD_TEST_FILE_LIMIT"), 10, 64)
	if err != nil {
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
		panic(err)
	}
}

// template names a directory whose database is set up and has the built-in
// benchmarks, so that not every daemon of the tests begins with that.
const template = "EVALROUTERD_TEST_TEMPLATE"

func withTemplate(tests func() int) int {
	dir, err := os.MkdirTemp("", "evalrouterd-test-*")
	if err == nil {
		defer os.RemoveAll(dir)
		err = os.Setenv(template, dir)
	}
	for _, args := range [][]string{{"catalog", "add", "--generate", "arithmetic", "--data", dir}, {"catalog", "list", "--data", dir}} {
		if status := daemon.Run(context.Background(), args, daemon.System{Stdout: io.Discard, Stderr: io.Discard, Getenv: os.Getenv}); err != nil || status != 0 {
			fmt.Fprintln(os.Stderr, "no template for the tests:", status, err)
			return 1
		}
	}
	return tests()
}

// furnish puts the template's database into an empty directory.
func furnish(t *testing.T, dir string) {
	t.Helper()
	db := filepath.Join(dir, "evalrouter.db")
	if _, err := os.Stat(db); err == nil {
		return
	}
	b, err := os.ReadFile(filepath.Join(os.Getenv(template), "evalrouter.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(db, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// rounds is how often something is repeated: less beside the race detector, under
// which the stage without it plays the rest.
func rounds(n int) int {
	if raced {
		return max(1, n/5)
	}
	return n
}

// program makes a process of the program as it ships, where it was built, that has
// not begun. It has three minutes.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	return programWithin(t, 3*time.Minute, args...)
}

func programWithin(t *testing.T, most time.Duration, args ...string) *exec.Cmd {
	t.Helper()
	cmd := watchedWithin(t, most, args...)
	if path := shipped.Program("evalrouterd"); path != "" {
		cmd.Path, cmd.Args[0] = path, path
	}
	return cmd
}

// detected says that the race detector watches what program makes, so that its
// memory and its time are the detector's.
func detected() bool { return raced && shipped.Program("evalrouterd") == "" }

// watched is the program in this test binary, for tests that set its clock, its
// limits or its version, and for those in which many parts of it meet: the race
// detector watches it, so it takes five times as long to begin and to answer.
func watched(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	return watchedWithin(t, 3*time.Minute, args...)
}

func watchedWithin(t *testing.T, most time.Duration, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), most)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1", "HOME="+t.TempDir(), "XDG_DATA_HOME=")
	return cmd
}

// ran is what a process said and how it ended.
type ran struct {
	stdout, stderr string
	status         int
}

// run runs a command to its end, in this process: to a daemon of the tests it
// is another one all the same.
func run(t *testing.T, args ...string) ran {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	home := t.TempDir()
	var out, errs bytes.Buffer
	status := daemon.Run(ctx, args, daemon.System{Stdout: &out, Stderr: &errs, Version: "0.0.0-test", Getenv: func(name string) string {
		if name == "HOME" {
			return home
		}
		return ""
	}})
	if ctx.Err() != nil {
		t.Fatalf("%v did not end", args)
	}
	return ran{out.String(), errs.String(), status}
}

// ok demands success.
func (r ran) ok(t *testing.T) ran {
	t.Helper()
	if r.status != 0 {
		t.Fatalf("status %d: %s%s", r.status, r.stdout, r.stderr)
	}
	return r
}

// living is a running daemon.
type living struct {
	cmd    *exec.Cmd
	dir    string
	base   string
	stderr *said
	gone   chan struct{}
}

// said is what a living process wrote so far.
type said struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write adds to it.
func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

// String is all of it.
func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// startLocal starts a local service and waits until it is ready. Of flags that
// stand twice the last one counts.
func startLocal(t *testing.T, dir string, more ...string) *living {
	t.Helper()
	furnish(t, dir)
	return adopt(t, program(t, append([]string{"local", "--data", dir, "--port", "0"}, more...)...), dir)
}

// adopt starts a process of the local service and waits until it is ready.
func adopt(t *testing.T, cmd *exec.Cmd, dir string) *living {
	t.Helper()
	l := begin(t, cmd, dir)
	var record struct {
		BaseURL string `json:"base_url"`
	}
	until(t, l, "its record", func() bool {
		b, err := os.ReadFile(filepath.Join(dir, "service.json"))
		return err == nil && json.Unmarshal(b, &record) == nil && record.BaseURL != ""
	})
	l.base = record.BaseURL
	return l
}

func launch(t *testing.T, dir string, args ...string) *living {
	t.Helper()
	return begin(t, program(t, args...), dir)
}

func begin(t *testing.T, cmd *exec.Cmd, dir string) *living {
	t.Helper()
	l := &living{cmd: cmd, dir: dir, stderr: &said{}, gone: make(chan struct{})}
	l.cmd.Stderr = l.stderr
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(l.gone)
		_ = l.cmd.Wait() // its status is in ProcessState
	}()
	t.Cleanup(func() {
		_ = l.cmd.Process.Kill() // gone already, as a rule
		<-l.gone
		if said := l.stderr.String(); strings.Contains(said, "DATA RACE") {
			t.Errorf("the race detector: %s", said)
		}
	})
	return l
}

// until polls a fact about another process, which cannot signal us.
func until(t *testing.T, l *living, what string, fact func() bool) {
	t.Helper()
	limit := time.NewTimer(30 * time.Second)
	defer limit.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !fact() {
		select {
		case <-tick.C:
		case <-l.gone:
			if fact() {
				return
			}
			t.Fatalf("the daemon ended before %s: %s", what, l.stderr)
		case <-limit.C:
			t.Fatalf("%s did not come", what)
		}
	}
}

// ended waits for the end and gives the exit status.
func (l *living) ended(t *testing.T) int {
	t.Helper()
	select {
	case <-l.gone:
		return l.cmd.ProcessState.ExitCode()
	case <-time.After(30 * time.Second):
		t.Fatal("the daemon did not end")
		return -1
	}
}

func (l *living) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := l.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

func (l *living) token(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(l.dir, "owner.token"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

// exchange sends a request, with a body as JSON unless it is nil, and gives the
// whole answer. header are names and values.
func (l *living) exchange(t *testing.T, method, path string, body any, header ...string) (int, []byte, http.Header) {
	t.Helper()
	var in io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		in = bytes.NewReader(b)
	}
	req, err := http.NewRequest(method, l.base+path, in)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	if h := req.Header.Get("Host"); h != "" {
		req.Host = h
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, b, res.Header
}

// decoded asks for something and decodes the answer, whatever its status.
func (l *living) decoded(t *testing.T, method, path string, body, into any, header ...string) int {
	t.Helper()
	status, b, _ := l.exchange(t, method, path, body, header...)
	if into != nil {
		if err := json.Unmarshal(b, into); err != nil {
			t.Fatalf("%s %s: %v: %s", method, path, err, b)
		}
	}
	return status
}

func bearer(token string) []string { return []string{"Authorization", "Bearer " + token} }

// call asks the daemon as its owner.
func (l *living) call(t *testing.T, method, path string, body any, into any, header ...string) int {
	t.Helper()
	return l.decoded(t, method, path, body, into, append(bearer(l.token(t)), header...)...)
}
