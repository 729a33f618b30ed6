package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	client "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/apitest"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/manual"
)

// The conventions of the command line, by their letter, as far as they are not
// tested beside what they are about. TestEveryConventionHasATest finds them all.

// H1: -h, --help and help X are one page, with no request.
func TestConventionH1(t *testing.T) {
	t.Parallel()
	a, _, _ := quietApp()
	walk([]*argv.Command{tree(a)}, func(path []*argv.Command) {
		page := func(args ...string) string {
			app, out, errs := quietApp()
			if code := command.Execute(t.Context(), app, tree(app), args); code != 0 || errs.Len() > 0 {
				t.Errorf("%v: exit code %d, %s", args, code, errs)
			}
			return out.String()
		}
		w := words(path)
		long := page(append(slices.Clone(w), "--help")...)
		if page(append(slices.Clone(w), "-h")...) != long || page(append([]string{"help"}, w...)...) != long {
			t.Errorf("%v: three help pages", w)
		}
	})
}

// H2: at most ten common flags and two examples at least, and every flag says
// what it does. C6: nothing but ASCII in our own words.
func TestConventionH2_C6(t *testing.T) {
	t.Parallel()
	a, _, _ := quietApp()
	root := tree(a)
	walk([]*argv.Command{root}, func(path []*argv.Command) {
		c, name := path[len(path)-1], strings.Join(words(path), " ")
		common := 0
		if c.Flags == nil {
			c.Flags = argv.NewFlags(c.Name)
		}
		for _, f := range c.Flags.List() {
			if !f.More {
				common++
			}
			if f.Usage == "" {
				t.Errorf("%s: --%s says nothing", name, f.Long)
			}
		}
		if common > 10 {
			t.Errorf("%s: %d common flags", name, common)
		}
		if len(c.Sub) == 0 && len(c.Examples) < 2 {
			t.Errorf("%s: %d examples", name, len(c.Examples))
		}
		if page := argv.Help(path, true); !ascii(page) {
			t.Errorf("%s: its page has more than ASCII", name)
		}
	})
	for name, page := range map[string]string{"exit": manual.ExitTopic(), "env": manual.EnvTopic(), "json": manual.JSONTopic(), "errors": manual.ErrorsTopic(func(manual.Problem) int { return 1 })} {
		if !ascii(page) {
			t.Errorf("help %s has more than ASCII", name)
		}
	}
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > 0x7e || r < 0x20 && r != '\n' }) < 0
}

// H4 H6: a mistake is one error with the closest names and one next command, on
// stderr, with exit 2; nothing near is no suggestion.
func TestConventionH4_H6_E7(t *testing.T) {
	t.Parallel()
	f := fakeService(t)
	tests := []struct {
		name, line, near string
		asks             bool
	}{
		{"command", "rnu", "run", false},
		{"subcommand", "connections lst", "list", false},
		{"flag", "catalog --modles", "--models", false},
		{"choice", "wait abcd --progress lout", "", false},
		{"column", "catalog --sort benchmrk", "", true},
		{"benchmark", "run arithmetc --model practice.echo --max-cost 1 --yes", "arithmetic", true},
		{"model", "run arithmetic --model practice.eco --max-cost 1 --yes", "practice.echo", true},
		{"slug", "catalog --slug datess", "dates", true},
		{"topic", "help exti", "exit", false},
		{"error code", "help errors watchlost", "watch_lost", false},
		{"schema", "schema progres", "progress", false},
		{"shell", "completion zhs", "zsh", false},
		{"nothing near", "zzzzzzzz", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd := ownProcess(t, t.TempDir(), f.URL, f.Token, nil, strings.Fields(tt.line)...)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			var exit *exec.ExitError
			if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 2 || out.Len() != 0 {
				t.Fatalf("%v, stdout %q", err, out.String())
			}
			text := errs.String()
			if strings.Count(text, "error: ") != 1 || strings.Count(text, "next: ") > 1 || strings.Contains(text, "Examples") || strings.Count(text, "\n") > 8 {
				t.Errorf("not one short error:\n%s", text)
			}
			_, closest, found := strings.Cut(text, "closest: ")
			first, _, _ := strings.Cut(strings.TrimSpace(strings.SplitN(closest, "\n", 2)[0]), ",")
			if tt.near != "" && (!found || first != tt.near) || tt.name == "nothing near" && found {
				t.Errorf("closest %q, want %q:\n%s", first, tt.near, text)
			}
		})
	}
	for _, m := range f.Mutations() {
		t.Errorf("a mistake sent %s %s", m.Method, m.Path)
	}
}

