package routefile_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/routefile"
)

var update = flag.Bool("update", false, "write the golden files again")

func accept(base string) (string, error) {
	if strings.Contains(base, "metadata") {
		return "", errors.New("is a metadata address")
	}
	return strings.TrimRight(base, "/"), nil
}

const whole = `version: 1
providers:
  openai:
    protocol: openai_responses
    base_url: https://api.openai.com/
    key: {env: OPENAI_API_KEY}
  claude:
    protocol: anthropic_messages
    base_url: https://api.anthropic.com
    key: {file: /run/secrets/claude}
  mine:
    protocol: openai_chat
    base_url: http://127.0.0.1:8000
routes:
  - id: openai.gpt-5
    provider: openai
    model: gpt-5
    name: GPT-5
    context_window: 400000
    max_output_tokens: 16384
    concurrency: {auto: 8, max: 64}
    prices:
      version: 2026-08
      effective: 2026-08-01
      input: 1.25
      cache_read: "0.125"
      cache_write: 1.5625
      output: 10
      long_context: {above: 272000, input: 2.5, output: 15}
    reasoning: {mode: efforts, efforts: [none, low, high], default: low}
  - id: anthropic.claude-x
    provider: claude
    model: claude-x
    revision: 3
    status: retired
    context_window: 200000
    max_output_tokens: 8192
    refusal_before_output_unbilled: true
    stream: true
    prices: {version: a, effective: 2026-11-29T12:00:00Z, input: 3, cache_read: 0.3, cache_write: 3.75, cache_write_1h: 6, output: 15, reasoning: 15, request: 0.000001}
    reasoning: {mode: budget, min_tokens: 1024, max_tokens: 4096, step: 1024, default_tokens: 2048, can_disable: true, note: billed as output}
  - id: mine
    provider: mine
    model: m
    context_window: 4096
    max_output_tokens: 1024
    output_bound: visible_only
    judge_only: true
    prices: {version: "1", effective: 2026-01-01, input: 0, output: 0}
`

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := routefile.Parse("providers.yaml", []byte(whole), accept)
	if err != nil {
		t.Fatal(err)
	}
	day := func(s string) core.Micros {
		at, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return core.Micros(at.UnixMicro())
	}
	want := []routefile.Route{
		{Key: routefile.KeySource{Env: "OPENAI_API_KEY"}, Target: core.Target{
			Kind: core.Managed, RouteID: "openai.gpt-5", ModelID: "gpt-5", DisplayName: "GPT-5", Provider: "openai", Protocol: core.OpenAIResponses, Revision: 1,
			BaseURL: "https://api.openai.com", ContextWindow: 400_000, MaxOutputTokens: 16_384, Priced: true, Ceiling: 64, Auto: 8, Status: "active",
			Prices: core.Prices{
				Version: "openai.gpt-5/2026-08", Input: 1_250_000, CacheRead: 125_000, CacheWrite: 1_562_500, CacheWriteHour: 1_562_500, Output: 10_000_000, Reasoning: 10_000_000,
				Effective: day("2026-08-01T00:00:00Z"),
				Long: core.LongContext{Above: 272_000, Rates: core.Rates{Input: 2_500_000, CacheRead: 2_500_000, CacheWrite: 2_500_000, CacheWriteHour: 2_500_000,
					Output: 15_000_000, Reasoning: 15_000_000}},
			},
			Reasoning: core.Reasoning{Mode: core.ReasoningEfforts, Efforts: []string{"none", "low", "high"}, DefaultEffort: "low"},
		}},
		{Key: routefile.KeySource{File: "/run/secrets/claude"}, Target: core.Target{
			Kind: core.Managed, RouteID: "anthropic.claude-x", ModelID: "claude-x", DisplayName: "claude-x", Provider: "claude", Protocol: core.AnthropicMessages, Revision: 3,
			BaseURL: "https://api.anthropic.com", ContextWindow: 200_000, MaxOutputTokens: 8192, Priced: true, Ceiling: 256, Auto: 16, Status: "retired",
			UnbilledRefusals: true, Stream: true,
			Prices: core.Prices{
				Version: "anthropic.claude-x/a", Input: 3_000_000, CacheRead: 300_000, CacheWrite: 3_750_000, CacheWriteHour: 6_000_000, Output: 15_000_000, Reasoning: 15_000_000,
				Request: 1, Effective: day("2026-11-29T12:00:00Z"),
			},
			Reasoning: core.Reasoning{Mode: core.ReasoningBudget, MinTokens: 1024, MaxTokens: 4096, Step: 1024, DefaultTokens: 2048, CanDisable: true, Note: "billed as output"},
		}},
		{Target: core.Target{
			Kind: core.Managed, RouteID: "mine", ModelID: "m", DisplayName: "m", Provider: "mine", Protocol: core.OpenAIChat, Revision: 1, BaseURL: "http://127.0.0.1:8000",
			ContextWindow: 4096, MaxOutputTokens: 1024, Priced: true, Ceiling: 256, Auto: 16, Status: "active", OutputBound: core.BoundsVisible, JudgeOnly: true,
			Prices: core.Prices{Version: "mine/1", Effective: day("2026-01-01T00:00:00Z")},
		}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Each change makes one mistake in a valid file. The golden file holds the
// sentence with its path and line.
func TestParse_Refusals(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, c := range []struct{ name, old, new string }{
		{"no version", "version: 1\n", ""},
		{"log probabilities of another protocol", "name: GPT-5", "name: GPT-5\n    offers: [logprobs]"},
		{"an unknown ability", "name: GPT-5", "name: GPT-5\n    offers: [vision]"},
		{"another version", "version: 1\n", "version: 2\n"},
		{"an unknown name at the top", "version: 1\n", "version: 1\nroute: x\n"},
		{"an unknown name in a route", "name: GPT-5", "nane: GPT-5"},
		{"an unknown name among the prices", "output: 10\n", "output: 10\n      outptu: 10\n"},
		{"a key for a name", "    model: m\n", "    model: m\n    sk-secret-1: x\n"},
		{"a name twice", "    model: gpt-5\n", "    model: gpt-5\n    model: gpt-6\n"},
		{"a provider twice", "  mine:\n    protocol", "  claude:\n    protocol"},
		{"a route twice", "- id: mine", "- id: openai.gpt-5"},
		{"an id like that of a practice route", "- id: mine", "- id: practice.mine"},
		{"an id with a slash", "- id: mine", "- id: a/b"},
		{"no such provider", "provider: mine", "provider: yours"},
		{"a key in the file", "key: {env: OPENAI_API_KEY}", "key: sk-secret-0123456789"},
		{"a key in two places", "key: {env: OPENAI_API_KEY}", "key: {env: A, file: b}"},
		{"a variable with a name too long", "key: {env: OPENAI_API_KEY}", "key: {env: " + strings.Repeat("A", 129) + "}"},
		{"an id that is too long", "- id: mine", "- id: " + strings.Repeat("x", 201)},
		{"a variable that is none", "key: {env: OPENAI_API_KEY}", "key: {env: sk-secret-0123456789}"},
		{"another protocol", "openai_responses", "openai_magic"},
		{"an address that is never reached", "http://127.0.0.1:8000", "http://metadata"},
		{"no model", "    model: m\n", ""},
		{"a window that is no number", "context_window: 400000", "context_window: 4e5"},
		{"a window in digits with separators", "context_window: 400000", "context_window: 400_000"},
		{"an output larger than the window", "max_output_tokens: 1024", "max_output_tokens: 9999"},
		{"auto larger than max", "{auto: 8, max: 64}", "{auto: 65, max: 64}"},
		{"no prices", `    prices: {version: "1", effective: 2026-01-01, input: 0, output: 0}` + "\n", ""},
		{"no price of output", "input: 0, output: 0", "input: 0"},
		{"a negative price", "input: 1.25", "input: -1.25"},
		{"a price with an exponent", "input: 1.25", "input: 1e0"},
		{"a price finer than a micro-dollar", "input: 1.25", "input: 1.2500001"},
		{"a version that is no label", `version: "1"`, `version: "a b"`},
		{"a day that is none", "effective: 2026-08-01", "effective: soon"},
		{"a tier without its mark", "above: 272000, ", ""},
		{"an effort twice", "[none, low, high]", "[low, low]"},
		{"a default that is no effort", "default: low", "default: max"},
		{"efforts in a budget", "{mode: budget, ", "{mode: budget, efforts: [low], "},
		{"a budget where the protocol has none", "{mode: efforts, efforts: [none, low, high], default: low}", "{mode: budget, min_tokens: 1, max_tokens: 2}"},
		{"a budget upside down", "min_tokens: 1024, max_tokens: 4096", "min_tokens: 4096, max_tokens: 1024"},
		{"a default outside the budget", "default_tokens: 2048", "default_tokens: 9999"},
		{"a word for a truth", "stream: true", "stream: yes"},
		{"an anchor", "key: {env: OPENAI_API_KEY}", "key: &k {env: OPENAI_API_KEY}"},
		{"an alias", "    model: gpt-5\n", "    model: *m\n"},
		{"a type of YAML's own", "model: gpt-5", "model: !secret gpt-5"},
		{"a list where a word belongs", "model: gpt-5", "model: [gpt-5]"},
		{"routes as a word", whole[strings.Index(whole, "routes:"):], "routes: x\n"},
		{"two documents", "version: 1\n", "version: 1\n---\nversion: 1\n"},
		{"no YAML", whole, "a: [\nsk-secret"},
		{"nothing", whole, ""},
		{"several mistakes", "version: 1\nproviders:\n  openai:\n    protocol: openai_responses", "version: 3\nproviders:\n  openai:\n    protocol: x"},
	} {
		if !strings.Contains(whole, c.old) {
			t.Fatalf("%s: %q is not in the file", c.name, c.old)
		}
		_, err := routefile.Parse("providers.yaml", []byte(strings.Replace(whole, c.old, c.new, 1)), accept)
		if err == nil {
			t.Errorf("%s: taken", c.name)
			continue
		}
		if strings.Contains(err.Error(), "sk-secret") {
			t.Errorf("%s: the error repeats a value: %v", c.name, err)
		}
		fmt.Fprintf(&b, "%s\n  %s\n", c.name, strings.ReplaceAll(err.Error(), "\n", "\n  "))
	}
	golden := filepath.Join("testdata", "refusals.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Error(d)
	}
}

// What an operator vouches for is not tried out.
func TestParse_Offers(t *testing.T) {
	t.Parallel()
	const file = `version: 1
providers:
  base: {protocol: openai_completions, base_url: "http://127.0.0.1:8000"}
routes:
  - {id: base, provider: base, model: m, context_window: 4096, max_output_tokens: 64, offers: [logprobs], prices: {version: "1", effective: 2026-01-01, input: 1, output: 1}}
`
	got, err := routefile.Parse("providers.yaml", []byte(file), accept)
	if err != nil || len(got) != 1 || !cmp.Equal(got[0].Target.Offers, []string{core.OffersLogprobs}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestKeySource_Read(t *testing.T) {
	t.Parallel()
	env := func(name string) string {
		return map[string]string{"SET": "sk-1\n", "BAD": "sk 1"}[name]
	}
	file := func(name string) ([]byte, error) {
		if name == "there" {
			return []byte("sk-2\r\n"), nil
		}
		return nil, os.ErrNotExist
	}
	for _, c := range []struct {
		name string
		key  routefile.KeySource
		want string
		ok   bool
	}{
		{"none", routefile.KeySource{}, "", true},
		{"a variable", routefile.KeySource{Env: "SET"}, "sk-1", true},
		{"a variable that is not set", routefile.KeySource{Env: "UNSET"}, "", false},
		{"one that no header can carry", routefile.KeySource{Env: "BAD"}, "", false},
		{"a file", routefile.KeySource{File: "there"}, "sk-2", true},
		{"no file", routefile.KeySource{File: "gone"}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := c.key.Read(env, file)
			if (err == nil) != c.ok || got.Reveal() != c.want {
				t.Errorf("got %v, %v", got.Empty(), err)
			}
			if err != nil && strings.Contains(err.Error(), "sk") {
				t.Errorf("the error repeats the key: %v", err)
			}
		})
	}
}

// Whatever the file holds, reading it ends, and either all of it is understood
// or every problem has a line.
func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	for _, s := range []string{"", "a", "version: 1\nroutes: []", "? [a]\n: b", "version: 1\nversion: 1", "- a\n- &x b\n- *x", "version: 1\nroutes:\n- id: a\n  <<: {}", "---\n...\n---\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		routes, err := routefile.Parse("f", raw, accept)
		var bad *routefile.Problems
		if err != nil {
			if !errors.As(err, &bad) || len(bad.List) == 0 {
				t.Fatalf("%v", err)
			}
			for _, p := range bad.List {
				if p.Line < 1 || p.What == "" {
					t.Fatalf("%+v", p)
				}
			}
			return
		}
		for _, r := range routes {
			if r.Target.RouteID == "" || r.Target.Prices.Version == "" || r.Target.ContextWindow < 1 || r.Target.Ceiling < r.Target.Auto || r.Target.Protocol == "" {
				t.Fatalf("%+v", r)
			}
			if _, _, err := r.Target.Worst(1000, 1000); err != nil && r.Target.OutputBound != core.BoundsNothing {
				t.Fatal(err)
			}
		}
	})
}
