// Command evalrouter-bench makes benchmarks: it starts, checks, improves and
// bundles them on this machine alone, and checks the evidence of runs. It knows
// no network and no account, and runs nothing that stands in a package.
//
// Its module requires ff for flags and lib for printing text from strangers and
// for the records of evidence, beside bundle, which does the work.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/evalrouter/evalrouter/cmd/evalrouter-bench/internal/command"
	"github.com/evalrouter/evalrouter/lib/process"
)

func main() { os.Exit(bench()) }

func bench() int {
	// The first signal ends the work in order; a second one ends the process.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	// With a handler a closed pipe is an error of the write instead of the end
	// of the process, so that "| head -1" is no crash.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	a := &command.App{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Version: process.Version()}
	return command.Execute(ctx, a, os.Args[1:])
}
