// Package stage runs the steps of a check one after the other, all of them, and says at the end which ones failed and
// how long each took. Running on after a failure is the point: one run shows everything that is wrong.
package stage

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// Stage is one step. Run writes what it finds to out and returns an error when the step failed.
type Stage struct {
	Name string
	Run  func(ctx context.Context, out io.Writer) error
}

// Runner runs stages. Now is the clock.
type Runner struct {
	Out io.Writer
	Now func() time.Time
}

type result struct {
	name string
	took time.Duration
	word string // "ok", "FAILED" or "not run"
}

// Run returns true when every stage ran and passed. After ctx has ended the remaining stages are not run.
func (r Runner) Run(ctx context.Context, stages []Stage) bool {
	var results []result
	var failed []string
	for _, s := range stages {
		if ctx.Err() != nil {
			results = append(results, result{name: s.Name, word: "not run"})
			failed = append(failed, s.Name)
			continue
		}
		fmt.Fprintf(r.Out, "== %s\n", s.Name)
		start := r.Now()
		err := s.Run(ctx, r.Out)
		res := result{name: s.Name, took: r.Now().Sub(start), word: "ok"}
		if err != nil {
			res.word = "FAILED"
			failed = append(failed, s.Name)
			fmt.Fprintf(r.Out, "%s: %v\n", s.Name, err)
		}
		results = append(results, res)
	}
	r.summarize(results, failed)
	return len(failed) == 0
}

func (r Runner) summarize(results []result, failed []string) {
	fmt.Fprintln(r.Out, "== summary")
	var total time.Duration
	for _, res := range results {
		total += res.took
		fmt.Fprintf(r.Out, "%-14s %-8s %8s\n", res.name, res.word, res.took.Round(100*time.Millisecond))
	}
	if len(failed) > 0 {
		fmt.Fprintf(r.Out, "FAILED after %s: %s\n", total.Round(100*time.Millisecond), strings.Join(failed, ", "))
		return
	}
	fmt.Fprintf(r.Out, "All stages passed in %s.\n", total.Round(100*time.Millisecond))
}
