package core_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

var update = flag.Bool("update", false, "write the golden files anew")

func callStates() []core.CallState {
	return []core.CallState{"", core.CallIntent, core.CallSent, core.CallResponded, core.CallRejected, core.CallVoided, core.CallUnknown, core.CallLate}
}

func sampleStates() []core.SampleState {
	return []core.SampleState{"", core.SamplePlanned, core.SampleInCall, core.SampleJudging, core.SampleAnswered, core.SampleGraded, core.SampleUnresolved,
		core.SampleRefused, core.SampleFailed, core.SampleCancelled, core.SamplePending, core.SampleLeftOut}
}

// situations are the facts beside the states of a call and a task.
func situations() map[string]core.Cell {
	kept := core.Cell{Evidence: core.EvidenceKept, Code: "provider_error", Stop: core.SpendingCap}
	with := func(change func(*core.Cell)) core.Cell {
		c := kept
		change(&c)
		return c
	}
	return map[string]core.Cell{
		"cap":          kept,
		"person":       with(func(c *core.Cell) { c.Stop = core.CancelledByUser }),
		"time":         with(func(c *core.Cell) { c.Stop = core.TimeLimit }),
		"no evidence":  with(func(c *core.Cell) { c.Evidence = core.EvidenceNone }),
		"expired":      with(func(c *core.Cell) { c.Evidence = core.EvidenceExpired }),
		"changed":      with(func(c *core.Cell) { c.Evidence = core.EvidenceChanged }),
		"other grader": with(func(c *core.Cell) { c.Foreign = true }),
		"grader error": with(func(c *core.Cell) { c.Code = core.CodeGraderError }),
		"gap":          with(func(c *core.Cell) { c.Gap = true }),
		"parts":        with(func(c *core.Cell) { c.Parted = true }),
		"parts/person": with(func(c *core.Cell) { c.Parted, c.Stop = true, core.CancelledByUser }),
	}
}

var flagSets = []core.Flags{{}, {IncludeCancelled: true}, {RetryUnknown: true}, {IncludeCancelled: true, RetryUnknown: true}}

// Every state of a call with every state of a task, under every situation and
// every set of flags, has its row in the golden file.
func TestDecide_EveryCombination(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	fmt.Fprintf(&b, "# situation\tcall\ttask\tno flags\t--include-cancelled\t--retry-unknown\tboth\n")
	rows := 0
	names := []string{"cap", "person", "time", "no evidence", "expired", "changed", "other grader", "grader error", "gap", "parts", "parts/person"}
	all := situations()
	if len(all) != len(names) {
		t.Fatalf("%d situations and %d names", len(all), len(names))
	}
	for _, name := range names {
		for _, call := range callStates() {
			for _, sample := range sampleStates() {
				c := all[name]
				c.Call, c.Sample = call, sample
				fmt.Fprintf(&b, "%s\t%s\t%s", name, word(string(call)), word(string(sample)))
				for _, f := range flagSets {
					d := core.Decide(c, f)
					fmt.Fprintf(&b, "\t%s", strings.TrimSuffix(fmt.Sprintf("%s/%s", d.Bucket, d.Reason), "/"))
					if d.Bucket == "" {
						t.Errorf("%s, %q, %q, %+v has no decision", name, call, sample, f)
					}
				}
				b.WriteString("\n")
				rows++
			}
		}
	}
	if want := len(names) * 8 * 12; rows != want {
		t.Errorf("%d rows, want %d", rows, want)
	}
	golden(t, "testdata/decide.golden", b.String())
}

func word(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

func anyCell(t *rapid.T) core.Cell {
	return core.Cell{
		Call: rapid.SampledFrom(callStates()).Draw(t, "call"), Sample: rapid.SampledFrom(sampleStates()).Draw(t, "sample"),
		Evidence: rapid.SampledFrom([]core.EvidenceState{"", core.EvidenceKept, core.EvidenceExpired, core.EvidenceChanged}).Draw(t, "evidence"),
		Code:     rapid.SampledFrom([]string{"", "provider_error", core.CodeGraderError, core.CodeTransientUnbilled, core.CodeRefused}).Draw(t, "code"),
		Stop:     rapid.SampledFrom([]core.Reason{core.SpendingCap, core.CancelledByUser, core.TimeLimit, core.ProviderDown, core.ReasonCompleted}).Draw(t, "stop"),
		Gap:      rapid.Bool().Draw(t, "gap"), Parted: rapid.Bool().Draw(t, "parted"), Foreign: rapid.Bool().Draw(t, "foreign"),
	}
}

// What the table must never do, whatever the record says.
func TestDecide_RES39_RES40_RES42_RES46_RES66_Rules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := anyCell(t)
		plain, cancelled, retry := core.Decide(c, core.Flags{}), core.Decide(c, core.Flags{IncludeCancelled: true}), core.Decide(c, core.Flags{RetryUnknown: true})
		if mayHaveRun := c.Call == core.CallUnknown || c.Call == core.CallSent || c.Call == core.CallIntent; mayHaveRun && (plain.Bucket == core.Ask || cancelled.Bucket == core.Ask || retry.Bucket == core.Ask) {
			t.Fatalf("%+v may have been processed and is asked without consent", c)
		}
		if plain.Bucket == core.Retry || cancelled.Bucket == core.Retry {
			t.Fatalf("%+v is asked again without --retry-unknown", c)
		}
		if c.Sample == core.SampleGraded && plain.Bucket != core.Reuse && plain.Bucket != core.Forbid {
			t.Fatalf("the grade of %+v is neither reused nor refused: %v", c, plain)
		}
		if (c.Sample == core.SampleLeftOut || c.Sample == core.SampleRefused) && (plain.Bucket != core.Leave || cancelled.Bucket != core.Leave || retry.Bucket != core.Leave) {
			t.Fatalf("%+v does not stay out for good", c)
		}
		if whole := c.Call == core.CallResponded && !c.Parted; whole && (plain.Bucket == core.Ask || cancelled.Bucket == core.Ask || retry.Bucket == core.Ask || retry.Bucket == core.Retry) {
			t.Fatalf("%+v has an answer and is asked again", c)
		}
		other := c
		other.Code = core.CodeInternal
		if named := c.Sample == core.SampleLeftOut || c.Code == core.CodeGraderError; !named && (core.Decide(other, core.Flags{}) != plain || core.Decide(other, core.Flags{RetryUnknown: true}) != retry) {
			t.Fatalf("the name of the error decides about %+v", c)
		}
		if (plain.Bucket == core.Wait && (plain.Reason == core.WhyUnknown || plain.Reason == core.WhyPartly)) != plain.Offered {
			t.Fatalf("%+v: %+v is not offered exactly when its outcome is unknown", c, plain)
		}
	})
}

