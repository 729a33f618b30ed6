// Package builtin is the benchmarks that we write ourselves: arithmetic word
// problems, date arithmetic, unit conversion, extraction to JSON and logic
// with five options.
//
// Each is generated. A task is a pure function of the benchmark's version, a
// seed and a position, so anyone can draw fresh tasks that no model has been
// trained on, and everyone who names the same seed gets the same bytes. To
// keep that promise this package uses its own generator of random numbers,
// whole numbers and exact rationals only, no map in any order that shows, and
// neither clock nor time zone. A change of one byte of any task needs a new
// version of that benchmark; digests in the tests watch over it.
//
// Every task states the form of its answer and has exactly one right answer.
// Difficulty rises in three levels with the position, 0, 1, 2, 0, 1, 2 …, so
// that any long enough sample holds all three. Tasks are independent draws:
// none names a group.
//
// Each is graded by the rules of the family that it declares: numbers, dates
// and words by Inspect's match at the end of the answer, letters by its choice,
// JSON by SOB's value accuracy, under which 12 and 12.00 are equal. Match
// compares five significant digits, so no number that is asked for has more:
// one wrong digit is always wrong.
package builtin

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/inspect"
	"github.com/evalrouter/evalrouter/bundle/sob"
)

// DefaultSeed and DefaultSize are the population that a run uses unless it
// asks for another.
const (
	DefaultSeed uint64 = 2026
	DefaultSize        = 1000
)

// Families of the built-in benchmarks.
const (
	FamilyInspect = "inspect"
	FamilySOBText = "sob-text"
)

// Benchmark is one generated benchmark. Its task content depends on Slug,
// Version and the seed only.
type Benchmark struct {
	Slug        string
	Version     string
	Name        string
	Description string
	Category    string
	Family      string
	Grader      bundle.GraderConfig
	// MaxOutputTokens is enough for a worked answer of the hardest task.
	MaxOutputTokens int64
	Metrics         []string
	// License is the SPDX identifier of the tasks.
	License string

	generate func(*rng, int) draft
}

// draft is a task before it gets its id. level is 0 to 2.
type draft struct {
	prompt  string
	target  string
	choices []string
	schema  json.RawMessage
}

// List is the built-in benchmarks in the order of their slugs. The slice is
// the caller's.
func List() []Benchmark {
	all := []Benchmark{
		{
			Slug: "arithmetic", Name: "Arithmetic word problems", Category: "mathematics", Family: FamilyInspect,
			Description: "Word problems of two to six steps with one number as the answer: shopping, rates, percentages, ratios, averages, work and motion.",
			Grader:      lastWord(), MaxOutputTokens: 1024, generate: arithmetic,
		},
		{
			Slug: "dates", Name: "Date arithmetic", Category: "reasoning", Family: FamilyInspect,
			Description: "Questions about the Gregorian calendar: days before and after, weekdays, working days, month ends, leap years, recurring events.",
			Grader:      lastWord(), MaxOutputTokens: 1024, generate: dates,
		},
		{
			Slug: "extraction", Name: "Extraction to JSON", Category: "structured output", Family: FamilySOBText,
			Description: "Short texts from everyday business whose facts go into a JSON object of a given schema, with details that must be left out.",
			Grader:      bundle.GraderConfig{Kind: sob.KindText, Options: json.RawMessage(`{"score":"value_accuracy"}`)}, MaxOutputTokens: 1024, generate: extraction,
		},
		{
			Slug: "logic", Name: "Logic with five options", Category: "reasoning", Family: FamilyInspect,
			Description: "Orderings, assignments, true and false statements, and conclusions from rules. Each puzzle has exactly one right option of five.",
			Grader:      bundle.GraderConfig{Kind: inspect.Choice}, MaxOutputTokens: 1536, generate: logic,
		},
		{
			Slug: "units", Version: "2", Name: "Unit conversion", Category: "mathematics", Family: FamilyInspect,
			Description: "Conversions of length, mass, volume, time, data, temperature, speed and compound quantities, all with exact decimal answers.",
			Grader:      lastWord(), MaxOutputTokens: 768, generate: units,
		},
	}
	for i := range all {
		all[i].Metrics, all[i].License = []string{"accuracy"}, "MIT"
		if all[i].Version == "" {
			all[i].Version = "1"
		}
	}
	return all
}

// lastWord compares the end of the answer, which the prompts ask to be the
// value alone: as a number where the target is one, else as text.
func lastWord() bundle.GraderConfig {
	return bundle.GraderConfig{Kind: inspect.Match, Options: json.RawMessage(`{"numeric":true}`)}
}

// Find returns the built-in benchmark of a slug.
func Find(slug string) (Benchmark, bool) {
	for _, b := range List() {
		if b.Slug == slug {
			return b, true
		}
	}
	return Benchmark{}, false
}

// Digest identifies a population: SHA-256, in lower-case hex, of what decides
// its tasks and their grading.
func (b Benchmark) Digest(seed uint64, n int) string {
	raw, err := json.Marshal(struct {
		Schema, Slug, Version, Family, Seed string
		Size                                int
		Grader                              bundle.GraderConfig
		MaxOutputTokens                     int64
	}{"evalrouter.builtin.v1", b.Slug, b.Version, b.Family, strconv.FormatUint(seed, 10), n, b.Grader, b.MaxOutputTokens})
	if err != nil {
		panic("builtin: identity of " + b.Slug + " cannot be written: " + err.Error())
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Tasks is the first n tasks of a seed. Any position is made on demand, in
// constant time. A smaller n gives a prefix of a larger.
func (b Benchmark) Tasks(seed uint64, n int) bundle.Tasks { return population{b, seed, n} }

type population struct {
	b    Benchmark
	seed uint64
	n    int
}

func (p population) Len() int { return p.n }

func (p population) Task(pos int) (bundle.Task, error) {
	if pos < 0 || pos >= p.n {
		return bundle.Task{}, fmt.Errorf("make task %d of %s: want a position below %d", pos, p.b.Slug, p.n)
	}
	d := p.b.generate(newRNG(p.b.Slug, p.b.Version, p.seed, pos), pos%3)
	return bundle.Task{
		ID:      fmt.Sprintf("%d-%06d", p.seed, pos),
		Input:   []bundle.Message{{Role: bundle.User, Text: d.prompt}},
		Target:  []string{d.target},
		Choices: d.choices,
		Schema:  d.schema,
	}, nil
}
