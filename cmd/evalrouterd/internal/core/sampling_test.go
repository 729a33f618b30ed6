package core_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// A target is sent what it is known to take, and nothing else.
func TestTarget_Sends(t *testing.T) {
	t.Parallel()
	zero := new(float64)
	all := bundle.Sampling{Temperature: zero, Stop: []string{"Q:", "\n\n", "</s>", "a", "b", "c"}}
	both := []string{core.OffersLogprobs, core.OffersTemperature, core.OffersStop}
	for _, tt := range []struct {
		name     string
		protocol string
		offers   []string
		choice   core.ReasoningChoice
		declared bundle.Sampling
		want     bundle.Sampling
	}{
		{"unknown target", core.OpenAIChat, nil, core.ReasoningChoice{}, all, bundle.Sampling{}},
		{"takes both", core.OpenAIChat, both, core.ReasoningChoice{}, all, bundle.Sampling{Temperature: zero, Stop: []string{"Q:", "</s>", "a", "b"}}},
		{"nothing declared", core.OpenAIChat, both, core.ReasoningChoice{}, bundle.Sampling{}, bundle.Sampling{}},
		{"temperature alone", core.AnthropicMessages, []string{core.OffersTemperature}, core.ReasoningChoice{}, all, bundle.Sampling{Temperature: zero}},
		{"a protocol without stops", core.OpenAIResponses, both, core.ReasoningChoice{}, all, bundle.Sampling{Temperature: zero}},
		{"reasoning is chosen", core.AnthropicMessages, both, core.ReasoningChoice{Mode: core.ChooseBudget, Tokens: 2048}, all, bundle.Sampling{Stop: []string{"Q:", "</s>", "a", "b"}}},
		{"reasoning is off", core.AnthropicMessages, both, core.ReasoningChoice{Mode: core.ChooseOff}, bundle.Sampling{Temperature: zero}, bundle.Sampling{Temperature: zero}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tt.want, core.Target{Protocol: tt.protocol, Offers: tt.offers}.Sends(tt.declared, tt.choice)); d != "" {
				t.Error(d)
			}
		})
	}
}
