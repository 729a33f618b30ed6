package responses_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/exchange"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/providertest"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/responses"
)

func adapter(transport func(core.Target) http.RoundTripper) provider.Adapter {
	return responses.New(exchange.Config{Transport: transport, Now: func() time.Time { return time.Unix(1_790_000_000, 0) }})
}

func asked(base string) provider.Request {
	return provider.Request{
		Target: core.Target{BaseURL: base, ModelID: "m-1"}, Key: provider.NewSecret("sk-conformance-0123456789"),
		Messages: []bundle.Message{{Role: bundle.System, Text: "Be <brief>."}, {Role: bundle.User, Text: "2+2?"}}, MaxOutput: 64,
	}
}

// body is an answer with a status, an output and usage.
func body(status, output, usage string) []byte {
	return []byte(`{"id":"resp_1","model":"m-1","error":null,"status":"` + status + `","output":[` + output + `],"usage":` + usage + `}`)
}

const (
	usageJSON = `{"input_tokens":12,"output_tokens":5,"total_tokens":17}`
	textItem  = `{"type":"reasoning","summary":[{"text":"hm"}]},{"type":"message","content":[{"type":"output_text","text":"It is"},{"type":"output_text","text":" 4."}]}`
)

func TestConformance(t *testing.T) {
	t.Parallel()
	good := body("completed", textItem, usageJSON)
	providertest.Run(t, providertest.Subject{
		New: adapter, Request: asked("http://model.example/v1"), Good: good, Text: "It is 4.", Usage: core.Usage{Input: 12, Output: 5},
		Unauthorized: []byte(`{"error":{"message":"no","code":"invalid_api_key"}}`), RateLimited: []byte(`{"error":{"message":"slow","code":"rate_limit_exceeded"}}`),
		ServerError: []byte(`{"error":{"message":"oops","type":"server_error"}}`), BadRequest: []byte(`{"error":{"message":"no","param":"temperature","code":"unsupported_parameter"}}`),
		Overloaded: []byte(`{"error":{"message":"busy","code":"server_is_overloaded"}}`), OverloadedStatus: 503,
		Stream: []byte("event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"It is 4.\"}\n\n" +
			"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":" + string(good) + "}\n\n"),
		None: body("in_progress", "", "null"), Silent: body("completed", "", usageJSON),
		Long:     []byte(`{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[` + textItem + `],"usage":` + usageJSON + `}`),
		Refusal:  body("completed", `{"type":"message","content":[{"type":"refusal","refusal":"No."}]}`, usageJSON),
		OddUsage: body("completed", textItem, `{"input_tokens":12,"output_tokens":5,"total_tokens":99}`),
	})
}

func TestRender(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, base, want string
		change           func(*provider.Request)
	}{
		{"OpenAI: standard tier, nothing stored", "https://api.openai.com",
			`{"model":"m-1","input":[{"role":"system","content":"Be <brief>."},{"role":"user","content":"2+2?"}],"max_output_tokens":64,"service_tier":"default","store":false}`, nil},
		{"elsewhere: no tier", "http://127.0.0.1:11434",
			`{"model":"m-1","input":[{"role":"system","content":"Be <brief>."},{"role":"user","content":"2+2?"}],"max_output_tokens":64,"store":false}`, nil},
		{"the smallest limit is 16", "http://127.0.0.1:1", `{"model":"m-1","input":[],"max_output_tokens":16,"store":false}`,
			func(r *provider.Request) { r.MaxOutput, r.Messages = 3, nil }},
		{"an effort", "http://127.0.0.1:1", `{"model":"m-1","input":[],"max_output_tokens":64,"reasoning":{"effort":"high"},"store":false}`,
			func(r *provider.Request) {
				r.Messages, r.Reasoning = nil, core.ReasoningChoice{Mode: core.ChooseEffort, Effort: "high"}
			}},
		{"no reasoning", "http://127.0.0.1:1", `{"model":"m-1","input":[],"max_output_tokens":64,"reasoning":{"effort":"none"},"store":false}`,
			func(r *provider.Request) { r.Messages, r.Reasoning = nil, core.ReasoningChoice{Mode: core.ChooseOff} }},
		{"a long answer as a stream", "http://127.0.0.1:1", `{"model":"m-1","input":[],"max_output_tokens":30000,"store":false,"stream":true}`,
			func(r *provider.Request) { r.Messages, r.MaxOutput = nil, 30_000 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := asked(c.base)
			if c.change != nil {
				c.change(&r)
			}
			got, err := adapter(nil).Render(r)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, string(got)); d != "" {
				t.Error(d)
			}
		})
	}
}

// Whatever comes, parsing ends, keeps the rules of an outcome and gives the
// same again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{string(body("completed", textItem, usageJSON)), `{"status":"failed","error":{"code":"server_error"}}`,
		"event: error\ndata: {\"type\":\"error\",\"code\":\"x\"}\n\n", "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n"} {
		f.Add([]byte(s))
	}
	a := adapter(nil)
	f.Fuzz(func(t *testing.T, raw []byte) { providertest.CheckParse(t, a, raw) })
}

// What the smallest limit adds to a short answer is part of its worst case.
func TestRender_SmallestLimitIsBounded(t *testing.T) {
	t.Parallel()
	r := asked("https://api.openai.com")
	r.Target.Protocol = core.OpenAIResponses
	for _, limit := range []int{1, 15, 16, 17} {
		r.MaxOutput = limit
		body, err := adapter(nil).Render(r)
		if err != nil {
			t.Fatal(err)
		}
		var sent struct {
			Limit int64 `json:"max_output_tokens"`
		}
		if err := json.Unmarshal(body, &sent); err != nil {
			t.Fatal(err)
		}
		if most, ok := r.Target.BilledOutput(limit); !ok || most != sent.Limit {
			t.Errorf("limit %d: %d tokens are asked for and %d are set aside", limit, sent.Limit, most)
		}
	}
}
