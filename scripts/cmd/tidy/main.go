// Command tidy runs `go mod tidy` for every module of the workspace without needing a published sibling.
//
// The go command tidies one module at a time and looks for its siblings at the proxy, even inside a workspace.
// So each module is tidied on a temporary copy of its go.mod that replaces every sibling by its folder. Afterwards
// the replacements are dropped and sibling requirements are set back to v0.0.0: nothing of the detour is left, and
// since a replaced folder has no hash, no sibling hash can go stale.
//
// The package uses the standard library only and must stay runnable as plain files (see scripts/tidy).
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run returns 0 when every module is tidy, 1 when one is not or cannot be tidied, 2 for wrong usage.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("tidy", flag.ContinueOnError)
	flags.SetOutput(stderr)
	root := flags.String("root", ".", "folder of go.work")
	check := flags.Bool("check", false, "print what would change and fail, write nothing")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	ws, err := openWorkspace(ctx, *root)
	if err != nil {
		fmt.Fprintln(stderr, "tidy:", err)
		return 1
	}
	chosen, err := ws.choose(flags.Args())
	if err != nil {
		fmt.Fprintln(stderr, "tidy:", err)
		return 2
	}
	if *check {
		return ws.check(ctx, chosen, stdout, stderr)
	}
	return ws.fix(ctx, chosen, stdout, stderr)
}

// check compares every chosen module with its tidy form and writes nothing.
func (ws *workspace) check(ctx context.Context, chosen []module, stdout, stderr io.Writer) int {
	code := 0
	for _, m := range chosen {
		tidied, err := ws.tidied(ctx, m)
		if err != nil {
			fmt.Fprintf(stderr, "tidy: %v\n", err)
			code = 1
			continue
		}
		diff, err := tidied.diff(ctx, m)
		if err != nil {
			fmt.Fprintf(stderr, "tidy: %v\n", err)
			code = 1
			continue
		}
		if diff != "" {
			fmt.Fprint(stdout, diff)
			code = 1
		}
	}
	if code != 0 {
		fmt.Fprintln(stderr, "tidy: not every go.mod and go.sum is tidy; run scripts/tidy and commit the result")
	}
	return code
}

// fix writes the tidy form of every chosen module. A module's tidy form depends on the go.mod files of its siblings,
// so it repeats until a round changes nothing; more rounds than modules would mean that tidying does not settle.
func (ws *workspace) fix(ctx context.Context, chosen []module, stdout, stderr io.Writer) int {
	for range len(ws.modules) + 1 {
		changed, code := false, 0
		for _, m := range chosen {
			tidied, err := ws.tidied(ctx, m)
			if err == nil && tidied.differs(m) {
				changed = true
				err = tidied.write(m)
				fmt.Fprintf(stdout, "tidied %s\n", m.rel)
			}
			if err != nil {
				fmt.Fprintf(stderr, "tidy: %v\n", err)
				code = 1
			}
		}
		if !changed {
			return code
		}
	}
	fmt.Fprintln(stderr, "tidy: the modules keep changing each other; their requirements contradict")
	return 1
}

// choose returns the modules in the named folders (relative to the root), all of them without names.
func (ws *workspace) choose(names []string) ([]module, error) {
	if len(names) == 0 {
		return ws.modules, nil
	}
	var chosen []module
	for _, name := range names {
		i := slices.IndexFunc(ws.modules, func(m module) bool { return m.rel == filepath.Clean(name) })
		if i < 0 {
			return nil, fmt.Errorf("no module in folder %s; go.work lists the folders that have one", name)
		}
		chosen = append(chosen, ws.modules[i])
	}
	return chosen, nil
}
