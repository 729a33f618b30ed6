package run

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// What is run when nobody says how much.
const (
	suggestedSample = 25
	suggestedSeed   = 42
	maxSample       = 1000
)

// coverage is the part of a benchmark that the flags ask for.
func (o *options) coverage(b *api.BenchmarkRecord) (api.Coverage, error) {
	given := o.flags.Given
	switch {
	case o.full && (given("sample") || given("seed")):
		return api.Coverage{}, &argv.UsageError{Message: "--full runs every task; leave --sample and --seed out"}
	case o.full:
		return api.Coverage{Mode: api.Full}, nil
	}
	if o.earlier != nil && !given("sample") && !given("seed") {
		return *o.earlier, nil
	}
	n := o.sample
	if !given("sample") {
		n = suggestedSample
		if b.SuggestedSampleCount != nil && *b.SuggestedSampleCount > 0 {
			n = *b.SuggestedSampleCount
		}
	}
	if b.TaskCount != nil && *b.TaskCount > 0 {
		n = min(n, *b.TaskCount)
	}
	seed := uint32(suggestedSeed)
	if given("seed") {
		seed = uint32(o.seed)
	}
	return api.Coverage{Mode: api.Sample, SampleCount: &n, Seed: &seed}, nil
}

// askCoverage is the coverage of the flags, or what a person answers. --yes
// wants no questions: then the suggestion holds, and the quote shows it.
func (o *options) askCoverage(ctx context.Context, b *api.BenchmarkRecord) (api.Coverage, error) {
	c, err := o.coverage(b)
	given := o.flags.Given("sample") || o.flags.Given("full") || o.flags.Given("seed") || o.earlier != nil
	if err != nil || given || o.yes || !o.Attended() {
		return c, err
	}
	all := ""
	if b.TaskCount != nil {
		all = fmt.Sprintf(" of %s, or all", command.Thousands(*b.TaskCount))
	}
	for range maxTries {
		typed, err := o.Term.Ask(ctx, fmt.Sprintf("How many tasks%s [%d]: ", all, *c.SampleCount))
		if err != nil {
			return c, err
		}
		switch typed = strings.ToLower(strings.TrimSpace(typed)); typed {
		case "":
			return c, nil
		case "all", "full":
			return api.Coverage{Mode: api.Full}, nil
		}
		most := maxSample
		if b.TaskCount != nil {
			most = min(most, *b.TaskCount)
		}
		n, err := strconv.Atoi(strings.ReplaceAll(typed, ",", ""))
		if err == nil && n >= 1 && n <= most {
			c.SampleCount = &n
			return c, nil
		}
		o.Note("That is not a number from 1 to %s; Enter takes %d.", command.Thousands(most), *c.SampleCount)
	}
	return c, term.ErrDeclined
}

// reasoning reads an effort, a number of thinking tokens, off or default.
func reasoning(s string) (*api.ReasoningChoice, error) {
	switch s {
	case "":
		return nil, nil
	case "off":
		return &api.ReasoningChoice{Mode: "off"}, nil
	case "default":
		return &api.ReasoningChoice{Mode: "provider_default"}, nil
	}
	if n, err := strconv.Atoi(s); err == nil {
		if n <= 0 {
			return nil, &argv.UsageError{Message: "--reasoning: a thinking budget is a positive number of tokens; off turns it off"}
		}
		return &api.ReasoningChoice{Mode: "budget", BudgetTokens: n}, nil
	}
	for _, r := range s {
		if r < 'a' || r > 'z' {
			return nil, &argv.UsageError{Message: fmt.Sprintf("--reasoning: want an effort such as low, a number of tokens, off or default, not %s", flow.Typed(s))}
		}
	}
	return &api.ReasoningChoice{Mode: "effort", Effort: s}, nil
}

// spelled is a choice as --reasoning takes it.
func spelled(r api.ReasoningChoice) string {
	switch r.Mode {
	case "effort":
		return r.Effort
	case "budget":
		return strconv.Itoa(r.BudgetTokens)
	case "off":
		return "off"
	}
	return "default"
}
