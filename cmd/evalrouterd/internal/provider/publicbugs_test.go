package provider_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/exchange"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/providertest"
)

// apis are the protocols under the names that the fixtures have for them.
func apis() []string {
	return []string{"chat", "completions", "responses", "messages", "generateContent"}
}

// EverOS#219: an answer of status 200 without an answer in it ended some tool
// with an index error. Here it is an outcome: unknown, or paid and not graded.
func TestPublicFault_NoAnswerIn200(t *testing.T) {
	t.Parallel()
	bodies := []string{
		`{"choices":[]}`, `{"choices":null}`, `{"choices":[{"message":null}]}`, `{"choices":[{}]}`, `{"choices":[null]}`, `{"output":[]}`, `{"output":null,"status":"completed_"}`,
		`{"content":[]}`, `{"content":null,"stop_reason":null}`, `{"candidates":[]}`, `{"candidates":[{}]}`, `{"candidates":[{"content":null}]}`, `{}`, `null`, `[]`, `0`, `""`, ``,
	}
	for _, api := range apis() {
		a := adapterFor(t, api, exchange.Config{})
		for _, body := range bodies {
			o := a.Parse([]byte(body))
			if o.Class != provider.Unknown || o.Code == "" || o.Message == "" || o.Text != "" {
				t.Errorf("%s: %s is %+v", api, body, o)
			}
		}
	}
}

// ll#23899, insp#5143: a refusal read as an ordinary stop, and a cut answer as
// a whole one. Every word has one meaning, and a new word keeps its own name.
func TestPublicFault_FinishReasons(t *testing.T) {
	t.Parallel()
	shapes := map[string]func(word string) string{
		"chat":        func(w string) string { return `{"choices":[{"message":{"content":"x"},"finish_reason":"` + w + `"}]}` },
		"completions": func(w string) string { return `{"choices":[{"text":"x","finish_reason":"` + w + `"}]}` },
		"messages":    func(w string) string { return `{"content":[{"type":"text","text":"x"}],"stop_reason":"` + w + `"}` },
		"generateContent": func(w string) string {
			return `{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"` + w + `"}]}`
		},
		"responses": func(w string) string {
			return `{"status":"incomplete","incomplete_details":{"reason":"` + w + `"},"output":[{"type":"message","content":[{"type":"output_text","text":"x"}]}]}`
		},
	}
	words := map[string]map[string]bundle.Finish{
		"chat":            {"stop": bundle.FinishStop, "length": bundle.FinishLength, "content_filter": bundle.FinishFilter, "brand_new": "other:brand_new"},
		"completions":     {"stop": bundle.FinishStop, "length": bundle.FinishLength, "content_filter": bundle.FinishFilter, "brand_new": "other:brand_new"},
		"messages":        {"end_turn": bundle.FinishStop, "max_tokens": bundle.FinishLength, "refusal": bundle.FinishFilter, "brand_new": "other:brand_new"},
		"generateContent": {"STOP": bundle.FinishStop, "MAX_TOKENS": bundle.FinishLength, "SAFETY": bundle.FinishFilter, "BRAND_NEW": "other:BRAND_NEW"},
		"responses":       {"max_output_tokens": bundle.FinishLength, "content_filter": bundle.FinishFilter, "brand_new": "other:incomplete:brand_new"},
	}
	for _, api := range apis() {
		a := adapterFor(t, api, exchange.Config{})
		for word, want := range words[api] {
			o := a.Parse([]byte(shapes[api](word)))
			if o.Class != provider.Answered || o.Finish != want || o.Refused != (want == bundle.FinishFilter) || o.Text != "x" {
				t.Errorf("%s: %s is %+v, want %s", api, word, o, want)
			}
		}
	}
}

// insp#4238: a wait in the body went unheard. And a wait of a day is told as
// it is: to come back earlier is to be refused again.
func TestPublicFault_WaitInBody(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, body string
		header     map[string]string
		want       time.Duration
	}{
		{"in the body", `{"error":{"code":429,"details":[{"retryDelay":"86400s"}]}}`, nil, 24 * time.Hour},
		{"a header goes before it", `{"error":{"code":429,"details":[{"retryDelay":"9s"}]}}`, map[string]string{"Retry-After": "3"}, 3 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st := providertest.Stage(t, providertest.Script{Status: 429, Header: c.header, Body: []byte(c.body)})
			o := adapterFor(t, "generateContent", exchange.Config{Transport: st.Transport, Now: time.Now}).Call(t.Context(), provider.Request{Target: core.Target{BaseURL: "http://model.example", ModelID: "m"}})
			if o.Reach != provider.Overload || !o.HasRetryAfter || o.RetryAfter != c.want {
				t.Errorf("got %+v", o)
			}
		})
	}
}

