// Package route names the places of the workspace, as data. A page opens
// another one by its route, so that no page imports another.
package route

import (
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Home is the first screen.
type Home struct{}

// Benchmarks is the list of benchmarks. ForRun makes Enter choose one to run.
type Benchmarks struct{ ForRun bool }

// Benchmark is the page of one benchmark version.
type Benchmark struct{ Record api.BenchmarkRecord }

// Models is the list of models.
type Models struct{}

// Model is the page of one model.
type Model struct{ ID string }

// Launch is choosing models and their reasoning.
type Launch struct{ Benchmark api.BenchmarkRecord }

// Cover is choosing how much of the benchmark to run, and the cap.
type Cover struct{ Draft Draft }

// Review is the quote of a draft, before anything is spent.
type Review struct{ Draft Draft }

// MostModels is how many models one review can start together.
const MostModels = 8

// Pick is a chosen model with its reasoning.
type Pick struct {
	Model     api.ModelRef
	Name      string
	Reasoning *api.ReasoningChoice
	// Practice says that practice credit pays for it.
	Practice bool
}

// Draft is a run as it was put together, or a group where it has several models.
type Draft struct {
	Benchmark api.BenchmarkRecord
	Picks     []Pick // 1 to MostModels, in the order of the list
	Coverage  api.Coverage
	Cap       usd.Micro // of all together
}

// Continue is choosing how to go on with an ended run, or with what is left of the
// members of a group: one of them is given.
type Continue struct {
	Run   api.RunRecord
	Group *api.GroupRecord
}

// Resume is the quote of a continuation, before anything is spent.
type Resume struct{ Plan Plan }

// Plan is a continuation as it was put together.
type Plan struct {
	Continue
	Cap usd.Micro // of all new runs together
	// IncludeCancelled runs what a person or the time limit stopped.
	IncludeCancelled bool
	// RetryUnknown pays for a new attempt of tasks of unknown outcome, Duplicates
	// agrees that the person's own provider may bill them twice.
	RetryUnknown, Duplicates bool
}

// Live is a run that is going on.
type Live struct{ ID string }

// Stop is stopping a run, or all members of a group: one of the ids is given.
type Stop struct{ Run, Group string }

// Result is what a finished run found.
type Result struct{ ID string }

// Samples is the list of a run's tasks.
type Samples struct{ Run string }

// Sample is one task of a run: that at a place among others, which are next to
// it in the list it was opened from.
type Sample struct {
	Run   string
	Among []api.TaskRecord
	At    int
}

// History is the list of runs. Finished shows only those that have ended; Mark
// is for choosing several of them to compare.
type History struct{ Finished, Mark bool }

// Groups is the list of groups. Finished shows only those that have ended.
type Groups struct{ Finished bool }

// Group is several runs that were started together. Watch begins to follow them
// at once.
type Group struct {
	ID    string
	Watch bool
}

// Results is the choice of whose results to look at.
type Results struct{}

// Compare lays finished runs of the same tasks side by side. Group is the one
// that they are all of, "" where they were chosen.
type Compare struct {
	Runs  []string
	Group string
}

// Billing is the workspace's money.
type Billing struct{}

// Account is who the person is, and where.
type Account struct{}

// SignIn is signing in: by the browser of this machine, by a code, or with an API
// key that is typed.
type SignIn struct{ ByCode, ByKey bool }

// Uploads is where benchmarks are uploaded.
type Uploads struct{}
