// Package command is the commands of evalrouter-bench and what they share: how
// a package is opened, how a result becomes JSON or lines, what an error
// prints, and which exit code it means.
package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"

	"github.com/evalrouter/evalrouter/bundle/families"
	"github.com/evalrouter/evalrouter/bundle/pack"
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/cmd/evalrouter-bench/internal/argv"
)

// Program is the name in every line that is shown.
const Program = "evalrouter-bench"

// App is one process: its streams and the flags of every command.
type App struct {
	In       io.Reader
	Out, Err io.Writer
	Version  string

	json    bool
	noInput bool // accepted everywhere; this program never asks
	failed  error
}

// Exit codes.
const (
	exitOK       = 0
	exitFailed   = 1 // a file could not be read or written
	exitRejected = 2 // a wrong command line, or a package in which something is wrong
)

func (a *App) shared() []argv.Flag {
	return []argv.Flag{
		argv.Switch(&a.json, "json", "one JSON document on stdout, errors too"),
		argv.Switch(&a.noInput, "no-input", "never ask anything; this program never does"),
	}
}

// options are those of the validator.
func options(sealed bool) pack.Options { return pack.Options{Graders: families.Grader, Sealed: sealed} }

// Commands is every command in the order of the help page.
func (a *App) Commands() []*argv.Command {
	return []*argv.Command{
		a.initCommand(), a.validateCommand(), a.lintCommand(), a.previewCommand(), a.fixCommand(), a.bundleCommand(), a.verifyCommand(), a.schemaCommand(),
	}
}

// Execute runs one command line and answers the exit code.
func Execute(ctx context.Context, a *App, args []string) int {
	a.json = slices.Contains(args[:indexOr(args, "--")], "--json") // also for errors of the line itself
	err := a.run(ctx, args)
	var ended *ended
	switch {
	case errors.As(err, &ended):
		err = nil
	case err != nil && !errors.Is(err, syscall.EPIPE):
		a.fail(err)
	}
	if a.failed != nil && !errors.Is(a.failed, syscall.EPIPE) {
		return exitFailed
	}
	if ended != nil {
		return ended.code
	}
	if errors.Is(err, syscall.EPIPE) {
		return exitOK
	}
	return exitCode(err)
}

func indexOr(args []string, word string) int {
	if i := slices.Index(args, word); i >= 0 {
		return i
	}
	return len(args)
}

func (a *App) run(ctx context.Context, args []string) error {
	if plain.Credential(args) {
		return &argv.UsageError{Message: plain.ArgumentRefused, Next: Program + " --help"}
	}
	all := a.Commands()
	name, rest := firstWord(args)
	front := args[:indexOr(args, "--")]
	asksHelp := slices.Contains(front, "--help") || slices.Contains(front, "-h")
	switch {
	case name == "" && slices.Contains(front, "--version"):
		return a.value(map[string]string{"version": a.Version}, func() { a.line("%s %s", Program, a.Version) })
	case name == "help" && len(rest) > 0 && !strings.HasPrefix(rest[0], "-"):
		name, asksHelp = rest[0], true
	case name == "help", name == "" && asksHelp:
		a.write(a.rootHelp(all))
		return nil
	case name == "":
		return &argv.UsageError{Message: Program + " needs a command", Next: Program + " --help"}
	}
	i := slices.IndexFunc(all, func(c *argv.Command) bool { return c.Name == name })
	if i < 0 {
		return &argv.UsageError{Message: "there is no such command", Next: Program + " --help"}
	}
	c := all[i]
	if asksHelp {
		a.write(argv.Help(Program, c, a.shared()))
		return nil
	}
	operands, err := argv.Parse(c, a.shared(), rest)
	if err != nil {
		return err
	}
	return c.Run(ctx, operands)
}

// firstWord takes the name of the command out of a line; the switches of every
// command may stand before it.
func firstWord(args []string) (name string, rest []string) {
	for i, a := range args {
		if !strings.HasPrefix(a, "-") {
			return a, slices.Concat(args[:i], args[i+1:])
		}
		if a == "--" {
			break
		}
	}
	return "", args
}

func (a *App) rootHelp(all []*argv.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Make benchmarks on this machine: no account, no network, nothing executed.\n\n  %s COMMAND [flags]\n\nCommands\n", Program)
	for _, c := range all {
		argv.Row(&b, c.Name, strings.ToLower(c.Short[:1])+c.Short[1:])
	}
	b.WriteString("\nFlags\n")
	for _, f := range a.shared() {
		argv.Row(&b, "--"+f.Long, f.Usage)
	}
	argv.Row(&b, "--version", "print the version")
	b.WriteString("\nExamples\n  " + Program + " init ./my-benchmark --namespace acme --name my-benchmark\n  " + Program + " validate ./my-benchmark\n")
	b.WriteString("\nExit codes\n")
	argv.Row(&b, "0", "success; for lint, no errors")
	argv.Row(&b, "1", "a file could not be read or written")
	argv.Row(&b, "2", "wrong input: command line, package or destination")
	return b.String()
}

// write writes text that is safe already, and keeps the first failure.
func (a *App) write(s string) {
	if a.failed == nil {
		_, a.failed = io.WriteString(a.Out, s)
	}
}

// line writes one line. Whatever the arguments hold, it has no control
// characters.
func (a *App) line(format string, args ...any) {
	a.write(string(plain.Line(fmt.Sprintf(format, args...))) + "\n")
}

// note writes a line for people to stderr.
func (a *App) note(format string, args ...any) {
	fmt.Fprintf(a.Err, "%s\n", plain.Line(fmt.Sprintf(format, args...)))
}

// value is a result: a document, or lines.
func (a *App) value(v any, lines func()) error {
	if !a.json {
		lines()
		return nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	a.write(string(plain.JSON(b)) + "\n")
	return nil
}

// ended is the error of a command whose result says it all.
type ended struct{ code int }

func (e *ended) Error() string { return fmt.Sprintf("exit code %d", e.code) }
