package core

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Coverage is how much of a benchmark is evaluated.
type Coverage struct {
	Full bool   `json:"full,omitempty"`
	N    int    `json:"n"` // tasks selected
	Seed uint32 `json:"seed"`
}

// Concurrency is what was asked for: auto, max or N.
type Concurrency struct {
	Max bool `json:"max,omitempty"`
	N   int  `json:"n,omitempty"` // 0 = auto unless Max
}

// Quote is a reviewed offer. Everything a run needs is frozen in it; a run
// never reads a price, a route or a benchmark version from anywhere else.
type Quote struct {
	ID        QuoteID     `json:"id"`
	Workspace WorkspaceID `json:"workspace"`
	Epoch     int64       `json:"epoch"`
	Name      string      `json:"name,omitempty"`
	CreatedAt Micros      `json:"created_at"`
	ExpiresAt Micros      `json:"expires_at"`
	Preview   bool        `json:"preview,omitempty"`
	// Group is the quote that this one is a part of; it is accepted with the
	// others of that quote or not at all.
	Group GroupQuoteID `json:"group,omitempty"`
	Cap   usd.Micro    `json:"cap"`
	// MinCap is the worst case of the first task, all of its parts and its judges
	// included: no smaller cap can start one.
	MinCap usd.Micro `json:"min_cap"`
	Target Target    `json:"target"`
	// Judges are the models that grade, in the order of the panel; none where
	// a program grades.
	Judges   []Judge  `json:"judges,omitempty"`
	Profile  Profile  `json:"profile"`
	Coverage Coverage `json:"coverage"`
	// Algorithm names how tasks are selected and ordered.
	Algorithm   string      `json:"algorithm"`
	TaskIDsHash string      `json:"task_ids_hash"`
	Concurrency Concurrency `json:"concurrency"`
	// Reasoning is the choice for this model, as checked against its route.
	Reasoning ReasoningChoice `json:"reasoning,omitzero"`
	// Sampling is what the model is sent of how the benchmark draws answers. A
	// provider may ignore it: this is what was sent, not what was applied.
	Sampling bundle.Sampling `json:"sampling,omitzero"`
	// Limit is the number of calls in flight that the run may have.
	Limit        int      `json:"limit"`
	LimitReasons []string `json:"limit_reasons"`
	Warnings     []string `json:"warnings"`
	// Runtime is the RuntimeCompat of the version that made the quote; "" for one
	// that recorded none, whose runs cannot be continued.
	Runtime string `json:"runtime,omitempty"`
	// Wider is what the run does beyond asking one model once about each task of
	// one benchmark.
	Wider Wider `json:"wider,omitzero"`
	// Continuation is set where the quote goes on with an ended run.
	Continuation *Continuation `json:"continuation,omitempty"`
	// ScopeHash identifies what is evaluated and how, without cap and time.
	ScopeHash string `json:"scope_hash"`
}

// Hold is the credit that admission sets aside: what can become a charge of
// ours. A connection's spend is billed by its provider.
func (q Quote) Hold() usd.Micro {
	metered := q.Target.Metered()
	for _, j := range q.Judges {
		metered = metered && j.Target.Metered()
	}
	if metered {
		return 0
	}
	return q.Cap
}

// Simulated says that something in the quote, the model or a judge, is: then
// its score shows nothing about a model.
func (q Quote) Simulated() bool {
	simulated := q.Target.Simulated
	for _, j := range q.Judges {
		simulated = simulated || j.Target.Simulated
	}
	return simulated
}

// Practice says that every call of the quote goes to a simulated route.
func (q Quote) Practice() bool {
	practice := q.Target.Simulated
	for _, j := range q.Judges {
		practice = practice && j.Target.Simulated
	}
	return practice
}

// Book is the set of accounts that a run is paid from. Practice credit pays
// simulated routes, and only those.
func (q Quote) Book(practice bool) Book {
	if practice && q.Practice() {
		return PracticeBook
	}
	return CreditBook
}

// Book is a set of ledger accounts.
type Book string

// Books of a workspace.
const (
	CreditBook   Book = "credit"
	PracticeBook Book = "practice"
)

// Fingerprint is the hash of what a quote would evaluate: benchmark version
// and data, selection, target revision, limits and grader.
func (q Quote) Fingerprint() string {
	b, err := json.Marshal(struct {
		Profile, Manifest, Dataset, Tasks, Target, Protocol, Grader, Order string
		Revision, MaxOutput                                                int
		Coverage                                                           Coverage
		Judges                                                             []string        `json:",omitempty"`
		Reasoning                                                          ReasoningChoice `json:",omitzero"`
		Sampling                                                           bundle.Sampling `json:",omitzero"`
	}{
		string(q.Profile.ID), q.Profile.ManifestSHA256, q.Profile.DatasetSHA256, q.TaskIDsHash,
		q.Target.Name(), q.Target.Protocol, q.Profile.Grader.ID + "@" + q.Profile.Grader.Compat, q.Algorithm,
		q.Target.Revision, q.OutputBound(), q.Coverage, q.judges(), q.Reasoning, q.Sampling,
	})
	if err != nil {
		panic(err) // strings and integers always marshal
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// OutputBound is the most output tokens that a call of this quote asks for.
func (q Quote) OutputBound() int {
	return OutputBound(q.Profile, q.Target)
}

// OutputBound is the smaller of what the benchmark needs and the target allows.
func OutputBound(p Profile, t Target) int {
	return min(p.MaxOutputTokens, t.MaxOutputTokens)
}

// Order is the task order of the quote.
func (q Quote) Order() Order { return NewOrder(q.Profile.TaskCount, q.Coverage.Seed) }

// Limit decides how many calls may be in flight and says why. A task has one
// call in flight at a time, its own or a judge's.
func Limit(c Concurrency, t Target, judges []Judge, tasks int) (n int, reasons []string) {
	switch {
	case c.Max:
		n, reasons = t.Ceiling, append(reasons, "max: the ceiling of this route")
	case c.N > 0:
		n, reasons = c.N, append(reasons, "requested")
		if n > t.Ceiling {
			n, reasons = t.Ceiling, append(reasons, "lowered to the ceiling of this route")
		}
	default:
		n, reasons = min(t.Auto, t.Ceiling), append(reasons, "auto: the usual value of this route")
	}
	for _, j := range judges {
		if n > j.Target.Ceiling {
			n, reasons = j.Target.Ceiling, append(reasons, "lowered to the ceiling of a judge")
		}
	}
	if n > tasks {
		n, reasons = tasks, append(reasons, "lowered to the number of tasks")
	}
	return max(n, 1), reasons
}
