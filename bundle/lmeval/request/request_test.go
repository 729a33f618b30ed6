package request_test

import (
	"slices"
	"testing"

	vt "github.com/evalrouter/evalrouter/bundle/internal/vectortest"
	"github.com/evalrouter/evalrouter/bundle/lmeval/request"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

func TestChoices(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_construct_requests", func(t *testing.T, c vt.Case) {
		f := request.Form{
			Delimiter: vt.Str(c.Params, "target_delimiter"), Chat: vt.Flag(c.Params, "apply_chat_template"),
			GenPrefix: vt.Str(c.Params, "gen_prefix"), Unconditional: slices.Contains(vt.Texts(c.Params, "metrics"), "acc_mutual_info"),
		}
		var got []any
		for _, p := range f.Choices("CTX", vt.Texts(vt.Dict(c.Input, "doc"), "choices")) {
			got = append(got, []any{p.Context, p.Continuation})
		}
		if !vt.Same(got, c.Expected) {
			t.Errorf("requests %s, want %s", value.Repr(got), value.Repr(c.Expected))
		}
	})
}

func TestContexts(t *testing.T) {
	t.Parallel()
	got := request.Form{Delimiter: " "}.Contexts([]string{"a", "b"}, "end", []string{"x", "y"})
	if want := []request.Pair{{"a", " end"}, {"b", " end"}}; !slices.Equal(got, want) {
		t.Errorf("Contexts = %v, want %v", got, want)
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_encode_pair", func(t *testing.T, c vt.Case) {
		p := request.Pair{Context: vt.Str(c.Input, "context"), Continuation: vt.Str(c.Input, "continuation")}.Split()
		if got := []any{p.Context, p.Continuation}; !vt.Same(got, c.Expected) {
			t.Errorf("Split = %s, want %s", value.Repr(got), value.Repr(c.Expected))
		}
	})
}

func TestStops(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_stop_sequences", func(t *testing.T, c vt.Case) {
		if vt.Str(c.Params, "function") == "handle_stop_sequences" {
			until, _ := c.Input.Get("until")
			stops, err := request.Stops(until, vt.Str(c.Input, "eos"))
			if vt.Raised(t, c, err) {
				return
			}
			want := vt.Texts(vt.Wrap(c.Expected), "expected")
			if !slices.Equal(stops, want) {
				t.Errorf("Stops = %q, want %q", stops, want)
			}
			return
		}
		got := request.Trim(vt.Str(c.Input, "text"), vt.Texts(c.Input, "stop"), vt.Str(c.Input, "think_end_token"))
		if got != c.Expected {
			t.Errorf("Trim = %q, want %q", got, c.Expected)
		}
	})
}

func TestLogLikelihoods(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_parse_logprobs", func(t *testing.T, c vt.Case) {
		var contexts []int
		for _, n := range vt.List(c.Params, "ctxlens") {
			contexts = append(contexts, int(n.(int64)))
		}
		got, err := request.LogLikelihoods(vt.Dict(c.Input, "response"), contexts)
		if err != nil {
			t.Fatal(err)
		}
		want := c.Expected.([]any)
		if len(got) != len(want) {
			t.Fatalf("%d results, want %d", len(got), len(want))
		}
		for i, g := range got {
			pair := want[i].([]any)
			vt.Close(t, "sum", g.Sum, vt.Float(t, pair[0]))
			if g.Greedy != pair[1] {
				t.Errorf("greedy = %v, want %v", g.Greedy, pair[1])
			}
		}
	})
}

// A response that lacks something is an error, never a likelihood.
func TestLogLikelihoods_Refuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, response string }{
		{"no choices", `{}`},
		{"empty choices", `{"choices":[]}`},
		{"no logprobs", `{"choices":[{"index":0,"logprobs":null}]}`},
		{"shorter than its context", `{"choices":[{"index":0,"logprobs":{"token_logprobs":[null],"top_logprobs":[null]}}]}`},
		{"token without a value", `{"choices":[{"index":0,"logprobs":{"token_logprobs":[null,null,-1],"top_logprobs":[null,{"a":-1},{"a":-1}]}}]}`},
		{"token without alternatives", `{"choices":[{"index":0,"logprobs":{"token_logprobs":[null,-1,-1],"top_logprobs":[null,{},{"a":-1}]}}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, err := value.Loads(tt.response)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := request.LogLikelihoods(v.(*value.Dict), []int{1}); err == nil {
				t.Errorf("LogLikelihoods = %v, want an error", got)
			}
		})
	}
}

func ints(xs []int) []any {
	out := []any{}
	for _, x := range xs {
		out = append(out, int64(x))
	}
	return out
}

func TestRolling(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_rolling_windows", func(t *testing.T, c vt.Case) {
		var tokens []int
		for _, x := range vt.List(c.Input, "tokens") {
			tokens = append(tokens, int(x.(int64)))
		}
		windows, err := request.Rolling(tokens, vt.Int(c.Params, "prefix_token"), vt.Int(c.Params, "max_seq_len"), vt.Int(c.Params, "context_len"))
		if err != nil {
			t.Fatal(err)
		}
		got := []any{}
		for _, w := range windows {
			d := w.Disjoint()
			got = append(got, value.DictOf("window", []any{ints(w.Input), ints(w.Predict)}, "disjoint", []any{ints(d.Input), ints(d.Predict)}))
		}
		if !vt.Same(got, c.Expected) {
			t.Errorf("windows %s, want %s", value.Repr(got), value.Repr(c.Expected))
		}
	})
}

func TestParseArgs(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_gen_kwargs_cli", func(t *testing.T, c vt.Case) {
		if got := request.ParseArgs(vt.Str(c.Input, "s")); !vt.Same(got, c.Expected) {
			t.Errorf("ParseArgs(%q) = %s, want %s", vt.Str(c.Input, "s"), value.Repr(got), value.Repr(c.Expected))
		}
	})
}

func TestGeneration(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		task, caller *value.Dict
		want         string
	}{
		{"nothing declared", nil, nil, `{'until': ['\n\n'], 'do_sample': False, 'temperature': 0, 'max_gen_toks': 256}`},
		{"no stop declared", value.DictOf("temperature", 0.5), nil, `{'temperature': 0.5, 'until': ['\n\n']}`},
		{"caller over task", value.DictOf("until", []any{"Q:"}, "top_k", int64(3)), value.DictOf("top_k", int64(5)), `{'until': ['Q:'], 'top_k': 5}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := value.Repr(request.Generation(tt.task, tt.caller, "\n\n")); got != tt.want {
				t.Errorf("Generation = %s, want %s", got, tt.want)
			}
		})
	}
}
