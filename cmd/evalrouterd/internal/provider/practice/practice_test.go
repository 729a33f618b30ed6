package practice_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/generic"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/practice"
)

func noSleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

func target(t testing.TB, id core.RouteID) core.Target {
	t.Helper()
	for _, r := range practice.Routes() {
		if r.RouteID == id {
			return r
		}
	}
	t.Fatalf("no route %s", id)
	return core.Target{}
}

func task(i int) *bundle.Task {
	return &bundle.Task{
		ID:     fmt.Sprintf("t-%d", i),
		Input:  []bundle.Message{{Role: bundle.User, Text: fmt.Sprintf("What is %d plus %d?", i, i+7)}},
		Target: []string{fmt.Sprint(2*i + 7)},
	}
}

func request(t testing.TB, id core.RouteID, gold *bundle.Task) provider.Request {
	return provider.Request{Target: target(t, id), Messages: gold.Input, MaxOutput: 256, Gold: gold, Attempt: 1}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	seen := map[core.RouteID]bool{}
	for _, r := range practice.Routes() {
		if seen[r.RouteID] {
			t.Errorf("%s is listed twice", r.RouteID)
		}
		seen[r.RouteID] = true
		if !r.Simulated || !strings.HasSuffix(r.DisplayName, "(simulated)") {
			t.Errorf("%s is not marked simulated: %q", r.RouteID, r.DisplayName)
		}
		if !r.Priced || r.Prices.Version == "" || r.Prices.Free() {
			t.Errorf("%s has no published price", r.RouteID)
		}
		if r.Kind != core.Managed || r.Protocol != core.PracticeProtocol || r.BaseURL != "" || r.Revision != 1 {
			t.Errorf("%s: %+v", r.RouteID, r)
		}
	}
	for _, id := range []core.RouteID{"practice.solver-0.5", "practice.solver-0.6", "practice.solver-0.7", "practice.solver-0.8",
		"practice.solver-0.9", "practice.solver-0.95", practice.Echo, practice.Flaky} {
		if !seen[id] {
			t.Errorf("%s is missing", id)
		}
	}
}

// A solver's share of right answers over many tasks lies within four standard
// errors of its name, as graded by a real grader.
func TestSolver_Share(t *testing.T) {
	t.Parallel()
	const n = 600
	g, err := generic.New(bundle.GraderConfig{Kind: "numeric"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		id   core.RouteID
		p    float64
	}{
		{"0.5", "practice.solver-0.5", 0.5}, {"0.6", "practice.solver-0.6", 0.6}, {"0.7", "practice.solver-0.7", 0.7},
		{"0.8", "practice.solver-0.8", 0.8}, {"0.9", "practice.solver-0.9", 0.9}, {"0.95", "practice.solver-0.95", 0.95},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, right := practice.New(noSleep), 0
			for i := range n {
				gold := task(i)
				o := a.Call(t.Context(), request(t, c.id, gold))
				if o.Class != provider.Answered {
					t.Fatalf("task %d: %+v", i, o)
				}
				v, err := g.Grade(*gold, bundle.Answer{Text: o.Text, Finish: o.Finish})
				if err != nil {
					t.Fatal(err)
				}
				if v.Outcome == bundle.Right {
					right++
				}
			}
			// 4 * sqrt(0.25/600) < 0.082; the draw is fixed, so this holds always or never.
			if got := float64(right) / n; got < c.p-0.082 || got > c.p+0.082 {
				t.Errorf("share of right answers = %.3f, want about %.2f", got, c.p)
			}
		})
	}
}

func TestSolver_SameTaskSameAnswer(t *testing.T) {
	t.Parallel()
	a := practice.New(noSleep)
	for i := range 50 {
		first := request(t, "practice.solver-0.5", task(i))
		again := first
		again.Attempt = 7
		if d := cmp.Diff(a.Call(t.Context(), first), practice.New(noSleep).Call(t.Context(), again)); d != "" {
			t.Fatalf("task %d differs between runs:\n%s", i, d)
		}
	}
}

