package core

import (
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Prices is the price book of a route, frozen into each quote: micro-dollars
// for a million tokens of each class. Every class has its own price; none is
// derived from another.
type Prices struct {
	Version string `json:"version"`
	// Declared rates come from the owner of a connection; they meter what a
	// provider bills outside and never touch credit.
	Input     usd.PerMillion `json:"input"`
	CacheRead usd.PerMillion `json:"cache_read"`
	// CacheWrite is for writes of the provider's usual life (5 minutes where
	// there are several), CacheWriteHour for those that live an hour.
	CacheWrite     usd.PerMillion `json:"cache_write"`
	CacheWriteHour usd.PerMillion `json:"cache_write_1h,omitempty"`
	Output         usd.PerMillion `json:"output"`
	Reasoning      usd.PerMillion `json:"reasoning"`
	// Long replaces every rate of a call whose input is long.
	Long      LongContext `json:"long_context,omitzero"`
	Request   usd.Micro   `json:"request"`
	Effective Micros      `json:"effective"`
}

// Rates is a price of each class of tokens.
type Rates struct {
	Input          usd.PerMillion `json:"input"`
	CacheRead      usd.PerMillion `json:"cache_read"`
	CacheWrite     usd.PerMillion `json:"cache_write"`
	CacheWriteHour usd.PerMillion `json:"cache_write_1h"`
	Output         usd.PerMillion `json:"output"`
	Reasoning      usd.PerMillion `json:"reasoning"`
}

// LongContext is the tier of calls with more than Above input tokens, cached
// ones included. Its rates hold for all tokens of such a call, not only for
// those beyond. Above 0 means that there is no such tier.
type LongContext struct {
	Above int64 `json:"above"`
	Rates
}

// Usage is what a call consumed, in disjoint classes that are each billed
// once: cached tokens are not in Input, reasoning tokens are not in Output.
type Usage struct {
	Input          int64 `json:"input"`
	CacheRead      int64 `json:"cache_read,omitempty"`
	CacheWrite     int64 `json:"cache_write,omitempty"`
	CacheWriteHour int64 `json:"cache_write_1h,omitempty"`
	Output         int64 `json:"output"`
	Reasoning      int64 `json:"reasoning,omitempty"`
	// Billed is what the provider itself says that it charged for the call;
	// nil when it does not say. It replaces the arithmetic on tokens.
	Billed *usd.Micro `json:"billed_microusd,omitempty"`
}

// InputTokens is every input token, cached or not.
func (u Usage) InputTokens() int64 { return u.Input + u.CacheRead + u.CacheWrite + u.CacheWriteHour }

// OutputTokens is every output token, reasoning included.
func (u Usage) OutputTokens() int64 { return u.Output + u.Reasoning }

// Plus is the usage of two calls together, each class by itself. What a provider
// says that it charged is not kept: it replaces the arithmetic of one call.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite, CacheWriteHour: u.CacheWriteHour + v.CacheWriteHour,
		Output: u.Output + v.Output, Reasoning: u.Reasoning + v.Reasoning,
	}
}

func (p Prices) standard() Rates {
	return Rates{p.Input, p.CacheRead, p.CacheWrite, p.CacheWriteHour, p.Output, p.Reasoning}
}

func (r Rates) cost(u Usage) (usd.Micro, error) {
	return usd.Cost(
		usd.Term{Units: u.Input, Price: r.Input},
		usd.Term{Units: u.CacheRead, Price: r.CacheRead},
		usd.Term{Units: u.CacheWrite, Price: r.CacheWrite},
		usd.Term{Units: u.CacheWriteHour, Price: r.CacheWriteHour},
		usd.Term{Units: u.Output, Price: r.Output},
		usd.Term{Units: u.Reasoning, Price: r.Reasoning},
	)
}

func (r Rates) worst(in, out int64) (usd.Micro, error) {
	return usd.Cost(
		usd.Term{Units: in, Price: max(r.Input, r.CacheRead, r.CacheWrite, r.CacheWriteHour)},
		usd.Term{Units: out, Price: max(r.Output, r.Reasoning)},
	)
}

