package core_test

import (
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

func TestJudge_LeastOutput(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		target core.Target
		want   int
	}{
		{"does not say", core.Target{}, 16},
		{"does not reason", core.Target{Reasoning: core.Reasoning{Mode: core.ReasoningNone}}, 16},
		{"always reasons", core.Target{Reasoning: core.Reasoning{Mode: core.ReasoningFixed}}, 1024},
		{"reasons beside its limit", core.Target{Reasoning: core.Reasoning{Mode: core.ReasoningFixed}, OutputBound: core.BoundsVisible}, 16},
		{"reasons by effort", core.Target{Reasoning: core.Reasoning{Mode: core.ReasoningEfforts, Efforts: []string{"low", "high"}, DefaultEffort: "low"}}, 1024},
		{"reasons when asked to", core.Target{Reasoning: core.Reasoning{Mode: core.ReasoningEfforts, Efforts: []string{"none", "high"}, DefaultEffort: "none"}}, 16},
		{"reasons with a budget", core.Target{Reasoning: core.Reasoning{Mode: core.ReasoningBudget, DefaultTokens: 4096}}, 4112},
		{"reasons with a budget that it chooses", core.Target{Reasoning: core.Reasoning{Mode: core.ReasoningBudget}}, 1024},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := (core.Judge{Target: tt.target}).LeastOutput(); got != tt.want {
				t.Errorf("%d, want %d", got, tt.want)
			}
		})
	}
}
