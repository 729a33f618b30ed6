package flow_test

import (
	"errors"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/google/go-cmp/cmp"
)

func bench(slug, version, name string, ready bool) api.BenchmarkRecord {
	b := api.BenchmarkRecord{ID: slug + "@" + version, Slug: slug, Version: version, Name: &name, QuoteAvailability: &api.BenchmarkQuoteAvailability{Status: api.QuoteUnavailable}}
	if ready {
		b.QuoteAvailability.Status = api.ReadyForQuote
	}
	return b
}

func TestBenchmark(t *testing.T) {
	t.Parallel()
	private := bench("byob-1", "1", "Our own set", true)
	private.ID = "byob-0b5c1f7e@1"
	known := []api.BenchmarkRecord{
		bench("gsm8k", "3", "Grade-school math", false),
		bench("gsm8k", "2", "Grade-school math", true),
		bench("gsm8k", "1", "Grade-school math", true),
		bench("gsm8k-hard", "1", "Grade-school math, hard", true),
		bench("arithmetic", "1", "Arithmetic word problems", true),
		bench("dates", "1", "arithmetic", true), // its name is another's slug
		private,
	}
	tests := []struct {
		name, typed, want string
		code              api.Code
		near              []string
	}{
		{"a slug means its newest version that is ready", "gsm8k", "gsm8k@2", "", nil},
		{"an id means that version", "gsm8k@1", "gsm8k@1", "", nil},
		{"also one that is not ready: the quote says so", "gsm8k@3", "gsm8k@3", "", nil},
		{"letter case does not matter", "GSM8K", "gsm8k@2", "", nil},
		{"a name", "arithmetic word problems", "arithmetic@1", "", nil},
		{"a slug beats a name", "arithmetic", "arithmetic@1", "", nil},
		{"words that only one has", "hard", "gsm8k-hard@1", "", nil},
		{"an id that is not slug@version", "byob-0b5c1f7e@1", "byob-0b5c1f7e@1", "", nil},
		{"words that two have", "school math", "", api.AmbiguousID, []string{"gsm8k", "gsm8k-hard"}},
		{"a typo", "arithmetics", "", api.BenchmarkUnknown, []string{"arithmetic"}},
		{"nothing near", "mmlu", "", api.BenchmarkUnknown, nil},
		{"an unknown version", "gsm8k@9", "", api.BenchmarkUnknown, []string{"gsm8k", "gsm8k-hard"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, err := flow.Benchmark(tt.typed, known)
			if tt.code != "" {
				checkRefusal(t, err, tt.code, tt.near)
				return
			}
			if err != nil || b.ID != tt.want {
				t.Errorf("found %+v, %v; want %s", b, err, tt.want)
			}
		})
	}
}

func checkRefusal(t *testing.T, err error, code api.Code, near []string) {
	t.Helper()
	var e *flow.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("error %v, want %s", err, code)
	}
	if diff := cmp.Diff(near, e.Closest); diff != "" {
		t.Errorf("suggestions (-want +got):\n%s", diff)
	}
}

