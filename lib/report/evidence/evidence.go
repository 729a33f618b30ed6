// Package evidence is the records of an evidence bundle, its prices and its
// container: what a program needs that writes one, and one that checks it.
package evidence

import (
	"encoding/json"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Task is one planned task with everything that its score and its charge
// are made of: a line of an evidence bundle.
type Task struct {
	Index  int              `json:"index"`
	Sample api.ExportSample `json:"sample"`
	Rule   string           `json:"rule,omitempty"`
	Key    Key              `json:"key"`
	// Calls are those that the task was charged for, in the order of the parts.
	Calls []BilledCall `json:"calls"`
}

// Key is what an answer is graded against. What was asked is not in it.
type Key struct {
	Target  []string        `json:"target,omitempty"`
	Choices []string        `json:"choices,omitempty"`
	Schema  json.RawMessage `json:"schema,omitempty"`
	Group   string          `json:"group,omitempty"`
}

// BilledCall is an answered call with its usage and its money.
type BilledCall struct {
	Kind string `json:"kind"` // target or judge
	Part int    `json:"part"`
	// Usage is null when the provider reported none that could be believed.
	Usage    *Usage    `json:"usage"`
	Reserved usd.Micro `json:"reserved_microusd"`
	Charged  usd.Micro `json:"charged_microusd"`
}

// Usage is what a call consumed, in classes that are each billed once.
type Usage struct {
	Input          int64 `json:"input"`
	CacheRead      int64 `json:"cache_read,omitempty"`
	CacheWrite     int64 `json:"cache_write,omitempty"`
	CacheWriteHour int64 `json:"cache_write_1h,omitempty"`
	Output         int64 `json:"output"`
	Reasoning      int64 `json:"reasoning,omitempty"`
	// Billed is what the provider itself says that it charged; nil when it does
	// not say.
	Billed *usd.Micro `json:"billed_microusd,omitempty"`
}

// Prices are those of the model and of its judges, as a quote froze them.
type Prices struct {
	Target PriceBook   `json:"target"`
	Judges []PriceBook `json:"judges,omitempty"`
}

// PriceBook is the prices of one route. Rates are micro-dollars for a million
// tokens.
type PriceBook struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// Priced says that the rates are known. Nothing is charged where they are not.
	Priced bool  `json:"priced"`
	Rates  Rates `json:"rates"`
	// Long holds for every token of a call with more than LongAbove input
	// tokens; 0 is never.
	LongAbove int64     `json:"long_above,omitempty"`
	Long      Rates     `json:"long,omitzero"`
	Request   usd.Micro `json:"request_microusd"`
	// UnbilledRefusals says that a refused request is not charged, whatever
	// usage is reported.
	UnbilledRefusals bool `json:"unbilled_refusals,omitempty"`
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

func (r Rates) cost(u Usage) (usd.Micro, error) {
	return usd.Cost(
		usd.Term{Units: u.Input, Price: r.Input}, usd.Term{Units: u.CacheRead, Price: r.CacheRead},
		usd.Term{Units: u.CacheWrite, Price: r.CacheWrite}, usd.Term{Units: u.CacheWriteHour, Price: r.CacheWriteHour},
		usd.Term{Units: u.Output, Price: r.Output}, usd.Term{Units: u.Reasoning, Price: r.Reasoning},
	)
}

// free says that nothing is ever billed.
func (p PriceBook) free() bool { return p.Rates == Rates{} && p.Long == Rates{} && p.Request == 0 }

// Charge is what an answered call is charged: its usage at these prices, exact
// and rounded up once, and never more than was reserved for it. Without usage
// nothing is charged.
func (p PriceBook) Charge(c BilledCall) usd.Micro {
	if !p.Priced || p.free() || c.Usage == nil {
		return 0
	}
	cost, err := p.cost(*c.Usage)
	if err != nil {
		return 0
	}
	return min(cost, c.Reserved)
}

func (p PriceBook) cost(u Usage) (usd.Micro, error) {
	if u.Billed != nil {
		return *u.Billed, nil
	}
	rates := p.Rates
	if p.LongAbove > 0 && u.Input+u.CacheRead+u.CacheWrite+u.CacheWriteHour > p.LongAbove {
		rates = p.Long
	}
	c, err := rates.cost(u)
	if err != nil {
		return 0, err
	}
	return c.Add(p.Request)
}
