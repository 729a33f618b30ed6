//go:build unix

package tracing_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evalrouter/evalrouter/tracing"
	"github.com/evalrouter/evalrouter/tracing/fakeotlp"
)

// Variables by which a test starts this binary as an agent that is to be killed.
const (
	childSpool  = "TRACING_TEST_SPOOL"
	childOrigin = "TRACING_TEST_ORIGIN"
	childLimit  = "TRACING_TEST_FILE_BYTES"
)

func TestMain(m *testing.M) {
	if os.Getenv(childSpool) != "" {
		if os.Getenv(childLimit) != "" {
			os.Exit(cramped())
		}
		os.Exit(child())
	}
	os.Exit(m.Run())
}

// child ends spans until it is killed, and prints the trace of each one after
// its End returned.
func child() int {
	c, err := tracing.New(tracing.Config{
		Key: "eri_test", ConnectionID: "connection", WorkspaceID: "workspace", BaseURL: os.Getenv(childOrigin),
		Delivery: tracing.Delivery{SpoolDir: os.Getenv(childSpool), Interval: time.Millisecond},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for {
		var agents sync.WaitGroup
		for range 3 {
			agents.Go(func() {
				ctx, run := c.StartAgent(context.Background(), "a")
				_, call := c.StartTool(ctx, "t")
				call.Input(map[string]string{"api_key": "hunter2", "q": strings.Repeat("word ", 50)})
				call.End()
				run.End()
				fmt.Println(run.TraceID())
			})
		}
		agents.Wait()
	}
}

// killed runs the child until it printed n traces, kills it, and returns all
// that it printed.
func killed(t *testing.T, n int, dir, origin string) map[string]bool {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childSpool+"="+dir, childOrigin+"="+origin)
	cmd.Stderr = io.Discard // its log says that nothing is delivered
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	printed := map[string]bool{}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		printed[lines.Text()] = true
		if len(printed) == n {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || len(printed) < n {
		t.Fatalf("the agent ended by itself after %d traces: %v", len(printed), err)
	}
	return printed
}

// An agent is killed while its spans are refused, or while they are delivered:
// every span that had ended arrives, at most one batch of them twice.
func TestSpool_SurvivesAKill(t *testing.T) {
	t.Parallel()
	for name, refusing := range map[string]bool{"while nothing is taken": true, "while spans are delivered": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := fakeotlp.New()
			if refusing {
				r.Plan = func(int) fakeotlp.Fault { return fakeotlp.Fault{Status: 503} }
			}
			server := httptest.NewServer(r)
			defer server.Close()
			dir := t.TempDir()
			printed := killed(t, 300, dir, server.URL)
			server.Close() // and with it requests that are still read
			r.Plan = nil
			cfg := settings(r)
			cfg.Delivery.SpoolDir = dir
			c := open(t, cfg)
			flush(t, c)
			got := map[string]int{}
			twice := 0
			for _, s := range r.Spans() {
				got[string(fmt.Appendf(nil, "%x", s.TraceId))]++
				twice += s.Times - 1
			}
			for id := range printed {
				if got[id] != 2 {
					t.Errorf("of the trace %s %d spans arrived", id, got[id])
				}
			}
			if twice > 1024 || contains(r.Bytes(), "hunter2") {
				t.Errorf("%d spans came twice, or a secret left", twice)
			}
			s := c.Stats()
			if s.Replayed == 0 && refusing || s.Spooled != 0 {
				t.Errorf("%+v", s)
			}
			balanced(t, s)
		})
	}
}

