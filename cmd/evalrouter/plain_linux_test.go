package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/lib/apitest"
)

// beside is an environment with a workspace installed that does nothing but leave
// a file behind when it is opened.
func beside(t *testing.T) (env []string, opened string) {
	t.Helper()
	dir := t.TempDir()
	opened = filepath.Join(dir, "opened")
	if err := os.WriteFile(filepath.Join(dir, "evalrouter-tui"), []byte("#!/bin/sh\n: > '"+opened+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "TERM=xterm-256color", "NO_COLOR="}, opened
}

// drawn is what no screen reader follows: an escape sequence, a step back within
// a line, or a way back to its beginning.
var drawn = regexp.MustCompile(`\x1b|\x08|\r+[^\r\n]`)

// stoppedGroup is a group on the fake of which the first member was stopped by its
// cap; nothing is left of the second.
func stoppedGroup(t *testing.T, f *apitest.Fake) string {
	t.Helper()
	inTerminal(t, f, t.TempDir(), "", nil, "run", "arithmetic", "--model", "practice.solver-80", "--model", "practice.echo", "--sample", "20", "--max-cost", "0.0024", "--yes").exit(4)
	return f.GroupID(0)
}

// Each journey of the workspace has a twin in plain lines, for screen readers:
// one line after the other, and questions that a typed word answers. The
// workspace, which is installed, is never opened.
func TestPlainJourneys(t *testing.T) {
	t.Parallel()
	const start = "Type start to say yes: "
	asked := []string{"run", "arithmetic", "--model", "practice.solver-80", "--sample", "5", "--max-cost", "1"}
	of := func(id func(*testing.T, *apitest.Fake) string, words ...string) func(*testing.T, *apitest.Fake) []string {
		return func(t *testing.T, f *apitest.Fake) []string {
			it := id(t, f)
			line := slices.Clone(words)
			if at := slices.Index(line, "ID"); at >= 0 {
				line[at] = it
			}
			return line
		}
	}
	line := func(words ...string) func(*testing.T, *apitest.Fake) []string {
		return func(*testing.T, *apitest.Fake) []string { return words }
	}
	for _, tt := range []struct {
		name  string
		line  func(*testing.T, *apitest.Fake) []string
		talk  []string // what is asked, then what is typed
		shows []string
		code  int
		runs  int // at the end
	}{
		{"the catalog", line("catalog"), nil, []string{"arithmetic"}, 0, 0},
		{"the models", line("catalog", "--models"), nil, []string{"practice.echo"}, 0, 0},
		{"a quote", line(append(slices.Clone(asked), "--dry-run")...), nil, []string{"nothing was started or charged"}, 0, 0},
		{"a run", line(asked...), []string{start, "start"}, []string{"Started run", "Status   completed"}, 0, 1},
		{"a run, and any other word", line(asked...), []string{start, "yes"}, []string{"nothing was started"}, 5, 0},
		{"the runs", of(stoppedRun, "status"), nil, []string{"partial", "simulated"}, 0, 1},
		{"one run", of(stoppedRun, "status", "ID"), nil, []string{"partial", "Next: evalrouter resume "}, 0, 1},
		{"its results", of(stoppedRun, "results", "ID"), nil, []string{"simulated"}, 0, 1},
		{"a resume", of(stoppedRun, "resume", "ID", "--max-cost", "1"), []string{start, "start"}, []string{"already graded, at $0.00", "Status   completed"}, 0, 2},
		{"a resume, and any other word", of(stoppedRun, "resume", "ID", "--max-cost", "1"), []string{start, "y"}, []string{"nothing was started"}, 5, 1},
		{"a group", line(append(slices.Clone(asked), "--model", "practice.echo")...), []string{start, "start"}, []string{"Started group", "Status   completed"}, 0, 2},
		{"a group, and any other word", line(append(slices.Clone(asked), "--model", "practice.echo")...), []string{start, ""}, []string{"nothing was started"}, 5, 0},
		{"the groups", of(stoppedGroup, "group", "list"), nil, []string{"partial", "Next: evalrouter group "}, 0, 2},
		{"one group", of(stoppedGroup, "group", "status", "ID"), nil, []string{"Practice echo", "Next: evalrouter group resume "}, 0, 2},
		{"a member of it", of(stoppedGroup, "group", "status", "ID", "-i"), []string{"Member, 1 to 2: ", "2"}, []string{"Practice echo", "member 2 of group"}, 0, 2},
		{"a group compared", of(stoppedGroup, "group", "compare", "ID"), nil, []string{"Practice echo", "%"}, 0, 2},
		{"runs compared", func(t *testing.T, f *apitest.Fake) []string {
			stoppedGroup(t, f)
			return []string{"compare", f.RunID(0), f.RunID(1)}
		}, nil, []string{"Practice echo", "%"}, 0, 2},
		{"a group resumed", of(stoppedGroup, "group", "resume", "ID", "--max-cost", "1"), []string{start, "start"}, []string{"not resumed: nothing is left to run", "Started group", "Status   completed"}, 0, 3},
		{"a group resumed, and any other word", of(stoppedGroup, "group", "resume", "ID", "--max-cost", "1"), []string{start, "START"}, []string{"nothing was started"}, 5, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := fakeService(t)
			words := tt.line(t, f)
			said(t, f, tt.talk, tt.shows, tt.code, words...)
			if f.Runs() != tt.runs {
				t.Errorf("%d runs, want %d", f.Runs(), tt.runs)
			}
		})
	}
	t.Run("what goes on is stopped", func(t *testing.T) {
		t.Parallel()
		f := apitest.NewFake(apitest.Options{TaskTime: time.Hour})
		t.Cleanup(f.Close)
		said(t, f, []string{"The run is ", "\x03"}, []string{"the run goes on"}, 1, append(slices.Clone(asked), "--yes")...)
		said(t, f, nil, []string{"cancel"}, 0, "cancel", f.RunID(0))
		said(t, f, []string{"The group is ", "\x03"}, []string{"its runs go on"}, 1, append(slices.Clone(asked), "--model", "practice.echo", "--yes")...)
		said(t, f, nil, []string{"cancel"}, 0, "group", "cancel", f.GroupID(0))
	})
	t.Run("evalrouter alone, the shell", func(t *testing.T) {
		t.Parallel()
		f := fakeService(t)
		said(t, f, []string{"Number, or", "7", "goes back. ", "", "Number, or", "0"}, []string{"$ evalrouter credits", "Available"}, 0)
	})
	t.Run("a list that the workspace shows too", func(t *testing.T) {
		t.Parallel()
		said(t, fakeService(t), nil, []string{"(ACCESSIBLE=1, or it calls itself dumb)", "nothing was read"}, 2, "catalog", "-i")
	})
	t.Run("without it the workspace is opened", func(t *testing.T) { // or the tests above show nothing
		t.Parallel()
		env, opened := beside(t)
		inTerminal(t, fakeService(t), t.TempDir(), "", env).exit(0)
		if _, err := os.Stat(opened); err != nil {
			t.Error(err)
		}
	})
}

// said runs a command with ACCESSIBLE=1 and a workspace installed, and holds what
// it says to plain lines.
func said(t *testing.T, f *apitest.Fake, talk, shows []string, code int, words ...string) {
	t.Helper()
	env, opened := beside(t)
	x := inTerminal(t, f, t.TempDir(), "", append(env, "ACCESSIBLE=1"), words...)
	for i := 0; i+1 < len(talk); i += 2 {
		x.expectAfter(x.mark, talk[i])
		x.mark = len(x.text())
		x.send(talk[i+1] + "\n")
	}
	out := x.exit(code)
	for _, s := range shows {
		if !strings.Contains(out, s) {
			t.Errorf("no %q in:\n%s", s, out)
		}
	}
	if at := drawn.FindStringIndex(out); at != nil {
		t.Errorf("no plain lines: %q", out[max(at[0]-40, 0):min(at[1]+40, len(out))])
	}
	if _, err := os.Stat(opened); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the workspace was opened: %v", err)
	}
}
