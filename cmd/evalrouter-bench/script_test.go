package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/evalrouter/evalrouter/bundle/pack/packtest"
	"github.com/evalrouter/evalrouter/cmd/evalrouter-bench/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter-bench/internal/command"
	"github.com/evalrouter/evalrouter/lib/apitest/shipped"
)

func TestMain(m *testing.M) {
	testscript.Main(shipped.Commands{Tests: m, Names: []string{"evalrouter-bench"}}, map[string]func(){
		"evalrouter-bench": func() { os.Exit(bench()) },
		"measure":          measure,
	})
}

// TestScripts runs every script of testdata/script. Scripts use these commands
// beside the usual ones:
//
//	eb CODE ARGS...      evalrouter-bench; must exit with CODE
//	good TEMPLATE DIR    writes a package in which nothing is wrong
//	files DIR N          DIR holds N entries, hidden ones too
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "", RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			evidence, err := filepath.Abs("internal/rederive/testdata")
			if err != nil {
				return err
			}
			env.Setenv("EVIDENCE", evidence)
			env.Setenv("GORACE", "atexit_sleep_ms=0") // or every exit rests for a second
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"eb": scriptBench, "good": scriptGood, "files": scriptFiles},
	})
}

func scriptBench(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: eb CODE ARGS...")
	}
	err := ts.Exec("evalrouter-bench", args[1:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("start evalrouter-bench: %v", err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
	checkAdvice(ts, ts.ReadFile("stdout")+ts.ReadFile("stderr"))
}

// checkAdvice reads every command line that an output advises: advice that
// does not parse helps nobody.
func checkAdvice(ts *testscript.TestScript, output string) {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		advice, ok := strings.CutPrefix(strings.ToLower(line[:min(1, len(line))])+line[min(1, len(line)):], "next: ")
		if !ok {
			if advice, ok = strings.CutPrefix(line, "or: "); !ok {
				continue
			}
		}
		words := strings.Fields(advice)
		if len(words) < 2 || words[0] != command.Program {
			ts.Fatalf("advice %q is no command line", advice)
		}
		if words[1] == "--help" || words[len(words)-1] == "--help" {
			continue
		}
		parsed := false
		for _, c := range (&command.App{}).Commands() {
			if c.Name == words[1] {
				_, err := argv.Parse(c, nil, words[2:])
				parsed = err == nil
			}
		}
		if !parsed {
			ts.Fatalf("advice %q cannot be followed", advice)
		}
	}
}

func scriptGood(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(packtest.Good(args[0]).Write(ts.MkAbs(args[1])))
}

func scriptFiles(ts *testscript.TestScript, _ bool, args []string) {
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	if strconv.Itoa(len(entries)) != args[1] {
		ts.Fatalf("%s holds %d entries: %s", args[0], len(entries), fmt.Sprint(entries))
	}
}
