package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/lib/apitest"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
)

func fakeService(t *testing.T) *apitest.Fake {
	t.Helper()
	f := apitest.NewFake(apitest.Options{TaskTime: time.Millisecond, Credits: 100 * usd.Dollar})
	t.Cleanup(f.Close)
	return f
}

// ownProcess is evalrouter as it ships in a process of its own, against a service.
func ownProcess(t *testing.T, home, base, token string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	return processOf(t, "evalrouter", home, base, token, env, args...)
}

// processOf is ownProcess of one of the names under which evalrouter is found.
func processOf(t *testing.T, name, home, base, token string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	path := program(t, name)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, path, append([]string{"--base-url", base, "--allow-http"}, args...)...)
	cmd.Env = append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "EVALROUTER_API_KEY=" + token, noExitPause[0] + "=" + noExitPause[1]}, env...)
	cmd.Dir = home
	return cmd
}

func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", cmd.Args, err, out, stderr.String())
	}
	return string(out)
}

// PKG-02: installed from its module, it is a command on PATH that works where
// no repository is.
func TestInstall_PKG02(t *testing.T) {
	t.Parallel()
	gobin, err := exec.LookPath("go")
	if err != nil {
		t.Skip("the go command is not on PATH")
	}
	bin, elsewhere := t.TempDir(), t.TempDir()
	install := exec.Command(gobin, "install", ".")
	install.Env = append(os.Environ(), "GOBIN="+bin)
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("go install: %v\n%s", err, out)
	}
	run := exec.Command("sh", "-c", "evalrouter --version && evalrouter help run")
	run.Dir, run.Env = elsewhere, []string{"PATH=" + bin + ":/usr/bin:/bin", "HOME=" + elsewhere}
	if out, err := run.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "evalrouter ") {
		t.Errorf("%v\n%s", err, out)
	}
}

// The documents say what they must: PKG-06 the licence, PKG-12 what stays the
// same, CAT-07 that active is not ready, QUO-18 that a cap is no price.
func TestDocuments_PKG06_PKG12_CAT07_QUO18(t *testing.T) {
	t.Parallel()
	root := filepath.Dir(docs(t))
	texts := map[string][]string{
		"LICENSE":     {"MIT License", "Copyright (c)"},
		"README.md":   {"**Names are stable.**", "delete the old binary", "then `go install` the new path"},
		"docs/cli.md": {"neither a price guarantee nor a promise", "an entry of the catalog that is active is not always ready to run"},
	}
	for name, wants := range texts {
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(string(b), want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
	}
	for args, want := range map[string]string{"catalog": "An active entry is not always ready to run", "quote": "A cap is a bound, not a price, and no promise that the evaluation fits"} {
		a, out, _ := quietApp()
		if command.Execute(t.Context(), a, tree(a), []string{args, "--help"}); !strings.Contains(out.String(), want) {
			t.Errorf("the help of %s does not say %q", args, want)
		}
	}
}

// UPD-07: commands of scripts ask for no newer release: nothing but the chosen
// service is ever asked.
func TestNoUpdateCheck_UPD07_G4(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer proxy.Close()
	f := fakeService(t)
	home := t.TempDir()
	env := []string{"HTTPS_PROXY=" + proxy.URL, "HTTP_PROXY=" + proxy.URL, "https_proxy=" + proxy.URL, "http_proxy=" + proxy.URL}
	for _, line := range []string{"--version", "catalog", "status --json", "credits", "run arithmetic --model practice.solver-80 --sample 3 --max-cost 1 --yes", "options", "help"} {
		output(t, ownProcess(t, home, f.URL, f.Token, env, strings.Fields(line)...))
	}
	if asked.Load() != 0 {
		t.Errorf("%d requests went elsewhere", asked.Load())
	}
	// The proxy is one that would have seen them.
	ownProcess(t, home, "https://eval.example", f.Token, append(env, "NO_PROXY="), "credits").Run()
	if asked.Load() == 0 {
		t.Error("the proxy sees nothing, so that nothing was tested")
	}
}

// QUO-10: a legacy estimate is tolerated and shown nowhere.
func TestLegacyEstimate_QUO10(t *testing.T) {
	t.Parallel()
	f := fakeService(t)
	s, base := newSpoiled(t, f.URL)
	var mu sync.Mutex
	raw := map[string]string{}
	edit := func(path string, b []byte) []byte {
		b = bytes.ReplaceAll(b, []byte(`"compatibility"`), []byte(`"estimated_charge_microusd":"987654321","compatibility"`))
		mu.Lock()
		defer mu.Unlock()
		raw[path] += string(b)
		return b
	}
	s.edit.Store(&edit)
	home := t.TempDir()
	run := []string{"run", "arithmetic", "--model", "practice.solver-80", "--sample", "3", "--max-cost", "1"}
	for _, args := range [][]string{append(run, "--dry-run"), append(run, "--dry-run", "--json"), append(run, "--yes")} {
		cmd := ownProcess(t, home, base, f.Token, nil, args...)
		out, err := cmd.CombinedOutput()
		if err != nil || bytes.Contains(out, []byte("987")) || bytes.Contains(bytes.ToLower(out), []byte("estimate")) {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if !strings.Contains(raw["/v1/quotes"], "987654321") {
		t.Error("the service sent no estimate, so that nothing was tested")
	}
}

// EXP-16: an export that is interrupted, or killed, leaves nothing under its
// name.
func TestInterruptedExport_EXP16(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]os.Signal{"interrupted": os.Interrupt, "ended": syscall.SIGTERM, "killed": os.Kill} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			half := make(chan struct{})
			var once sync.Once
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Content-Length", "1000")
				io.WriteString(w, `{"half":`)
				w.(http.Flusher).Flush()
				once.Do(func() { close(half) })
				<-r.Context().Done()
			}))
			defer srv.Close()
			home := t.TempDir()
			cmd := ownProcess(t, home, srv.URL, "erk_k", nil, "export", "12345678-1234-4234-8234-123456789012", "--output", "out.json")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-half
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err == nil {
				t.Error("it ended well")
			}
			entries, err := os.ReadDir(home)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if e.Name() == "out.json" || sig != os.Kill && strings.HasSuffix(e.Name(), ".part") {
					t.Errorf("%s is left", e.Name())
				}
			}
		})
	}
}

