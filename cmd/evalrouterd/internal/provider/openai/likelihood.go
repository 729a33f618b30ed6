package openai

import (
	"encoding/json"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

// parseLikelihood reads an answer that must hold the prompt's own tokens with
// their likelihoods. A server that leaves them out answers as if nothing were
// wrong, and every task would be scored by chance: that ends the route.
func (a *Adapter) parseLikelihood(raw []byte) provider.Outcome {
	o := a.Parse(raw)
	if o.Class != provider.Answered || o.Malformed || o.Refused {
		return o
	}
	prompt := int64(1)
	if o.Usage != nil {
		prompt = o.Usage.InputTokens()
	}
	tokens, ok := promptTokens(raw)
	if !ok || int64(len(tokens)) < prompt {
		o.Malformed, o.Reach, o.Code, o.Reason = true, provider.Route, core.CodeInvalidOutput, "echo_unsupported"
		o.Message = "the server does not give the likelihood of the prompt's tokens, which this benchmark needs"
		return o
	}
	o.Tokens = tokens
	return o
}

// promptTokens reads the tokens of the first choice. The first has no
// likelihood, since nothing stands before it, and each other has one.
func promptTokens(raw []byte) ([]provider.Token, bool) {
	var b struct {
		Choices []struct {
			LogProbs struct {
				Tokens []string   `json:"tokens"`
				Values []*float64 `json:"token_logprobs"`
			} `json:"logprobs"`
		} `json:"choices"`
	}
	if json.Unmarshal(raw, &b) != nil || len(b.Choices) == 0 {
		return nil, false
	}
	l := b.Choices[0].LogProbs
	if len(l.Tokens) == 0 || len(l.Tokens) != len(l.Values) || l.Values[0] != nil {
		return nil, false
	}
	list := make([]provider.Token, len(l.Tokens))
	for i := range list {
		if i > 0 && l.Values[i] == nil {
			return nil, false
		}
		list[i] = provider.Token{Text: l.Tokens[i], LogProb: l.Values[i]}
	}
	return list, true
}
