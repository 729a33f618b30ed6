// Package command is the commands of evalrouter-langsmith.
//
// Keys come from the environment, a file or stdin, never from a flag. The
// LangSmith key goes to the source package and nowhere else in the process; the
// destination is made from the EVALROUTER variables alone, and a key that
// stands on both sides is refused.
package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
)

// App is one process and its surroundings.
type App struct {
	In       io.Reader
	Out, Err io.Writer
	Env      func(name string) (string, bool)
	Version  string
	Now      func() time.Time
	Sleep    func(ctx context.Context, d time.Duration) error
	// Chance is a random number in [0,1).
	Chance func() float64
	// Unpaced drops the pace of requests, for tests.
	Unpaced bool

	opts options
}

// command is one of the program's commands.
type command struct {
	name     string
	short    string
	long     string
	flags    []string // names of its flags, in the order of the page
	rare     []string
	examples []string
	run      func(a *App, ctx context.Context) error
}

// commands in the order of the help page.
func commands() []command {
	where := []string{"key-file", "key-stdin", "allow-http"}
	return []command{
		{
			name: "projects", short: "List the LangSmith projects that the key can see", run: (*App).projects,
			flags: []string{"json"}, rare: where,
			examples: []string{"evalrouter-langsmith projects", "evalrouter-langsmith projects --json"},
		},
		{
			name: "sync", short: "Import completed runs of a project", run: (*App).sync,
			long: "Without --watch it imports what has ended, waits at most 90 seconds for what\n" +
				"ends just now, and exits. With --watch it goes on: imports are automatic only\n" +
				"while this process runs.",
			flags: []string{"project", "state", "watch", "since", "until", "dry-run", "rewind", "include-incomplete", "json"},
			rare:  append([]string{"base-url", "workspace-id", "allow-skew", "poll", "settle", "lookback"}, where...),
			examples: []string{
				"evalrouter-langsmith sync --project ID --state ./langsmith.state --watch",
				"evalrouter-langsmith sync --project ID --state ./s --since 2026-11-01",
			},
		},
		{
			name: "status", short: "Show what a state file says", run: (*App).status,
			flags: []string{"state", "json"}, examples: []string{"evalrouter-langsmith status --state ./langsmith.state"},
		},
		{
			name: "doctor", short: "Check key, project, version, clock and one trace", run: (*App).doctor,
			flags: []string{"project", "json"}, rare: where, examples: []string{"evalrouter-langsmith doctor --project ID"},
		},
	}
}

// Execute runs one command line and answers the exit code.
func (a *App) Execute(ctx context.Context, args []string) int {
	a.opts = options{poll: 30, settle: 60, lookback: 72}
	err := a.execute(ctx, args)
	if err == nil {
		return exitOK
	}
	return a.fail(err)
}

func (a *App) execute(ctx context.Context, args []string) error {
	help := slices.Contains(args, "--help") || slices.Contains(args, "-h")
	a.opts.json = slices.Contains(args, "--json") // an error is printed as asked even when the line cannot be read
	switch {
	case plain.Credential(args):
		return &refusal{code: api.InvalidInput, message: plain.ArgumentRefused, next: []string{"evalrouter-langsmith --help"}}
	case len(args) == 0 || args[0] == "help" && len(args) == 1 || help && (args[0] == "--help" || args[0] == "-h"):
		_, err := io.WriteString(a.Out, rootPage())
		if len(args) == 0 && err == nil {
			return &ended{exitRejected}
		}
		return err
	case args[0] == "--version":
		return a.value(map[string]string{"version": a.Version}, func(p *page) { p.line("evalrouter-langsmith %s", a.Version) })
	}
	list := commands()
	at := slices.IndexFunc(list, func(c command) bool { return c.name == args[0] })
	if at < 0 {
		return unknownCommand(args[0])
	}
	if help {
		_, err := io.WriteString(a.Out, list[at].page())
		return err
	}
	if err := a.opts.parse(list[at], args[1:]); err != nil {
		return err
	}
	return list[at].run(a, ctx)
}

// page writes lines for people. Whatever they hold, they are harmless.
type page struct {
	w   io.Writer
	err error
}

func (p *page) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, plain.Line(fmt.Sprintf(format, args...)))
	}
}

// value prints a result, as JSON or for people. This is where the two part.
func (a *App) value(v any, human func(*page)) error {
	if !a.opts.json {
		p := &page{w: a.Out}
		human(p)
		return p.err
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	_, err = a.Out.Write(append(plain.JSON(b), '\n'))
	return err
}

// note is a line for people beside the result.
func (a *App) note(format string, args ...any) {
	p := &page{w: a.Err}
	p.line(format, args...)
}

func (a *App) env(names ...string) string {
	for _, n := range names {
		if v, ok := a.Env(n); ok && v != "" {
			return v
		}
	}
	return ""
}

func (a *App) userAgent() string {
	return fmt.Sprintf("evalrouter-langsmith/%s (%s/%s)", a.Version, runtime.GOOS, runtime.GOARCH)
}