// Twenty processes that export to the same default name write twenty files.
func TestRacingExports(t *testing.T) {
	t.Parallel()
	f := fakeService(t)
	home := t.TempDir()
	id := strings.TrimSpace(output(t, ownProcess(t, home, f.URL, f.Token, nil, "run", "arithmetic", "--model", "practice.solver-80", "--sample", "3", "--max-cost", "1", "--yes", "--jq", ".id")))
	out := filepath.Join(home, "out")
	if err := os.Mkdir(out, 0o700); err != nil {
		t.Fatal(err)
	}
	paths := make([]string, 20)
	var wg sync.WaitGroup
	for i := range paths {
		cmd := ownProcess(t, home, f.URL, f.Token, nil, "export", id, "--output", "out", "--jq", ".files[0].path")
		wg.Go(func() {
			b, err := cmd.Output()
			if err != nil {
				t.Errorf("process %d: %v", i, err)
			}
			paths[i] = strings.TrimSpace(string(b))
		})
	}
	wg.Wait()
	files, err := filepath.Glob(filepath.Join(out, "*"))
	seen := map[string]bool{}
	var whole []byte
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil || seen[p] || whole != nil && !bytes.Equal(b, whole) {
			t.Errorf("%s: %v, twice %v", p, err, seen[p])
		}
		seen[p], whole = true, b
	}
	if err != nil || len(files) != 20 {
		t.Errorf("%d files, %v", len(files), err)
	}
}

// Every list takes the same flags: LST-05 JSON, LST-06 jq, LST-08 all columns,
// LST-09 the named ones, LST-10 the order, LST-12 a filter, LST-13 a limit.
func TestListFlags_LST05_LST06_LST08_LST09_LST10_LST12_LST13(t *testing.T) {
	t.Parallel()
	for _, list := range []string{"catalog", "catalog --models", "status", "connections list"} {
		for _, flags := range []string{"--json", "--jq .data[].id", "-w", "--wide", "--columns a,b", "--sort a", "--sort=-a", "--filter a=b", "--limit 5", "--cursor c"} {
			a, _, _ := quietApp()
			if _, err := argv.Parse(tree(a), strings.Fields(list+" "+flags)); err != nil {
				t.Errorf("%s %s: %v", list, flags, err)
			}
		}
		f := fakeService(t)
		out := output(t, ownProcess(t, t.TempDir(), f.URL, f.Token, nil, strings.Fields(list+" --json")...))
		if !strings.HasPrefix(out, `{"data":[`) || strings.Count(out, "\n") != 1 {
			t.Errorf("%s --json: %s", list, out)
		}
	}
}

// LST-03 LST-04: people get what they can run, and the rest when they ask.
func TestHiddenBenchmarks_LST03_LST04(t *testing.T) {
	t.Parallel()
	f := apitest.NewFake(apitest.Options{Credits: usd.Dollar, InReview: true})
	t.Cleanup(f.Close)
	show := func(args ...string) string {
		a, out, errs := attendedApp(t.TempDir(), f.URL, f.Token, map[string]string{"NO_COLOR": "1"})
		if code := command.Execute(t.Context(), a, tree(a), append([]string{"--allow-http", "catalog"}, args...)); code != 0 {
			t.Errorf("%v: exit code %d: %s", args, code, errs)
		}
		return out.String()
	}
	if page := show(); strings.Contains(page, "riddles") || !strings.Contains(page, "1 in review or unavailable are hidden (--all)") {
		t.Errorf("catalog:\n%s", page)
	}
	if page := show("--all"); !strings.Contains(page, "riddles@1") || strings.Contains(page, "hidden") {
		t.Errorf("catalog --all:\n%s", page)
	}
}

// execute is command.Execute over the whole tree.
func execute(ctx context.Context, a *command.App, args ...string) int {
	return command.Execute(ctx, a, tree(a), args)
}
