package usage_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/body"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/usage"
	"github.com/evalrouter/evalrouter/lib/usd"
)

func n(v int64) body.Count { return body.Count{N: v, Set: true} }

// rates are prices of the classes in the order input, cached, written,
// written for an hour, output, reasoning.
func rates(in, read, write, hour, out, think usd.PerMillion) core.Prices {
	return core.Prices{Input: in, CacheRead: read, CacheWrite: write, CacheWriteHour: hour, Output: out, Reasoning: think}
}

// Mistakes that tools made in public with these very numbers, each with the
// value that the provider billed or that follows from its documentation.
func TestSplit_PublicMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		says  usage.Semantics
		r     usage.Report
		want  core.Usage
		price core.Prices
		cost  usd.Micro
	}{
		{"cached tokens billed twice, lf#10592", usage.OpenAI(), usage.Report{Input: n(17_903), CacheRead: n(17_817), Output: n(1), Total: n(17_904)},
			core.Usage{Input: 86, CacheRead: 17_817, Output: 1}, rates(1e6, 1e5, 0, 0, 1e6, 0), 86 + 1782 + 1},
		{"eleven times too much, Aider#5516", usage.OpenAI(), usage.Report{Input: n(17_111), CacheRead: n(17_102), Output: n(0), Total: n(17_111)},
			core.Usage{Input: 9, CacheRead: 17_102}, rates(1e6, 1e5, 0, 0, 0, 0), 1720},
		{"input that leaves out cached tokens, zerostack#172", usage.Anthropic(), usage.Report{Input: n(5), CacheRead: n(128_955), CacheWrite: n(1253), Output: n(100)},
			core.Usage{Input: 5, CacheRead: 128_955, CacheWrite: 1253, Output: 100}, rates(3e6, 3e5, 375e4, 6e6, 15e6, 15e6), 44_901},
		{"a write replaces the input price, ll#6575", usage.Anthropic(), usage.Report{Input: n(3), CacheWrite: n(12_304), Output: n(550)},
			core.Usage{Input: 3, CacheWrite: 12_304, Output: 550}, rates(3e6, 3e5, 375e4, 6e6, 15e6, 15e6), 54_399},
		{"a write inside the prompt, litellm#40016", usage.OpenAI(), usage.Report{Input: n(1000), CacheRead: n(200), CacheWrite: n(700), Output: n(0), Total: n(1000)},
			core.Usage{Input: 100, CacheRead: 200, CacheWrite: 700}, rates(1e6, 1e5, 125e4, 0, 0, 0), 995},
		{"read, write and rest of one prompt, litellm#11364", usage.OpenAI(), usage.Report{Input: n(98_805), CacheRead: n(66_360), CacheWrite: n(32_435), Output: n(5120), Total: n(103_925)},
			core.Usage{Input: 10, CacheRead: 66_360, CacheWrite: 32_435, Output: 5120}, rates(5e6, 5e5, 625e4, 0, 25e6, 25e6), 363_949},
		{"more cached than new, langsmith-sdk#2519", usage.Anthropic(), usage.Report{Input: n(19), CacheRead: n(39_000), Output: n(0)},
			core.Usage{Input: 19, CacheRead: 39_000}, rates(3e6, 3e5, 0, 0, 0, 0), 11_757},
		{"reasoning beside the completion, sub2api#5771", usage.OpenAI(), usage.Report{Input: n(10_120), CacheRead: n(128), Output: n(1499), Reasoning: n(2809), Total: n(14_428)},
			core.Usage{Input: 9992, CacheRead: 128, Output: 1499, Reasoning: 2809}, rates(125e4, 2e5, 0, 0, 25e5, 25e5), 23_286},
		{"reasoning within the completion, promptfoo#9326", usage.OpenAI(), usage.Report{Input: n(500), Output: n(500), Reasoning: n(200), Total: n(1000)},
			core.Usage{Input: 500, Output: 300, Reasoning: 200}, rates(0, 0, 0, 0, 1e6, 1e6), 500},
		{"thoughts beside the candidates, any-llm#1291", usage.Google(), usage.Report{Input: n(20), Output: n(151), Reasoning: n(382), Total: n(553)},
			core.Usage{Input: 20, Output: 151, Reasoning: 382}, rates(0, 0, 0, 0, 1e6, 1e6), 533},
		{"cached within the prompt, pi#2148", usage.Google(), usage.Report{Input: n(20_212), CacheRead: n(16_298), Output: n(931), Total: n(21_143)},
			core.Usage{Input: 3914, CacheRead: 16_298, Output: 931}, rates(5e5, 5e4, 0, 0, 3e6, 3e6), 5565},
		{"a write at its own price, coder/mux#3705", usage.OpenAI(), usage.Report{Input: n(3207), CacheWrite: n(3207), Output: n(0), Total: n(3207)},
			core.Usage{CacheWrite: 3207}, rates(1e6, 1e5, 125e4, 0, 0, 0), 4009},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, state := c.says.Split(c.r)
			if state != provider.UsageReported || got == nil {
				t.Fatalf("usage is %s", state)
			}
			if d := cmp.Diff(c.want, *got); d != "" {
				t.Error(d)
			}
			if cost, err := c.price.Cost(*got); err != nil || cost != c.cost {
				t.Errorf("costs %d, want %d (%v)", cost, c.cost, err)
			}
		})
	}
}

