// Command evalrouter-tui is the full-screen workspace: it browses benchmarks
// and models, reviews quotes, starts runs, follows them and shows what they
// found. `evalrouter` without a command opens it.
//
// It is a program of its own so that the command line carries no terminal
// library.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouter-tui/internal/guard"
	"github.com/evalrouter/evalrouter/cmd/evalrouter-tui/internal/place"
	"github.com/evalrouter/evalrouter/lib/connect"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/process"
	"github.com/evalrouter/evalrouter/tui"
)

const usage = `Usage: evalrouter-tui [--base-url URL] [--workspace-id ID] [--allow-http]
                      [--at account|benchmarks|billing|groups|models|
                            results|run|runs|group:ID]

The full-screen workspace of EvalRouter. F1 shows the keys, Ctrl+Q leaves; runs
go on without it. For scripts and plain terminals: evalrouter --help
`

// gcPercent trades time, of which the workspace has enough, for memory.
const gcPercent = 40

func main() {
	if len(os.Args) == 2 && os.Args[1] == guard.Command {
		if guard.Serve(os.Stdin) != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(workspace())
}

func workspace() int {
	// SIGHUP too: a closed terminal ends the workspace in order. Nothing on the
	// service is cancelled by it.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	p := place.Place{Place: connect.Place{
		Program: "evalrouter-tui", Version: process.Version(), Env: os.LookupEnv, Environ: os.Environ, Now: time.Now, Sleep: process.Sleep, Chance: rand.Float64,
	}}
	p.Home, _ = os.UserHomeDir() // "" without one; whoever needs it refuses
	if p.Host, _ = os.Hostname(); p.Host == "" {
		p.Host = "a computer"
	}
	p.Host = p.Host[:min(len(p.Host), 64)]
	fs := flag.NewFlagSet("evalrouter-tui", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&p.BaseURL, "base-url", "", "")
	fs.StringVar(&p.Workspace, "workspace-id", "", "")
	fs.BoolVar(&p.AllowHTTP, "allow-http", false, "")
	at := fs.String("at", "", "")
	showVersion := fs.Bool("version", false, "")
	err := fs.Parse(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(usage)
		return 0
	case plain.Credential(os.Args[1:]):
		return fail(os.Stderr, errors.New(plain.ArgumentRefused+" (invalid_input)"), 2)
	case err != nil || fs.NArg() > 0 || *at != "" && !tui.Known(*at):
		fmt.Fprintf(os.Stderr, "error: that is not how evalrouter-tui is called (command_unknown)\n\n%s", usage)
		return 2
	case *showVersion:
		fmt.Println("evalrouter-tui", p.Version)
		return 0
	}
	o, err := p.Options()
	if err != nil {
		return fail(os.Stderr, err, 2)
	}
	abort()
	_, tuned := p.Env("GOGC")
	if !tuned {
		// What the first frame needs is kept anyway: looking for what is not would
		// be a fifth of the work until it stands there.
		debug.SetGCPercent(-1)
	}
	shell := newJob()
	o.Suspend, o.Job, o.At = shell.stop, shell.events(), *at
	keep := guarded(p.Env)
	defer keep.Close()
	if keep != nil {
		o.Keeper = keep
	}
	o.Painted = func() {
		if !tuned {
			debug.SetGCPercent(gcPercent)
		}
		if program, err := os.Executable(); err == nil {
			keep.Start(program)
		}
	}
	return show(os.Stdout, os.Stderr, func() (tui.Outcome, error) { return tui.Run(ctx, o) })
}

// guarded is whoever gives the terminal back after a kill, nil for nobody.
func guarded(env func(string) (string, bool)) *guard.Guard {
	if v, _ := env(guard.Off); v == "off" {
		return nil
	}
	return guard.New()
}

// show runs the workspace. What is worth keeping is printed when it has given
// the terminal back, also when it broke.
func show(stdout, stderr io.Writer, run func() (tui.Outcome, error)) int {
	out, err := run()
	report(stdout, out)
	switch {
	case errors.Is(err, tui.ErrNoTerminal):
		fmt.Fprintln(stderr, "error: this terminal cannot show a full-screen workspace (unsupported_feature)\n  next: EVALROUTER_TUI=off evalrouter")
		return 2
	case err != nil:
		return fail(stderr, err, 1)
	}
	return 0
}

// report prints what is worth keeping on the normal screen.
func report(w io.Writer, out tui.Outcome) {
	if len(out.Saved) > 0 {
		fmt.Fprintln(w, "Saved while you were here:")
	}
	for _, s := range out.Saved {
		fmt.Fprintln(w, "  "+plain.Line(s))
	}
	if len(out.Lines) > 0 {
		fmt.Fprintln(w, "Still going on at the service:")
	}
	for _, s := range out.Lines {
		fmt.Fprintln(w, "  "+plain.Line(s))
	}
}

func fail(w io.Writer, err error, code int) int {
	fmt.Fprintln(w, "error: "+plain.Block(err.Error()))
	return code
}
