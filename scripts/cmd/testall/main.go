// Command testall is the one test command of the repository; scripts/test builds and starts it.
//
// It runs every stage even when one fails, starts the PostgreSQL that tests need by itself, and exits 0 only when
// everything passed. Under CI (the variable CI is set) it also fails where a developer is only told: no C compiler
// for the race detector, no PostgreSQL, tests that skip for want of something that is there.
//
// Tests see these variables and none of the caller's own EVALROUTER_*: EVALROUTER_TEST_PG (address of a PostgreSQL
// superuser), EVALROUTER_TEST_BIN (folder of the binaries built from this tree), EVALROUTER_SHARED (folder of shared
// reference data, when it exists).
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
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/evalrouter/evalrouter/scripts/internal/gotest"
	"github.com/evalrouter/evalrouter/scripts/internal/stage"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

func run(ctx context.Context, args, env []string, stdout, stderr io.Writer) (code int) {
	flags := flag.NewFlagSet("scripts/test", flag.ContinueOnError)
	flags.SetOutput(stderr)
	root := flags.String("root", ".", "folder of go.work")
	only := flags.String("only", "", "comma-separated stages to run, all without it")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "scripts/test: unexpected operand %s; to test one package run go test on it\n", flags.Arg(0))
		return 2
	}
	c, err := newCheck(ctx, *root, env)
	if err != nil {
		fmt.Fprintln(stderr, "scripts/test:", err)
		return 1
	}
	defer func() {
		if err := c.close(); err != nil {
			fmt.Fprintln(stderr, "scripts/test:", err)
			code = max(code, 1)
		}
	}()
	stages, err := choose(c.stages(), *only)
	if err != nil {
		fmt.Fprintln(stderr, "scripts/test:", err)
		return 2
	}
	if !(stage.Runner{Out: &shared{w: stdout}, Now: time.Now}).Run(ctx, stages) {
		code = 1
	}
	if c.tested {
		fmt.Fprintln(stdout, c.summary.Counts())
	}
	if ctx.Err() != nil {
		fmt.Fprintln(stderr, "scripts/test: interrupted; nothing was left running")
		return 130
	}
	return code
}

// shared lets a stage and the error stream of its child write to one place.
type shared struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}

func choose(all []stage.Stage, only string) ([]stage.Stage, error) {
	if only == "" {
		return all, nil
	}
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	wanted := strings.Split(only, ",")
	for _, name := range wanted {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("no stage %q; the stages are %s", name, strings.Join(names, ", "))
		}
	}
	return slices.DeleteFunc(all, func(s stage.Stage) bool { return !slices.Contains(wanted, s.Name) }), nil
}

// check is one run over one tree.
type check struct {
	root    string
	ci      bool
	env     []string // for every child process
	modules []module
	tmp     string // removed by close
	bin     string // binaries of this tree, under tmp
	shared  string // empty when the folder does not exist
	summary gotest.Summary
	tested  bool
}

type module struct{ path, dir string }

func newCheck(ctx context.Context, root string, env []string) (*check, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", root, err)
	}
	c := &check{root: root, ci: isCI(env)}
	c.shared = sharedFolder(root, env)
	c.env = childEnv(env, c.shared)
	if c.modules, err = listModules(ctx, root, c.env); err != nil {
		return nil, err
	}
	if c.tmp, err = makeTemp(root, os.Getpid()); err != nil {
		return nil, err
	}
	c.bin = filepath.Join(c.tmp, "bin")
	return c, nil
}

func (c *check) close() error {
	if err := os.RemoveAll(c.tmp); err != nil {
		return fmt.Errorf("remove temporary files: %w", err)
	}
	return nil
}

func (c *check) stages() []stage.Stage {
	return []stage.Stage{
		{Name: "gofmt", Run: c.gofmt},
		{Name: "tidy", Run: c.script("tidy", "-check")},
		{Name: "build", Run: c.build},
		{Name: "cross", Run: c.cross},
		{Name: "vet", Run: c.vet},
		{Name: "boundaries", Run: c.script("boundaries")},
		{Name: "shape", Run: c.script("shape")},
		{Name: "requirements", Run: c.script("requirements")},
		{Name: "tests", Run: c.test},
		{Name: "whole", Run: c.whole},
	}
}
