// Command boundaries fails when a package of the workspace imports against the rules of internal/boundary, and prints
// for each violation the chain of imports and the reason of the rule.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/evalrouter/evalrouter/scripts/internal/boundary"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, ".", os.Stdout, os.Stderr))
}

func run(ctx context.Context, root string, stdout, stderr io.Writer) int {
	packages, err := boundary.Load(ctx, root)
	if err != nil {
		fmt.Fprintln(stderr, "boundaries:", err)
	}
	rules, siblings := boundary.Rules(), boundary.SiblingRules()
	found := boundary.Check(packages, rules, siblings)
	for _, v := range found {
		fmt.Fprintln(stdout, v)
	}
	if len(found) > 0 {
		fmt.Fprintf(stderr, "boundaries: %d imports break a rule\n", len(found))
	}
	if err != nil || len(found) > 0 {
		return 1
	}
	fmt.Fprintf(stdout, "%d rules hold over %d packages\n", len(rules)+len(siblings), len(packages))
	return 0
}
