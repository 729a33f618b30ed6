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
type Model struct{ Record api.ManagedRoute }

// Launch is choosing a model and its reasoning.
type Launch struct{ Benchmark api.BenchmarkRecord }

// Cover is choosing how much of the benchmark to run, and the cap.
type Cover struct{ Draft Draft }

// Review is the quote of a draft, before anything is spent.
type Review struct{ Draft Draft }

// Draft is a run as it was put together.
type Draft struct {
	Benchmark api.BenchmarkRecord
	Model     api.ModelRef
	ModelName string
	Reasoning *api.ReasoningChoice
	Coverage  api.Coverage
	Cap       usd.Micro
	// Practice says that practice credit pays for it.
	Practice bool
}

// Live is a run that is going on.
type Live struct{ ID string }

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

// History is the list of runs. Finished shows only those that have ended.
type History struct{ Finished bool }

// Billing is the workspace's money.
type Billing struct{}

// Account is who the person is, and where.
type Account struct{}

// SignIn is signing in: by the browser of this machine, or by a code.
type SignIn struct{ ByCode bool }

// Uploads is where benchmarks are uploaded.
type Uploads struct{}
