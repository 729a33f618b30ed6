// Command evalrouterd is the EvalRouter service.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/daemon"
	"github.com/evalrouter/evalrouter/lib/process"
)

// gcPercent trades memory for time: a run streams, so the live heap is small and
// mostly garbage of calls.
const gcPercent = 200

func main() {
	harden()
	// Nothing of ours writes to the standard logger, but net/http's client
	// does: what a provider sends unasked, answers included. No log holds those.
	log.SetOutput(io.Discard)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	os.Exit(daemon.Run(context.Background(), os.Args[1:], daemon.System{
		Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Version: process.Version(), Signals: signals,
	}))
}