// S1 S4: stdout is the result alone, one JSON document even for an error;
// everything else is on stderr.
func TestConventionS1_S4_E3(t *testing.T) {
	t.Parallel()
	f := fakeService(t)
	home := t.TempDir()
	for line, code := range map[string]int{
		"run arithmetic --model practice.solver-80 --sample 3 --max-cost 1 --yes --json": 0, "catalog --json": 0, "status --json": 0, "options --json": 0, "doctor --json": 0, "help --json": 0,
		"schema --json": 0, "credits --json": 0, "rnu --json": 2, "run arithmetic --json": 2, "status zzzz --json": 2, "results 00000000-0000-4000-8000-000000000000 --json": 1, "--json": 2,
	} {
		cmd := ownProcess(t, home, f.URL, f.Token, nil, strings.Fields(line)...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() != code || err == nil && code != 0 {
			t.Errorf("%s: %v", line, err)
		}
		dec := json.NewDecoder(&out)
		var doc map[string]any
		if err := dec.Decode(&doc); err != nil || dec.More() {
			t.Errorf("%s: stdout is not one document: %v", line, err)
		}
		if e, isErr := doc["error"].(map[string]any); isErr != (code != 0) {
			t.Errorf("%s: %v", line, doc)
		} else if isErr { // E3
			for _, member := range []string{"code", "message", "exit_code", "retry_safe", "charged_microusd", "next"} {
				if _, ok := e[member]; !ok {
					t.Errorf("%s: the error has no %s", line, member)
				}
			}
		}
		if bytes.Contains(errs.Bytes(), []byte("\x1b")) {
			t.Errorf("%s: styles on a stderr that is no terminal", line)
		}
	}
}

// S9: nothing is asked and nothing hangs where stdin is no terminal: empty,
// closed, or a pipe that nobody ends. A1: with --json every command is bounded.
func TestConventionS9_A1(t *testing.T) {
	t.Parallel()
	f := fakeService(t)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reader.Close(); writer.Close() })
	for _, line := range []string{"run", "run arithmetic", "run arithmetic --model practice.echo", "connections create --name a --endpoint https://models.example/v1 --model m", ""} {
		for name, stdin := range map[string]*os.File{"nothing": nil, "an endless pipe": reader} {
			cmd := ownProcess(t, t.TempDir(), f.URL, f.Token, nil, strings.Fields(line)...)
			if stdin != nil {
				cmd.Stdin = stdin
			}
			var exit *exec.ExitError
			if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 2 {
				t.Errorf("%q with %s: %v", line, name, err)
			}
		}
	}
}

// E1: every code is printed in one shape: what happened with its code, and what
// it meant for money where exit 2 promises that nothing happened.
func TestConventionE1(t *testing.T) {
	t.Parallel()
	for _, p := range manual.Problems() {
		a, out, errs := quietApp()
		err := error(&client.Error{Problem: client.Problem{Code: p.Code, Message: "it did not work"}, Status: p.Status})
		if printed := a.Fail(err); printed != nil {
			t.Fatal(printed)
		}
		first, _, _ := strings.Cut(errs.String(), "\n")
		if first != fmt.Sprintf("error: it did not work (%s)", p.Code) || out.Len() != 0 {
			t.Errorf("%s: %q", p.Code, errs.String())
		}
		for line := range strings.Lines(errs.String()[len(first)+1:]) {
			if !strings.HasPrefix(line, "  ") {
				t.Errorf("%s: a line that is not indented: %q", p.Code, line)
			}
		}
		a, out, _ = quietApp()
		a.Global.JSON = true
		if printed := a.Fail(err); printed != nil {
			t.Fatal(printed)
		}
		var doc struct{ Error command.Report }
		if json.Unmarshal(out.Bytes(), &doc) != nil || doc.Error.Code != p.Code || doc.Error.ExitCode != command.ExitOfCode(p.Code, p.Status) {
			t.Errorf("%s: %s", p.Code, out)
		}
		if free := doc.Error.Charged != nil && *doc.Error.Charged == "0"; free != (doc.Error.ExitCode == 2 || doc.Error.ExitCode == 5) {
			t.Errorf("%s: charged %v with exit code %d", p.Code, doc.Error.Charged, doc.Error.ExitCode)
		}
	}
}

// E4: a panic writes a private report without any value, and exits with 1.
func TestConventionE4(t *testing.T) {
	t.Parallel()
	a, out, errs := attendedApp(t.TempDir(), "https://eval.example", "erk_canary_key", nil)
	a.Args = []string{"run", "secret-canary"}
	if code := guarded(a, func() int { panic(errors.New("value-canary")) }); code != 1 || out.Len() != 0 {
		t.Errorf("exit code %d, stdout %q", code, out)
	}
	paths, err := filepath.Glob(filepath.Join(a.Term.Home, ".local/state/evalrouter/crash-*.txt"))
	if err != nil || len(paths) != 1 || !strings.Contains(errs.String(), paths[0]) {
		t.Fatalf("reports %v, %v; stderr:\n%s", paths, err, errs)
	}
	b, err := os.ReadFile(paths[0])
	info, _ := os.Stat(paths[0])
	if err != nil || !bytes.Contains(b, []byte("TestConventionE4")) || bytes.Contains(b, []byte("canary")) || info.Mode().Perm() != 0o600 {
		t.Errorf("the report, mode %v:\n%s", info.Mode(), b)
	}
	if strings.Contains(errs.String(), "canary") || strings.Contains(errs.String(), "goroutine") {
		t.Errorf("stderr:\n%s", errs)
	}
}

