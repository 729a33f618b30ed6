package core_test

import (
	"errors"
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
		rates := func(tier string) core.Rates {
			draw := func(class string) usd.PerMillion { return usd.PerMillion(price.Draw(t, tier+class)) }
			return core.Rates{Input: draw("in"), CacheRead: draw("read"), CacheWrite: draw("write"), CacheWriteHour: draw("hour"), Output: draw("out"), Reasoning: draw("think")}
		}
		std := rates("")
		p := core.Prices{
			Input: std.Input, CacheRead: std.CacheRead, CacheWrite: std.CacheWrite, CacheWriteHour: std.CacheWriteHour, Output: std.Output, Reasoning: std.Reasoning,
			Request: usd.Micro(rapid.Int64Range(0, 1000).Draw(t, "fee")),
		}
		if rapid.Bool().Draw(t, "long context") {
			p.Long = core.LongContext{Above: rapid.Int64Range(1, 1_000_000).Draw(t, "above"), Rates: rates("long ")}
		}
		in, out := rapid.Int64Range(0, 1_000_000).Draw(t, "in bound"), rapid.Int64Range(0, 200_000).Draw(t, "out bound")
		u := core.Usage{}
		u.Input = rapid.Int64Range(0, in).Draw(t, "input")
		u.CacheRead = rapid.Int64Range(0, in-u.Input).Draw(t, "cached")
		u.CacheWrite = rapid.Int64Range(0, in-u.Input-u.CacheRead).Draw(t, "written")
		u.CacheWriteHour = rapid.Int64Range(0, in-u.InputTokens()).Draw(t, "written for an hour")
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
	r := core.Rates{Input: p.Input, CacheRead: p.CacheRead, CacheWrite: p.CacheWrite, CacheWriteHour: p.CacheWriteHour, Output: p.Output, Reasoning: p.Reasoning}
	if p.Long.Above > 0 && u.Input+u.CacheRead+u.CacheWrite+u.CacheWriteHour > p.Long.Above {
		r = p.Long.Rates
	}
	sum := new(big.Int)
	for _, x := range [][2]int64{
		{u.Input, int64(r.Input)}, {u.CacheRead, int64(r.CacheRead)}, {u.CacheWrite, int64(r.CacheWrite)}, {u.CacheWriteHour, int64(r.CacheWriteHour)},
		{u.Output, int64(r.Output)}, {u.Reasoning, int64(r.Reasoning)},
	} {
		sum.Add(sum, new(big.Int).Mul(big.NewInt(x[0]), big.NewInt(x[1])))
	}
	q, rest := new(big.Int).QuoRem(sum, big.NewInt(1_000_000), new(big.Int))
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q.Add(q, big.NewInt(int64(p.Request)))
}

// The tier of long inputs begins above its mark, and holds for every token.
func TestPrices_LongContext(t *testing.T) {
	t.Parallel()
	p := core.Prices{Input: 1_000_000, CacheRead: 100_000, Output: 2_000_000, Long: core.LongContext{Above: 1000, Rates: core.Rates{Input: 3_000_000, CacheRead: 300_000, Output: 4_000_000}}}
	for _, tt := range []struct {
		name    string
		usage   core.Usage
		cost    usd.Micro
		in, out int64
		worst   usd.Micro
	}{
		{name: "at the mark", usage: core.Usage{Input: 1000, Output: 10}, cost: 1020, in: 1000, out: 10, worst: 1020},
		{name: "one above it", usage: core.Usage{Input: 1001, Output: 10}, cost: 3043, in: 1001, out: 10, worst: 3043},
		{name: "cached tokens count towards it", usage: core.Usage{Input: 1, CacheRead: 1000}, cost: 303, in: 1001, worst: 3003},
		{name: "a bound above it covers both tiers", usage: core.Usage{Input: 900, Output: 10}, cost: 920, in: 2000, out: 10, worst: 6040},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if c, err := p.Cost(tt.usage); err != nil || c != tt.cost {
				t.Errorf("costs %d, want %d (%v)", c, tt.cost, err)
			}
			if w, err := p.Worst(tt.in, tt.out); err != nil || w != tt.worst {
				t.Errorf("at worst %d, want %d (%v)", w, tt.worst, err)
			}
		})
	}
	cheaper := core.Prices{Input: 2_000_000, Long: core.LongContext{Above: 1000, Rates: core.Rates{Input: 1}}}
	if w, err := cheaper.Worst(5000, 0); err != nil || w != 2000 {
		t.Errorf("a tier that is cheaper lowers nothing below it: %d, %v", w, err)
	}
	if (core.Prices{Long: core.LongContext{Above: 1, Rates: core.Rates{Reasoning: 1}}}).Free() {
		t.Error("a route with a priced tier is not free")
	}
}