func TestSolver_RouteAndInputMatter(t *testing.T) {
	t.Parallel()
	a := practice.New(noSleep)
	byRoute, byInput := 0, 0
	for i := range 100 {
		base := a.Call(t.Context(), request(t, "practice.solver-0.5", task(i))).Text
		if a.Call(t.Context(), request(t, "practice.solver-0.6", task(i))).Text != base {
			byRoute++
		}
		other := task(i)
		other.Input[0].Text += " Think first."
		if a.Call(t.Context(), request(t, "practice.solver-0.5", other)).Text != base {
			byInput++
		}
	}
	if byRoute < 40 || byInput < 40 {
		t.Errorf("answers changed with the route %d times and with the input %d times of 100", byRoute, byInput)
	}
}

func TestEcho(t *testing.T) {
	t.Parallel()
	r := provider.Request{Target: target(t, practice.Echo), MaxOutput: 100, Messages: []bundle.Message{
		{Role: bundle.System, Text: "Be brief."}, {Role: bundle.User, Text: "Grüße & <b>"}, {Role: bundle.Assistant, Text: "Yes?"},
	}}
	slept := false
	o := practice.New(func(context.Context, time.Duration) error { slept = true; return nil }).Call(t.Context(), r)
	if o.Class != provider.Answered || o.Text != "Grüße & <b>" || o.Finish != bundle.FinishStop || slept {
		t.Errorf("got %+v, slept %v", o, slept)
	}
	// 9 + 13 + 4 bytes of input, 13 of output, four bytes a token, rounded up.
	if d := cmp.Diff(&core.Usage{Input: 7, Output: 4}, o.Usage); d != "" {
		t.Error(d)
	}
}

func TestOutputLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.String().Draw(rt, "text")
		limit := rapid.IntRange(1, 8).Draw(rt, "limit")
		r := provider.Request{Target: target(t, practice.Echo), MaxOutput: limit, Messages: []bundle.Message{{Role: bundle.User, Text: text}}}
		o := practice.New(noSleep).Call(t.Context(), r)
		if o.Usage.Output > int64(limit) {
			rt.Fatalf("%d output tokens, limit %d", o.Usage.Output, limit)
		}
		if o.Usage.Input > practice.New(noSleep).Bound(r) {
			rt.Fatalf("input %d above its bound", o.Usage.Input)
		}
		if !strings.HasPrefix(text, o.Text) || !utf8.ValidString(o.Text) {
			rt.Fatalf("%q is no prefix of %q", o.Text, text)
		}
		if cut := len(o.Text) < len(text); cut != (o.Finish == bundle.FinishLength) {
			rt.Fatalf("finish %q, cut %v", o.Finish, cut)
		}
	})
}

func TestFlaky(t *testing.T) {
	t.Parallel()
	a := practice.New(noSleep)
	counts := map[string]int{}
	for i := range 2000 {
		r := request(t, practice.Flaky, task(i))
		o := a.Call(t.Context(), r)
		if again := a.Call(t.Context(), r); kind(again) != kind(o) || again.Text != o.Text || again.RetryAfter != o.RetryAfter {
			t.Fatalf("attempt 1 of task %d differs: %+v, %+v", i, o, again)
		}
		counts[kind(o)]++
		if o.Reach == provider.Overload {
			if !o.HasRetryAfter || o.RetryAfter <= 0 || o.RetryAfter > 100*time.Millisecond || o.Raw != nil || o.Usage != nil {
				t.Fatalf("rate limit of task %d: %+v", i, o)
			}
		}
		if o.Malformed && (o.Usage == nil || o.Raw == nil || o.Text != "" || o.Code != core.CodeInvalidOutput) {
			t.Fatalf("malformed answer of task %d: %+v", i, o)
		}
	}
	for _, w := range []struct {
		name     string
		low, top int
	}{
		{"rejected", 180, 300}, {"unknown without a body", 6, 40}, {"unknown with a body", 1, 28}, {"malformed", 25, 80}, {"answered", 1550, 1780},
	} {
		if n := counts[w.name]; n < w.low || n > w.top {
			t.Errorf("%s: %d of 2000, want %d to %d", w.name, n, w.low, w.top)
		}
	}
}

