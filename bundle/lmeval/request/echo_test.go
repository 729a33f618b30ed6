package request_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	vt "github.com/evalrouter/evalrouter/bundle/internal/vectortest"
	"github.com/evalrouter/evalrouter/bundle/lmeval/request"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

func TestBounds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name                  string
		context, continuation string
		tokens                []string
		from, to              int // 0, 0 when nothing is found
	}{
		{"one token each", "The sky is", " blue", []string{"The sky is", " blue", "!"}, 1, 2},
		{"several of each", "The sky is", " blue and", []string{"The", " sky", " is", " blue", " and", " x"}, 3, 5},
		{"nothing was generated", "The sky is", " blue", []string{"The", " sky", " is", " blue"}, 3, 4},
		{"much was generated", "a", " b", []string{"a", " b", " c", " d", " e"}, 1, 2},
		{"white space of the context goes to the continuation", "Answer: ", "yes", []string{"Answer", ":", " yes", "."}, 2, 3},
		{"a mark of the server's", "a", " b", []string{"<s>", "a", " b", "c"}, 2, 3},
		{"a mark without a text", "a", " b", []string{"", "a", " b", "c"}, 2, 3},
		{"no context, after a mark", "", "b c", []string{"<s>", "b", " c", "d"}, 1, 3},
		{"no context, after a mark without a text", "", "b c", []string{"", "b", " c", "d"}, 1, 3},
		{"no context and no mark", "", "b c", []string{"b", " c", "d"}, 0, 2},
		{"a token over the boundary is the context's", "ab", "cd", []string{"a", "bc", "d", "!"}, 2, 3},
		{"all of it in the context's last token", "ab", "c", []string{"a", "bc", "!"}, 0, 0},
		{"broken characters before", "é is", " a", []string{"\ufffd", "\ufffd", " is", " a", "!"}, 3, 4},
		{"broken characters before, and a token over the boundary", "é is", "nt it", []string{"\ufffd", "\ufffd", " isnt", " it", "!"}, 3, 4},
		{"broken characters in the continuation", "a", " é", []string{"a", " \ufffd", "\ufffd", "!"}, 0, 0},
		{"another text", "The sky is", " blue", []string{"The", " sea", " is", " deep", "!"}, 0, 0},
		{"what was generated alone", "The sky is", " blue", []string{" and", " wide"}, 0, 0},
		{"the generated text repeats the continuation", "The sky is", " blue", []string{" blue"}, 0, 0},
		{"nothing", "a", " b", nil, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			from, to, ok := request.Bounds(tt.tokens, request.Pair{Context: tt.context, Continuation: tt.continuation})
			if ok != (tt.to > 0) || ok && (from != tt.from || to != tt.to) {
				t.Errorf("Bounds = %d, %d, %v; want %d, %d", from, to, ok, tt.from, tt.to)
			}
		})
	}
}

// Echo finds by the texts of tokens what lm-eval finds by counting them: its own
// responses, with texts put to their tokens, read the same.
func TestEcho_Vectors(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "lmeval_parse_logprobs", func(t *testing.T, c vt.Case) {
		choices := vt.List(vt.Dict(c.Input, "response"), "choices")
		for i, raw := range choices {
			choice := raw.(*value.Dict)
			probs := vt.Dict(choice, "logprobs")
			n := len(vt.List(probs, "token_logprobs"))
			tokens, texts := make([]any, n), make([]string, n)
			for k := range tokens {
				texts[k] = " " + strings.Repeat("t", k+1)
				tokens[k] = texts[k]
			}
			if err := probs.Set("tokens", tokens); err != nil {
				t.Fatal(err)
			}
			at, _ := choice.Get("index")
			place := int(at.(int64))
			length := int(vt.List(c.Params, "ctxlens")[place].(int64))
			p := request.Pair{Context: strings.Join(texts[:length], ""), Continuation: strings.Join(texts[length:n-1], "")}
			if p.Continuation == "" {
				continue // lm-eval asks for no empty continuation
			}
			text, err := value.Dump{}.Dumps(value.DictOf("choices", []any{choices[i]}))
			if err != nil {
				t.Fatal(err)
			}
			got, err := request.Echo(text, p)
			if err != nil {
				t.Fatal(err)
			}
			want := c.Expected.([]any)[place].([]any)
			vt.Close(t, "sum", got.Sum, vt.Float(t, want[0]))
			if got.Greedy != want[1] {
				t.Errorf("greedy = %v, want %v", got.Greedy, want[1])
			}
		}
	})
}

