package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/evalrouter/evalrouter/lib/profile"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
)

// guarded runs a command and turns a panic into an exit code, with a file for
// whoever mends it. The file holds where it happened and never what was in
// hand: neither the command line, nor the environment, nor the value.
func guarded(a *command.App, run func() int) (code int) {
	defer func() {
		if v := recover(); v != nil {
			code = crashed(a, v, debug.Stack())
		}
	}()
	return run()
}

func crashed(a *command.App, v any, stack []byte) int {
	where := "no report could be written"
	if dir, err := profile.DirsOf(a.Term.Env, a.Term.Home).State.Path(); err == nil {
		path := filepath.Join(dir, "crash-"+a.Now().UTC().Format("20060102-150405.000")+".txt")
		text := fmt.Sprintf("evalrouter %s %s/%s\nat %s\nkind of value: %T\n\n%s", a.Version, runtime.GOOS, runtime.GOARCH, a.Now().UTC().Format(time.RFC3339), v, stack)
		if os.MkdirAll(dir, 0o700) == nil && os.WriteFile(path, []byte(text), 0o600) == nil {
			where = "a report without your data is in " + path
		}
	}
	a.Note("error: this is a fault of evalrouter (internal_error)")
	a.Note("  %s", where)
	a.Note("  repeating the same command is safe: it never starts the same work twice")
	return 1
}