func kind(o provider.Outcome) string {
	switch {
	case o.Malformed:
		return "malformed"
	case o.Class == provider.Unknown && o.Raw == nil:
		return "unknown without a body"
	case o.Class == provider.Unknown:
		return "unknown with a body"
	}
	return string(o.Class)
}

// A rate limited attempt is decided anew on the next one: nothing that
// retries stays rate limited.
func TestFlaky_RetriesGetThrough(t *testing.T) {
	t.Parallel()
	a := practice.New(noSleep)
	for i := range 200 {
		r := request(t, practice.Flaky, task(i))
		for r.Attempt = 1; a.Call(t.Context(), r).Reach == provider.Overload; r.Attempt++ {
			if r.Attempt > 10 {
				t.Fatalf("task %d was rate limited ten times", i)
			}
		}
	}
}

func TestParse_EqualsCall(t *testing.T) {
	t.Parallel()
	a := practice.New(noSleep)
	for _, route := range practice.Routes() {
		for i := range 60 {
			o := a.Call(t.Context(), request(t, route.RouteID, task(i)))
			if o.Raw == nil {
				continue
			}
			again := a.Parse(o.Raw)
			again.Status = o.Status
			if !reflect.DeepEqual(o, again) {
				t.Fatalf("%s, task %d:\n%s", route.RouteID, i, cmp.Diff(o, again))
			}
		}
	}
}

func TestCall_Latency(t *testing.T) {
	t.Parallel()
	var waits []time.Duration
	a := practice.New(func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil })
	for i := range 100 {
		a.Call(t.Context(), request(t, "practice.solver-0.8", task(i)))
	}
	for _, d := range waits {
		if d < 10*time.Millisecond || d > 20*time.Millisecond {
			t.Errorf("waited %s", d)
		}
	}
	if len(waits) != 100 {
		t.Errorf("waited %d times in 100 calls", len(waits))
	}
}

func TestCall_Ends(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	interrupted := func(context.Context, time.Duration) error { return context.DeadlineExceeded }
	noGold := request(t, "practice.solver-0.8", task(1))
	noGold.Gold = nil
	strange := request(t, "practice.solver-0.8", task(1))
	strange.Target.RouteID = "practice.oracle"
	for _, c := range []struct {
		name  string
		ctx   context.Context
		sleep func(context.Context, time.Duration) error
		r     provider.Request
		class provider.Class
		reach provider.Reach
		code  string
	}{
		{"ended before", ended, noSleep, request(t, "practice.solver-0.8", task(1)), provider.NotSent, "", core.CodeProviderError},
		{"ended during", t.Context(), interrupted, request(t, "practice.solver-0.8", task(1)), provider.Unknown, "", core.CodeProviderTimeout},
		{"no gold", t.Context(), noSleep, noGold, provider.Rejected, provider.Route, core.CodeProviderError},
		{"no such route", t.Context(), noSleep, strange, provider.Rejected, provider.Route, core.CodeProviderError},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := practice.New(c.sleep).Call(c.ctx, c.r)
			if o.Class != c.class || o.Reach != c.reach || o.Code != c.code || o.Usage != nil || o.Message == "" {
				t.Errorf("got %+v", o)
			}
		})
	}
}

func TestRender_NeverGold(t *testing.T) {
	t.Parallel()
	gold := task(3)
	gold.Target = []string{"top-secret-gold"}
	b, err := practice.New(noSleep).Render(request(t, "practice.solver-0.8", gold))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), "top-secret-gold") || !strings.Contains(string(b), "What is 3 plus 10?") {
		t.Errorf("rendered %s", b)
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	if err := practice.Wait(t.Context(), time.Microsecond); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, d := range []time.Duration{0, time.Hour} {
		if err := practice.Wait(ctx, d); !errors.Is(err, context.Canceled) {
			t.Errorf("Wait(%s) = %v", d, err)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	a := practice.New(noSleep)
	r := request(b, "practice.solver-0.8", task(7))
	b.ReportAllocs()
	for b.Loop() {
		a.Call(b.Context(), r)
	}
}
