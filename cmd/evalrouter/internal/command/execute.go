package command

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/manual"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// Root is the tree of all commands. The given ones stand in the order of the
// help page.
func Root(a *App, commands ...*argv.Command) *argv.Command {
	root := &argv.Command{
		Name: "evalrouter", Args: "COMMAND [flags]",
		Short: "Run benchmarks under a reviewed quote and a hard spending cap",
		Examples: []string{
			"evalrouter demo",
			"evalrouter run arithmetic --model practice.solver-0.8 --sample 100",
		},
		Flags: a.rootFlags(), Shared: a.globalFlags(), Sub: commands,
	}
	root.Exec = func(_ context.Context, args []string) error { return a.bare(root) }
	return root
}

// Execute runs one command line and answers the exit code.
func Execute(ctx context.Context, a *App, root *argv.Command, args []string) int {
	if len(args) > 1 && args[0] == connectorWord && !slices.Contains([]string{"--help", "-h"}, args[1]) {
		return a.runConnector(args)
	}
	// Whether the error is printed as JSON must be known even when the command
	// line cannot be read to its end.
	asJSON := slices.Contains(args[:indexOr(args, "--")], "--json")
	a.Args = args
	p, err := argv.Parse(root, args)
	a.Global.JSON = a.Global.JSON || asJSON && err != nil
	switch {
	case err != nil:
	case p.Help:
		_, err = io.WriteString(a.Term.Out, argv.Help(p.Path, p.All))
	case a.Global.Version:
		err = a.Value(map[string]string{"version": a.Version}, func(p *term.Page) { p.Line("evalrouter %s", a.Version) })
	default:
		err = a.run(ctx, p)
	}
	var ended *Ended
	code := ExitCode(err)
	if err != nil && !errors.As(err, &ended) && !term.Closed(err) {
		if ctx.Err() != nil {
			a.settle(ctx)
		}
		if printed := a.Fail(err); printed != nil && !term.Closed(printed) && code == exitOK {
			code = exitFailed
		}
	}
	if err := a.Close(); err != nil && code == exitOK {
		a.Note("error: %s", err)
		code = exitFailed
	}
	return code
}

// afterInterrupt is how long a terminal may take to throw away its output for a
// Ctrl-C, which it does after the process has been told.
const afterInterrupt = 50 * time.Millisecond

// settle waits, so that the way back to a run is not thrown away with that.
func (a *App) settle(ctx context.Context) {
	if a.Term.ErrTTY && a.Sleep != nil {
		_ = a.Sleep(context.WithoutCancel(ctx), afterInterrupt) // it only ends early
	}
}

// warnOfVariables tells a person of a variable that was meant to be one of ours.
// Programs are not told: what they set is on purpose.
func (a *App) warnOfVariables() {
	if a.Nested || !a.Attended() || a.Environ == nil {
		return
	}
	for _, kv := range a.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if near := manual.Misspelt(name); near != "" {
			a.Note("Warning  %s is not read by evalrouter; did you mean %s?", flow.Typed(name), near)
			return
		}
	}
}

func (a *App) run(ctx context.Context, p *argv.Parsed) error {
	a.warnOfVariables()
	if a.Global.JQ != "" {
		if _, err := a.checkJQ(); err != nil {
			return err
		}
	}
	return p.Run(ctx)
}

func indexOr(args []string, word string) int {
	if i := slices.Index(args, word); i >= 0 {
		return i
	}
	return len(args)
}
