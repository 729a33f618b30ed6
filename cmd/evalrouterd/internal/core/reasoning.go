package core

import (
	"fmt"
	"slices"
	"strings"
)

// Ways in which a route lets its caller choose how much it reasons, as the
// contract names them.
const (
	ReasoningNone    = "none"             // the model does not reason
	ReasoningEfforts = "efforts"          // one of a list of efforts
	ReasoningBudget  = "budget"           // a number of thinking tokens
	ReasoningFixed   = "fixed"            // it reasons, and nothing can be chosen
	ReasoningDefault = "provider_default" // nothing is said to the provider
)

// Reasoning is what a route offers.
type Reasoning struct {
	Mode          string   `json:"mode,omitempty"`
	Efforts       []string `json:"efforts,omitempty"`
	DefaultEffort string   `json:"default_effort,omitempty"`
	// MinTokens to MaxTokens is the range of a budget; Step is its grain.
	MinTokens     int    `json:"min_tokens,omitempty"`
	MaxTokens     int    `json:"max_tokens,omitempty"`
	Step          int    `json:"step,omitempty"`
	DefaultTokens int    `json:"default_tokens,omitempty"`
	CanDisable    bool   `json:"can_disable,omitempty"`
	Note          string `json:"note,omitempty"`
}

// IsZero says that nothing is offered and nothing said.
func (r Reasoning) IsZero() bool { return r.Mode == "" }

// Modes of a choice.
const (
	ChooseEffort = "effort"
	ChooseBudget = "budget"
	ChooseOff    = "off"
)

// ReasoningChoice is what one evaluation asks of the route. The zero value
// leaves it to the provider, and nothing is sent.
type ReasoningChoice struct {
	Mode   string `json:"mode,omitempty"`
	Effort string `json:"effort,omitempty"`
	Tokens int    `json:"budget_tokens,omitempty"`
}

// Thinks says that the choice asks for reasoning.
func (c ReasoningChoice) Thinks() bool { return c.Mode == ChooseEffort || c.Mode == ChooseBudget }

// Check refuses a choice that the route does not offer, and says what it
// offers. outputBound is the output limit of a call: a budget must leave room
// for the answer under it.
func (r Reasoning) Check(c ReasoningChoice, outputBound int) error {
	switch c.Mode {
	case "", ReasoningDefault:
		return nil
	case ChooseOff:
		if r.offersOff() {
			return nil
		}
	case ChooseEffort:
		if r.Mode == ReasoningEfforts && slices.Contains(r.Efforts, c.Effort) {
			return nil
		}
	case ChooseBudget:
		if r.Mode == ReasoningBudget && c.Tokens >= r.MinTokens && c.Tokens <= r.MaxTokens && (r.Step < 2 || (c.Tokens-r.MinTokens)%r.Step == 0) {
			if c.Tokens < outputBound {
				return nil
			}
			return Refuse(ReasoningUnsupported, "a thinking budget of %d tokens leaves no room for an answer: one task of this benchmark has %d output tokens here, thinking included", c.Tokens, outputBound).
				With("allowed", r.Allowed()).With("output_tokens_per_task", outputBound)
		}
	}
	allowed := r.Allowed()
	return Refuse(ReasoningUnsupported, "this model does not offer that choice of reasoning; it offers %s", strings.Join(allowed, ", ")).With("allowed", allowed)
}

func (r Reasoning) offersOff() bool {
	return r.Mode == ReasoningBudget && r.CanDisable || r.Mode == ReasoningEfforts && slices.Contains(r.Efforts, "none")
}

// Allowed lists what can be asked for, in the words of the command line.
func (r Reasoning) Allowed() []string {
	var list []string
	switch r.Mode {
	case ReasoningEfforts:
		list = append(list, r.Efforts...)
	case ReasoningBudget:
		list = append(list, fmt.Sprintf("%d to %d thinking tokens", r.MinTokens, r.MaxTokens))
	}
	if r.offersOff() {
		list = append(list, "off")
	}
	return append(list, "default")
}
