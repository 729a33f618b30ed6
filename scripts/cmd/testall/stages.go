package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/scripts/internal/debian"
	"github.com/evalrouter/evalrouter/scripts/internal/gotest"
	"github.com/evalrouter/evalrouter/scripts/internal/testpg"
)

// script runs one of the programs of this folder as a stage.
func (c *check) script(name string, args ...string) func(context.Context, io.Writer) error {
	return func(ctx context.Context, out io.Writer) error {
		return c.pass(ctx, out, filepath.Join(c.root, "scripts", name), args...)
	}
}

// pass runs a child whose exit code decides.
func (c *check) pass(ctx context.Context, out io.Writer, name string, args ...string) error {
	return finish(ctx, c.command(ctx, name, args...), out)
}

func finish(ctx context.Context, cmd *exec.Cmd, out io.Writer) error {
	cmd.Stdout, cmd.Stderr = out, out
	err := cmd.Run()
	reap(ctx, cmd)
	return err
}

func (c *check) gofmt(ctx context.Context, out io.Writer) error {
	args := []string{"-l"}
	for _, m := range c.modules {
		args = append(args, m.dir)
	}
	var unformatted strings.Builder
	if err := c.pass(ctx, io.MultiWriter(out, &unformatted), "gofmt", args...); err != nil {
		return err
	}
	if unformatted.Len() > 0 {
		return errors.New("the files above are not formatted; run gofmt -w on them")
	}
	return nil
}

// build compiles every package the way releases are compiled and leaves the binaries for the end-to-end tests.
func (c *check) build(ctx context.Context, out io.Writer) error {
	if err := c.release(ctx, out, append([]string{"build"}, c.patterns()...)); err != nil {
		return err
	}
	if err := os.MkdirAll(c.bin, 0o700); err != nil {
		return fmt.Errorf("make the folder of binaries: %w", err)
	}
	mains, err := filepath.Glob(filepath.Join(c.root, "cmd", "*", "main.go"))
	if err != nil {
		return fmt.Errorf("find the commands: %w", err)
	}
	if len(mains) == 0 {
		return nil
	}
	// Stripped, as scripts/setup and a release build them.
	args := []string{"build", "-ldflags=-s -w", "-o", c.bin + string(filepath.Separator)}
	for _, main := range mains {
		args = append(args, filepath.Dir(main))
	}
	return c.release(ctx, out, args)
}

// vet shares its compiled packages with build by using the same settings.
func (c *check) vet(ctx context.Context, out io.Writer) error {
	return c.release(ctx, out, append([]string{"vet"}, c.patterns()...))
}

func (c *check) release(ctx context.Context, out io.Writer, args []string, env ...string) error {
	args = append([]string{args[0], "-trimpath"}, args[1:]...)
	cmd := c.command(ctx, "go", args...)
	cmd.Env = append(append(slices.Clone(c.env), "CGO_ENABLED=0"), env...)
	return finish(ctx, cmd, out)
}

// server is the folder of the one program that is released for Linux alone.
const server = "evalrouterd"

// cross compiles for the other systems what people have on their own machines. With a warm cache it takes 5 s for both
// together; the service, which would take as long again, is left out.
func (c *check) cross(ctx context.Context, out io.Writer) error {
	args := []string{"build"}
	for _, m := range c.modules {
		if filepath.Base(filepath.Dir(m.dir)) == "cmd" && filepath.Base(m.dir) != server {
			args = append(args, m.path+"/...")
		}
	}
	if len(args) == 1 {
		return nil
	}
	var failed []error
	for _, system := range []string{"windows", "darwin"} {
		if err := c.release(ctx, out, args, "GOOS="+system); err != nil {
			failed = append(failed, fmt.Errorf("build for %s: %w", system, err))
		}
	}
	return errors.Join(failed...)
}

func (c *check) patterns() []string {
	var patterns []string
	for _, m := range c.modules {
		patterns = append(patterns, m.path+"/...")
	}
	return patterns
}

// slowestFirst is patterns with the module that drives the built programs in front. Its tests take longest and wait
// most: begun last, they keep one processor idle for minutes.
func (c *check) slowestFirst() []string {
	var first, rest []string
	for _, p := range c.patterns() {
		if strings.HasSuffix(p, "/scripts/...") {
			first = append(first, p)
		} else {
			rest = append(rest, p)
		}
	}
	return append(first, rest...)
}

// test runs the tests of every module in one go command, which spreads them over the cores.
func (c *check) test(ctx context.Context, out io.Writer) (err error) {
	// Trimmed, as release compiles: what one checkout has compiled is there for the next.
	args := []string{"test", "-json", "-vet=off", "-trimpath", "-timeout=20m"}
	race, raceErr := c.race(ctx, out)
	if race {
		args = append(args, "-race")
		args = append(args, untraced()...)
	}
	c.tools(ctx, out)
	url, stop, pgErr := c.postgres(ctx, out)
	defer func() { err = errors.Join(err, stop()) }()
	cmd := c.command(ctx, "go", append(args, c.slowestFirst()...)...)
	cmd.Env = append(slices.Clone(c.env), c.testEnv(url)...)
	runErr := c.runTests(ctx, cmd, out)
	verdict := c.summary.Verdict(out, c.resources(url))
	if verdict == nil { // otherwise the exit code says nothing new
		verdict = runErr
	}
	return errors.Join(raceErr, pgErr, verdict)
}

