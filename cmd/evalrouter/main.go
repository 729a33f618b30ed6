// Command evalrouter runs benchmarks from the command line: it quotes, asks,
// starts, follows and reports evaluations of a service, or of the service that
// it starts on this machine.
//
// Its module requires the typed client and three small libraries: ff for flags
// and commands, x/term for hidden input and single keys, and gojq, because a
// subset of jq that misreads an expression is worse than none.
package main

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/evalrouter/evalrouter/lib/local"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/process"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command/compare"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command/daemon"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command/data"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command/group"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command/guide"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command/health"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command/mcp"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command/run"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command/shell"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/datasets"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/feedback"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/signin"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/traces"
)

func main() { os.Exit(evalrouter()) }

func evalrouter() int {
	began := time.Now()
	// The first signal ends local work in order; a second one ends the process.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	// With a handler a closed pipe is an error of the write instead of the end
	// of the process, so that "| head -1" is no crash.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)

	a := newApp(term.System())
	a.Began = began
	return guarded(a, func() int {
		if args := os.Args[1:]; plain.Credential(args) {
			a.Global.JSON = slices.Contains(args, "--json")
			_ = a.Fail(&argv.UsageError{Message: plain.ArgumentRefused, Next: "evalrouter help env"}) // there is no other place to say it
			return 2
		}
		return command.Execute(ctx, a, tree(a), os.Args[1:])
	})
}

// newApp is one command's surroundings. A shell makes one for each of its
// commands, over the same terminal.
func newApp(t *term.Term) *command.App {
	a := &command.App{
		Term: t, Version: process.Version(), Began: time.Now(), Now: time.Now, Sleep: process.Sleep, Chance: rand.Float64,
		Vault: vault, FindBinary: findBinary, Exec: replaceProcess, Start: startProgram, Environ: os.Environ,
	}
	a.Shell = func() error { return session(a) }
	return a
}

// session is the line-based shell. Its commands get the flags that the shell
// was started with.
func session(outer *command.App) error {
	s := &shell.Shell{
		App: outer,
		Interrupts: func() (context.Context, context.CancelFunc) {
			return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		},
		Run: func(ctx context.Context, args []string) int {
			a := newApp(outer.Term)
			a.Nested = true
			return command.Execute(ctx, a, tree(a), append(slices.Clone(outer.Args), args...))
		},
	}
	return s.Start()
}

// tree is every command in the order of the help page.
func tree(a *command.App) *argv.Command {
	root := command.Root(a,
		run.Demo(a),
		run.Run(a), run.Wait(a), run.Status(a), run.Resume(a), run.Cancel(a),
		data.Results(a), data.Export(a), compare.Compare(a), group.Group(a, run.ResumeGroup(a)), data.Open(a), data.Events(a),
		command.Catalog(a), command.Connections(a), run.Quote(a), run.Approve(a), command.Credits(a),
		command.Benchmark(a), command.Verify(a),
		traces.Traces(a), datasets.Datasets(a), command.LangSmith(a), mcp.MCP(a),
		signin.Login(a), signin.Logout(a), signin.Whoami(a), signin.Workspace(a), daemon.Local(a), command.Options(a), health.Doctor(a),
	)
	root.Sub = append(root.Sub, guide.Schema(a), guide.Upgrade(a), feedback.Command(a), guide.Completion(a, root), guide.Help(a, root), guide.Words(a, root, command.Remembered{App: a}))
	return root
}

func findBinary(name string) (string, error) {
	return local.FindProgram(name, os.Executable, exec.LookPath)
}

// startProgram starts a viewer, which outlives this process and shares none of
// its streams.
func startProgram(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
