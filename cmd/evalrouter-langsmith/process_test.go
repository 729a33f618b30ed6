package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouter-langsmith/internal/command"
)

// quiet is a program without environment.
func quiet() (a *command.App, out, errs *bytes.Buffer) {
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	return &command.App{
		In: strings.NewReader(""), Out: out, Err: errs, Env: func(string) (string, bool) { return "", false }, Version: "0.0.0-test",
		Now: time.Now, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }, Chance: func() float64 { return 0.5 },
	}, out, errs
}

// runIn runs the program as a process of its own and returns its stdout.
func runIn(t *testing.T, s *site, code int, args ...string) string {
	t.Helper()
	cmd := exec.Command(program(t), append(args, "--allow-http")...)
	cmd.Env = s.env()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || cmd.ProcessState.ExitCode() != code {
		t.Fatalf("exit code %d, want %d: %v\n%s%s", cmd.ProcessState.ExitCode(), code, err, out.String(), errs.String())
	}
	return out.String()
}

// program is this test binary under the name that makes it the program.
func program(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("evalrouter-langsmith") // put there by testscript.Main
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	return path
}
