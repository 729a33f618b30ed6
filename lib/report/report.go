// Package report renders a finished run as a file or a page: HTML, Markdown,
// JUnit XML and an evidence bundle.
//
// Every rendering is made from one Report, which From reads out of the records
// of the wire, so that a service and a client show the same figures. A Report
// holds no tasks: these are streamed, and a renderer that must know more about
// them than it can write at once goes over them twice.
//
// Texts of models, benchmarks and people are made safe to show when they enter
// a Report (package plain), and escaped again by the rules of each format.
// Nothing here has a clock: the same run gives the same bytes.
package report

import (
	"iter"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Report is a finished run without its tasks.
type Report struct {
	Run        plain.Safe
	Name       plain.Safe
	Version    int // of the result, from 1
	FinishedAt string
	// StartedAt is of a run that goes on, and Live says that it does: its figures
	// are those so far.
	StartedAt string
	Live      bool
	// Waiting is what a run that goes on waits for, "" for nothing.
	Waiting   plain.Safe
	Benchmark plain.Safe // profile id, such as gsm8k@1
	Title     plain.Safe // the benchmark's name
	Model     plain.Safe
	ModelID   plain.Safe
	Reasoning plain.Safe // "" when nothing was chosen
	Status    plain.Safe
	Why       plain.Safe // why the run is not complete, "" when it is
	Simulated bool

	// Figures are the metrics with the headline first; none when nothing was
	// graded.
	Figures []Figure
	// Bounds is what the headline would be if tasks without a score were all
	// wrong, or all right; nil when every task has one.
	Bounds   *Bounds
	Outcomes []Outcome // only those with tasks; they add up to Planned
	Coverage Coverage
	Money    Money

	Provenance []Fact
	Licences   []Licence
	Warnings   []plain.Safe
	// Note says what the interval can and cannot tell.
	Note plain.Safe
	// Chain is there where the report is of a run with its resumes.
	Chain *Chain
	// Answers says whether answers are there: included, withheld or expired.
	Answers plain.Safe
}

// Coverage says how much of the benchmark the run covers.
type Coverage struct {
	Planned, Graded, Errors, NotRun int
	Population                      int
	Seed                            string // "" when every task was planned
	Sample                          bool
}

// Money is the run's money. Rates are for a million tokens.
type Money struct {
	Cap, Spend usd.Micro
	// Reserved is held for calls in flight; nothing of it is left in a result.
	Reserved usd.Micro
	// Unspent is what the cap left: nothing of it was charged.
	Unspent usd.Micro
	// Metered is the part of Spend that a provider bills by itself.
	Metered usd.Micro
	// Outside says that a provider bills at rates that are not known here.
	Outside bool
	Pending bool
	Note    plain.Safe
	Rates   []Fact
	// Share is Spend of Cap in tenths of a percent.
	Share int
}

// Fact is a name with its value.
type Fact struct {
	Name  string
	Value plain.Safe
}

// Licence is what a licence asks to be shown.
type Licence struct {
	Scope, Identifier, Attribution, Revision, URL, Text plain.Safe
}

// Task is one planned task.
type Task struct {
	// Index is the place in the run's order, from 0.
	Index int
	api.ExportSample
	// Extracted is the beginning of what was taken for the answer, Span where
	// it stands in the answer, in code points.
	Extracted string
	Span      *[2]int
	Rule      string // how the grader decided
	// Target is what would have been right; nil where it is not shown.
	Target []string
}

// Tasks yields the planned tasks of a run in its order, each exactly once. It
// can be gone over again and yields the same.
type Tasks = iter.Seq2[Task, error]