func TestModel(t *testing.T) {
	t.Parallel()
	gone := time.Now()
	routes := []api.ManagedRoute{
		{ID: "practice.solver-0.8", DisplayName: "Practice solver 0.8", ModelID: "solver", Simulated: true},
		{ID: "practice.solver-0.9", DisplayName: "Practice solver 0.9", ModelID: "solver"},
		{ID: "acme.haiku-4.5", DisplayName: "Haiku 4.5", ModelID: "acme/haiku"},
		{ID: "other.haiku-4.5", DisplayName: "Haiku 4.5 (other)", ModelID: "other/haiku"},
	}
	conns := []api.ConnectionRecord{
		{ID: "0b5c1f7e-58a6-4b0a-9d0e-0d6a3a1f6c11", Name: "mine", ModelID: "local-model"},
		{ID: "0b5c2222-58a6-4b0a-9d0e-0d6a3a1f6c11", Name: "second", ModelID: "local-model"},
		{ID: "99991f7e-58a6-4b0a-9d0e-0d6a3a1f6c11", Name: "old", ModelID: "x", DisabledAt: &gone},
	}
	tests := []struct {
		name, typed, want string
		code              api.Code
		near              []string
	}{
		{"a route id", "practice.solver-0.8", "practice.solver-0.8", "", nil},
		{"a display name", "haiku 4.5", "acme.haiku-4.5", "", nil},
		{"a model id", "acme/haiku", "acme.haiku-4.5", "", nil},
		{"words that only one has", "other", "other.haiku-4.5", "", nil},
		{"a connection's name", "mine", "connection:0b5c1f7e-58a6-4b0a-9d0e-0d6a3a1f6c11", "", nil},
		{"a connection's id", "0b5c1f7e-58a6-4b0a-9d0e-0d6a3a1f6c11", "connection:0b5c1f7e-58a6-4b0a-9d0e-0d6a3a1f6c11", "", nil},
		{"with its prefix", "connection:0b5c1f7e-58a6-4b0a-9d0e-0d6a3a1f6c11", "connection:0b5c1f7e-58a6-4b0a-9d0e-0d6a3a1f6c11", "", nil},
		{"the beginning of its id", "connection:0b5c1", "connection:0b5c1f7e-58a6-4b0a-9d0e-0d6a3a1f6c11", "", nil},
		{"without its prefix", "0b5c1", "connection:0b5c1f7e-58a6-4b0a-9d0e-0d6a3a1f6c11", "", nil},
		{"a beginning that two have", "connection:0b5c", "", api.AmbiguousID, []string{"0b5c1f7e-58a6-4b0a-9d0e-0d6a3a1f6c11", "0b5c2222-58a6-4b0a-9d0e-0d6a3a1f6c11"}},
		{"a model id that two have", "local-model", "", api.AmbiguousModel, []string{"mine", "second"}},
		{"words that two have", "haiku", "", api.AmbiguousModel, []string{"acme.haiku-4.5", "other.haiku-4.5"}},
		{"a disabled connection", "old", "", api.ModelUnknown, nil},
		{"a typo", "practice.solver-0.7", "", api.ModelUnknown, []string{"practice.solver-0.8", "practice.solver-0.9"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, err := flow.Model(tt.typed, routes, conns)
			if tt.code != "" {
				checkRefusal(t, err, tt.code, tt.near)
				return
			}
			if err != nil || m.ID() != tt.want {
				t.Errorf("found %+v, %v; want %s", m, err, tt.want)
			}
		})
	}
}

func TestRun_H8(t *testing.T) {
	t.Parallel()
	known := []api.RunRecord{{ID: "0b5c1f7e-58a6-4b0a-9d0e-0d6a3a1f6c11"}, {ID: "0b5c2222-58a6-4b0a-9d0e-0d6a3a1f6c11"}}
	tests := []struct {
		name, typed, want string
		code              api.Code
		near              []string
	}{
		{"the whole id", "0b5c2222-58a6-4b0a-9d0e-0d6a3a1f6c11", "0b5c2222-58a6-4b0a-9d0e-0d6a3a1f6c11", "", nil},
		{"a unique beginning", "0b5c1", "0b5c1f7e-58a6-4b0a-9d0e-0d6a3a1f6c11", "", nil},
		{"an ambiguous beginning", "0b5c", "", api.AmbiguousID, []string{"0b5c1f7e-58a6-4b0a-9d0e-0d6a3a1f6c11", "0b5c2222-58a6-4b0a-9d0e-0d6a3a1f6c11"}},
		{"an unknown beginning", "aaaa", "", api.RunUnknown, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := flow.Run(tt.typed, known)
			if tt.code != "" {
				checkRefusal(t, err, tt.code, tt.near)
				return
			}
			if err != nil || r.ID != tt.want {
				t.Errorf("found %+v, %v; want %s", r, err, tt.want)
			}
		})
	}
}

func TestCheckRunID(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, typed string
		ok          bool
	}{
		{"four characters", "0b5c", true},
		{"a whole id", "0b5c1f7e-58a6-4b0a-9d0e-0d6a3a1f6c11", true},
		{"three characters", "0b5", false},
		{"capitals", "0B5C", false},
		{"a name", "latest", false},
		{"too long", "0b5c1f7e-58a6-4b0a-9d0e-0d6a3a1f6c111", false},
		{"empty", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if err := flow.CheckRunID(tt.typed); (err == nil) != tt.ok {
				t.Errorf("CheckRunID: %v, want ok %v", err, tt.ok)
			}
		})
	}
}
