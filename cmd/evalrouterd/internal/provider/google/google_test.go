package google_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/exchange"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/google"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/providertest"
)

func adapter(transport func(core.Target) http.RoundTripper) provider.Adapter {
	return google.New(exchange.Config{Transport: transport, Now: func() time.Time { return time.Unix(1_790_000_000, 0) }})
}

func asked() provider.Request {
	return provider.Request{
		Target: core.Target{BaseURL: "http://model.example", ModelID: "gemini-x"}, Key: provider.NewSecret("sk-conformance-0123456789"),
		Messages:  []bundle.Message{{Role: bundle.System, Text: "Be <brief>."}, {Role: bundle.User, Text: "2+2?"}, {Role: bundle.Assistant, Text: "5"}, {Role: bundle.User, Text: "No."}},
		MaxOutput: 64,
	}
}

func body(parts, finish, usage string) []byte {
	return []byte(`{"candidates":[{"content":{"parts":[` + parts + `]},"finishReason":"` + finish + `"}],"modelVersion":"gemini-x","responseId":"r1","usageMetadata":` + usage + `}`)
}

const (
	usageJSON = `{"promptTokenCount":12,"candidatesTokenCount":5,"totalTokenCount":17}`
	textParts = `{"text":"hm","thought":true},{"text":"It is"},{"text":" 4."}`
)

func fault(code, status, details string) []byte {
	return []byte(`{"error":{"code":` + code + `,"message":"m","status":"` + status + `","details":[` + details + `]}}`)
}

const minute = `{"@type":"x","violations":[{"quotaId":"RequestsPerMinute"}]}`

func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Subject{
		New: adapter, Request: asked(), Good: body(textParts, "STOP", usageJSON), Text: "It is 4.", Usage: core.Usage{Input: 12, Output: 5},
		Unauthorized: fault("401", "UNAUTHENTICATED", ""), RateLimited: fault("429", "RESOURCE_EXHAUSTED", minute), ServerError: fault("500", "INTERNAL", ""),
		Delayed:    fault("429", "RESOURCE_EXHAUSTED", minute+`,{"@type":"y","retryDelay":"36.5s"}`),
		BadRequest: fault("400", "INVALID_ARGUMENT", `{"fieldViolations":[{"field":"generation_config.temperature"}]}`),
		Overloaded: fault("503", "UNAVAILABLE", ""), OverloadedStatus: 503,
		Stream: []byte("data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"It is\"}]}}],\"usageMetadata\":{\"promptTokenCount\":12,\"candidatesTokenCount\":2,\"totalTokenCount\":14}}\n\n" +
			"data: " + string(body(`{"text":" 4."}`, "STOP", usageJSON)) + "\n\n"),
		None: []byte(`{"candidates":[]}`), Silent: body("", "STOP", usageJSON), Long: body(textParts, "MAX_TOKENS", usageJSON), Refusal: body("", "SAFETY", usageJSON),
		OddUsage: body(textParts, "STOP", `{"promptTokenCount":12,"candidatesTokenCount":5,"totalTokenCount":99}`),
	})
}

func TestCall_WhereItIsAsked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, base, model string
		stream            bool
		uri               string
	}{
		{"in one piece", "http://model.example", "gemini-x", false, "/v1beta/models/gemini-x:generateContent"},
		{"as a stream", "http://model.example", "gemini-x", true, "/v1beta/models/gemini-x:streamGenerateContent?alt=sse"},
		{"another root", "http://model.example/v1/", "models/gemini-x", false, "/v1/models/gemini-x:generateContent"},
		{"a model that would leave its place", "http://model.example", "../../x?key=y", false, "/v1beta/models/..%2F..%2Fx%3Fkey=y:generateContent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st := providertest.Stage(t, providertest.Script{Status: 200, Body: body(textParts, "STOP", usageJSON)})
			r := asked()
			r.Target.BaseURL, r.Target.ModelID, r.Target.Stream = c.base, c.model, c.stream
			adapter(st.Transport).Call(t.Context(), r)
			last := st.Last()
			if last == nil || last.RequestURI != c.uri {
				t.Fatalf("asked at %+v", last)
			}
			if last.Header.Get("X-Goog-Api-Key") != r.Key.Reveal() || last.URL.Query().Has("key") {
				t.Errorf("headers %v", last.Header)
			}
		})
	}
}

