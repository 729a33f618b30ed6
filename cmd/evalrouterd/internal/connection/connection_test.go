package connection_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/connection"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/netguard"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/openai"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
)

const secret = "sk-connection-canary-77"

var scope = core.Scope{Workspace: "w", Actor: "test"}

func newService(t *testing.T) (*connection.Service, *store.Store) {
	t.Helper()
	st, err := store.Open(t.Context(), store.Options{Path: filepath.Join(t.TempDir(), "test.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := st.CreateWorkspace(t.Context(), core.WorkspaceInfo{ID: "w", Slug: "w", Name: "W"}); err != nil {
		t.Fatal(err)
	}
	master, err := seal.LoadOrCreate(filepath.Join(t.TempDir(), "master.key"), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	policy := netguard.Policy{AllowLoopback: true}
	pool := netguard.NewPool(netguard.Dialer{Policy: policy})
	t.Cleanup(pool.Close)
	calls := openai.Config{Transport: func(t core.Target) http.RoundTripper { return pool.For(t.Name()) }, Now: time.Now}
	var n atomic.Int64
	return &connection.Service{
		Store: st, Sealer: master, CheckURL: policy.CheckURL, Now: time.Now, NewID: func() string { return fmt.Sprintf("c%d", n.Add(1)) },
		Adapters: provider.Set{core.OpenAIChat: openai.Chat(calls), core.OpenAICompletions: openai.Completions(calls)},
	}, st
}

func stubbed(url string) connection.New {
	return connection.New{Name: "Stub", BaseURL: url, ModelID: "m", Key: provider.NewSecret(secret)}
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	price, huge, minus := int64(1), int64(1e12), int64(-1)
	tests := []struct {
		name   string
		change func(*connection.New)
		want   []map[string]string // nil: refused as an endpoint
	}{
		{"no name", func(n *connection.New) { n.Name = " " }, []map[string]string{{"path": "name", "code": "length_1_to_80"}}},
		{"long name", func(n *connection.New) { n.Name = strings.Repeat("x", 81) }, []map[string]string{{"path": "name", "code": "length_1_to_80"}}},
		{"name of two lines", func(n *connection.New) { n.Name = "a\nb" }, []map[string]string{{"path": "name", "code": "length_1_to_80"}}},
		{"name that hides", func(n *connection.New) { n.Name = "a\u202eb" }, []map[string]string{{"path": "name", "code": "length_1_to_80"}}},
		{"no model", func(n *connection.New) { n.ModelID = "" }, []map[string]string{{"path": "model_id", "code": "length_1_to_200"}}},
		{"no endpoint", func(n *connection.New) { n.BaseURL = "" }, []map[string]string{{"path": "base_url", "code": "required"}}},
		{"protocol", func(n *connection.New) { n.Protocol = "practice" }, []map[string]string{{"path": "protocol", "code": "unknown_protocol"}}},
		{"output", func(n *connection.New) { n.MaxOutputTokens = -1 }, []map[string]string{{"path": "max_output_tokens", "code": "out_of_range"}}},
		{"window", func(n *connection.New) { n.ContextWindow = 1 << 40 }, []map[string]string{{"path": "context_window", "code": "out_of_range"}}},
		{"concurrency", func(n *connection.New) { n.MaxConcurrency = -1 }, []map[string]string{{"path": "max_concurrency", "code": "out_of_range"}}},
		{"one price", func(n *connection.New) { n.PriceIn = &price }, []map[string]string{{"path": "price_out_microusd", "code": "both_or_neither"}}},
		{"prices out of range", func(n *connection.New) { n.PriceIn, n.PriceOut = &minus, &huge },
			[]map[string]string{{"path": "price_in_microusd", "code": "out_of_range"}, {"path": "price_out_microusd", "code": "out_of_range"}}},
		{"key of two lines", func(n *connection.New) { n.Key = provider.NewSecret("a\nb") }, []map[string]string{{"path": "api_key", "code": "not_printable_ascii"}}},
		{"several", func(n *connection.New) { n.Name, n.ModelID = "", "" },
			[]map[string]string{{"path": "name", "code": "length_1_to_80"}, {"path": "model_id", "code": "length_1_to_200"}}},
		{"metadata address", func(n *connection.New) { n.BaseURL = "http://169.254.169.254/v1" }, nil},
		{"http to the world", func(n *connection.New) { n.BaseURL = "http://example.com/v1" }, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := stubbed("https://example.com/v1")
			tt.change(&n)
			_, err := s.Create(t.Context(), scope, n)
			var no *core.Refusal
			switch {
			case !errors.As(err, &no):
				t.Fatalf("the error is %v", err)
			case tt.want == nil && no.Code != core.EndpointRefused:
				t.Errorf("the code is %s", no.Code)
			case tt.want != nil:
				if diff := cmp.Diff(tt.want, no.Details["fields"]); diff != "" {
					t.Error(diff)
				}
			}
			if strings.Contains(fmt.Sprint(err, no.Details), secret) {
				t.Error("the refusal repeats the key")
			}
		})
	}
	if all, err := s.List(t.Context(), scope); err != nil || len(all) != 0 {
		t.Errorf("after refusals %d connections are kept (%v)", len(all), err)
	}
}

// TestKey follows a key: sealed in the row, opened for its own endpoint only,
// replaced by rotation.
func TestKey(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	ctx := t.Context()
	c, err := s.Create(ctx, scope, stubbed("https://Example.com/v1/"))
	if err != nil {
		t.Fatal(err)
	}
	if c.BaseURL != "https://example.com/v1" || c.Protocol != core.OpenAIChat || c.MaxOutputTokens != 4096 || c.ContextWindow != 32768 || c.Revision != 1 {
		t.Errorf("the connection is %+v", c)
	}
	if row := fmt.Sprintf("%+v", c); len(c.SealedKey) == 0 || bytes.Contains(c.SealedKey, []byte(secret)) || strings.Contains(row, secret) {
		t.Error("the row holds the key in the clear")
	}
	target := core.Target{Kind: core.Connection, ConnectionID: c.ID, BaseURL: c.BaseURL}
	if key, err := s.Key(ctx, scope, target); err != nil || key.Reveal() != secret {
		t.Errorf("the key does not open: %v", err)
	}
	elsewhere := target
	elsewhere.BaseURL = "https://attacker.example/v1"
	if key, err := s.Key(ctx, scope, elsewhere); err == nil || !key.Empty() {
		t.Error("the key opens for another endpoint")
	}
	if _, err := s.Key(ctx, core.Scope{Workspace: "other"}, target); err == nil {
		t.Error("the key opens for another workspace")
	}
	if key, err := s.Key(ctx, scope, core.Target{Kind: core.Managed}); err != nil || !key.Empty() {
		t.Errorf("a managed route has the key %v (%v)", key, err)
	}
	name, fresh := "Renamed", provider.NewSecret("sk-new")
	renamed, err := s.Update(ctx, scope, c.ID, connection.Change{Name: &name})
	if err != nil || renamed.Name != name || renamed.Revision != 2 || !bytes.Equal(renamed.SealedKey, c.SealedKey) {
		t.Errorf("after a new name: %+v (%v)", renamed, err)
	}
	rotated, err := s.Update(ctx, scope, c.ID, connection.Change{Key: &fresh})
	if err != nil || rotated.Revision != 3 || rotated.KeyVersion != 2 || rotated.CheckedAt != 0 {
		t.Errorf("after rotation: %+v (%v)", rotated, err)
	}
	if key, err := s.Key(ctx, scope, target); err != nil || key.Reveal() != "sk-new" {
		t.Errorf("after rotation the key does not open: %v", err)
	}
	none := provider.Secret{}
	if _, err := s.Update(ctx, scope, c.ID, connection.Change{Key: &none}); err != nil {
		t.Fatal(err)
	}
	if key, err := s.Key(ctx, scope, target); err != nil || !key.Empty() {
		t.Errorf("after the key was taken away it is %v (%v)", key, err)
	}
}

func TestDisable(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	ctx := t.Context()
	c, err := s.Create(ctx, scope, stubbed("https://example.com/v1"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // repeating it is fine
		if err := s.Disable(ctx, scope, c.ID); err != nil {
			t.Fatal(err)
		}
	}
	name := "x"
	if _, err := s.Update(ctx, scope, c.ID, connection.Change{Name: &name}); !errors.Is(err, &core.Refusal{Code: core.ModelUnavailable}) {
		t.Errorf("changing a disabled connection says %v", err)
	}
	if _, err := s.Check(ctx, scope, c.ID); !errors.Is(err, &core.Refusal{Code: core.ModelUnavailable}) {
		t.Errorf("checking a disabled connection says %v", err)
	}
	for _, err := range []error{s.Disable(ctx, scope, "none"), second(s.Check(ctx, scope, "none")), second(s.Get(ctx, core.Scope{Workspace: "other"}, c.ID))} {
		if !errors.Is(err, &core.Refusal{Code: core.NotFound}) {
			t.Errorf("what is not there says %v", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestCheck asks endpoints of every kind: one small request each, and a
// result that says what came of it.
func TestCheck(t *testing.T) {
	t.Parallel()
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			io.WriteString(w, body)
		}
	}
	tests := []struct {
		name    string
		serve   http.HandlerFunc // nil: nobody listens
		status  string
		code    string
		sent    bool
		message string
	}{
		{"works", answer(200, `{"model":"m-2026","choices":[{"message":{"content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`), "ok", "", true, ""},
		{"wrong key", answer(401, `{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}`), "failed", "credential_rejected", true, "Incorrect API key"},
		{"rate limit", answer(429, `{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}`), "failed", "provider_rate_limited", true, "Rate limit reached"},
		{"wrong model", answer(404, `{"error":{"message":"no such model","code":"model_not_found"}}`), "failed", "request_rejected", true, "no such model"},
		{"server error", answer(500, `{"error":{"message":"boom"}}`), "failed", "provider_outcome_unknown", true, ""},
		{"hangs up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "failed", "provider_outcome_unknown", true, ""},
		{"redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, "failed", "redirect_rejected", true, "redirects are never followed"},
		{"redirect with a story", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "https://attacker.example/")
			answer(307, `{"error":{"message":"all is well"}}`)(w, r)
		}, "failed", "redirect_rejected", true, "redirects are never followed"},
		{"escape sequences", answer(401, `{"error":{"message":"a\u001b]0;title\u0007\u202eb"}}`), "failed", "credential_rejected", true, `a\x1b]0;title\x07<U+202E>b`},
		{"nobody listens", nil, "failed", "endpoint_unreachable", false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, _ := newService(t)
			var requests atomic.Int64
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				small(t, r)
				tt.serve(w, r)
			}))
			defer srv.Close()
			base := srv.URL
			if tt.serve == nil {
				base = "http://" + closedPort(t)
			}
			c, err := s.Create(t.Context(), scope, stubbed(base+"/v1"))
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Check(t.Context(), scope, c.ID)
			if err != nil {
				t.Fatal(err)
			}
			r := got.Check
			if r.Status != tt.status || tt.code != "" && r.ErrorCode != tt.code || r.SentRequest != tt.sent || r.At == 0 || got.CheckedAt == 0 {
				t.Errorf("the check found %+v, checked at %d", r, got.CheckedAt)
			}
			if tt.status == "failed" && r.ErrorCode == "" {
				t.Error("a failed check has no code")
			}
			if !strings.Contains(r.Message, tt.message) {
				t.Errorf("the message is %q", r.Message)
			}
			if want := int64(1); tt.serve != nil && requests.Load() != want {
				t.Errorf("%d requests were made", requests.Load())
			}
			if tt.status == "ok" && r.ModelEcho != "m-2026" {
				t.Errorf("the model's echo is %q", r.ModelEcho)
			}
			if strings.Contains(fmt.Sprintf("%+v", r), secret) {
				t.Error("the result holds the key")
			}
		})
	}
}

// small demands that the one request of a check is a small one.
func small(t *testing.T, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+secret {
		t.Errorf("Authorization is %q", r.Header.Get("Authorization"))
	}
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		t.Error(err)
	}
	limits := 0
	for _, name := range []string{"max_tokens", "max_completion_tokens"} {
		if n, ok := body[name].(float64); ok {
			limits++
			if n > 16 {
				t.Errorf("%s is %v", name, n)
			}
		}
	}
	if limits == 0 {
		t.Error("the output has no bound")
	}
}