// lighteval#1053, OrcaRouter-Lite#84: a cache that left fields out of its key
// gave answers to other questions. A call is known by its request in full, so
// each field of it makes another.
func TestPublicFault_EveryFieldCounts(t *testing.T) {
	t.Parallel()
	base := func() provider.Request {
		return provider.Request{
			Target:   core.Target{BaseURL: "https://api.openai.com", ModelID: "m"},
			Messages: []bundle.Message{{Role: bundle.System, Text: "s"}, {Role: bundle.User, Text: "u"}}, MaxOutput: 100,
		}
	}
	changes := map[string]func(*provider.Request){
		"a message": func(r *provider.Request) { r.Messages[1].Text = "v" },
		"a message more": func(r *provider.Request) {
			r.Messages = append(r.Messages, bundle.Message{Role: bundle.User, Text: "w"})
		},
		"another order":   func(r *provider.Request) { r.Messages[0].Text, r.Messages[1].Text = "u", "s" },
		"a role":          func(r *provider.Request) { r.Messages[0].Role = bundle.Assistant },
		"the model":       func(r *provider.Request) { r.Target.ModelID = "n" },
		"the limit":       func(r *provider.Request) { r.MaxOutput = 101 },
		"an effort":       func(r *provider.Request) { r.Reasoning = core.ReasoningChoice{Mode: core.ChooseEffort, Effort: "low"} },
		"another effort":  func(r *provider.Request) { r.Reasoning = core.ReasoningChoice{Mode: core.ChooseEffort, Effort: "high"} },
		"no reasoning":    func(r *provider.Request) { r.Reasoning = core.ReasoningChoice{Mode: core.ChooseOff} },
		"a budget":        func(r *provider.Request) { r.Reasoning = core.ReasoningChoice{Mode: core.ChooseBudget, Tokens: 64} },
		"the likelihoods": func(r *provider.Request) { r.Likelihood = true },
	}
	// What a protocol cannot say is not sent, and the quote refuses it.
	silent := map[string][]string{
		"chat":            {"a budget", "the likelihoods"},
		"completions":     {"a role", "an effort", "another effort", "no reasoning", "a budget"},
		"responses":       {"a budget", "the likelihoods"},
		"messages":        {"the likelihoods"},
		"generateContent": {"the model", "the likelihoods"}, // the model stands in the address
	}
	for _, api := range apis() {
		a := adapterFor(t, api, exchange.Config{})
		seen := map[string]string{}
		render := func(name string, change func(*provider.Request)) {
			r := base()
			change(&r)
			b, err := a.Render(r)
			if err != nil {
				t.Fatal(err)
			}
			if earlier, ok := seen[string(b)]; ok {
				t.Errorf("%s: %s is asked like %s", api, name, earlier)
			}
			seen[string(b)] = name
		}
		render("nothing changed", func(*provider.Request) {})
		for name, change := range changes {
			if !slices.Contains(silent[api], name) {
				render(name, change)
			}
		}
	}
}

// insp#2487: a connection that sends nothing held a run for a quarter of an
// hour. Every call ends with its deadline, whatever the protocol.
func TestPublicFault_DeadConnection(t *testing.T) {
	t.Parallel()
	for _, api := range apis() {
		for _, end := range []string{providertest.SilentHeaders, providertest.SilentBody, providertest.Drip} {
			st := providertest.Stage(t, providertest.Script{Status: 200, End: end})
			ctx := st.Context(t)
			o := adapterFor(t, api, exchange.Config{Transport: st.Transport, Now: time.Now}).Call(ctx, provider.Request{Target: core.Target{BaseURL: "http://model.example", ModelID: "m"}})
			if o.Class != provider.Unknown || o.Code != core.CodeProviderTimeout || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				t.Errorf("%s, %s: %+v", api, end, o)
			}
		}
	}
}

// What a key opens is never shown: it stands in no request body and no URL.
func TestKeyStaysInItsHeader(t *testing.T) {
	t.Parallel()
	const key = "sk-only-in-a-header-0123"
	for _, api := range apis() {
		st := providertest.Stage(t, providertest.Script{Status: 200, Body: []byte(`{}`)})
		a := adapterFor(t, api, exchange.Config{Transport: st.Transport, Now: time.Now})
		r := provider.Request{Target: core.Target{BaseURL: "http://model.example", ModelID: "m"}, Key: provider.NewSecret(key)}
		a.Call(t.Context(), r)
		b, err := a.Render(r)
		if err != nil || bytes.Contains(b, []byte(key)) || bytes.Contains([]byte(st.Last().URL.String()), []byte(key)) {
			t.Errorf("%s: %v", api, err)
		}
		var carried int
		for _, values := range st.Last().Header {
			for _, v := range values {
				if bytes.Contains([]byte(v), []byte(key)) {
					carried++
				}
			}
		}
		if carried != 1 || st.Last().Method != http.MethodPost {
			t.Errorf("%s: the key stands in %d headers", api, carried)
		}
	}
}
