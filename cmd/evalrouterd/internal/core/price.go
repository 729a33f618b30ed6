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
	Input      usd.PerMillion `json:"input"`
	CacheRead  usd.PerMillion `json:"cache_read"`
	CacheWrite usd.PerMillion `json:"cache_write"`
	Output     usd.PerMillion `json:"output"`
	Reasoning  usd.PerMillion `json:"reasoning"`
	Request    usd.Micro      `json:"request"`
	Effective  Micros         `json:"effective"`
}

// Usage is what a call consumed, in disjoint classes that are each billed
// once: cached tokens are not in Input, reasoning tokens are not in Output.
type Usage struct {
	Input      int64 `json:"input"`
	CacheRead  int64 `json:"cache_read,omitempty"`
	CacheWrite int64 `json:"cache_write,omitempty"`
	Output     int64 `json:"output"`
	Reasoning  int64 `json:"reasoning,omitempty"`
}

// InputTokens is every input token, cached or not.
func (u Usage) InputTokens() int64 { return u.Input + u.CacheRead + u.CacheWrite }

// OutputTokens is every output token, reasoning included.
func (u Usage) OutputTokens() int64 { return u.Output + u.Reasoning }

// Cost is what u costs at these prices: exact, rounded up once.
func (p Prices) Cost(u Usage) (usd.Micro, error) {
	c, err := usd.Cost(
		usd.Term{Units: u.Input, Price: p.Input},
		usd.Term{Units: u.CacheRead, Price: p.CacheRead},
		usd.Term{Units: u.CacheWrite, Price: p.CacheWrite},
		usd.Term{Units: u.Output, Price: p.Output},
		usd.Term{Units: u.Reasoning, Price: p.Reasoning},
	)
	if err != nil {
		return 0, err
	}
	return c.Add(p.Request)
}

// Worst is the most that a call can cost whose input has at most inBound
// tokens and whose output, reasoning included, at most outBound: every input
// token at the dearest input class, every output token at the dearest output
// class. Discounts never lower it.
func (p Prices) Worst(inBound, outBound int64) (usd.Micro, error) {
	c, err := usd.Cost(
		usd.Term{Units: inBound, Price: max(p.Input, p.CacheRead, p.CacheWrite)},
		usd.Term{Units: outBound, Price: max(p.Output, p.Reasoning)},
	)
	if err != nil {
		return 0, err
	}
	return c.Add(p.Request)
}

// Free says that nothing is billed at these prices: a call reserves nothing.
func (p Prices) Free() bool {
	return max(p.Input, p.CacheRead, p.CacheWrite, p.Output, p.Reasoning) == 0 && p.Request == 0
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

// MaxBelievable is the largest token count that is taken from a provider:
// 2^53, beyond which JSON numbers stop being exact.
const MaxBelievable = int64(1) << 53

// Believable says whether reported usage can be billed: no class negative or
// beyond exactness, neither total beyond ten times its bound, and some input
// for a request that had some.
func (u Usage) Believable(inBound, outBound int64) bool {
	for _, n := range []int64{u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning} {
		if n < 0 || n > MaxBelievable {
			return false
		}
	}
	if inBound > 0 && u.InputTokens() == 0 {
		return false
	}
	return u.InputTokens() <= 10*inBound && u.OutputTokens() <= 10*outBound
}
