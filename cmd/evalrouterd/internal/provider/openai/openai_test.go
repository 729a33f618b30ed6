package openai_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/netguard"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/openai"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/providertest"
)

// compactJSON joins lines that are cut for width only.
func compactJSON(t *testing.T, s string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(strings.TrimSpace(line))
	}
	return b.String()
}

func TestRender(t *testing.T) {
	t.Parallel()
	two := []bundle.Message{{Role: bundle.System, Text: "Be <brief>."}, {Role: bundle.User, Text: "2+2?\n\"é\""}}
	for _, c := range []struct {
		name, base, want string
		make             func(openai.Config) *openai.Adapter
	}{
		{"chat, local server: the limit under both names", "http://127.0.0.1:11434", `{"model":"m-1",
			"messages":[{"role":"system","content":"Be <brief>."},{"role":"user","content":"2+2?\n\"é\""}],
			"max_tokens":64,"max_completion_tokens":64}`, openai.Chat},
		{"chat, OpenAI: one name, standard tier, nothing stored", "https://api.openai.com/v1", `{"model":"m-1",
			"messages":[{"role":"system","content":"Be <brief>."},{"role":"user","content":"2+2?\n\"é\""}],
			"max_completion_tokens":64,"service_tier":"default","store":false}`, openai.Chat},
		{"chat, OpenAI in Europe", "https://eu.api.openai.com/v1", `{"model":"m-1",
			"messages":[{"role":"system","content":"Be <brief>."},{"role":"user","content":"2+2?\n\"é\""}],
			"max_completion_tokens":64,"service_tier":"default","store":false}`, openai.Chat},
		{"chat, Azure: one name", "https://unit.openai.azure.com/openai/v1", `{"model":"m-1",
			"messages":[{"role":"system","content":"Be <brief>."},{"role":"user","content":"2+2?\n\"é\""}],
			"max_completion_tokens":64}`, openai.Chat},
		{"chat, a host that only looks like OpenAI", "https://api.openai.com.evil.example/v1", `{"model":"m-1",
			"messages":[{"role":"system","content":"Be <brief>."},{"role":"user","content":"2+2?\n\"é\""}],
			"max_tokens":64,"max_completion_tokens":64}`, openai.Chat},
		{"completions: messages joined", "http://127.0.0.1:8000/v1", `{"model":"m-1","prompt":"Be <brief>.\n\n2+2?\n\"é\"","max_tokens":64}`, openai.Completions},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := provider.Request{Target: core.Target{BaseURL: c.base, ModelID: "m-1"}, Key: provider.NewSecret("sk-never-in-the-body"),
				Messages: two, MaxOutput: 64, Gold: &bundle.Task{Target: []string{"gold"}}}
			got, err := c.make(config(nil)).Render(r)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(compactJSON(t, c.want), string(got)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestCall_WhereAndHow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, base, path string
		make             func(openai.Config) *openai.Adapter
	}{
		{"no path", "http://model.example", "/v1/chat/completions", openai.Chat},
		{"slash", "http://model.example/", "/v1/chat/completions", openai.Chat},
		{"v1", "http://model.example/v1", "/v1/chat/completions", openai.Chat},
		{"another root", "http://model.example/api/v1/", "/api/v1/chat/completions", openai.Chat},
		{"whole address", "http://model.example/v1/chat/completions", "/v1/chat/completions", openai.Chat},
		{"completions", "http://model.example", "/v1/completions", openai.Completions},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st := providertest.Stage(t, providertest.Script{Status: 200, Body: []byte(`{}`)})
			r := subject().Request
			r.Target.BaseURL = c.base
			c.make(config(st.Transport)).Call(t.Context(), r)
			last := st.Last()
			if last == nil || last.URL.Path != c.path || last.Host != "model.example" || last.URL.RawQuery != "" {
				t.Fatalf("request %+v", last)
			}
			if got := last.Header.Get("Authorization"); got != "Bearer "+r.Key.Reveal() {
				t.Errorf("Authorization %q", got)
			}
			r.Key = provider.Secret{}
			c.make(config(st.Transport)).Call(t.Context(), r)
			if _, ok := st.Last().Header["Authorization"]; ok {
				t.Error("a header without a key")
			}
		})
	}
}

