package engine

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	rejected := func(r provider.Reach) provider.Outcome { return provider.Outcome{Class: provider.Rejected, Reach: r} }
	hint := func(d time.Duration) provider.Outcome {
		o := rejected(provider.Overload)
		o.RetryAfter, o.HasRetryAfter = d, true
		return o
	}
	refused := rejected(provider.ThisTask)
	refused.Refused = true
	for _, tt := range []struct {
		name    string
		out     provider.Outcome
		attempt int
		spent   time.Duration
		want    decision
	}{
		{name: "an answer", out: provider.Outcome{Class: provider.Answered}, attempt: 1, want: decision{do: record}},
		{name: "unknown is never repeated", out: provider.Outcome{Class: provider.Unknown}, attempt: 1, want: decision{do: unknown}},
		{name: "a class that nobody defined is unknown", out: provider.Outcome{Class: "new"}, attempt: 1, want: decision{do: unknown}},
		{name: "no connection", out: provider.Outcome{Class: provider.NotSent}, attempt: 1, want: decision{do: again, delay: time.Second}},
		{name: "no connection, fourth time", out: provider.Outcome{Class: provider.NotSent}, attempt: 4, want: decision{do: again, delay: 8 * time.Second}},
		{name: "no connection, fifth time", out: provider.Outcome{Class: provider.NotSent}, attempt: 5, want: decision{do: outage}},
		{name: "rate limit without a hint", out: rejected(provider.Overload), attempt: 2, want: decision{do: again, delay: 2 * time.Second}},
		{name: "rate limit with a longer hint", out: hint(30 * time.Second), attempt: 1, want: decision{do: again, delay: 30 * time.Second}},
		{name: "a hint never shortens", out: hint(0), attempt: 3, want: decision{do: again, delay: 4 * time.Second}},
		{name: "backoff has an end", out: rejected(provider.Overload), attempt: 30, want: decision{do: again, delay: time.Minute}},
		{name: "a hint beyond all patience", out: hint(86400 * time.Second), attempt: 1, want: decision{do: park, delay: 86400 * time.Second}},
		{name: "patience is used up", out: rejected(provider.Overload), attempt: 20, spent: maxRetryTime - 30*time.Second, want: decision{do: park, delay: time.Minute}},
		{name: "credential", out: rejected(provider.Connection), attempt: 1, want: decision{do: replan, stop: core.CredentialFailed}},
		{name: "redirect", out: provider.Outcome{Class: provider.Rejected, Reach: provider.Connection, Code: core.CodeProviderError}, attempt: 1, want: decision{do: replan, stop: core.ProviderDown}},
		{name: "route", out: rejected(provider.Route), attempt: 1, want: decision{do: replan, stop: core.ProviderDown}},
		{name: "money gone", out: rejected(provider.Account), attempt: 1, want: decision{do: replan, stop: core.ProviderDown}},
		{name: "this task", out: rejected(provider.ThisTask), attempt: 1, want: decision{do: giveUp, code: core.CodeProviderError}},
		{name: "refused", out: refused, attempt: 1, want: decision{do: giveUp, code: core.CodeRefused}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := decide(tt.out, tt.attempt, tt.spent, 1); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// Only a proof that the provider did no work leads to another call, and every
// series of them ends.
func TestDecide_RepeatsOnlyWhatProvablyDidNoWork(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		out := provider.Outcome{
			Class:         rapid.SampledFrom([]provider.Class{provider.Answered, provider.Rejected, provider.NotSent, provider.Unknown, ""}).Draw(t, "class"),
			Reach:         rapid.SampledFrom([]provider.Reach{provider.ThisTask, provider.Route, provider.Connection, provider.Account, provider.Overload, ""}).Draw(t, "reach"),
			Refused:       rapid.Bool().Draw(t, "refused"),
			HasRetryAfter: rapid.Bool().Draw(t, "hint"),
			RetryAfter:    time.Duration(rapid.Int64Range(-1, int64(2*time.Hour)).Draw(t, "after")),
		}
		var spent time.Duration
		for attempt := 1; ; attempt++ {
			d := decide(out, attempt, spent, rapid.Float64Range(0, 0.999).Draw(t, "jitter"))
			if d.do != again {
				return
			}
			if out.Class != provider.NotSent && (out.Class != provider.Rejected || out.Reach != provider.Overload) {
				t.Fatalf("another call after %+v", out)
			}
			if d.delay <= 0 {
				t.Fatalf("no delay at attempt %d", attempt)
			}
			if spent += d.delay; spent > maxRetryTime || attempt > maxRetryCalls {
				t.Fatalf("attempt %d after %s", attempt, spent)
			}
		}
	})
}

func TestBreaker(t *testing.T) {
	t.Parallel()
	const ok, lost, free, over = 'o', 'x', 'u', 'b'
	for _, tt := range []struct {
		name string
		// seq is what became of each call, in order of settling; window is how
		// many were in flight together.
		seq    string
		window int
		want   core.Reason
	}{
		{name: "two lost in a row", seq: "oooooooooooooooooooxxoooooooooooooooooooooo", window: 1},
		{name: "three lost in a row", seq: strings.Repeat("o", 500) + "xxx", window: 1, want: core.ProviderDown},
		{name: "a burst of calls in flight together is one event", seq: strings.Repeat("o", 496) + "xxxxxxxx" + strings.Repeat("o", 16), window: 8},
		{name: "three bursts are three", seq: strings.Repeat("o", 800) + strings.Repeat("x", 24), window: 8, want: core.ProviderDown},
		{name: "the first three calls", seq: "xxx", window: 1, want: core.ProviderDown},
		{name: "everything is lost, many in flight", seq: strings.Repeat("x", 64), window: 64, want: core.ProviderDown},
		{name: "three in a hundred", seq: strings.Repeat(strings.Repeat("o", 32)+"x", 300), window: 4},
		{name: "ten in a hundred", seq: strings.Repeat("ooooooooox", 100), window: 4, want: core.ProviderDown},
		{name: "two answers without usage", seq: "uoouoo", window: 1},
		{name: "three answers without usage, not in a row", seq: "uououo", window: 1, want: core.UsageUnreported},
		{name: "one answer above the bound", seq: "oobooo", window: 1},
		{name: "two answers above the bound", seq: "oboob", window: 1, want: core.RoutePaused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBreaker(core.ProviderDown, 0)
			var got core.Reason
			for i, c := range tt.seq {
				begun := (i/tt.window + 1) * tt.window // whole windows begin together
				s := settled{number: i + 1, unknown: c == lost, unreported: c == free, overBound: c == over}
				if c != ok && c != lost && c != free && c != over {
					t.Fatalf("letter %q", c)
				}
				if why := b.record(s, begun); why.Reason != "" {
					got = why.Reason
					break
				}
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