// The rows of the table that a reader looks for first.
func TestDecide_Rows(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		cell core.Cell
		f    core.Flags
		want core.Decision
	}{
		{"RES-03 graded", core.Cell{Call: core.CallResponded, Sample: core.SampleGraded, Evidence: core.EvidenceKept}, core.Flags{}, core.Decision{Bucket: core.Reuse}},
		{"RES-43 answered and not graded", core.Cell{Call: core.CallResponded, Sample: core.SampleFailed, Code: core.CodeGraderError, Evidence: core.EvidenceKept}, core.Flags{}, core.Decision{Bucket: core.Regrade}},
		{"RES-44 on its way", core.Cell{Call: core.CallSent, Sample: core.SampleInCall}, core.Flags{RetryUnknown: true}, core.Decision{Bucket: core.Wait, Reason: core.WhyInProgress}},
		{"RES-46 perhaps processed", core.Cell{Call: core.CallUnknown, Sample: core.SampleUnresolved}, core.Flags{}, core.Decision{Bucket: core.Wait, Reason: core.WhyUnknown, Offered: true}},
		{"RES-47 a failure that was not billed", core.Cell{Call: core.CallUnknown, Sample: core.SampleUnresolved, Code: core.CodeTransientUnbilled}, core.Flags{}, core.Decision{Bucket: core.Wait, Reason: core.WhyUnknown, Offered: true}},
		{"RES-48 with consent", core.Cell{Call: core.CallUnknown, Sample: core.SampleUnresolved}, core.Flags{RetryUnknown: true}, core.Decision{Bucket: core.Retry, Offered: true}},
		{"RES-30 a person stopped it", core.Cell{Stop: core.CancelledByUser}, core.Flags{}, core.Decision{Bucket: core.Leave, Reason: core.WhyCancelled, Stopped: core.CancelledByUser}},
		{"RES-31 the time limit did", core.Cell{Stop: core.TimeLimit}, core.Flags{}, core.Decision{Bucket: core.Leave, Reason: core.WhyTimeLimit, Stopped: core.TimeLimit}},
		{"RES-31 and it is asked for", core.Cell{Stop: core.TimeLimit}, core.Flags{IncludeCancelled: true}, core.Decision{Bucket: core.Ask, Stopped: core.TimeLimit}},
		{"RES-32 refused", core.Cell{Call: core.CallResponded, Sample: core.SampleRefused, Evidence: core.EvidenceKept}, core.Flags{true, true}, core.Decision{Bucket: core.Leave, Reason: core.WhyRefused}},
		{"RES-33 left out before", core.Cell{Sample: core.SampleLeftOut, Code: core.WhyCancelled}, core.Flags{true, true}, core.Decision{Bucket: core.Leave, Reason: core.WhyCancelled}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := core.Decide(tt.cell, tt.f); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
	s := core.NewSurvey(core.Flags{})
	s.Add(core.Cell{Call: core.CallUnknown, Sample: core.SampleUnresolved, Code: core.CodeTransientUnbilled})
	s.Add(core.Cell{Idx: 1, Call: core.CallUnknown, Sample: core.SampleUnresolved, Code: core.CodeOutcomeUnknown, Tries: 2})
	if s.Unknown != 2 || s.Unbilled != 1 || s.Tries != 2 || s.Work() != 0 {
		t.Errorf("%+v", s.Cells)
	}
}

// The counts add up to the cells, whatever they are, and the digest sees every
// fact that a decision rests on.
func TestSurvey_AddsUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(flagSets).Draw(t, "flags")
		s, forbidden := core.NewSurvey(f), 0
		cells := rapid.SliceOfN(rapid.Custom(anyCell), 1, 40).Draw(t, "cells")
		for i, c := range cells {
			c.Idx = i
			if s.Add(c).Bucket == core.Forbid {
				forbidden++
			}
		}
		if s.Total()+forbidden != len(cells) || (s.Forbidden != nil) != (forbidden > 0) || s.Unknown < s.Retried || (s.First >= 0) != (s.Asked() > 0) {
			t.Fatalf("%d cells and %d forbidden counted as %+v", len(cells), forbidden, s.Cells)
		}
		changed := core.NewSurvey(f)
		for i, c := range cells {
			if c.Idx = i; i == 0 {
				c.Hash = "another"
			}
			changed.Add(c)
		}
		if changed.Digest() == s.Digest() {
			t.Fatal("another answer gives the same digest")
		}
	})
}
