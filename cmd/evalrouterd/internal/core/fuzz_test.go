package core_test

import (
	"math/big"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// FuzzPrices holds the price of a call to arithmetic without bounds: exact,
// rounded up once, never more than was reserved, and never above the worst
// case while the tokens are within theirs.
func FuzzPrices(f *testing.F) {
	const most = int64(1) << 53
	f.Add(int64(150_000), int64(75_000), int64(187_500), int64(600_000), int64(600_000), int64(0), int64(40), int64(0), int64(0), int64(20), int64(0), int64(1000))
	f.Add(int64(1), int64(0), int64(0), int64(1), int64(0), int64(0), int64(1), int64(0), int64(0), int64(1), int64(0), int64(1))
	f.Add(most, most, most, most, most, most, most, most, most, most, most, most)
	f.Add(int64(-1), int64(0), int64(0), int64(0), int64(0), int64(0), int64(-1), int64(0), int64(0), int64(0), int64(0), int64(-1))
	f.Add(int64(0), int64(0), int64(0), int64(0), int64(0), int64(0), int64(9), int64(9), int64(9), int64(9), int64(9), int64(0))
	f.Add(int64(3_000_000), int64(300_000), int64(3_750_000), int64(15_000_000), int64(15_000_000), int64(10_000), int64(0), int64(0), int64(1), int64(0), int64(1), int64(999_999))
	f.Fuzz(func(t *testing.T, in, read, write, out, reason, request, ni, nr, nw, no, nx, reserved int64) {
		for _, n := range []int64{in, read, write, out, reason, request, reserved} {
			if n < 0 || n > int64(usd.Max) {
				return // no price book and no reservation holds such a price
			}
		}
		p := core.Prices{Input: usd.PerMillion(in), CacheRead: usd.PerMillion(read), CacheWrite: usd.PerMillion(write), Output: usd.PerMillion(out), Reasoning: usd.PerMillion(reason), Request: usd.Micro(request)}
		u := core.Usage{Input: ni, CacheRead: nr, CacheWrite: nw, Output: no, Reasoning: nx}
		exact, countable := exactCost(p, u)
		cost, err := p.Cost(u)
		if err == nil && (!countable || exact.Cmp(big.NewInt(int64(cost))) != 0) {
			t.Fatalf("Cost = %d, exactly %s", cost, exact)
		}
		if err != nil && countable && exact.Cmp(big.NewInt(int64(usd.Max))) <= 0 {
			t.Fatalf("Cost fails at %s: %v", exact, err)
		}
		s := p.Settle(usd.Micro(reserved), &u)
		if s.Spend < 0 || s.Absorbed < 0 || s.Spend > usd.Micro(reserved) && !p.Free() {
			t.Fatalf("settled %+v of %d reserved", s, reserved)
		}
		if err == nil && !p.Free() && s.Spend+s.Absorbed != cost {
			t.Fatalf("settled %+v of a cost of %d", s, cost)
		}
		worst, werr := p.Worst(u.InputTokens(), u.OutputTokens())
		if err == nil && werr == nil && countable && u.Believable(u.InputTokens(), u.OutputTokens()) && worst < cost {
			t.Fatalf("the worst case %d is below the cost %d", worst, cost)
		}
	})
}

// exactCost is the cost without bounds; countable says that no number of
// tokens is negative.
func exactCost(p core.Prices, u core.Usage) (_ *big.Int, countable bool) {
	sum, countable := new(big.Int), true
	for _, term := range [][2]int64{
		{u.Input, int64(p.Input)}, {u.CacheRead, int64(p.CacheRead)}, {u.CacheWrite, int64(p.CacheWrite)}, {u.Output, int64(p.Output)}, {u.Reasoning, int64(p.Reasoning)},
	} {
		countable = countable && term[0] >= 0
		sum.Add(sum, new(big.Int).Mul(big.NewInt(term[0]), big.NewInt(term[1])))
	}
	q, r := new(big.Int).DivMod(sum, big.NewInt(1_000_000), new(big.Int))
	if r.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q.Add(q, big.NewInt(int64(p.Request))), countable
}
