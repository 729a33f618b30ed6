package provider

import (
	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// RequestFor is the request of a task under a quote, without the credential.
func RequestFor(q core.Quote, task bundle.Task) Request {
	r := Request{Target: q.Target, Messages: task.Input, MaxOutput: q.OutputBound(), Reasoning: q.Reasoning, Sampling: q.Sampling, Attempt: 1}
	if q.Target.Simulated {
		r.Gold = &task
	}
	return r
}
