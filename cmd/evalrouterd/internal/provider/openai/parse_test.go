package openai_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/openai"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/providertest"
)

// chatBody is an answer with one choice, made of what stands in its braces.
func chatBody(choice, rest string) string { return `{"choices":[{` + choice + `}]` + rest + `}` }

func TestParse_Chat(t *testing.T) {
	t.Parallel()
	usage := "," + usageJSON
	type want struct {
		Class     provider.Class
		Text      string
		Finish    bundle.Finish
		Refused   bool
		Malformed bool
		Code      string
		Reason    string
	}
	answered := func(text string, f bundle.Finish) want { return want{Class: provider.Answered, Text: text, Finish: f} }
	paid := func(reason string, f bundle.Finish) want {
		return want{Class: provider.Answered, Malformed: true, Finish: f, Code: core.CodeInvalidOutput, Reason: reason}
	}
	lost := func(reason string) want {
		return want{Class: provider.Unknown, Code: core.CodeOutcomeUnknown, Reason: reason}
	}
	for _, c := range []struct {
		name, body string
		want       want
	}{
		{"text", chatBody(`"message":{"content":"4"},"finish_reason":"stop"`, usage), answered("4", "stop")},
		{"parts", chatBody(`"message":{"content":[{"type":"text","text":"a"},{"type":"image"},{"type":"thinking","text":"no"},{"type":"text","text":"b"}]},"finish_reason":"stop"`, usage), answered("ab", "stop")},
		{"no parts", chatBody(`"message":{"content":[]},"finish_reason":"stop"`, usage), answered("", "stop")},
		{"null content", chatBody(`"message":{"content":null},"finish_reason":"stop"`, usage), answered("", "stop")},
		{"no content", chatBody(`"message":{"role":"assistant"},"finish_reason":"tool_calls"`, usage), answered("", "other:tool_calls")},
		{"reasoning is no text", chatBody(`"message":{"content":"4","reasoning":"x","reasoning_content":"y"},"finish_reason":"stop"`, usage), answered("4", "stop")},
		{"unknown finish", chatBody(`"message":{"content":"4"},"finish_reason":"eos_token"`, usage), answered("4", "other:eos_token")},
		{"hostile finish", chatBody(`"message":{"content":"4"},"finish_reason":"a\u001b[2Jb"`, usage), answered("4", `other:a\x1b[2Jb`)},
		{"finish is no string", chatBody(`"message":{"content":"4"},"finish_reason":7`, usage), answered("4", "")},
		{"no finish, text", chatBody(`"message":{"content":"4"},"finish_reason":null`, usage), answered("4", "")},
		{"no finish, no text", chatBody(`"message":{"content":""},"finish_reason":null`, usage), paid("malformed", "")},
		{"model was loaded, nothing said", chatBody(`"message":{"content":""},"finish_reason":"load"`, ""), want{Class: provider.Unknown, Finish: "other:load", Code: core.CodeOutcomeUnknown, Reason: "aborted"}},
		{"aborted", chatBody(`"message":{"content":"par"},"finish_reason":"abort"`, usage), paid("aborted", "other:abort")},
		{"content is a number", chatBody(`"message":{"content":4},"finish_reason":"stop"`, usage), paid("malformed", "")},
		{"no message", chatBody(`"finish_reason":"stop"`, usage), paid("malformed", "")},
		{"message is a string", chatBody(`"message":"4","finish_reason":"stop"`, usage), lost("malformed")},
		{"choices is an object", `{"choices":{}` + usage + `}`, lost("malformed")},
		{"choices null", `{"choices":null` + usage + `}`, paid("malformed", "")},
		{"null", `null`, lost("malformed")},
		{"array", `[]`, lost("malformed")},
		{"two bodies", chatBody(`"message":{"content":"4"},"finish_reason":"stop"`, "") + chatBody(`"message":{"content":"5"},"finish_reason":"stop"`, ""), lost("malformed")},
		{"white space around", "\n" + chatBody(`"message":{"content":"4"},"finish_reason":"stop"`, "") + "\n\n", answered("4", "stop")},
		{"id and model are odd", `{"id":7,"model":{},"choices":[{"message":{"content":"4"},"finish_reason":"stop"}]}`, answered("4", "stop")},
		{"error and choices", chatBody(`"message":{"content":"4"},"finish_reason":"stop"`, `,"error":{"message":"no"}`), lost("error_in_answer")},
		{"error with usage", `{"error":"no"` + usage + `}`, paid("error_in_answer", "")},
		{"no error", chatBody(`"message":{"content":"4"},"finish_reason":"stop"`, `,"error":null`), answered("4", "stop")},
		{"refusal", chatBody(`"message":{"content":null,"refusal":"No."},"finish_reason":"stop"`, usage),
			want{Class: provider.Answered, Finish: "stop", Refused: true, Code: core.CodeRefused, Reason: "model_refusal"}},
		{"refusal part", chatBody(`"message":{"content":[{"type":"refusal","refusal":"No."}]},"finish_reason":"stop"`, usage),
			want{Class: provider.Answered, Finish: "stop", Refused: true, Code: core.CodeRefused, Reason: "model_refusal"}},
		{"empty refusal", chatBody(`"message":{"content":"4","refusal":""},"finish_reason":"stop"`, usage), answered("4", "stop")},
		{"filtered", chatBody(`"message":{"content":"par"},"finish_reason":"content_filter"`, usage),
			want{Class: provider.Answered, Text: "par", Finish: "content_filter", Refused: true, Code: core.CodeRefused, Reason: "content_filter"}},
		{"polite no is an answer", chatBody(`"message":{"content":"I can't help with that."},"finish_reason":"stop"`, usage), answered("I can't help with that.", "stop")},
		{"more choices than asked for", `{"choices":[{"message":{"content":"4"},"finish_reason":"stop"},{"message":{"content":"5"},"finish_reason":"stop"}]}`, answered("4", "stop")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := openai.Chat(config(nil)).Parse([]byte(c.body))
			if d := cmp.Diff(c.want, want{o.Class, o.Text, o.Finish, o.Refused, o.Malformed, o.Code, o.Reason}); d != "" {
				t.Error(d)
			}
			if string(o.Raw) != c.body {
				t.Error("the body is not kept as it came")
			}
		})
	}
}

