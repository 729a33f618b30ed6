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
	"syscall"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouter-langsmith/internal/command"
	"github.com/evalrouter/evalrouter/lib/process"
)

func main() { os.Exit(connector(false)) }

func connector(unpaced bool) int {
	// The first signal ends the work in order; a second one ends the process.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	a := &command.App{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.LookupEnv, Version: process.Version(),
		Now: time.Now, Sleep: process.Sleep, Chance: rand.Float64, Unpaced: unpaced,
	}
	return a.Execute(ctx, os.Args[1:])
}
