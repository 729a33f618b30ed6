package flow_test

import (
	"testing"

	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSuggest(t *testing.T) {
	t.Parallel()
	known := []string{"gsm8k", "gsm8k-hard", "gsm-symbolic", "mgsm", "svamp", "aqua", "arithmetic", "date-arithmetic", "json-extraction"}
	tests := []struct {
		name, typed string
		want        []string
	}{
		{"a missing letter", "gsm8", []string{"gsm8k", "mgsm", "gsm8k-hard"}},
		{"a swap", "gsmk8", []string{"gsm8k", "gsm8k-hard"}},
		{"two edits", "arithmtics", []string{"arithmetic"}},
		{"the beginning", "json", []string{"json-extraction"}},
		{"a shared word", "symbolic", []string{"gsm-symbolic"}},
		{"letter case", "SVAMP", []string{"svamp"}},
		{"nothing near", "mmlu-pro", nil},
		{"too short to be near anything", "x", nil},
		{"nothing typed", "", nil},
		{"at most three", "gsm", []string{"mgsm", "gsm8k", "gsm8k-hard"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, flow.Suggest(tt.typed, known)); diff != "" {
				t.Errorf("suggestions (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSuggestIsDeterministic(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[a-z0-9][a-z0-9-]{0,11}`)
	rapid.Check(t, func(t *rapid.T) {
		known := rapid.SliceOfN(word, 1, 20).Draw(t, "known")
		typed := word.Draw(t, "typed")
		first := flow.Suggest(typed, known)
		second := flow.Suggest(typed, rapid.Permutation(known).Draw(t, "order"))
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("the order of the known words matters:\n%s", diff)
		}
		if len(first) > 3 {
			t.Fatalf("%d suggestions", len(first))
		}
		for _, k := range known {
			if k == typed && first[0] != typed {
				t.Fatalf("the word itself is not first: %q", first)
			}
		}
	})
}

func TestTyped_H7(t *testing.T) {
	t.Parallel()
	const hidden = "that value"
	tests := []struct{ name, typed, want string }{
		{"a name", "gsm8k-hard@2", `"gsm8k-hard@2"`},
		{"a long route", "practice.solver-0.8", `"practice.solver-0.8"`},
		{"a run id", "0b5c1f7e-58a6-4b0a-9d0e-0d6a3a1f6c11", `"0b5c1f7e-58a6-4b0a-9d0e-0d6a3a1f6c11"`},
		{"empty", "", hidden},
		{"too long", string(make([]byte, 65)), hidden},
		{"an escape", "a\x1b[31m", hidden},
		{"a bidirectional control", "a\u202eb", hidden},
		{"a quote", `a"b`, hidden},
		{"a provider's key", "sk-proj-abcdef", hidden},
		{"our key", "erk_abc", hidden},
		{"a key inside", "key=erk_abc", hidden},
		{"mixed classes", "AbCdEfGhIjKlMnOpQrSt1", hidden},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := flow.Typed(tt.typed); got != tt.want {
				t.Errorf("Typed = %s, want %s", got, tt.want)
			}
		})
	}
}