func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestCheckOutlivesItsCaller keeps the result of a request that its caller did
// not wait for.
func TestCheckOutlivesItsCaller(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	ctx, leave := context.WithCancel(t.Context())
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		leave()
		io.WriteString(w, `{"model":"m","choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`)
	}))
	defer srv.Close()
	c, err := s.Create(t.Context(), scope, stubbed(srv.URL))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = s.Check(ctx, scope, c.ID) // whether the caller still learns it does not matter
	kept, err := s.Get(t.Context(), scope, c.ID)
	if err != nil || kept.Check.Status != "ok" {
		t.Errorf("the check is kept as %+v (%v)", kept.Check, err)
	}
}

// TestCheck_Logprobs finds out whether an endpoint says how likely a prompt is,
// with one more small request, and forgets it with the revision.
func TestCheck_Logprobs(t *testing.T) {
	t.Parallel()
	const answer = `{"model":"m","choices":[{"text":"ok","finish_reason":"length"%s}],"usage":{"prompt_tokens":4,"completion_tokens":1,"total_tokens":5}}`
	drawn := []string{core.OffersTemperature, core.OffersStop}
	good := `,"logprobs":{"tokens":["The"," sky"," is"," blue","."],"token_logprobs":[null,-1,-2,-0.5,-3],"top_logprobs":[null,{"u":-1},{"v":-1},{" blue":-0.5},{".":-3}]}`
	for _, tt := range []struct {
		name, protocol, logprobs string
		status, requests         int
		want                     []string
	}{
		{"it does", core.OpenAICompletions, good, 200, 2, []string{core.OffersTemperature, core.OffersStop, core.OffersLogprobs}},
		{"it says nothing", core.OpenAICompletions, "", 200, 2, drawn},
		{"of what it wrote alone", core.OpenAICompletions, `,"logprobs":{"tokens":["."],"token_logprobs":[-3],"top_logprobs":[{".":-3}]}`, 200, 2, drawn},
		{"of another text", core.OpenAICompletions, strings.Replace(good, " blue\",", " deep\",", 1), 200, 2, drawn},
		{"it refuses", core.OpenAICompletions, good, 400, 2, drawn},
		{"another protocol", core.OpenAIChat, "", 200, 1, drawn},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, _ := newService(t)
			var requests atomic.Int64
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				switch {
				case bytes.Contains(body, []byte(`"echo":true`)):
					w.WriteHeader(tt.status)
					fmt.Fprintf(w, answer, tt.logprobs)
				case tt.protocol == core.OpenAIChat:
					io.WriteString(w, `{"model":"m","choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`)
				default:
					fmt.Fprintf(w, answer, "")
				}
			}))
			defer srv.Close()
			n := stubbed(srv.URL + "/v1")
			n.Protocol = tt.protocol
			c, err := s.Create(t.Context(), scope, n)
			if err != nil {
				t.Fatal(err)
			}
			if c, err = s.Check(t.Context(), scope, c.ID); err != nil || c.Check.Status != "ok" {
				t.Fatalf("the check found %+v, %v", c.Check, err)
			}
			if d := cmp.Diff(tt.want, c.Check.Offers); d != "" || requests.Load() != int64(tt.requests) {
				t.Errorf("after %d requests: %s", requests.Load(), d)
			}
			window := 4096
			if c, err = s.Update(t.Context(), scope, c.ID, connection.Change{ContextWindow: &window}); err != nil || len(c.Check.Offers) > 0 {
				t.Errorf("another revision offers %v, %v", c.Check.Offers, err)
			}
		})
	}
}