func (r Rates) highest() usd.PerMillion {
	return max(r.Input, r.CacheRead, r.CacheWrite, r.CacheWriteHour, r.Output, r.Reasoning)
}

// Cost is what u costs at these prices: exact, rounded up once. What the
// provider says that it charged goes before what the tokens come to.
func (p Prices) Cost(u Usage) (usd.Micro, error) {
	if u.Billed != nil {
		return *u.Billed, nil
	}
	rates := p.standard()
	if p.Long.Above > 0 && u.InputTokens() > p.Long.Above {
		rates = p.Long.Rates
	}
	c, err := rates.cost(u)
	if err != nil {
		return 0, err
	}
	return c.Add(p.Request)
}

// Worst is the most that a call can cost whose input has at most inBound
// tokens and whose output, reasoning included, at most outBound: every input
// token at the dearest input class, every output token at the dearest output
// class, in the dearest tier that the input can reach. Discounts never lower
// it.
func (p Prices) Worst(inBound, outBound int64) (usd.Micro, error) {
	long := p.Long.Above > 0 && inBound > p.Long.Above
	in := inBound
	if long {
		in = p.Long.Above // a longer input pays the other tier
	}
	c, err := p.standard().worst(in, outBound)
	if err != nil {
		return 0, err
	}
	if long {
		l, err := p.Long.worst(inBound, outBound)
		if err != nil {
			return 0, err
		}
		c = max(c, l)
	}
	return c.Add(p.Request)
}

// Free says that nothing is billed at these prices: a call reserves nothing.
func (p Prices) Free() bool {
	return max(p.standard().highest(), p.Long.highest()) == 0 && p.Request == 0
}

// Settlement is what one answered call does to a run's money.
type Settlement struct {
	// Spend is what counts against the cap: min(cost, reserved).
	Spend usd.Micro
	// Absorbed is what the platform bears: the part of a cost above the
	// reservation, or the reservation when a provider reported no usage.
	Absorbed usd.Micro
	// OverBound says that the cost exceeded the reservation: the published
	// bound of the route is false.
	OverBound bool
	// Unreported says that a priced call came back without usable usage.
	Unreported bool
}

// Settle decides the money of an answered call. usage is nil when the
// provider reported none, or none that can be believed: then nothing is
// charged, for usage is never invented.
func (p Prices) Settle(reserved usd.Micro, usage *Usage) Settlement {
	if p.Free() {
		return Settlement{}
	}
	if usage == nil {
		return Settlement{Absorbed: reserved, Unreported: true}
	}
	cost, err := p.Cost(*usage)
	if err != nil {
		return Settlement{Absorbed: reserved, Unreported: true}
	}
	s := Settlement{Spend: min(cost, reserved)}
	s.Absorbed = cost - s.Spend
	s.OverBound = s.Absorbed > 0
	return s
}

// OfOwner is the settlement where somebody else pays the provider: what an
// answer cost beyond its bound is the owner's, and nobody absorbs what was not
// reported.
func (s Settlement) OfOwner() Settlement {
	if !s.OverBound {
		s.Absorbed = 0
	}
	return s
}

// SettleUnreported decides the money of an answer for which the provider is
// documented to send no usage, although it bills: nothing is charged, the
// platform bears the estimate, and it is no sign of a faulty endpoint.
func (p Prices) SettleUnreported(reserved, estimate usd.Micro) Settlement {
	if p.Free() {
		return Settlement{}
	}
	return Settlement{Absorbed: min(reserved, max(estimate, 0))}
}

// MaxBelievable is the largest token count that is taken from a provider:
// 2^53, beyond which JSON numbers stop being exact.
const MaxBelievable = int64(1) << 53

// Believable says whether reported usage can be billed: no class negative or
// beyond exactness, neither total beyond ten times its bound, and some input
// for a request that had some.
func (u Usage) Believable(inBound, outBound int64) bool {
	for _, n := range []int64{u.Input, u.CacheRead, u.CacheWrite, u.CacheWriteHour, u.Output, u.Reasoning} {
		if n < 0 || n > MaxBelievable {
			return false
		}
	}
	if inBound > 0 && u.InputTokens() == 0 {
		return false
	}
	return u.InputTokens() <= 10*inBound && u.OutputTokens() <= 10*outBound
}
