// Command evalrouterd is the EvalRouter service.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/daemon"
)

func main() {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	os.Exit(daemon.Run(context.Background(), os.Args[1:], daemon.System{
		Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Version: version(), Signals: signals,
	}))
}

// version is that of the module this program was built from.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "0.0.0-dev"
}
