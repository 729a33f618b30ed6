// Package usage turns what a provider says about tokens into classes that are
// each billed once.
//
// Providers disagree on which numbers contain which. What each one means is a
// Semantics, a value; the arithmetic is the same for all. Nothing is believed
// that does not add up: a remainder below zero is never rounded up to zero,
// and a split is never estimated, for either loses money silently.
package usage

import (
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/body"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Report is what a provider said, under our names for its numbers. What it
// did not say is unset.
type Report struct {
	Input, Output, Total body.Count
	// CacheRead and CacheWrite are tokens of the prompt that were read from a
	// cache or written to one; CacheWriteHour those of CacheWrite that live an
	// hour, and CacheWriteShort those that live five minutes.
	CacheRead, CacheWrite           body.Count
	CacheWriteShort, CacheWriteHour body.Count
	// Miss is the prompt without CacheRead, from servers that say both.
	Miss      body.Count
	Reasoning body.Count
	// Tools are tokens of tool results, which are input.
	Tools body.Count
	// Foreign are tokens of sound and images, which this service never sends
	// or asks for.
	Foreign []body.Count
	// Billed is what the provider says that it charged, nil when it does not.
	Billed *usd.Micro
}

// Place says where one number stands towards another.
type Place int

// Places.
const (
	Inside  Place = iota // part of the larger number
	Beside               // to be added to it
	ByTotal              // the total decides, call by call
)

// Semantics is what a provider means by its numbers.
type Semantics struct {
	// Cache says where cached tokens stand towards Input.
	Cache Place
	// Reasoning says where reasoning stands towards Output.
	Reasoning Place
	// Optional says that Output may be absent, which then means none.
	Optional bool
}

// OpenAI is what OpenAI's protocols mean. Servers that speak them differ on
// reasoning only, and their totals tell.
func OpenAI() Semantics { return Semantics{Cache: Inside, Reasoning: ByTotal} }

// Anthropic counts cached tokens beside its input, and thinking within its
// output.
func Anthropic() Semantics { return Semantics{Cache: Beside, Reasoning: Inside} }

// Google counts cached tokens within its prompt, and thoughts beside its
// candidates. Numbers that are zero are left out.
func Google() Semantics { return Semantics{Cache: Inside, Reasoning: Beside, Optional: true} }

// Split gives the billable classes of a report, or nil and the reason why
// there are none.
func (s Semantics) Split(r Report) (*core.Usage, provider.UsageState) {
	if !r.numbers() {
		return nil, provider.UsageInvalid
	}
	if !r.Input.Set || !r.Output.Set && !s.Optional {
		return nil, provider.UsageInconsistent
	}
	u := core.Usage{
		Input: r.Input.N + r.Tools.N, CacheRead: r.CacheRead.N, CacheWrite: r.CacheWrite.N - r.CacheWriteHour.N,
		CacheWriteHour: r.CacheWriteHour.N, Output: r.Output.N, Reasoning: r.Reasoning.N, Billed: r.Billed,
	}
	if s.Cache == Inside {
		u.Input -= r.CacheRead.N + r.CacheWrite.N
	}
	inside, ok := s.reasoningInside(r)
	if inside {
		u.Output -= r.Reasoning.N
	}
	if !ok || !r.textOnly() || !r.cacheAddsUp() || u.InputTokens() == 0 || min(u.Input, u.CacheWrite, u.Output) < 0 {
		return nil, provider.UsageInconsistent
	}
	return &u, provider.UsageReported
}

// numbers says that all that was said are numbers of tokens.
func (r Report) numbers() bool {
	for _, c := range []body.Count{
		r.Input, r.Output, r.Total, r.CacheRead, r.CacheWrite, r.CacheWriteShort, r.CacheWriteHour, r.Miss, r.Reasoning, r.Tools,
	} {
		if c.Bad {
			return false
		}
	}
	for _, c := range r.Foreign {
		if c.Bad {
			return false
		}
	}
	return true
}

func (r Report) textOnly() bool {
	for _, c := range r.Foreign {
		if c.N != 0 {
			return false
		}
	}
	return true
}

// cacheAddsUp compares numbers that servers give twice.
func (r Report) cacheAddsUp() bool {
	if r.Miss.Set && r.Miss.N+r.CacheRead.N != r.Input.N {
		return false
	}
	return !r.CacheWriteShort.Set && !r.CacheWriteHour.Set || r.CacheWriteShort.N+r.CacheWriteHour.N == r.CacheWrite.N
}

// reasoningInside says whether reasoning is part of the output, and whether
// the numbers allow to say so.
func (s Semantics) reasoningInside(r Report) (inside, ok bool) {
	in, out, think := r.Input.N+r.Tools.N, r.Output.N, r.Reasoning.N
	switch s.Reasoning {
	case Beside:
		return false, r.Total.N == in+out+think
	case Inside:
		return true, think <= out
	}
	switch {
	case !r.Total.Set: // only an output without reasoning is clear
		return false, think == 0
	case r.Total.N == in+out && think <= out:
		return true, true
	case r.Total.N == in+out+think && think > 0:
		return false, true
	}
	return false, false
}
