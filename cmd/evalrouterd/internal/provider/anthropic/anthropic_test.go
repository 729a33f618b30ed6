package anthropic_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/anthropic"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/exchange"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/providertest"
)

func adapter(transport func(core.Target) http.RoundTripper) provider.Adapter {
	return anthropic.New(exchange.Config{Transport: transport, Now: func() time.Time { return time.Unix(1_790_000_000, 0) }})
}

func asked() provider.Request {
	return provider.Request{
		Target: core.Target{BaseURL: "http://model.example", ModelID: "m-1"}, Key: provider.NewSecret("sk-conformance-0123456789"),
		Messages: []bundle.Message{{Role: bundle.System, Text: "Be <brief>."}, {Role: bundle.User, Text: "2+2?"}}, MaxOutput: 2048,
	}
}

func body(content, stop, usage string) []byte {
	return []byte(`{"id":"msg_1","type":"message","model":"m-1","content":[` + content + `],"stop_reason":"` + stop + `","usage":` + usage + `}`)
}

const (
	usageJSON = `{"input_tokens":12,"output_tokens":5}`
	textBlock = `{"type":"thinking","thinking":"hm"},{"type":"text","text":"It is"},{"type":"text","text":" 4."}`
	goodFlow  = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"model\":\"m-1\",\"usage\":{\"input_tokens\":12,\"output_tokens\":1}}}\n\n" +
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"It is\"}}\n\n" +
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\" 4.\"}}\n\n" +
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":5}}\n\n" +
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
)

func fault(kind, message string) []byte {
	return []byte(`{"type":"error","error":{"type":"` + kind + `","message":"` + message + `"}}`)
}

func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Subject{
		New: adapter, Request: asked(), Good: body(textBlock, "end_turn", usageJSON), Text: "It is 4.", Usage: core.Usage{Input: 12, Output: 5},
		Unauthorized: fault("authentication_error", "no"), RateLimited: fault("rate_limit_error", "slow"), ServerError: fault("api_error", "oops"),
		BadRequest: fault("invalid_request_error", "temperature is deprecated"), Overloaded: fault("overloaded_error", "busy"), OverloadedStatus: 529,
		Stream: []byte(goodFlow), None: []byte(`{"type":"message","content":[],"stop_reason":null}`), Silent: body("", "end_turn", usageJSON),
		Long: body(textBlock, "max_tokens", usageJSON), Refusal: body("", "refusal", usageJSON),
		OddUsage: body(textBlock, "end_turn", `{"input_tokens":12,"output_tokens":5,"output_tokens_details":{"thinking_tokens":6}}`),
	})
}

func TestCall_HowItIsAsked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, base, path string }{
		{"no path", "http://model.example", "/v1/messages"},
		{"a root", "http://model.example/anthropic/v1/", "/anthropic/v1/messages"},
		{"whole address", "http://model.example/v1/messages", "/v1/messages"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st := providertest.Stage(t, providertest.Script{Status: 200, Body: body(textBlock, "end_turn", usageJSON)})
			r := asked()
			r.Target.BaseURL = c.base
			adapter(st.Transport).Call(t.Context(), r)
			last := st.Last()
			if last == nil || last.URL.Path != c.path {
				t.Fatalf("asked at %+v", last)
			}
			if last.Header.Get("X-Api-Key") != r.Key.Reveal() || last.Header.Get("Anthropic-Version") == "" || last.Header.Get("Authorization") != "" {
				t.Errorf("headers %v", last.Header)
			}
		})
	}
}

func TestRender(t *testing.T) {
	t.Parallel()
	const head = `{"model":"m-1","max_tokens":2048,"system":"Be <brief>.","messages":[{"role":"user","content":"2+2?"}]`
	for _, c := range []struct {
		name   string
		choice core.ReasoningChoice
		want   string
	}{
		{"the provider's default", core.ReasoningChoice{}, head + `,"service_tier":"standard_only"}`},
		{"an effort", core.ReasoningChoice{Mode: core.ChooseEffort, Effort: "low"}, head + `,"thinking":{"type":"adaptive"},"output_config":{"effort":"low"},"service_tier":"standard_only"}`},
		{"a budget", core.ReasoningChoice{Mode: core.ChooseBudget, Tokens: 1024}, head + `,"thinking":{"type":"enabled","budget_tokens":1024},"service_tier":"standard_only"}`},
		{"off", core.ReasoningChoice{Mode: core.ChooseOff}, head + `,"thinking":{"type":"disabled"},"service_tier":"standard_only"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := asked()
			r.Reasoning = c.choice
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

// A refusal before any output is free where the route says so, and only then.
func TestCall_UnbilledRefusal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		content string
		says    bool
		want    bool
	}{
		{"before any output, on such a route", "", true, true},
		{"before any output, on another", "", false, false},
		{"after some output", `{"type":"text","text":"Well"}`, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st := providertest.Stage(t, providertest.Script{Status: 200, Body: body(c.content, "refusal", `{"input_tokens":106,"output_tokens":1}`)})
			r := asked()
			r.Target.UnbilledRefusals = c.says
			o := adapter(st.Transport).Call(t.Context(), r)
			if o.Unbilled != c.want || !o.Refused {
				t.Errorf("unbilled %v, want %v: %+v", o.Unbilled, c.want, o)
			}
			p := core.Prices{Input: 1_000_000, Output: 1_000_000}
			if got := o.Settle(p, 1000, 0).Spend; (got == 0) != c.want {
				t.Errorf("charged %s", got)
			}
		})
	}
}

// Errors that one status does not tell apart.
func TestCall_Errors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		status int
		body   []byte
		class  provider.Class
		reach  provider.Reach
		reason string
	}{
		{"empty balance as 400", 400, fault("invalid_request_error", "Your credit balance is too low to access the API"), provider.Rejected, provider.Account, "quota_exhausted"},
		{"one task's text", 400, fault("invalid_request_error", "messages.0.content: text content blocks must be non-empty"), provider.Rejected, provider.ThisTask, "invalid_content"},
		{"overload without its word", 529, []byte(`<html>`), provider.Unknown, "", "server_error"},
		{"conflict", 409, fault("conflict_error", "x"), provider.Unknown, "", "unexpected_status"},
		{"a proxy's timeout", 408, nil, provider.Unknown, "", "timeout"},
		{"wrong address", 405, nil, provider.Rejected, provider.Route, "not_this_api"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st := providertest.Stage(t, providertest.Script{Status: c.status, Body: c.body})
			o := adapter(st.Transport).Call(t.Context(), asked())
			if o.Class != c.class || o.Reach != c.reach || o.Reason != c.reason {
				t.Errorf("got %s %s %s", o.Class, o.Reach, o.Reason)
			}
		})
	}
}

// Whatever comes, parsing ends, keeps the rules of an outcome and gives the
// same again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{string(body(textBlock, "end_turn", usageJSON)), string(fault("overloaded_error", "x")), goodFlow, goodFlow[:len(goodFlow)/2]} {
		f.Add([]byte(s))
	}
	a := adapter(nil)
	f.Fuzz(func(t *testing.T, raw []byte) { providertest.CheckParse(t, a, raw) })
}
