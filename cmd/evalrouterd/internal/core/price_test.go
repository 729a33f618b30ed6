package core_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

func TestPrices_Settle(t *testing.T) {
	t.Parallel()
	p := core.Prices{Input: 150_000, CacheRead: 15_000, CacheWrite: 187_500, Output: 600_000, Reasoning: 600_000}
	for _, tt := range []struct {
		name     string
		prices   core.Prices
		reserved usd.Micro
		usage    *core.Usage
		want     core.Settlement
	}{
		{name: "below the reservation", prices: p, reserved: 1000, usage: &core.Usage{Input: 1000, Output: 100}, want: core.Settlement{Spend: 210}},
		{name: "a part of a micro-dollar rounds up, once", prices: p, reserved: 1000, usage: &core.Usage{Input: 1, Output: 1}, want: core.Settlement{Spend: 1}},
		{name: "cached and reasoning tokens have prices of their own", prices: p, reserved: 5000,
			usage: &core.Usage{Input: 1000, CacheRead: 1000, CacheWrite: 1000, Output: 1000, Reasoning: 1000}, want: core.Settlement{Spend: 150 + 15 + 188 + 1200}},
		{name: "above the reservation is absorbed", prices: p, reserved: 100, usage: &core.Usage{Output: 1000}, want: core.Settlement{Spend: 100, Absorbed: 500, OverBound: true}},
		{name: "no usage charges nothing", prices: p, reserved: 100, want: core.Settlement{Absorbed: 100, Unreported: true}},
		{name: "a cost beyond int64 charges nothing", prices: core.Prices{Output: 1 << 60}, reserved: 100, usage: &core.Usage{Output: 1 << 50},
			want: core.Settlement{Absorbed: 100, Unreported: true}},
		{name: "a free route charges nothing, with or without usage", reserved: 0, want: core.Settlement{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.prices.Settle(tt.reserved, tt.usage); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// Whatever a call consumes within its bounds, its worst case covers it.
func TestPrices_WorstCoversEveryUsageWithinTheBound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		price := rapid.Int64Range(0, 500_000_000)
		p := core.Prices{
			Input: usd.PerMillion(price.Draw(t, "in")), CacheRead: usd.PerMillion(price.Draw(t, "read")), CacheWrite: usd.PerMillion(price.Draw(t, "write")),
			Output: usd.PerMillion(price.Draw(t, "out")), Reasoning: usd.PerMillion(price.Draw(t, "think")), Request: usd.Micro(rapid.Int64Range(0, 1000).Draw(t, "fee")),
		}
		in, out := rapid.Int64Range(0, 1_000_000).Draw(t, "in bound"), rapid.Int64Range(0, 200_000).Draw(t, "out bound")
		u := core.Usage{}
		u.Input = rapid.Int64Range(0, in).Draw(t, "input")
		u.CacheRead = rapid.Int64Range(0, in-u.Input).Draw(t, "cached")
		u.CacheWrite = rapid.Int64Range(0, in-u.Input-u.CacheRead).Draw(t, "written")
		u.Output = rapid.Int64Range(0, out).Draw(t, "output")
		u.Reasoning = rapid.Int64Range(0, out-u.Output).Draw(t, "reasoning")
		worst, err := p.Worst(in, out)
		if err != nil {
			t.Fatal(err)
		}
		cost, err := p.Cost(u)
		if err != nil {
			t.Fatal(err)
		}
		if cost > worst {
			t.Fatalf("cost %d exceeds the worst case %d", cost, worst)
		}
		if s := p.Settle(worst, &u); !p.Free() && (s.Spend != cost || s.Absorbed != 0) {
			t.Fatalf("settled %+v for a cost of %d", s, cost)
		}
		if want := exact(p, u); want.Cmp(big.NewInt(int64(cost))) != 0 {
			t.Fatalf("cost %d, exactly %s", cost, want)
		}
	})
}

// exact is the cost by rational arithmetic, rounded up once.
func exact(p core.Prices, u core.Usage) *big.Int {
	sum := new(big.Int)
	for _, x := range [][2]int64{{u.Input, int64(p.Input)}, {u.CacheRead, int64(p.CacheRead)}, {u.CacheWrite, int64(p.CacheWrite)}, {u.Output, int64(p.Output)}, {u.Reasoning, int64(p.Reasoning)}} {
		sum.Add(sum, new(big.Int).Mul(big.NewInt(x[0]), big.NewInt(x[1])))
	}
	q, r := new(big.Int).QuoRem(sum, big.NewInt(1_000_000), new(big.Int))
	if r.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q.Add(q, big.NewInt(int64(p.Request)))
}

func TestUsage_Believable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		usage core.Usage
		want  bool
	}{
		{name: "within the bound", usage: core.Usage{Input: 10, Output: 10}, want: true},
		{name: "ten times the bound", usage: core.Usage{Input: 1000, Output: 100}, want: true},
		{name: "more input than that", usage: core.Usage{Input: 900, CacheRead: 101}},
		{name: "more output than that", usage: core.Usage{Output: 50, Reasoning: 51}},
		{name: "no input for a request that had some", usage: core.Usage{Output: 5}},
		{name: "negative", usage: core.Usage{Input: 10, Output: -1}},
		{name: "beyond exact numbers", usage: core.Usage{Input: core.MaxBelievable + 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.usage.Believable(100, 10); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