// TestCheck_Sampling finds out which settings an endpoint takes: what it refuses
// is left out of a second request, and of every run's.
func TestCheck_Sampling(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		refuses  []string
		requests int
		want     []string
	}{
		{"both", nil, 1, []string{core.OffersTemperature, core.OffersStop}},
		{"no stop texts", []string{`"stop"`}, 2, []string{core.OffersTemperature}},
		{"neither", []string{`"temperature"`}, 3, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, _ := newService(t)
			var requests atomic.Int64
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				for _, word := range tt.refuses {
					if bytes.Contains(body, []byte(word)) {
						w.WriteHeader(http.StatusBadRequest)
						io.WriteString(w, `{"error":{"message":"unsupported value","type":"invalid_request_error","code":"unsupported_value"}}`)
						return
					}
				}
				io.WriteString(w, `{"model":"m","choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`)
			}))
			defer srv.Close()
			n := stubbed(srv.URL + "/v1")
			n.Protocol = core.OpenAIChat
			c, err := s.Create(t.Context(), scope, n)
			if err != nil {
				t.Fatal(err)
			}
			if c, err = s.Check(t.Context(), scope, c.ID); err != nil || c.Check.Status != "ok" {
				t.Fatalf("the check found %+v, %v", c.Check, err)
			}
			if d := cmp.Diff(tt.want, c.Check.Offers); d != "" || requests.Load() != int64(tt.requests) {
				t.Errorf("after %d requests: %s", requests.Load(), d)
			}
		})
	}
}