// E5: what answers in the place of the service is called by its name, with the
// next step.
func TestConventionE5(t *testing.T) {
	t.Parallel()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<html>Welcome to the hotel</html>")
	}))
	t.Cleanup(page.Close)
	for base, want := range map[string]string{
		page.URL:              "a web page answered and not the service",
		"http://127.0.0.1:1":  "connection refused",
		"http://eval.example": "plain http is allowed for loopback addresses only",
		page.URL + "/path":    "must have no other path",
	} {
		cmd := ownProcess(t, t.TempDir(), base, "erk_k", nil, "credits")
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if cmd.Run() == nil || !strings.Contains(errs.String(), want) || !strings.Contains(errs.String(), "next: evalrouter options") || strings.Contains(errs.String(), "hotel") {
			t.Errorf("%s:\n%s", base, errs.String())
		}
	}
}

// E6: only main ends the process, and only with a code of the table.
func TestConventionE6(t *testing.T) {
	t.Parallel()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && path != "main.go" {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "os" && s.Sel.Name == "Exit" {
					t.Errorf("%s ends the process", path)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var codes []int
	for _, e := range manual.Exits() {
		codes = append(codes, e.Code)
	}
	for _, p := range manual.Problems() {
		if !slices.Contains(codes, command.ExitOfCode(p.Code, p.Status)) {
			t.Errorf("%s exits with %d", p.Code, command.ExitOfCode(p.Code, p.Status))
		}
	}
	for _, s := range []api.RunStatus{api.StatusCompleted, api.StatusPartial, api.StatusCancelled, api.StatusFailed} {
		if code := command.ExitCode(command.EndOf(s)); !slices.Contains(codes, code) {
			t.Errorf("%s exits with %d", s, code)
		}
	}
}

// G2: a variable that was meant to be ours is told to a person, with the name
// that was meant, and to nobody else.
func TestConventionG2(t *testing.T) {
	t.Parallel()
	f := fakeService(t)
	run := func(attended bool, env ...string) string {
		a, _, errs := attendedApp(t.TempDir(), f.URL, f.Token, map[string]string{"NO_COLOR": "1"})
		a.Environ = func() []string { return env }
		a.Term.InTTY = attended
		command.Execute(t.Context(), a, tree(a), []string{"--allow-http", "credits"})
		return errs.String()
	}
	if got := run(true, "EVALROUTER_STATE_DRI=/x", "EVALROUTER_LOCAL=off"); got != "Warning  \"EVALROUTER_STATE_DRI\" is not read by evalrouter; did you mean\n         EVALROUTER_STATE_DIR?\n" {
		t.Errorf("told %q", got)
	}
	if got := run(false, "EVALROUTER_STATE_DRI=/x"); got != "" {
		t.Errorf("a script was told %q", got)
	}
	if got := run(true, "EVALROUTER_STATE_DIR=/x", "PATH=/bin"); got != "" {
		t.Errorf("known names: %q", got)
	}
}

// A3: SIGTERM while a run is watched leaves one JSON document with the way back.
func TestConventionA3(t *testing.T) {
	t.Parallel()
	f := apitest.NewFake(apitest.Options{TaskTime: time.Hour, Credits: 100 * usd.Dollar})
	t.Cleanup(f.Close)
	cmd := processOf(t, watched, t.TempDir(), f.URL, f.Token, nil, "run", "arithmetic", "--model", "practice.solver-80", "--max-cost", "1", "--yes", "--json")
	var out bytes.Buffer
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	seen := make([]byte, 0, 4096)
	for buf := make([]byte, 512); !bytes.Contains(seen, []byte(`"phase"`)); {
		n, err := stderr.Read(buf)
		if seen = append(seen, buf[:n]...); err != nil {
			t.Fatalf("it ended early: %s", seen)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("it ended with %v", err)
	}
	var doc struct{ Error command.Report }
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil || doc.Error.Code != api.WaitCancelled || len(doc.Error.Next) == 0 || !strings.HasPrefix(doc.Error.Next[0], "evalrouter wait ") || doc.Error.RunID == "" {
		t.Errorf("stdout %s, %v", out.Bytes(), err)
	}
}
