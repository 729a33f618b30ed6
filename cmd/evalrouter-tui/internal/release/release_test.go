package release_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouter-tui/internal/release"
)

// world counts how often the newest release is asked for.
type world struct {
	asked  atomic.Int64
	answer func(w http.ResponseWriter)
	check  release.Check
	now    time.Time
	env    map[string]string
}

// newWorld is a program of version v0.3.0 beside nothing, that asks a list of
// releases whose newest is v0.3.1.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{now: time.Date(2026, 11, 30, 1, 0, 0, 0, time.UTC)}
	w.answer = func(rw http.ResponseWriter) { _, _ = rw.Write([]byte(`{"tag_name":"v0.3.1","assets":[]}`)) }
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.asked.Add(1)
		if r.Method != http.MethodGet {
			t.Errorf("the method is %s", r.Method)
		}
		w.answer(rw)
	}))
	t.Cleanup(server.Close)
	w.env = map[string]string{"EVALROUTER_UPDATE_URL": server.URL}
	bin := t.TempDir()
	w.check = release.Check{
		Version: "v0.3.0", Dir: filepath.Join(t.TempDir(), "state"), HTTP: server.Client(),
		Env:     func(name string) (string, bool) { v, ok := w.env[name]; return v, ok },
		Program: func() (string, error) { return filepath.Join(bin, "evalrouter-tui"), nil },
		Now:     func() time.Time { return w.now },
	}
	return w
}

func TestNewer(t *testing.T) {
	t.Parallel()
	says := func(body string) func(*world) {
		return func(w *world) {
			w.answer = func(rw http.ResponseWriter) { _, _ = rw.Write([]byte(body)) }
		}
	}
	runs := func(v string) func(*world) { return func(w *world) { w.check.Version = v } }
	tests := []struct {
		name  string
		with  func(*world)
		want  string
		asked int64
	}{
		{"UPD-02 a newer release is told", func(*world) {}, "0.3.1", 1},
		{"a module proxy answers too", says(`{"Version":"v0.4.0","Time":"2026-11-01T00:00:00Z"}`), "0.4.0", 1},
		{"UPD-03 the same release is not", says(`{"tag_name":"v0.3.0"}`), "", 1},
		{"UPD-03 nor an older one", says(`{"tag_name":"v0.2.9"}`), "", 1},
		{"numbers are compared, not letters", says(`{"tag_name":"v0.10.0"}`), "0.10.0", 1},
		{"nobody is told to try a release candidate", says(`{"tag_name":"v0.4.0-rc.1"}`), "", 1},
		{"a release candidate is told of its release", runs("v0.3.1-rc.2"), "0.3.1", 1},
		{"UPD-03 text that is no version is not shown", says(`{"tag_name":"v9.0.0\u001b[2J"}`), "", 1},
		{"UPD-03 nor an answer that is no JSON", says(`<html>sign in to this network</html>`), "", 1},
		{"UPD-03 nor an empty one", says(``), "", 1},
		{"UPD-03 a refusal says nothing", func(w *world) { w.answer = func(rw http.ResponseWriter) { rw.WriteHeader(http.StatusForbidden) } }, "", 1},
		{"UPD-03 nobody answers", func(w *world) { w.env["EVALROUTER_UPDATE_URL"] = "http://127.0.0.1:1" }, "", 0},
		{"UPD-06 it was forbidden", func(w *world) { w.env["EVALROUTER_NO_UPDATE_CHECK"] = "1" }, "", 0},
		{"UPD-08 a checkout does not ask", runs("0.0.0-dev"), "", 0},
		{"UPD-08 nor a module without a version", runs("(devel)"), "", 0},
		{"UPD-08 nor a commit", runs("v0.3.1-0.20261130010203-0123456789ab"), "", 0},
		{"UPD-08 nor changed files", runs("v0.3.0+dirty"), "", 0},
		{"UPD-09 nor a version that was chosen", func(w *world) {
			program, _ := w.check.Program()
			_ = os.WriteFile(filepath.Join(filepath.Dir(program), release.Pin), nil, 0o600)
		}, "", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			test.with(w)
			if got := w.check.Newer(t.Context()); got != test.want || w.asked.Load() != test.asked {
				t.Errorf("told %q after %d questions, want %q after %d", got, w.asked.Load(), test.want, test.asked)
			}
		})
	}
}

func TestNewerIsAskedOnceADay_D54(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, after := range []time.Duration{0, time.Minute, 23 * time.Hour} {
		w.now = w.now.Add(after)
		if got := w.check.Newer(t.Context()); got != "0.3.1" || w.asked.Load() != 1 {
			t.Errorf("opening %d: told %q after %d questions", i+1, got, w.asked.Load())
		}
	}
	w.now = w.now.Add(time.Hour)
	w.answer = func(rw http.ResponseWriter) { rw.WriteHeader(http.StatusBadGateway) }
	for range 2 {
		if got := w.check.Newer(t.Context()); got != "" || w.asked.Load() != 2 {
			t.Errorf("after a failure: told %q after %d questions", got, w.asked.Load())
		}
	}
	w.now = w.now.Add(-48 * time.Hour)
	w.answer = func(rw http.ResponseWriter) { _, _ = rw.Write([]byte(`{"tag_name":"v0.3.2"}`)) }
	if got := w.check.Newer(t.Context()); got != "0.3.2" {
		t.Errorf("after the clock was set back: told %q", got)
	}
}

func TestNewerForgetsADamagedMemory(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{"no JSON": `{"asked_at"`, "no version": `{"asked_at":"2026-11-30T00:59:00Z","newest":"v9\u001b[2J"}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if err := os.MkdirAll(w.check.Dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(w.check.Dir, "release.json"), []byte(raw), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := w.check.Newer(t.Context()); got != "0.3.1" {
				t.Errorf("told %q", got)
			}
		})
	}
}

// hanging never answers.
type hanging struct{}

func (hanging) Do(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestNewerGivesUp_UPD05(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.check.HTTP = hanging{}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if got := w.check.Newer(t.Context()); got != "" || time.Since(began) != release.Limit {
			t.Errorf("told %q after %s", got, time.Since(began))
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w.check.Dir = t.TempDir()
	if w.check.Newer(ctx); len(entries(t, w.check.Dir)) != 0 {
		t.Error("a question that was cut short is remembered as answered")
	}
}

func TestNewerLeavesOnePrivateFile_UPD04(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.check.Newer(t.Context())
	all := entries(t, w.check.Dir)
	if len(all) != 1 {
		t.Fatalf("the folder holds %d files", len(all))
	}
	if info, err := all[0].Info(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v (%v)", info.Mode(), err)
	}
}

func entries(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
