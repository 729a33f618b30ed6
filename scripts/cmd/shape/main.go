// Command shape fails when a file, function, package, name or go.mod breaks the caps of internal/shape.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"strings"

	"github.com/evalrouter/evalrouter/scripts/internal/shape"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, ".", os.Stdout, os.Stderr))
}

func run(ctx context.Context, root string, stdout, stderr io.Writer) int {
	names, err := stdNames(ctx)
	if err != nil {
		fmt.Fprintln(stderr, "shape:", err)
		return 1
	}
	found, err := shape.Checker{Root: root, StdNames: names}.Check()
	if err != nil {
		fmt.Fprintln(stderr, "shape:", err)
		return 1
	}
	for _, f := range found {
		fmt.Fprintln(stdout, f)
	}
	if len(found) > 0 {
		fmt.Fprintf(stderr, "shape: %d caps or names are broken\n", len(found))
		return 1
	}
	fmt.Fprintln(stdout, "all caps and names hold")
	return 0
}

// stdNames lists the importable packages of the standard library. The pseudo-package builtin is left out: it cannot
// be imported, so a package of ours may carry the name.
func stdNames(ctx context.Context) (map[string]bool, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "std").Output()
	if err != nil {
		return nil, fmt.Errorf("list the standard library: %w", err)
	}
	names := map[string]bool{}
	for _, p := range strings.Fields(string(out)) {
		if !strings.Contains("/"+p+"/", "/internal/") && !strings.HasPrefix(p, "vendor/") && p != "builtin" {
			names[path.Base(p)] = true
		}
	}
	return names, nil
}