// untraced leaves out of the race detector's sight what one goroutine at a time computes, where the detector finds
// nothing and costs a multiple. SQLite's own code is C that was translated, and its memory is not the detector's,
// which follows the heap of Go: to instrument it doubles what every test with a database costs. Argon2 fills its blocks
// with arithmetic, and watched it takes three times as long for every password of a test. The terminal library copies
// the cells of a screen one by one, behind a lock of its own, which was half of what the workspace's tests cost. What
// calls them is watched, and so is all of ours.
func untraced() (flags []string) {
	for _, pkg := range []string{"modernc.org/sqlite/lib", "modernc.org/libc", "golang.org/x/crypto/argon2", "golang.org/x/crypto/blake2b", "github.com/gdamore/tcell/v2"} {
		flags = append(flags, "-gcflags="+pkg+"=-race=false")
	}
	return flags
}

// whole runs without the race detector the tests that play a part of themselves under it, or nothing, because they
// hold what one goroutine computes: the detector finds nothing there and costs tenfold.
func (c *check) whole(ctx context.Context, out io.Writer) error {
	var dirs, tests []string
	for _, m := range c.modules {
		err := filepath.WalkDir(m.dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			found, err := gotest.Unraced(path)
			if len(found) > 0 {
				dirs, tests = append(dirs, path), append(tests, found...)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("find the tests of this stage: %w", err)
		}
	}
	if len(dirs) == 0 {
		return nil
	}
	args := []string{"test", "-vet=off", "-trimpath", "-timeout=20m", "-run=^(" + strings.Join(tests, "|") + ")$"}
	return c.pass(ctx, out, "go", append(args, dirs...)...)
}

// testEnv names what is there: no binaries without a build, no database without a server.
func (c *check) testEnv(url string) []string {
	// Otherwise each of two hundred test programs rests for a second at its end, and what they start does too.
	env := []string{"GORACE=atexit_sleep_ms=0"}
	if url != "" {
		env = append(env, "EVALROUTER_TEST_PG="+url)
	}
	if _, err := os.Stat(c.bin); err == nil {
		env = append(env, "EVALROUTER_TEST_BIN="+c.bin)
	}
	return env
}

func (c *check) runTests(ctx context.Context, cmd *exec.Cmd, out io.Writer) error {
	events, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("open the pipe of go test: %w", err)
	}
	cmd.Stderr = out
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start go test: %w", err)
	}
	summary, readErr := (&gotest.Collector{Out: out}).Read(events)
	c.summary, c.tested = summary, true
	err = cmd.Wait()
	reap(ctx, cmd)
	return errors.Join(readErr, err)
}

// resources makes a skip for want of something present a failure, under CI only: a developer may run part of the
// suite with odd settings, CI may not.
func (c *check) resources(url string) []gotest.Resource {
	return []gotest.Resource{
		{Name: "the shared folder", Words: []string{"../shared", "EVALROUTER_SHARED"}, Present: c.ci && c.shared != ""},
		{Name: "PostgreSQL", Words: []string{"EVALROUTER_TEST_PG", "PostgreSQL"}, Present: c.ci && url != ""},
	}
}

// tools installs under CI the programs that some tests start. Without one its tests skip, and say so.
func (c *check) tools(ctx context.Context, out io.Writer) {
	if !c.ci {
		return
	}
	packages := debian.Missing([]debian.Tool{
		{Package: "chromium-headless-shell", Programs: []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}},
		{Package: "curl", Programs: []string{"curl"}},
		{Package: "groff-base", Programs: []string{"groff"}},
		{Package: "strace", Programs: []string{"strace"}},
		{Package: "tmux", Programs: []string{"tmux"}},
	})
	if len(packages) == 0 {
		return
	}
	if err := (debian.Installer{UID: os.Geteuid(), Out: out}).Install(ctx, packages...); err != nil {
		fmt.Fprintf(out, "%v; the tests that need them are skipped\n", err)
	}
}

// race says whether the race detector can be used. It needs cgo and a C compiler.
func (c *check) race(ctx context.Context, out io.Writer) (bool, error) {
	cmd := c.command(ctx, "go", "env", "CC")
	cc, err := cmd.Output()
	if err != nil {
		return false, fmt.Errorf("ask go for the C compiler: %w", err)
	}
	fields := strings.Fields(string(cc))
	if len(fields) > 0 {
		if _, err := exec.LookPath(fields[0]); err == nil {
			return true, nil
		}
	}
	const missing = "no C compiler, so the tests run without the race detector; install one with: sudo apt-get install -y gcc libc6-dev"
	fmt.Fprintln(out, missing)
	if c.ci {
		return false, errors.New("the race detector is required under CI")
	}
	return false, nil
}

// databasesRoom is three times what the databases of all tests come to.
const databasesRoom = 8 << 30

// postgres starts a private cluster. Without one the tests run all the same: an empty url, and an error under CI.
func (c *check) postgres(ctx context.Context, out io.Writer) (url string, stop func() error, err error) {
	none := func() error { return nil }
	bin, err := testpg.Installer{UID: os.Geteuid(), Out: out}.Obtain(ctx, testpg.DebianGlob)
	if errors.Is(err, testpg.ErrMayNotInstall) {
		fmt.Fprintf(out, "PostgreSQL is not installed, so the tests that need it are skipped; install it with: %s\n", testpg.InstallHint)
		if c.ci {
			return "", none, errors.New("PostgreSQL is required under CI")
		}
		return "", none, nil
	}
	if err != nil {
		return "", none, err
	}
	// Hundreds of small databases that live for a second each: nothing is there to vacuum, and each of a thousand
	// server processes maps all of the buffers.
	cluster, err := testpg.StartIn(ctx, testpg.InMemory(databasesRoom), bin, "autovacuum=off", "shared_buffers=16MB")
	if err != nil {
		return "", none, err
	}
	return cluster.URL, cluster.Stop, nil
}