// What a provider says that it charged replaces the arithmetic, within the
// reservation.
func TestPrices_Billed(t *testing.T) {
	t.Parallel()
	billed := usd.Micro(32_120)
	u := &core.Usage{Input: 12, CacheWrite: 25_600, Output: 10, Billed: &billed}
	p := core.Prices{Input: 1_000_000, CacheWrite: 1_250_000, Output: 5_000_000}
	if s := p.Settle(40_000, u); s != (core.Settlement{Spend: 32_120}) {
		t.Errorf("settled %+v", s)
	}
	if s := p.Settle(32_000, u); s != (core.Settlement{Spend: 32_000, Absorbed: 120, OverBound: true}) {
		t.Errorf("settled %+v", s)
	}
	for _, tt := range []struct {
		reserved, estimate usd.Micro
		want               core.Settlement
	}{{100, 60, core.Settlement{Absorbed: 60}}, {50, 60, core.Settlement{Absorbed: 50}}} {
		if s := p.SettleUnreported(tt.reserved, tt.estimate); s != tt.want {
			t.Errorf("without usage by design: %+v, want %+v", s, tt.want)
		}
	}
	if s := (core.Prices{}).SettleUnreported(0, 60); s != (core.Settlement{}) {
		t.Errorf("a free route bears nothing: %+v", s)
	}
}

// A route's limit bounds what can be billed, or the route is not sold.
func TestTarget_Worst(t *testing.T) {
	t.Parallel()
	p := core.Prices{Input: 1_000_000, Output: 1_000_000}
	for _, tt := range []struct {
		name   string
		target core.Target
		w      usd.Micro
		out    int64
		code   core.Code
	}{
		{name: "the limit bounds all", target: core.Target{Priced: true, Prices: p}, w: 150, out: 50},
		{name: "reasoning comes on top", target: core.Target{Priced: true, Prices: p, ContextWindow: 1000, OutputBound: core.BoundsVisible}, w: 1100, out: 1000},
		{name: "nothing bounds it", target: core.Target{Priced: true, Prices: p, OutputBound: core.BoundsNothing}, code: core.UnboundedModelCost},
		{name: "nothing bounds it, and it is free", target: core.Target{Priced: true, OutputBound: core.BoundsNothing}, out: 50},
		{name: "nothing is priced", target: core.Target{Prices: p}, out: 50},
		{name: "beyond all money", target: core.Target{Priced: true, ContextWindow: 1 << 40, OutputBound: core.BoundsVisible, Prices: core.Prices{Output: 1 << 62}}, code: core.UnboundedModelCost},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w, out, err := tt.target.Worst(100, 50)
			if tt.code != "" {
				if !errors.Is(err, &core.Refusal{Code: tt.code}) {
					t.Fatalf("got %v", err)
				}
				return
			}
			if err != nil || w != tt.w || out != tt.out {
				t.Errorf("got %d for %d (%v), want %d for %d", w, out, err, tt.w, tt.out)
			}
		})
	}
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