// Nothing raw is in the files, and what Close could not deliver the next process
// does.
func TestSpool_KeptByClose(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		down := fakeotlp.New()
		down.Plan = func(int) fakeotlp.Fault { return fakeotlp.Fault{Status: 503} }
		cfg := settings(down)
		cfg.Delivery.SpoolDir = dir
		c, err := tracing.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		_, s := c.StartTool(t.Context(), "t")
		s.Input(map[string]string{"api_key": "hunter2"})
		s.End()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var late *tracing.FlushError
		if err := c.Close(ctx); !errors.As(err, &late) || late.Pending != 1 || !late.Kept {
			t.Errorf("close: %v", err)
		}
		if s := c.Stats(); s.Spooled != 1 || s.Dropped.Total() != 0 {
			t.Errorf("%+v", s)
		}
	})
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.spans"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if b, err := os.ReadFile(files[0]); err != nil || contains(b, "hunter2") || !contains(b, "$redacted") {
		t.Errorf("the file holds %q, %v", b, err)
	}
	r := fakeotlp.New()
	cfg := settings(r)
	cfg.Delivery.SpoolDir = dir
	c := open(t, cfg)
	flush(t, c)
	if s := c.Stats(); s.Replayed != 1 || s.Exported != 1 || len(r.Spans()) != 1 {
		t.Errorf("%d spans, %+v", len(r.Spans()), s)
	}
}

// A full spool costs nothing as long as memory has room.
func TestSpool_Full(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := fakeotlp.New()
		cfg := settings(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			time.Sleep(time.Second)
			r.ServeHTTP(w, req)
		}))
		cfg.Delivery.SpoolDir, cfg.Delivery.SpoolBytes = t.TempDir(), 20_000
		c, err := tracing.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		for range 500 {
			call(t.Context(), c)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if s := c.Stats(); s.SpoolErrors == 0 || s.Exported != 500 || len(r.Spans()) != 500 {
			t.Errorf("%d spans, %+v", len(r.Spans()), s)
		}
		balanced(t, c.Stats())
	})
}

// cramped is an agent whose files may not grow as its spool would like. It says
// what became of its spans.
func cramped() int {
	limit, err := strconv.ParseUint(os.Getenv(childLimit), 10, 32)
	if err != nil {
		return 1
	}
	signal.Ignore(syscall.SIGXFSZ) // so that a write fails, in the middle of a record
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
		return 1
	}
	c, err := tracing.New(tracing.Config{
		Key: "eri_test", ConnectionID: "connection", WorkspaceID: "workspace", BaseURL: os.Getenv(childOrigin),
		Delivery: tracing.Delivery{SpoolDir: os.Getenv(childSpool)}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return 1
	}
	for range 300 {
		call(context.Background(), c)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	_ = c.Close(ctx) // nothing is taken
	s := c.Stats()
	fmt.Println(s.Started, s.Spooled, s.Dropped.Undelivered, s.SpoolErrors)
	return 0
}

// A disk that takes half a record: what it took whole is replayed, the rest
// waited in memory, and every span is accounted for.
func TestSpool_DiskFull(t *testing.T) {
	t.Parallel()
	r := fakeotlp.New()
	r.Plan = func(int) fakeotlp.Fault { return fakeotlp.Fault{Status: 503} }
	server := httptest.NewServer(r)
	defer server.Close()
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childSpool+"="+dir, childOrigin+"="+server.URL, childLimit+"=10001")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var started, spooled, undelivered, failed int
	if _, err := fmt.Sscan(string(out), &started, &spooled, &undelivered, &failed); err != nil {
		t.Fatalf("%v: %q", err, out)
	}
	if started != 300 || spooled+undelivered != 300 || spooled < 10 || failed == 0 {
		t.Errorf("of %d spans %d are in the spool, %d lost with the process, %d writes failed", started, spooled, undelivered, failed)
	}
	server.Close()
	r.Plan = nil
	cfg := settings(r)
	cfg.Delivery.SpoolDir = dir
	c := open(t, cfg)
	flush(t, c)
	if s := c.Stats(); int(s.Replayed) != spooled || int(s.Exported) != spooled || len(r.Spans()) != spooled {
		t.Errorf("%d spans arrived, %+v", len(r.Spans()), s)
	}
}
