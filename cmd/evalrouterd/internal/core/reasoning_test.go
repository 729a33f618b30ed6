package core_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// What is not offered is refused, with what is.
func TestReasoning_Check(t *testing.T) {
	t.Parallel()
	efforts := core.Reasoning{Mode: core.ReasoningEfforts, Efforts: []string{"none", "low", "high"}}
	budget := core.Reasoning{Mode: core.ReasoningBudget, MinTokens: 1024, MaxTokens: 8192, Step: 1024, CanDisable: true}
	effort := func(e string) core.ReasoningChoice {
		return core.ReasoningChoice{Mode: core.ChooseEffort, Effort: e}
	}
	tokens := func(n int) core.ReasoningChoice {
		return core.ReasoningChoice{Mode: core.ChooseBudget, Tokens: n}
	}
	off := core.ReasoningChoice{Mode: core.ChooseOff}
	for _, tt := range []struct {
		name    string
		offer   core.Reasoning
		choice  core.ReasoningChoice
		allowed []string // nil: taken
	}{
		{"nothing chosen, nothing offered", core.Reasoning{}, core.ReasoningChoice{}, nil},
		{"the provider's default", efforts, core.ReasoningChoice{Mode: core.ReasoningDefault}, nil},
		{"an effort of the list", efforts, effort("high"), nil},
		{"an effort that is not on it", efforts, effort("max"), []string{"none", "low", "high", "off", "default"}},
		{"off, by the effort none", efforts, off, nil},
		{"off, without it", core.Reasoning{Mode: core.ReasoningEfforts, Efforts: []string{"low"}}, off, []string{"low", "default"}},
		{"a budget where efforts are offered", efforts, tokens(2048), []string{"none", "low", "high", "off", "default"}},
		{"a budget", budget, tokens(2048), nil},
		{"the smallest", budget, tokens(1024), nil},
		{"less", budget, tokens(1023), []string{"1024 to 8192 thinking tokens", "off", "default"}},
		{"more", budget, tokens(8193), []string{"1024 to 8192 thinking tokens", "off", "default"}},
		{"between its steps", budget, tokens(1025), []string{"1024 to 8192 thinking tokens", "off", "default"}},
		{"as much as the whole output", budget, tokens(4096), []string{"1024 to 8192 thinking tokens", "off", "default"}},
		{"off", budget, off, nil},
		{"fixed", core.Reasoning{Mode: core.ReasoningFixed}, effort("low"), []string{"default"}},
		{"a mode that is none", budget, core.ReasoningChoice{Mode: "loud"}, []string{"1024 to 8192 thinking tokens", "off", "default"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tt.offer.Check(tt.choice, 4096)
			if tt.allowed == nil {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var no *core.Refusal
			if !errors.As(err, &no) || no.Code != core.ReasoningUnsupported {
				t.Fatalf("got %v", err)
			}
			if d := cmp.Diff(tt.allowed, no.Details["allowed"]); d != "" {
				t.Error(d)
			}
		})
	}
}