func TestCall_Unsendable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(*provider.Request)
		reach  provider.Reach
		code   string
	}{
		{"key with a line break", func(r *provider.Request) { r.Key = provider.NewSecret("sk-1\r\nX-Evil: 1") }, provider.Connection, core.CodeCredentialRejected},
		{"key with letters outside ASCII", func(r *provider.Request) { r.Key = provider.NewSecret("schlüssel") }, provider.Connection, core.CodeCredentialRejected},
		{"no base URL", func(r *provider.Request) { r.Target.BaseURL = "" }, provider.Route, core.CodeProviderError},
		{"base URL of a file", func(r *provider.Request) { r.Target.BaseURL = "file:///etc/passwd" }, provider.Route, core.CodeProviderError},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st := providertest.Stage(t, providertest.Script{Status: 200})
			r := subject().Request
			c.change(&r)
			o := openai.Chat(config(st.Transport)).Call(t.Context(), r)
			if o.Class != provider.Rejected || o.Reach != c.reach || o.Code != c.code || o.Message == "" || strings.Contains(o.Message, "sk-1") {
				t.Errorf("got %+v", o)
			}
			if st.Requests() != 0 {
				t.Error("something was sent")
			}
		})
	}
}

// A target that the operator does not allow is never connected to, and is the
// same for every task.
func TestCall_Refused(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("reached") }))
	t.Cleanup(srv.Close)
	rt := netguard.Transport(netguard.Policy{})
	r := subject().Request
	r.Target.BaseURL = srv.URL
	o := openai.Chat(config(func(core.Target) http.RoundTripper { return rt })).Call(t.Context(), r)
	if o.Class != provider.Rejected || o.Reach != provider.Route || o.Reason != "endpoint_refused" || !strings.Contains(o.Message, "loopback") {
		t.Errorf("got %+v", o)
	}
}

func TestBound(t *testing.T) {
	t.Parallel()
	messages := func(texts ...string) (list []bundle.Message) {
		for _, s := range texts {
			list = append(list, bundle.Message{Role: bundle.User, Text: s})
		}
		return list
	}
	for _, c := range []struct {
		name, base string
		messages   []bundle.Message
		want       int64
	}{
		{"OpenAI: 8 a message and 64", "https://api.openai.com/v1", messages("abc", "de"), 64 + 2*8 + 5},
		{"local: 16 a message and 256", "http://127.0.0.1:8000", messages("abc", "de"), 256 + 2*16 + 5},
		{"no message", "http://127.0.0.1:8000", nil, 256},
		{"11 times as long under NFKC", "http://127.0.0.1:8000", messages("\ufdfa"), 256 + 16 + 33},
		{"3 times as long under NFC", "http://127.0.0.1:8000", messages("\U0001d160"), 256 + 16 + 12},
		{"shorter when composed", "http://127.0.0.1:8000", messages("e\u0301"), 256 + 16 + 3},
		{"a bad byte travels as U+FFFD", "http://127.0.0.1:8000", messages("\xff\xff"), 256 + 16 + 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := provider.Request{Target: core.Target{BaseURL: c.base}, Messages: c.messages}
			if got := openai.Chat(config(nil)).Bound(r); got != c.want {
				t.Errorf("Bound = %d, want %d", got, c.want)
			}
		})
	}
}

func TestBound_NeverBelowTheText(t *testing.T) {
	t.Parallel()
	a := openai.Completions(config(nil))
	rapid.Check(t, func(rt *rapid.T) {
		r := provider.Request{Target: core.Target{BaseURL: "http://model.example"}}
		for _, s := range rapid.SliceOf(rapid.String()).Draw(rt, "texts") {
			r.Messages = append(r.Messages, bundle.Message{Role: bundle.User, Text: s})
		}
		b, err := a.Render(r)
		if err != nil {
			rt.Fatal(err)
		}
		var sent struct{ Prompt string }
		if err := json.Unmarshal(b, &sent); err != nil {
			rt.Fatal(err)
		}
		for _, s := range []string{sent.Prompt, norm.NFC.String(sent.Prompt), norm.NFKC.String(sent.Prompt)} {
			if a.Bound(r) < int64(len(s)) {
				rt.Fatalf("bound %d below %d bytes of %q", a.Bound(r), len(s), s)
			}
		}
	})
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	st := providertest.Stage(t, providertest.Script{Status: 429, Body: []byte(`{}`), Header: map[string]string{"Retry-After": time.Unix(1_790_000_010, 0).UTC().Format(http.TimeFormat)}})
	o := openai.Chat(config(st.Transport)).Call(t.Context(), subject().Request)
	if !o.HasRetryAfter || o.RetryAfter != 10*time.Second {
		t.Errorf("without a Date, the injected clock counts: %+v", o)
	}
}

func BenchmarkCall(b *testing.B) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte(`{"id":"c","model":"m","choices":[{"message":{"content":"It is 4."},"finish_reason":"stop"}],` + usageJSON + `}`))
	}))
	b.Cleanup(srv.Close)
	rt := netguard.Transport(netguard.Policy{AllowLoopback: true})
	r := subject().Request
	r.Target.BaseURL = srv.URL
	a := openai.Chat(config(func(core.Target) http.RoundTripper { return rt }))
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if o := a.Call(b.Context(), r); o.Class != provider.Answered {
				b.Errorf("%+v", o)
				return
			}
		}
	})
}
