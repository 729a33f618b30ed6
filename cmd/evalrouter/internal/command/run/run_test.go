package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// parsed reads a command line of run without running it.
func parsed(t *testing.T, line string) (*options, error) {
	t.Helper()
	a := &command.App{Term: &term.Term{Env: func(string) (string, bool) { return "", false }}}
	o := &options{App: a, flags: argv.NewFlags("run")}
	_, err := argv.Parse(command.Root(a, o.command()), strings.Fields("run "+line))
	return o, err
}

func TestCoverage(t *testing.T) {
	t.Parallel()
	n := func(n int) *int { return &n }
	s := func(n uint32) *uint32 { return &n }
	tests := []struct {
		name, line string
		bench      api.BenchmarkRecord
		want       api.Coverage
		refused    bool
	}{
		{"nothing said: the suggested sample", "", api.BenchmarkRecord{}, api.Coverage{Mode: api.Sample, SampleCount: n(25), Seed: s(42)}, false},
		{"the benchmark's own suggestion", "", api.BenchmarkRecord{SuggestedSampleCount: n(50)}, api.Coverage{Mode: api.Sample, SampleCount: n(50), Seed: s(42)}, false},
		{"clipped to its tasks", "", api.BenchmarkRecord{TaskCount: n(10)}, api.Coverage{Mode: api.Sample, SampleCount: n(10), Seed: s(42)}, false},
		{"RUN-23 a size", "--sample 7", api.BenchmarkRecord{SuggestedSampleCount: n(50)}, api.Coverage{Mode: api.Sample, SampleCount: n(7), Seed: s(42)}, false},
		{"a size clipped", "--sample 70", api.BenchmarkRecord{TaskCount: n(10)}, api.Coverage{Mode: api.Sample, SampleCount: n(10), Seed: s(42)}, false},
		{"a seed", "--seed 0", api.BenchmarkRecord{}, api.Coverage{Mode: api.Sample, SampleCount: n(25), Seed: s(0)}, false},
		{"the largest seed", "--seed 4294967295", api.BenchmarkRecord{}, api.Coverage{Mode: api.Sample, SampleCount: n(25), Seed: s(1<<32 - 1)}, false},
		{"RUN-24 everything", "--full", api.BenchmarkRecord{}, api.Coverage{Mode: api.Full}, false},
		{"everything and a sample", "--full --sample 5", api.BenchmarkRecord{}, api.Coverage{}, true},
		{"everything and a seed", "--full --seed 5", api.BenchmarkRecord{}, api.Coverage{}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o, err := parsed(t, tt.line)
			if err != nil {
				t.Fatal(err)
			}
			got, err := o.coverage(&tt.bench)
			if (err != nil) != tt.refused {
				t.Fatalf("error %v", err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("coverage (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReasoning(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     *api.ReasoningChoice
		ok       bool
	}{
		{"nothing said", "", nil, true},
		{"an effort", "low", &api.ReasoningChoice{Mode: "effort", Effort: "low"}, true},
		{"a budget", "4096", &api.ReasoningChoice{Mode: "budget", BudgetTokens: 4096}, true},
		{"off", "off", &api.ReasoningChoice{Mode: "off"}, true},
		{"the provider's own", "default", &api.ReasoningChoice{Mode: "provider_default"}, true},
		{"no budget", "0", nil, false},
		{"a negative budget", "-5", nil, false},
		{"no word", "Low!", nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := reasoning(tt.in)
			if (err == nil) != tt.ok || !cmp.Equal(tt.want, got) {
				t.Errorf("reasoning = %+v, %v", got, err)
			}
		})
	}
}

// A refused request file names the place and never a value.
func TestWhere(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"empty", "", "it is empty"},
		{"cut off", `{"model":`, "it ends in the middle"},
		{"not JSON", `{"model":SECRET}`, "it is not JSON, from byte 10"},
		{"a text for an object", `{"model":"SECRET"}`, "model must be an object"},
		{"a number for a text", `{"model":{"kind":5}}`, "model.kind must be a text"},
		{"a number for money", `{"max_charge_microusd":5}`, ""},
		{"a list", `["SECRET"]`, "the whole must be an object"},
		{"an unknown field", `{"secret":"SECRET"}`, `it has a field that a quote request does not have: "secret"`},
		{"a secret as a field", `{"sk-SECRET":1}`, "it has a field that a quote request does not have: that value"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dec := json.NewDecoder(strings.NewReader(tt.in))
			dec.DisallowUnknownFields()
			var q api.NewQuote
			err := dec.Decode(&q)
			if err == nil {
				t.Fatal("decoded")
			}
			got := where(err)
			if tt.want != "" && got != tt.want || strings.Contains(got, "SECRET") {
				t.Errorf("where = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDuplicate(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"none", `{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}]}`, ""},
		{"at the top", `{"a":1,"b":2,"a":3}`, "a"},
		{"inside", `{"b":{"x":1,"x":2}}`, "b.x"},
		{"in a list", `{"c":[{"a":1},{"a":2,"a":3}]}`, "c.1.a"},
		{"the same name written with an escape", `{"a":1,"\u0061":2}`, "a"},
		{"no object", `5`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got, err := duplicate([]byte(tt.in)); got != tt.want || err != nil {
				t.Errorf("duplicate = %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func quote() api.QuoteRecord {
	in, out, cached, least, limit, seed := usd.Micro(1_000_000), usd.Micro(5_000_000), usd.Micro(100_000), usd.Micro(50_000), 5*usd.Dollar, uint32(42)
	external := "The provider bills its calls to you."
	return api.QuoteRecord{
		ID: "0b5c1f7e-58a6-4b0a-9d0e-0d6a3a1f6c11", ExpiresAt: time.Now(), ExpiresIn: 1800, MaxChargeMicrousd: &limit, MinimumCapMicrousd: &least,
		Compatibility: api.Compatibility{OK: true}, Concurrency: api.QuoteConcurrency{RunCeiling: 16, Reasons: []string{"route limit"}},
		Reasoning: &api.ReasoningChoice{Mode: "budget", BudgetTokens: 4096}, ExternalCharges: &external,
		Plan: api.QuotePlan{
			Coverage: api.Coverage{Mode: api.Sample, Seed: &seed}, Warnings: []string{"first", "second"},
			Profiles: []api.ProfileSelection{{ID: "gsm8k@2", SelectedCount: 100, PopulationCount: 1319}},
			Pricing:  &api.Pricing{InputMicrousd: &in, OutputMicrousd: &out, CachedInputMicrousd: &cached},
			Model:    api.Model{Selected: &api.SelectedModel{DisplayName: "Haiku 4.5"}},
		},
	}
}

// QUO-07 and RUN-09 to RUN-12 line by line; QUO-10: no figure that was not
// promised.
func TestShowQuote(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	showQuote(&term.Page{W: &b}, quote())
	for _, want := range []string{
		"Quote 0b5c1f7e   expires ", "(in 30 min)\n", "  Benchmark    gsm8k@2\n",
		"  Coverage     100 of 1,319 tasks, seed 42 (a sample, not a full score)\n",
		"  Can show     differences of about 14 points between two models (paired, 80 % power)\n",
		"  Model        Haiku 4.5\n", "  Reasoning    up to 4,096 thinking tokens\n",
		"  Rates        in $1.00  cached in $0.10  out $5.00  for a million tokens\n",
		"  Cap          $5.00, hard (the least that pays for one task is $0.05)\n",
		"  Concurrency  auto, at most 16 calls (route limit)\n", "  Compatible   yes\n",
		"  Outside      The provider bills its calls to you.\n", "  Warning      first\n", "  Warning      second\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in:\n%s", want, b.String())
		}
	}
	if n := strings.Count(b.String(), "\n"); n != 13 {
		t.Errorf("%d lines; something was added that nobody checks:\n%s", n, b.String())
	}
}

func TestDeskUnattended(t *testing.T) {
	t.Parallel()
	d := &desk{App: &command.App{Term: &term.Term{Err: new(bytes.Buffer)}}, yes: true}
	q := quote()
	if ok, err := d.Approve(context.Background(), q, nil); !ok || err != nil {
		t.Errorf("--yes was not a yes: %v, %v", ok, err)
	}
	if _, err := d.Approve(context.Background(), q, &q); !errors.Is(err, api.QuoteChanged) {
		t.Errorf("--yes approved other terms: %v", err)
	}
	if _, err := d.Cap(context.Background(), q); !errors.Is(err, api.UnattendedRefused) {
		t.Errorf("a cap came from nowhere: %v", err)
	}
	if _, err := d.Repeat(context.Background(), api.RunRecord{ID: "r"}); !errors.Is(err, api.RepeatNeedsNew) {
		t.Errorf("a repeat was not refused: %v", err)
	}
	d.yes = false
	if _, err := d.Approve(context.Background(), q, nil); !errors.Is(err, api.UnattendedRefused) {
		t.Errorf("approved without consent: %v", err)
	}
}

// RUN-40: a minimum above $5 is suggested instead, and said.
func TestDeskCap(t *testing.T) {
	t.Parallel()
	high := 7 * usd.Dollar
	tests := []struct {
		name, typed string
		least       *usd.Micro
		want        usd.Micro
		says        string
	}{
		{"RUN-39 $5 is suggested", "\n", nil, 5 * usd.Dollar, "[5.00]"},
		{"RUN-40 or the minimum when that is higher", "\n", &high, high, "more than the usual $5.00"},
		{"another amount", "0.25\n", nil, 250_000, ""},
		{"nonsense is asked again", "lots\n2\n", nil, 2 * usd.Dollar, "not an amount in US dollars"},
		{"too little is asked again", "1\n8\n", &high, 8 * usd.Dollar, "at least $7.00"},
		{"nothing is asked again", "0\n8\n", nil, 8 * usd.Dollar, "starts nothing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			d := &desk{attended: true, App: &command.App{Term: &term.Term{In: strings.NewReader(tt.typed), Err: &out}}}
			got, err := d.Cap(context.Background(), api.QuoteRecord{MinimumCapMicrousd: tt.least})
			if got != tt.want || err != nil || !strings.Contains(out.String(), tt.says) {
				t.Errorf("cap %s, %v, said %q", got, err, out.String())
			}
		})
	}
}

// A quote names who grades and at which rates, every judge of a panel.
func TestShowQuote_Judges(t *testing.T) {
	t.Parallel()
	q := quote()
	a, b := *q.Plan.Model.Selected, *q.Plan.Model.Selected
	first, second := "acme.judge", "acme.other-judge"
	a.RouteID, b.RouteID, a.Pricing, b.Pricing = &first, &second, q.Plan.Pricing, q.Plan.Pricing
	q.Plan.Profiles[0].Judge = &api.JudgeSelection{Model: a, Protocol: map[string]any{"judges": []any{a, b}}}
	var out bytes.Buffer
	showQuote(&term.Page{W: &out}, q)
	want := "  Judge        acme.judge\n               in $1.00  cached in $0.10  out $5.00  for a million tokens\n" +
		"  Judge        acme.other-judge\n               in $1.00  cached in $0.10  out $5.00  for a million tokens\n"
	if !strings.Contains(out.String(), want) {
		t.Errorf("%s\nlacks\n%s", out.String(), want)
	}
	q.Plan.Profiles[0].Judge.Protocol = nil
	out.Reset()
	if showQuote(&term.Page{W: &out}, q); strings.Count(out.String(), "  Judge  ") != 1 {
		t.Errorf("without a panel:\n%s", out.String())
	}
}

// A quote shows every rate that can be charged.
func TestRates(t *testing.T) {
	t.Parallel()
	m := func(d usd.Micro) *usd.Micro { return &d }
	p := &api.Pricing{InputMicrousd: m(1_250_000), CachedInputMicrousd: m(125_000), CacheWriteMicrousd: m(1_562_500), OutputMicrousd: m(10 * usd.Dollar), ReasoningMicrousd: m(10 * usd.Dollar), PerRequestMicrousd: m(100)}
	if got, want := rates(p), "in $1.25  cached in $0.125  cache write $1.5625  out $10.00  reasoning $10.00  for a million tokens  $0.0001 a request"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	long := api.LongContextPricing{AboveTokens: 272_000, InputMicrousd: 2_500_000, CachedInputMicrousd: 250_000, CacheWriteMicrousd: 3_125_000, CacheWriteHourMicrousd: 5 * usd.Dollar,
		OutputMicrousd: 15 * usd.Dollar, ReasoningMicrousd: 15 * usd.Dollar}
	if got, want := longRates(long), "above 272,000 input tokens: in $2.50  cached in $0.25  cache write $3.125  cache write for an hour $5.00  out $15.00  reasoning $15.00  for a million tokens"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