func TestRender(t *testing.T) {
	t.Parallel()
	const head = `{"contents":[{"role":"user","parts":[{"text":"2+2?"}]},{"role":"model","parts":[{"text":"5"}]},{"role":"user","parts":[{"text":"No."}]}],` +
		`"systemInstruction":{"parts":[{"text":"Be <brief>."}]},"generationConfig":{"maxOutputTokens":64`
	const tail = `},"safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_NONE"},{"category":"HARM_CATEGORY_HATE_SPEECH","threshold":"BLOCK_NONE"},` +
		`{"category":"HARM_CATEGORY_SEXUALLY_EXPLICIT","threshold":"BLOCK_NONE"},{"category":"HARM_CATEGORY_DANGEROUS_CONTENT","threshold":"BLOCK_NONE"}]}`
	for _, c := range []struct {
		name   string
		choice core.ReasoningChoice
		want   string
	}{
		{"the provider's default", core.ReasoningChoice{}, ""},
		{"an effort", core.ReasoningChoice{Mode: core.ChooseEffort, Effort: "low"}, `,"thinkingConfig":{"thinkingLevel":"LOW"}`},
		{"a budget", core.ReasoningChoice{Mode: core.ChooseBudget, Tokens: 32}, `,"thinkingConfig":{"thinkingBudget":32}`},
		{"off is a budget of nothing", core.ReasoningChoice{Mode: core.ChooseOff}, `,"thinkingConfig":{"thinkingBudget":0}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := asked()
			r.Reasoning = c.choice
			got, err := adapter(nil).Render(r)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(head+c.want+tail, string(got)); d != "" {
				t.Error(d)
			}
		})
	}
}

// What a finish reason says about the answer; a new one spoils nothing.
func TestParse_Finish(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		word      string
		finish    bundle.Finish
		refused   bool
		malformed bool
	}{
		{"STOP", bundle.FinishStop, false, false},
		{"MAX_TOKENS", bundle.FinishLength, false, false},
		{"IMAGE_SAFETY", bundle.FinishFilter, true, false},
		{"TOO_MANY_TOOL_CALLS", "other:TOO_MANY_TOOL_CALLS", false, true},
		{"NO_IMAGE", "other:NO_IMAGE", false, true},
		{"FINISH_REASON_UNSPECIFIED", "other:FINISH_REASON_UNSPECIFIED", false, true},
		{"BRAND_NEW", "other:BRAND_NEW", false, false},
	} {
		t.Run(c.word, func(t *testing.T) {
			t.Parallel()
			o := adapter(nil).Parse(body(textParts, c.word, usageJSON))
			if o.Class != provider.Answered || o.Finish != c.finish || o.Refused != c.refused || o.Malformed != c.malformed {
				t.Errorf("got %+v", o)
			}
		})
	}
}

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
		{"one task's text", 400, fault("400", "INVALID_ARGUMENT", `{"fieldViolations":[{"field":"contents[0].parts[0].text"}]}`), provider.Rejected, provider.ThisTask, "invalid_content"},
		{"a role", 400, fault("400", "INVALID_ARGUMENT", `{"fieldViolations":[{"field":"contents[0].role"}]}`), provider.Rejected, provider.Route, "unsupported_parameter"},
		{"an error within an array", 429, []byte(`[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"XPerDayY"}]}]}}]`), provider.Rejected, provider.Account, "quota_exhausted"},
		{"a proxy's 503", 503, []byte(`<html>`), provider.Unknown, "", "server_error"},
		{"cancelled", 499, nil, provider.Unknown, "", "timeout"},
		{"too large", 413, nil, provider.Rejected, provider.ThisTask, "request_over_limit"},
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
	for _, s := range []string{string(body(textParts, "STOP", usageJSON)), `{"promptFeedback":{"blockReason":"OTHER"}}`,
		"data: {\"candidates\":[]}\n\n{\"error\":{\"code\":503}}\n", string(fault("400", "X", minute))} {
		f.Add([]byte(s))
	}
	a := adapter(nil)
	f.Fuzz(func(t *testing.T, raw []byte) { providertest.CheckParse(t, a, raw) })
}