// TestUnopenable brings in another master key, as a restored database has it:
// nothing is sent, and what happened has a code of its own.
func TestUnopenable(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	var asked atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer srv.Close()
	c, err := s.Create(t.Context(), scope, stubbed(srv.URL+"/v1"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Sealer, err = seal.LoadOrCreate(filepath.Join(t.TempDir(), "master.key"), rand.Reader); err != nil {
		t.Fatal(err)
	}
	checked, err := s.Check(t.Context(), scope, c.ID)
	if r := checked.Check; err != nil || r.Status != "failed" || r.ErrorCode != "key_unopenable" || r.SentRequest || !strings.Contains(r.Message, "master key") || r.At == 0 {
		t.Errorf("the check found %+v (%v)", r, err)
	}
	target := core.Target{Kind: core.Connection, ConnectionID: c.ID, BaseURL: c.BaseURL}
	if key, err := s.Key(t.Context(), scope, target); !errors.Is(err, &core.Refusal{Code: "key_unopenable"}) || !key.Empty() {
		t.Errorf("the key says %v", err)
	}
	if asked.Load() != 0 {
		t.Errorf("%d requests were sent", asked.Load())
	}
}

// TestNames gives a name away once at a time, whatever its letter case, and
// again after the connection that had it was disabled.
func TestNames(t *testing.T) {
	t.Parallel()
	s, st := newService(t)
	ctx := t.Context()
	if _, err := st.CreateWorkspace(ctx, core.WorkspaceInfo{ID: "v", Slug: "v", Name: "V"}); err != nil {
		t.Fatal(err)
	}
	first, err := s.Create(ctx, scope, stubbed("https://example.com/v1"))
	if err != nil {
		t.Fatal(err)
	}
	taken := func(err error) {
		t.Helper()
		var no *core.Refusal
		want := []map[string]string{{"path": "name", "code": "duplicate"}}
		if !errors.As(err, &no) || no.Code != core.InvalidRequest || !cmp.Equal(want, no.Details["fields"]) || no.Details["connection_id"] != string(first.ID) {
			t.Errorf("a taken name says %v", err)
		}
	}
	again := stubbed("https://example.org/v1")
	taken(second(s.Create(ctx, scope, again)))
	again.Name = " stub"
	taken(second(s.Create(ctx, scope, again)))
	again.Name = "Other"
	o, err := s.Create(ctx, scope, again)
	if err != nil {
		t.Fatal(err)
	}
	taken(second(s.Update(ctx, scope, o.ID, connection.Change{Name: &first.Name})))
	window := 4096
	if _, err := s.Update(ctx, scope, o.ID, connection.Change{Name: &again.Name, ContextWindow: &window}); err != nil {
		t.Errorf("keeping its own name says %v", err)
	}
	if _, err := s.Create(ctx, core.Scope{Workspace: "v"}, stubbed("https://example.org/v1")); err != nil {
		t.Errorf("the name in another workspace says %v", err)
	}
	if err := s.Disable(ctx, scope, first.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(ctx, scope, stubbed("https://example.org/v1")); err != nil {
		t.Errorf("the name of a disabled connection says %v", err)
	}
}

// TestNamesRace asks for one name ten times at once.
func TestNamesRace(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	var wg sync.WaitGroup
	var made atomic.Int64
	for range 10 {
		wg.Go(func() {
			if _, err := s.Create(t.Context(), scope, stubbed("https://example.com/v1")); err == nil {
				made.Add(1)
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 {
		t.Errorf("%d connections have the name", made.Load())
	}
}