func TestSplit_NotBelieved(t *testing.T) {
	t.Parallel()
	bad := body.Count{N: -1, Set: true, Bad: true}
	for _, c := range []struct {
		name string
		says usage.Semantics
		r    usage.Report
		want provider.UsageState
	}{
		{"nothing", usage.OpenAI(), usage.Report{}, provider.UsageInconsistent},
		{"no output", usage.OpenAI(), usage.Report{Input: n(5), Total: n(5)}, provider.UsageInconsistent},
		{"a negative number", usage.OpenAI(), usage.Report{Input: bad, Output: n(1), Total: n(1)}, provider.UsageInvalid},
		{"a prompt of nothing", usage.OpenAI(), usage.Report{Input: n(0), Output: n(3), Total: n(3)}, provider.UsageInconsistent},
		{"more cached than prompt", usage.OpenAI(), usage.Report{Input: n(100), CacheRead: n(150), Output: n(1), Total: n(101)}, provider.UsageInconsistent},
		{"a total that is neither", usage.OpenAI(), usage.Report{Input: n(100), Output: n(5), Total: n(300)}, provider.UsageInconsistent},
		{"reasoning without a total", usage.OpenAI(), usage.Report{Input: n(100), Output: n(5), Reasoning: n(2)}, provider.UsageInconsistent},
		{"hit and miss that are not the prompt", usage.OpenAI(), usage.Report{Input: n(100), CacheRead: n(64), Miss: n(30), Output: n(5), Total: n(105)}, provider.UsageInconsistent},
		{"sound", usage.OpenAI(), usage.Report{Input: n(100), Output: n(5), Total: n(105), Foreign: []body.Count{n(1)}}, provider.UsageInconsistent},
		{"sound that is no number", usage.OpenAI(), usage.Report{Input: n(100), Output: n(5), Total: n(105), Foreign: []body.Count{bad}}, provider.UsageInvalid},
		{"writes that do not add up", usage.Anthropic(), usage.Report{Input: n(10), CacheWrite: n(3000), CacheWriteShort: n(100), CacheWriteHour: n(100), Output: n(4)}, provider.UsageInconsistent},
		{"more thinking than output", usage.Anthropic(), usage.Report{Input: n(10), Output: n(4), Reasoning: n(5)}, provider.UsageInconsistent},
		{"no total where it is the proof", usage.Google(), usage.Report{Input: n(10), Output: n(4)}, provider.UsageInconsistent},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, state := c.says.Split(c.r)
			if got != nil || state != c.want {
				t.Errorf("got %+v, %s; want %s", got, state, c.want)
			}
		})
	}
}

// Every token that was reported is in exactly one class, whichever way the
// provider counts.
func TestSplit_CountsEachTokenOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.Int64Range(0, 1_000_000)
		u := core.Usage{Input: 1 + count.Draw(t, "fresh"), CacheRead: count.Draw(t, "read"), CacheWrite: count.Draw(t, "write"), Output: count.Draw(t, "visible"), Reasoning: count.Draw(t, "think")}
		says := rapid.SampledFrom([]usage.Semantics{usage.OpenAI(), usage.Anthropic(), usage.Google()}).Draw(t, "semantics")
		r := usage.Report{Input: n(u.InputTokens()), CacheRead: n(u.CacheRead), CacheWrite: n(u.CacheWrite), Output: n(u.OutputTokens()), Reasoning: n(u.Reasoning)}
		if says.Cache == usage.Beside {
			r.Input = n(u.Input)
		}
		if says.Reasoning == usage.Beside || says.Reasoning == usage.ByTotal && rapid.Bool().Draw(t, "beside") {
			r.Output = n(u.Output)
		}
		r.Total = n(u.InputTokens() + u.OutputTokens())
		got, state := says.Split(r)
		if state != provider.UsageReported {
			t.Fatalf("%+v is %s", r, state)
		}
		if got.InputTokens() != u.InputTokens() || got.OutputTokens() != u.OutputTokens() || got.CacheRead != u.CacheRead || got.CacheWrite != u.CacheWrite {
			t.Fatalf("%+v became %+v, want %+v", r, got, u)
		}
	})
}

// Whatever is reported, what is believed is a sum of numbers that are.
func FuzzSplit(f *testing.F) {
	f.Add(uint8(0), int64(12), int64(5), int64(17), int64(0), int64(0), int64(0), int64(0))
	f.Add(uint8(1), int64(3), int64(550), int64(0), int64(0), int64(12_304), int64(1000), int64(20))
	f.Add(uint8(2), int64(20), int64(151), int64(553), int64(0), int64(0), int64(0), int64(382))
	f.Add(uint8(0), int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), int64(-1), int64(1), int64(math.MinInt64))
	f.Fuzz(func(t *testing.T, which uint8, in, out, total, read, write, hour, think int64) {
		c := func(v int64) body.Count { return body.Count{N: v, Set: true, Bad: v < 0 || v > core.MaxBelievable} }
		says := []usage.Semantics{usage.OpenAI(), usage.Anthropic(), usage.Google()}[which%3]
		got, state := says.Split(usage.Report{Input: c(in), Output: c(out), Total: c(total), CacheRead: c(read), CacheWrite: c(write), CacheWriteHour: c(hour), Reasoning: c(think)})
		if (got == nil) != (state != provider.UsageReported) {
			t.Fatalf("%+v is %s", got, state)
		}
		if got == nil {
			return
		}
		if min(got.Input, got.CacheRead, got.CacheWrite, got.CacheWriteHour, got.Output, got.Reasoning) < 0 || got.InputTokens() == 0 {
			t.Fatalf("believed %+v", got)
		}
		all := in + out
		if says.Cache == usage.Beside {
			all += read + write
		}
		if says.Reasoning != usage.Inside && got.Output == out {
			all += think
		}
		if got.InputTokens()+got.OutputTokens() != all {
			t.Fatalf("%d tokens became %+v", all, got)
		}
	})
}
