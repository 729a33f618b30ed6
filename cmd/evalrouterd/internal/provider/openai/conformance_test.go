package openai_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/openai"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/providertest"
)

const oddUsageJSON = `"usage":{"prompt_tokens":12,"completion_tokens":5,"total_tokens":99}`

const usageJSON = `"usage":{"prompt_tokens":12,"completion_tokens":5,"total_tokens":17}`

func config(transport func(core.Target) http.RoundTripper) openai.Config {
	return openai.Config{Transport: transport, Now: func() time.Time { return time.Unix(1_790_000_000, 0) }}
}

func subject() providertest.Subject {
	return providertest.Subject{
		Request: provider.Request{
			Target: core.Target{BaseURL: "http://model.example/v1", ModelID: "m-1"}, Key: provider.NewSecret("sk-conformance-0123456789"),
			Messages: []bundle.Message{{Role: bundle.User, Text: "2+2?"}}, MaxOutput: 64,
		},
		Text: "It is 4.", Usage: core.Usage{Input: 12, Output: 5},
		Unauthorized: []byte(`{"error":{"message":"Incorrect API key","type":"invalid_request_error","code":"invalid_api_key"}}`),
		RateLimited:  []byte(`{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}`),
		ServerError:  []byte(`{"error":{"message":"oops","type":"server_error","code":null}}`),
		BadRequest:   []byte(`{"error":{"message":"no temperature","type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}`),
		Overloaded:   []byte(`{"error":{"message":"busy","type":"service_unavailable_error","code":"server_is_overloaded"}}`), OverloadedStatus: 503,
		None: []byte(`{"id":"c-1","model":"m-1","choices":[]}`),
	}
}

// events writes a stream of data lines and [DONE].
func events(data ...string) []byte {
	var b strings.Builder
	for _, d := range append(data, "[DONE]") {
		b.WriteString("data: " + d + "\n\n")
	}
	return []byte(b.String())
}

func TestChat_Conformance(t *testing.T) {
	t.Parallel()
	s := subject()
	s.New = func(tr func(core.Target) http.RoundTripper) provider.Adapter { return openai.Chat(config(tr)) }
	s.Good = []byte(`{"id":"c-1","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"It is 4."},"finish_reason":"stop"}],` + usageJSON + `}`)
	choice := func(message, finish, usage string) []byte {
		return []byte(`{"choices":[{"message":` + message + `,"finish_reason":"` + finish + `"}],` + usage + `}`)
	}
	s.Silent = choice(`{"content":null}`, "stop", usageJSON)
	s.Long = choice(`{"content":"It is 4."}`, "length", usageJSON)
	s.Refusal = choice(`{"content":null,"refusal":"No."}`, "stop", usageJSON)
	s.OddUsage = choice(`{"content":"It is 4."}`, "stop", oddUsageJSON)
	s.Stream = events(`{"choices":[{"delta":{"role":"assistant","content":"It is"}}]}`, `{"choices":[{"delta":{"content":" 4."}}]}`,
		`{"choices":[{"delta":{},"finish_reason":"stop"}]}`, `{"choices":[],`+usageJSON+`}`)
	providertest.Run(t, s)
}

func TestCompletions_Conformance(t *testing.T) {
	t.Parallel()
	s := subject()
	s.New = func(tr func(core.Target) http.RoundTripper) provider.Adapter { return openai.Completions(config(tr)) }
	s.Good = []byte(`{"id":"c-1","model":"m-1","choices":[{"index":0,"text":"It is 4.","finish_reason":"stop"}],` + usageJSON + `}`)
	choice := func(text, finish, usage string) []byte {
		return []byte(`{"choices":[{"text":"` + text + `","finish_reason":"` + finish + `"}],` + usage + `}`)
	}
	s.Silent, s.Long = choice("", "stop", usageJSON), choice("It is 4.", "length", usageJSON)
	s.Refusal, s.OddUsage = choice("", "content_filter", usageJSON), choice("It is 4.", "stop", oddUsageJSON)
	s.Stream = events(`{"choices":[{"text":"It is"}]}`, `{"choices":[{"text":" 4.","finish_reason":null}]}`, `{"choices":[{"text":"","finish_reason":"stop"}],`+usageJSON+`}`)
	providertest.Run(t, s)
}

func callOnce(t *testing.T, status int, body string) provider.Outcome {
	t.Helper()
	st := providertest.Stage(t, providertest.Script{Status: status, Body: []byte(body)})
	o := openai.Chat(config(st.Transport)).Call(t.Context(), subject().Request)
	if st.Requests() != 1 {
		t.Errorf("%d requests", st.Requests())
	}
	return o
}