// What does not hold the likelihood that was asked for is an error, never one.
func TestEcho_Refuses(t *testing.T) {
	t.Parallel()
	const pair = `"token_logprobs":[null,-1,-2],"top_logprobs":[null,{"b":-1},{"c":-2}]`
	for _, tt := range []struct{ name, response string }{
		{"no JSON", `<html>`},
		{"no object", `[]`},
		{"no choices", `{}`},
		{"two choices", `{"choices":[{},{}]}`},
		{"a choice that is none", `{"choices":[1]}`},
		{"no logprobs", `{"choices":[{"text":"a b"}]}`},
		{"no tokens", `{"choices":[{"logprobs":{` + pair + `}}]}`},
		{"too few tokens", `{"choices":[{"logprobs":{"tokens":["a"," b"],` + pair + `}}]}`},
		{"a token that is no text", `{"choices":[{"logprobs":{"tokens":["a",1,"c"],` + pair + `}}]}`},
		{"other tokens", `{"choices":[{"logprobs":{"tokens":["x"," y","c"],` + pair + `}}]}`},
		{"a token without a value", `{"choices":[{"logprobs":{"tokens":["a"," b","c"],"token_logprobs":[null,null,-2],"top_logprobs":[null,{"b":-1},{"c":-2}]}}]}`},
		{"an infinite value", `{"choices":[{"logprobs":{"tokens":["a"," b","c"],"token_logprobs":[null,-Infinity,-2],"top_logprobs":[null,{"b":-1},{"c":-2}]}}]}`},
		{"no likeliest tokens", `{"choices":[{"logprobs":{"tokens":["a"," b","c"],"token_logprobs":[null,-1,-2],"top_logprobs":[null,null,{"c":-2}]}}]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got, err := request.Echo(tt.response, request.Pair{Context: "a", Continuation: " b"}); err == nil {
				t.Errorf("Echo = %+v, want an error", got)
			}
		})
	}
	if _, err := request.Echo(`{"choices":[{"logprobs":{"tokens":["a"," b","c"],`+pair+`}}]}`, request.Pair{Context: "a", Continuation: " b"}); err != nil {
		t.Errorf("a whole response: %v", err)
	}
}

// Whatever stands in a response, a sum is finite,
// and what was read lies within the tokens.
func FuzzBounds(f *testing.F) {
	f.Add("The sky is", " blue", `["The"," sky"," is"," blue","!"]`)
	f.Add("", "b", `["","b"]`)
	f.Add("é ", "ß", `["\ufffd","\ufffd"," ","ß","x"]`)
	f.Fuzz(func(t *testing.T, context, continuation, list string) {
		var tokens []string
		if json.Unmarshal([]byte(list), &tokens) != nil || continuation == "" {
			return
		}
		from, to, ok := request.Bounds(tokens, request.Pair{Context: context, Continuation: continuation})
		if ok && (from < 0 || from >= to || to > len(tokens)) {
			t.Fatalf("Bounds = %d, %d of %d tokens", from, to, len(tokens))
		}
		if whole := strings.Join(tokens[from:to], ""); ok && !strings.HasSuffix(context+continuation, whole) {
			t.Fatalf("%q was read of %q and %q", whole, context, continuation)
		}
		if l, err := request.Echo(list, request.Pair{Context: context, Continuation: continuation}); err == nil && (math.IsInf(l.Sum, 0) || math.IsNaN(l.Sum)) {
			t.Fatalf("the sum is %v", l.Sum)
		}
	})
}
