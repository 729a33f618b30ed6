package provider

import (
	"fmt"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// likelyOutput is the output limit of a request about a prompt's likelihood:
// one token, which servers differ on whether they can leave away.
const likelyOutput = 1

// RequestForAsk is what the model of a quote is asked for one part of a task,
// without the credential.
func RequestForAsk(q core.Quote, task bundle.Task, a bundle.Ask) Request {
	r := LikelyRequest(q.Target, a)
	if q.Target.Simulated {
		r.Gold = &task
	}
	return r
}

// LikelyRequest asks a target how likely a text is.
func LikelyRequest(t core.Target, a bundle.Ask) Request {
	return Request{
		Target: t, Messages: []bundle.Message{{Role: bundle.User, Text: a.Prompt()}}, MaxOutput: likelyOutput, Likelihood: true, Attempt: 1,
	}
}

// AsksWorst is the most that one request for each of some parts of a task can
// cost together.
func (s Set) AsksWorst(q core.Quote, task bundle.Task, asks []bundle.Ask) (total usd.Micro, err error) {
	adapter, ok := s[q.Target.Protocol]
	if !ok {
		return 0, fmt.Errorf("no adapter speaks %s", q.Target.Protocol)
	}
	for i, a := range asks {
		r := RequestForAsk(q, task, a)
		w, _, err := q.Target.Worst(adapter.Bound(r), r.MaxOutput)
		if err != nil {
			return 0, fmt.Errorf("bound part %d: %w", i, err)
		}
		if total, err = total.Add(w); err != nil {
			return 0, fmt.Errorf("bound parts: %w", err)
		}
	}
	return total, nil
}
