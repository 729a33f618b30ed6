package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// plan measures what does not call anybody: quotes of a large benchmark, and
// the start of a service over a run that was cut off in the middle.
func plan(args []string) error {
	flags := flag.NewFlagSet("scripts/bench plan", flag.ContinueOnError)
	n := flags.Int("n", 100_000, "tasks of the benchmark, at most as many as a data file may have")
	done := flags.Int("done", 20_000, "calls of the run before the service is killed")
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 {
		return errUsage
	}
	dir, err := os.MkdirTemp("", "evalrouter-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := prepare(dir, scenario{n: *n, inFlight: 256})
	if err != nil {
		return err
	}
	defer b.close()
	h := &home{dir: filepath.Join(dir, "home")}
	began := time.Now()
	model, err := b.furnish(h)
	if err != nil {
		return err
	}
	defer h.run("evalrouter", "local", "stop")
	fmt.Printf("benchmark of %d tasks admitted and connected in %.1f s, database %.0f MB\n", *n, time.Since(began).Seconds(), float64(h.databaseSize())/1e6)
	for _, coverage := range [][]string{{"--full"}, {"--sample", "25"}, {"--sample", "1000"}} {
		if err := h.quote(model, coverage); err != nil {
			return err
		}
	}
	return b.interrupt(h, model, *done)
}

// quote times one quote in a service that has just started.
func (h *home) quote(model string, coverage []string) error {
	h.run("evalrouter", "local", "stop")
	if _, out, err := h.run("evalrouter", "local", "start"); err != nil {
		return fmt.Errorf("start the service: %w\n%s", err, out)
	}
	pid, err := h.pid()
	if err != nil {
		return err
	}
	before, began := peakNow(pid), time.Now()
	_, out, err := h.run("evalrouter", append([]string{"run", "sums", "--model", model, "--max-cost", "900", "--dry-run", "--json"}, coverage...)...)
	if err != nil {
		return fmt.Errorf("quote: %w\n%s", err, out)
	}
	fmt.Printf("quote %-16s %6.0f ms  peak RSS of the service %.0f MB (%.0f MB before)\n", strings.Join(coverage, " "),
		float64(time.Since(began).Microseconds())/1000, float64(peakNow(pid))/1e6, float64(before)/1e6)
	return nil
}

// interrupt kills the service in the middle of a run and times its next start.
func (b *bench) interrupt(h *home, model string, done int) error {
	if err := b.mock.reset(); err != nil {
		return err
	}
	if _, out, err := h.run("evalrouter", "run", "sums", "--model", model, "--full", "--max-cost", "900", "--concurrency", "max", "--yes", "--wait-timeout", "1", "--json"); !strings.Contains(out, `"run_id"`) {
		return fmt.Errorf("run: %w\n%s", err, out)
	}
	for {
		c, err := b.mock.counters()
		if err != nil {
			return err
		}
		if c.Requests >= done {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	pid, err := h.pid()
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return err
	}
	began := time.Now()
	if _, out, err := h.run("evalrouter", "local", "start"); err != nil {
		return fmt.Errorf("start the service: %w\n%s", err, out)
	}
	fmt.Printf("killed after %d calls with %d tasks open; started again and ready in %.0f ms\n", done, b.n-done, float64(time.Since(began).Microseconds())/1000)
	return nil
}
