package openai_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/openai"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/providertest"
)

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
	}
}

func TestChat_Conformance(t *testing.T) {
	t.Parallel()
	s := subject()
	s.New = func(tr func(core.Target) http.RoundTripper) provider.Adapter { return openai.Chat(config(tr)) }
	s.Good = []byte(`{"id":"c-1","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"It is 4."},"finish_reason":"stop"}],` + usageJSON + `}`)
	providertest.Run(t, s)
}

func TestCompletions_Conformance(t *testing.T) {
	t.Parallel()
	s := subject()
	s.New = func(tr func(core.Target) http.RoundTripper) provider.Adapter { return openai.Completions(config(tr)) }
	s.Good = []byte(`{"id":"c-1","model":"m-1","choices":[{"index":0,"text":"It is 4.","finish_reason":"stop"}],` + usageJSON + `}`)
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