func TestParse_Completions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, choice, text string
		class              provider.Class
	}{
		{"text", `"text":"4","finish_reason":"length"`, "4", provider.Answered},
		{"empty text", `"text":"","finish_reason":"stop"`, "", provider.Answered},
		{"a chat answer", `"message":{"content":"4"},"finish_reason":"stop"`, "", provider.Unknown},
		{"null text", `"text":null,"finish_reason":"stop"`, "", provider.Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := openai.Completions(config(nil)).Parse([]byte(chatBody(c.choice, "")))
			if o.Class != c.class || o.Text != c.text {
				t.Errorf("got %+v", o)
			}
		})
	}
}

// The numbers of the first lines are public mistakes of other tools; the
// classes must be disjoint and add up.
func TestParse_Usage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, usage string
		want        *core.Usage
	}{
		{"written and read are inside the prompt", `{"prompt_tokens":98805,"completion_tokens":5120,"total_tokens":103925,"prompt_tokens_details":{"cached_tokens":66360,"cache_write_tokens":32435}}`,
			&core.Usage{Input: 10, CacheRead: 66360, CacheWrite: 32435, Output: 5120}},
		{"almost all cached", `{"prompt_tokens":17903,"completion_tokens":1,"total_tokens":17904,"prompt_tokens_details":{"cached_tokens":17817}}`,
			&core.Usage{Input: 86, CacheRead: 17817, Output: 1}},
		{"cached at a discount", `{"prompt_tokens":20212,"completion_tokens":931,"total_tokens":21143,"prompt_tokens_details":{"cached_tokens":16298}}`,
			&core.Usage{Input: 3914, CacheRead: 16298, Output: 931}},
		{"reasoning beside the completion", `{"prompt_tokens":10120,"completion_tokens":1499,"total_tokens":14428,"prompt_tokens_details":{"cached_tokens":128},"completion_tokens_details":{"reasoning_tokens":2809}}`,
			&core.Usage{Input: 9992, CacheRead: 128, Output: 1499, Reasoning: 2809}},
		{"reasoning inside the completion", `{"prompt_tokens":500,"completion_tokens":500,"total_tokens":1000,"completion_tokens_details":{"reasoning_tokens":200}}`,
			&core.Usage{Input: 500, Output: 300, Reasoning: 200}},
		{"no details", `{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}`, &core.Usage{Input: 5, Output: 2}},
		{"null details", `{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7,"prompt_tokens_details":null,"completion_tokens_details":null}`, &core.Usage{Input: 5, Output: 2}},
		{"no total, no reasoning", `{"prompt_tokens":5,"completion_tokens":2}`, &core.Usage{Input: 5, Output: 2}},
		{"no total, reasoning: inside or beside?", `{"prompt_tokens":5,"completion_tokens":2,"completion_tokens_details":{"reasoning_tokens":1}}`, nil},
		{"hit and miss", `{"prompt_tokens":100,"completion_tokens":2,"total_tokens":102,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}`, &core.Usage{Input: 36, CacheRead: 64, Output: 2}},
		{"hit and miss do not add up", `{"prompt_tokens":100,"completion_tokens":2,"total_tokens":102,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":30}`, nil},
		{"zero output", `{"prompt_tokens":5,"completion_tokens":0,"total_tokens":5}`, &core.Usage{Input: 5}},
		{"more cached than prompt", `{"prompt_tokens":19,"completion_tokens":5,"total_tokens":24,"prompt_tokens_details":{"cached_tokens":39000}}`, nil},
		{"total is neither", `{"prompt_tokens":5,"completion_tokens":2,"total_tokens":8}`, nil},
		{"more reasoning than completion", `{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7,"completion_tokens_details":{"reasoning_tokens":3}}`, nil},
		{"no prompt", `{"completion_tokens":2,"total_tokens":2}`, nil},
		{"prompt of nothing", `{"prompt_tokens":0,"completion_tokens":2,"total_tokens":2}`, nil},
		{"no completion", `{"prompt_tokens":5,"total_tokens":5}`, nil},
		{"negative", `{"prompt_tokens":5,"completion_tokens":-2,"total_tokens":3}`, nil},
		{"negative detail", `{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7,"prompt_tokens_details":{"cached_tokens":-1}}`, nil},
		{"fraction", `{"prompt_tokens":5.5,"completion_tokens":2,"total_tokens":7.5}`, nil},
		{"exponent", `{"prompt_tokens":5e0,"completion_tokens":2,"total_tokens":7}`, nil},
		{"string", `{"prompt_tokens":"5","completion_tokens":2,"total_tokens":7}`, nil},
		{"beyond exactness", `{"prompt_tokens":9007199254740993,"completion_tokens":2,"total_tokens":9007199254740995}`, nil},
		{"beyond int64", `{"prompt_tokens":99999999999999999999,"completion_tokens":2,"total_tokens":7}`, nil},
		{"audio", `{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7,"completion_tokens_details":{"audio_tokens":1}}`, nil},
		{"no object", `"none"`, nil},
		{"empty", `{}`, nil},
		{"null", `null`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := openai.Chat(config(nil)).Parse([]byte(chatBody(`"message":{"content":"4"},"finish_reason":"stop"`, `,"usage":`+c.usage)))
			if o.Class != provider.Answered || o.Text != "4" || o.Malformed {
				t.Errorf("odd usage spoils the answer: %+v", o)
			}
			if d := cmp.Diff(c.want, o.Usage); d != "" {
				t.Error(d)
			}
		})
	}
}

