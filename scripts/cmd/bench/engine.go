package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// scenario is what both sides do in a pair.
type scenario struct {
	n, inFlight, pairs int
	latency            time.Duration
	sigma              float64
	errorRate          float64
	rate429, dropRate  float64
	alone              bool
	keep               bool
	told               bool // tasks of some sentences, which the mock repeats
}

// mean is the mean of the mock's latency: its flag gives the median of a
// lognormal.
func (s scenario) mean() time.Duration {
	if s.sigma == 0 {
		return s.latency
	}
	return time.Duration(float64(s.latency) * expHalfSquare(s.sigma))
}

func engine(args []string) error {
	var s scenario
	flags := flag.NewFlagSet("scripts/bench engine", flag.ContinueOnError)
	flags.IntVar(&s.n, "n", 10_000, "tasks")
	flags.IntVar(&s.inFlight, "c", 256, "calls in flight")
	flags.IntVar(&s.pairs, "pairs", 5, "pairs of one run and one loader, in alternating order")
	flags.DurationVar(&s.latency, "latency", 0, "latency of the mock; the median when -sigma is set")
	flags.Float64Var(&s.sigma, "sigma", 0, "sigma of a lognormal latency")
	flags.Float64Var(&s.errorRate, "error-rate", 0, "share of calls answered 500")
	flags.Float64Var(&s.rate429, "rate-429", 0, "share of calls answered 429")
	flags.Float64Var(&s.dropRate, "drop-rate", 0, "share of calls whose answer is lost")
	flags.BoolVar(&s.alone, "alone", false, "leave the loader out; it stops at the first error")
	flags.BoolVar(&s.keep, "keep", false, "keep the folder with the services' data and logs")
	if err := flags.Parse(args); err != nil || flags.NArg() > 0 || s.n < 1 || s.pairs < 1 {
		return errUsage
	}
	dir, err := os.MkdirTemp("", "evalrouter-bench-")
	if err != nil {
		return err
	}
	if s.keep {
		fmt.Println("folder:", dir)
	} else {
		defer os.RemoveAll(dir)
	}
	b, err := prepare(dir, s)
	if err != nil {
		return err
	}
	defer b.close()
	return b.measure()
}

// bench is a prepared measurement: built peers, a mock that listens, tasks.
type bench struct {
	scenario
	dir, tasks string
	loader     string
	mock       *mock
	product    []figures
	peer       []figures
}

// figures are what one side of a pair gave.
type figures struct {
	wall     time.Duration
	cpu      float64 // seconds, client and service
	rss      int64   // bytes, peaks of client and service together
	first    time.Duration
	disk     int64 // bytes in the database beyond the tasks, per run
	commits  int64
	counters counters
	state    string
}

func prepare(dir string, s scenario) (*bench, error) {
	b := &bench{scenario: s, dir: dir, tasks: filepath.Join(dir, "tasks.jsonl")}
	if err := writeTasks(b.tasks, s.n, s.told); err != nil {
		return nil, err
	}
	tools := filepath.Join("..", "shared", "tools")
	mockBin, err := buildPeer(filepath.Join(tools, "mockllm"), dir)
	if err != nil {
		return nil, err
	}
	if b.loader, err = buildPeer(filepath.Join(tools, "goloader"), dir); err != nil {
		return nil, err
	}
	b.mock, err = startMock(mockBin, s)
	return b, err
}

func (b *bench) close() { b.mock.stop() }

func (b *bench) measure() error {
	fmt.Printf("%d tasks, %d in flight, latency %s (mean %s)\n", b.n, b.inFlight, b.latency, b.mean().Round(10*time.Microsecond))
	for i := range b.pairs {
		sides := []func(int) error{b.runProduct, b.runLoader}
		if i%2 == 1 {
			slices.Reverse(sides)
		}
		for _, side := range sides {
			if err := side(i); err != nil {
				return err
			}
		}
	}
	b.report(os.Stdout)
	return nil
}

func (b *bench) report(out io.Writer) {
	b.summary(out, "evalrouter", b.product)
	if b.alone {
		return
	}
	b.summary(out, "goloader", b.peer)
	var ratio, cpu []float64
	for i := range b.product {
		ratio = append(ratio, b.peer[i].wall.Seconds()/b.product[i].wall.Seconds())
		cpu = append(cpu, b.product[i].cpu/b.peer[i].cpu)
	}
	fmt.Fprintf(out, "pairs: samples/s %.0f %% of the loader's (min %.0f, max %.0f); CPU %.1f times\n",
		100*median(ratio), 100*slices.Min(ratio), 100*slices.Max(ratio), median(cpu))
}

func (b *bench) summary(out io.Writer, name string, all []figures) {
	pick := func(f func(figures) float64) float64 {
		var v []float64
		for _, x := range all {
			v = append(v, f(x))
		}
		return median(v)
	}
	n := float64(b.n)
	fmt.Fprintf(out, "%-10s  %6.0f samples/s  wall %.2f s  CPU %.3f s a 1,000", name,
		n/pick(func(f figures) float64 { return f.wall.Seconds() }), pick(func(f figures) float64 { return f.wall.Seconds() }),
		1000/n*pick(func(f figures) float64 { return f.cpu }))
	if b.latency > 0 {
		ideal := n * b.mean().Seconds() / float64(b.inFlight)
		fmt.Fprintf(out, "  %.1f %% of ideal", 100*ideal/pick(func(f figures) float64 { return f.wall.Seconds() }))
	}
	fmt.Fprintf(out, "  RSS %.0f MB", pick(func(f figures) float64 { return float64(f.rss) })/1e6)
	if all[0].commits > 0 {
		fmt.Fprintf(out, "  first request %.0f ms  %.3f commits and %.0f bytes a sample", 1000*pick(func(f figures) float64 { return f.first.Seconds() }),
			pick(func(f figures) float64 { return float64(f.commits) })/n, pick(func(f figures) float64 { return float64(f.disk) })/n)
	}
	last := all[len(all)-1]
	fmt.Fprintf(out, "\n            last: %s; requests %d, duplicates %d, at most %d in flight\n", last.state,
		last.counters.Requests, last.counters.Duplicates, last.counters.MaxInFlight)
}
