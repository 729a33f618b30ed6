// Command evalrouter-langsmith imports completed agent runs from LangSmith.
//
// It is a program of its own so that the command line stays light and so that
// a supervisor can keep it running: imports happen while it runs. Its module
// requires the connector and the typed client, and for tests testscript; its
// few flags need no flag library.
package main

import (
	"context"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouter-langsmith/internal/command"
)

func main() { os.Exit(connector(false)) }

func connector(unpaced bool) int {
	// The first signal ends the work in order; a second one ends the process.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	a := &command.App{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.LookupEnv, Version: version(),
		Now: time.Now, Sleep: sleep, Chance: rand.Float64, Unpaced: unpaced,
	}
	return a.Execute(ctx, os.Args[1:])
}

// version is that of the module this program was built from.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "0.0.0-dev"
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