// Errors in shapes that the shared fixtures do not hold.
func TestCall_Errors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		status       int
		body         string
		class        provider.Class
		reach        provider.Reach
		code, reason string
		message      string
	}{
		{"FastAPI", 404, `{"detail":"Not Found"}`, provider.Rejected, provider.Route, core.CodeProviderError, "model_not_found", "Not Found"},
		{"FastAPI list", 422, `{"detail":[{"msg":"field required"}]}`, provider.Rejected, provider.Route, core.CodeProviderError, "unsupported_parameter", `[{"msg":"field required"}]`},
		{"array", 400, `[{"error":{"message":"bad"}}]`, provider.Rejected, provider.Route, core.CodeProviderError, "unsupported_parameter", "bad"},
		{"errors in an array", 401, `{"error":[{"message":"bad"}]}`, provider.Rejected, provider.Connection, core.CodeCredentialRejected, "auth", "bad"},
		{"no body", 400, ``, provider.Rejected, provider.Route, core.CodeProviderError, "unsupported_parameter", "the endpoint answered with status 400"},
		{"role not taken", 400, `{"error":{"message":"no system","param":"messages[0].role","code":"unsupported_value"}}`, provider.Rejected, provider.Route, core.CodeProviderError, "unsupported_parameter", "no system"},
		{"content not taken", 400, `{"error":{"message":"bad text","param":"messages.[1].content","code":"invalid_value"}}`, provider.Rejected, provider.ThisTask, core.CodeProviderError, "invalid_content", "bad text"},
		{"output limit beyond the window", 400, `{"error":{"message":"maximum context length is 8192","param":"max_tokens","code":400}}`, provider.Rejected, provider.Route, core.CodeProviderError, "unsupported_parameter", "maximum context length is 8192"},
		{"prompt against policy", 400, `{"error":{"message":"flagged","code":"invalid_prompt"}}`, provider.Rejected, provider.ThisTask, core.CodeRefused, "content_policy", "flagged"},
		{"too large", 413, `<html>`, provider.Rejected, provider.ThisTask, core.CodeProviderError, "context_too_long", "the endpoint answered with status 413"},
		{"bad key as 400", 400, `{"error":{"message":"key","code":"invalid_api_key"}}`, provider.Rejected, provider.Connection, core.CodeCredentialRejected, "auth", "key"},
		{"wrong method", 405, ``, provider.Rejected, provider.Route, core.CodeProviderError, "not_this_api", "the endpoint answered with status 405"},
		{"request timeout", 408, ``, provider.Unknown, "", core.CodeProviderTimeout, "timeout", "the endpoint answered with status 408"},
		{"conflict", 409, ``, provider.Unknown, "", core.CodeOutcomeUnknown, "unexpected_status", "the endpoint answered with status 409"},
		{"teapot", 418, ``, provider.Unknown, "", core.CodeOutcomeUnknown, "unexpected_status", "the endpoint answered with status 418"},
		{"code is a word elsewhere", 500, `{"error":{"message":"x","code":"rate_limit_exceeded"}}`, provider.Unknown, "", core.CodeOutcomeUnknown, "server_error", "x"},
		{"money gone under 403", 403, `{"error":{"message":"pay","code":"billing_not_active"}}`, provider.Rejected, provider.Account, core.CodeProviderError, "quota_exhausted", "pay"},
		{"queue words on another host's 500", 500, `{"error":"maximum pending requests exceeded"}`, provider.Unknown, "", core.CodeOutcomeUnknown, "server_error", "maximum pending requests exceeded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := callOnce(t, c.status, c.body)
			got := []string{string(o.Class), string(o.Reach), o.Code, o.Reason, o.Message, fmt.Sprint(o.Status)}
			want := []string{string(c.class), string(c.reach), c.code, c.reason, c.message, fmt.Sprint(c.status)}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestCall_MessageIsBounded(t *testing.T) {
	t.Parallel()
	o := callOnce(t, 400, `{"error":{"message":"`+strings.Repeat("é", 5000)+`\u001b[31m"}}`)
	if n := len([]rune(o.Message)); n != 500 {
		t.Errorf("%d characters", n)
	}
	o = callOnce(t, 400, `{"error":{"message":"a\u001b[31mb\r\nc\u202ed"}}`)
	if o.Message != `a\x1b[31mb c<U+202E>d` {
		t.Errorf("message %q", o.Message)
	}
}

// Whatever comes, parsing ends, keeps the rules of the outcome, and gives the
// same again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(chatBody(`"message":{"content":"4"},"finish_reason":"stop"`, ","+usageJSON)))
	f.Add([]byte(chatBody(`"message":{"content":[{"type":"text","text":"4"}]},"finish_reason":"abort"`, `,"error":{"code":400}`)))
	f.Add([]byte(chatBody(`"text":"4","finish_reason":"length"`, "")))
	f.Add([]byte(`{"error":["x"],"usage":{"prompt_tokens":1e9}}`))
	f.Add(events(`{"choices":[{"delta":{"content":"4"},"finish_reason":"stop"}]}`, `{"choices":[],`+usageJSON+`}`))
	f.Add([]byte("event: error\ndata: {\"error\":{\"message\":\"x\"}}\n\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, a := range []*openai.Adapter{openai.Chat(config(nil)), openai.Completions(config(nil))} {
			providertest.CheckParse(t, a, raw)
		}
	})
}
