package engine_test

import (
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Answers whose price is not what their tokens come to. The audit of every
// run recomputes the books from the record.
func TestRun_ChargesByTheProvidersRules(t *testing.T) {
	t.Parallel()
	billed := usd.Micro(42)
	refusal := func(change func(*provider.Outcome)) func(bundle.Task, int) provider.Outcome {
		return func(bundle.Task, int) provider.Outcome {
			o := say("", 50, 10)
			o.Refused, o.Code, o.UsageState = true, core.CodeRefused, provider.UsageReported
			change(&o)
			return o
		}
	}
	for _, c := range []struct {
		name     string
		answer   func(bundle.Task, int) provider.Outcome
		charged  usd.Micro
		absorbed usd.Micro
		outcome  bundle.Outcome
	}{
		{"what the provider says that it charged", func(task bundle.Task, _ int) provider.Outcome {
			o := say(right(task), 50, 10)
			o.Usage.Billed = &billed
			return o
		}, 10 * 42, 0, bundle.Right},
		{"a refusal that is billed", refusal(func(*provider.Outcome) {}), 10 * 70, 0, bundle.Refused},
		{"a refusal that is not", refusal(func(o *provider.Outcome) { o.Unbilled = true }), 0, 0, bundle.Refused},
		// The estimate is the input at its dearest: 100 tokens at $1 a million.
		{"a refusal that is billed and never says how much", refusal(func(o *provider.Outcome) { o.Usage, o.UsageState = nil, provider.UsageByDesign }), 0, 10 * 100, bundle.Refused},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.answer)
			r := w.wait(w.start(10, 1*usd.Dollar, 4))
			if r.Charged != c.charged || r.Absorbed != c.absorbed || r.Tallies[c.outcome] != 10 {
				t.Errorf("charged %s, absorbed %s, %v; want %s, %s and 10 %s", r.Charged, r.Absorbed, r.Tallies, c.charged, c.absorbed, c.outcome)
			}
			if r.Unreported != 0 {
				t.Errorf("%d answers count as unreported", r.Unreported)
			}
		})
	}
}

// A server that cannot do what every task needs is told once, and the others
// are left to be run elsewhere.
func TestRun_StopsWhenEveryAnswerWouldFail(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(bundle.Task, int) provider.Outcome {
		o := say("", 50, 10)
		o.Malformed, o.Reach, o.Code, o.Reason, o.Message = true, provider.Route, core.CodeInvalidOutput, "echo_unsupported", "it gives no likelihoods"
		return o
	})
	r := w.wait(w.start(20, 1*usd.Dollar, 1))
	if r.Reason != core.ProviderDown || r.Tallies[core.ProviderError] != 1 || r.Charged != 70 {
		t.Errorf("%s, %v, charged %s", r.Reason, r.Tallies, r.Charged)
	}
}
