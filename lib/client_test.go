package evalrouter_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/apitest"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// stub is a service of one handler that remembers what arrived.
type stub struct {
	url    string
	mu     sync.Mutex
	seen   []*http.Request
	bodies []string
	slept  []time.Duration
}

func newStub(t *testing.T, serve http.HandlerFunc) *stub {
	t.Helper()
	s := &stub{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read the request: %v", err)
		}
		s.mu.Lock()
		s.seen, s.bodies = append(s.seen, r), append(s.bodies, string(b))
		s.mu.Unlock()
		serve(w, r)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *stub) count() int { return len(s.requests()) }

func (s *stub) requests() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

func (s *stub) body(n int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bodies[n]
}

// turns counts the calls of a handler from 1.
func turns() func() int {
	var n atomic.Int64
	return func() int { return int(n.Add(1)) }
}

// client talks to the stub without waiting between attempts. change may
// adjust the configuration.
func (s *stub) client(t *testing.T, change ...func(*evalrouter.Config)) *evalrouter.Client {
	t.Helper()
	cfg := evalrouter.Config{
		BaseURL: s.url, APIKey: "erk_secret-0001", WorkspaceID: "w1", AllowHTTP: true,
		Rand: func() float64 { return 0 },
		Sleep: func(ctx context.Context, d time.Duration) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.slept = append(s.slept, d)
			return context.Cause(ctx)
		},
	}
	for _, f := range change {
		f(&cfg)
	}
	c, err := evalrouter.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func text(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func asError(t *testing.T, err error) *evalrouter.Error {
	t.Helper()
	var e *evalrouter.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v is a %T", err, err)
	}
	return e
}

func TestNew_LIB01_BaseURLs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, url string
		http      bool
		want      string // "" is refused
	}{
		{"origin", "https://api.example.com", false, "https://api.example.com"},
		{"port", "https://api.example.com:8443", false, "https://api.example.com:8443"},
		{"trailing slashes", "https://api.example.com///", false, "https://api.example.com"},
		{"version", "https://api.example.com/v1", false, "https://api.example.com"},
		{"version and slash", "https://api.example.com/v1/", false, "https://api.example.com"},
		{"capital scheme", "HTTPS://api.example.com", false, "https://api.example.com"},
		{"ipv6", "https://[2001:db8::1]:8443", false, "https://[2001:db8::1]:8443"},
		{"http on loopback", "http://127.0.0.1:7788", true, "http://127.0.0.1:7788"},
		{"http on another loopback", "http://127.9.9.9", true, "http://127.9.9.9"},
		{"http on localhost", "http://localhost:7788/v1", true, "http://localhost:7788"},
		{"http on ipv6 loopback", "http://[::1]:7788", true, "http://[::1]:7788"},
		{"http not allowed", "http://127.0.0.1:7788", false, ""},
		{"http elsewhere", "http://api.example.com", true, ""},
		{"http on a private address", "http://10.0.0.1", true, ""},
		{"http on a name like loopback", "http://127.0.0.1.example.com", true, ""},
		{"http on localhost with a dot", "http://localhost.", true, ""},
		{"short address", "http://127.1", true, ""},
		{"mapped address", "http://[::ffff:127.0.0.1]", true, ""},
		{"empty", "", false, ""},
		{"no scheme", "api.example.com", false, ""},
		{"other scheme", "ftp://api.example.com", false, ""},
		{"no host", "https://", false, ""},
		{"only a port", "https://:443", false, ""},
		{"user", "https://user@api.example.com", false, ""},
		{"password", "https://user:hunter2@api.example.com", false, ""},
		{"query", "https://api.example.com?a=b", false, ""},
		{"empty query", "https://api.example.com?", false, ""},
		{"fragment", "https://api.example.com#a", false, ""},
		{"path", "https://api.example.com/v2", false, ""},
		{"path below", "https://api.example.com/v1/runs", false, ""},
		{"encoded path", "https://api.example.com/%76%31", false, ""},
		{"backslash", `https://api.example.com\@evil.example`, false, ""},
		{"space", "https://api.example.com /v1", false, ""},
		{"line break", "https://api.example.com\n", false, ""},
		{"not ascii", "https://exämple.com", false, ""},
		{"port zero", "https://api.example.com:0", false, ""},
		{"port too large", "https://api.example.com:65536", false, ""},
		{"empty port", "https://api.example.com:", false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := evalrouter.New(evalrouter.Config{BaseURL: tt.url, AllowHTTP: tt.http, APIKey: "k", WorkspaceID: "w"})
			if tt.want == "" {
				if !errors.Is(err, api.InvalidConfiguration) {
					t.Fatalf("New(%q) answers %v", tt.url, err)
				}
				if strings.Contains(err.Error(), "hunter2") {
					t.Errorf("the error repeats a password: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if got := c.BaseURL(); got != tt.want {
				t.Errorf("base URL %q, want %q", got, tt.want)
			}
		})
	}
}

func TestNew_LIB01_OtherSettings(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 4096)
	tests := []struct {
		name string
		cfg  evalrouter.Config
		ok   bool
	}{
		{"longest key", evalrouter.Config{APIKey: long}, true},
		{"key too long", evalrouter.Config{APIKey: long + "x"}, false},
		{"key with a space", evalrouter.Config{APIKey: "a b"}, false},
		{"key with a line break", evalrouter.Config{APIKey: "a\r\nX-Evil: 1"}, false},
		{"key not ascii", evalrouter.Config{APIKey: "schlüssel"}, false},
		{"longest workspace", evalrouter.Config{WorkspaceID: long}, true},
		{"workspace too long", evalrouter.Config{WorkspaceID: long + "x"}, false},
		{"workspace with a tab", evalrouter.Config{WorkspaceID: "a\tb"}, false},
		{"no retries", evalrouter.Config{Retries: new(0)}, true},
		{"most retries", evalrouter.Config{Retries: new(5)}, true},
		{"too many retries", evalrouter.Config{Retries: new(6)}, false},
		{"negative retries", evalrouter.Config{Retries: new(-1)}, false},
		{"negative timeout", evalrouter.Config{Timeout: -1}, false},
		{"user agent with a line break", evalrouter.Config{UserAgent: "a\nb"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.cfg.BaseURL = "https://api.example.com"
			c, err := evalrouter.New(tt.cfg)
			switch {
			case tt.ok && err != nil:
				t.Fatal(err)
			case !tt.ok && !errors.Is(err, api.InvalidConfiguration):
				t.Fatalf("answers %v", err)
			case tt.ok:
				c.Close()
			}
			if err != nil && tt.cfg.APIKey != "" && strings.Contains(err.Error(), tt.cfg.APIKey) {
				t.Errorf("the error repeats the key: %v", err)
			}
		})
	}
}

func TestRequests_LIB01_CarryTheIdentity(t *testing.T) {
	t.Parallel()
	s := newStub(t, text(200, `{"data":[],"next_cursor":null}`))
	c := s.client(t, func(cfg *evalrouter.Config) { cfg.UserAgent = "evalrouter/1.2.3 (linux/amd64)" })
	ctx := t.Context()
	if _, err := c.Evals.List(ctx, evalrouter.EvalQuery{Text: "a b&c", IncludePrivate: true, Paging: evalrouter.Paging{Limit: 7}}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Catalog.Public().Benchmarks(ctx, evalrouter.BenchmarkQuery{}); err != nil {
		t.Fatal(err)
	}
	type sent struct{ Method, Target, Accept, Agent, Auth, Workspace, Type string }
	var got []sent
	for _, r := range s.requests() {
		h := r.Header
		got = append(got, sent{r.Method, r.RequestURI, h.Get("Accept"), h.Get("User-Agent"), h.Get("Authorization"), h.Get("X-Workspace-Id"), h.Get("Content-Type")})
	}
	const agent = "evalrouter/1.2.3 (linux/amd64)"
	want := []sent{
		{"GET", "/v1/evals?include_private=true&limit=7&q=a+b%26c", "application/json", agent, "Bearer erk_secret-0001", "w1", ""},
		{"GET", "/v1/catalog/benchmarks", "application/json", agent, "", "", ""},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestClose_LIB02(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}), make(chan struct{})
	s := newStub(t, func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		select {
		case <-r.Context().Done():
		case <-release:
		}
	})
	defer close(release)
	c := s.client(t)
	failed := make(chan error, 1)
	go func() {
		_, err := c.Runs.Get(context.Background(), "r1")
		failed <- err
	}()
	<-arrived
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; !errors.Is(err, api.WaitCancelled) {
		t.Errorf("the call in flight answers %v", err)
	}
	if _, err := c.Runs.Get(t.Context(), "r1"); !errors.Is(err, api.InvalidConfiguration) {
		t.Errorf("a call after Close answers %v", err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("closing again answers %v", err)
	}
	if n := s.count(); n != 1 {
		t.Errorf("%d requests were sent", n)
	}
}

// Close returns when the last call has returned, not before.
func TestClose_LIB02_WaitsForCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ended := false
		slow := roundTripper(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			time.Sleep(time.Second) // of the bubble's clock
			ended = true
			return nil, r.Context().Err()
		})
		c, err := evalrouter.New(evalrouter.Config{BaseURL: "https://api.example.com", HTTPClient: &http.Client{Transport: slow}})
		if err != nil {
			t.Fatal(err)
		}
		go c.Runs.Get(context.Background(), "r1")
		synctest.Wait()
		if err := c.Close(); err != nil || !ended {
			t.Errorf("Close answers %v while the call has ended: %v", err, ended)
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func newFake(t *testing.T, o apitest.Options) (*apitest.Fake, *evalrouter.Client) {
	t.Helper()
	f := apitest.NewFake(o)
	t.Cleanup(f.Close)
	c, err := evalrouter.New(evalrouter.Config{BaseURL: f.URL, APIKey: f.Token, WorkspaceID: f.WorkspaceID, AllowHTTP: true, Sleep: func(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return f, c
}

func TestCatalog_LIB03_Models(t *testing.T) {
	t.Parallel()
	_, c := newFake(t, apitest.Options{})
	page, err := c.Catalog.Models(t.Context(), evalrouter.ModelQuery{})
	if err != nil {
		t.Fatal(err)
	}
	var walked []api.ManagedRoute
	for m, err := range c.Catalog.AllModels(t.Context(), evalrouter.ModelQuery{Paging: evalrouter.Paging{Limit: 1}}) {
		if err != nil {
			t.Fatal(err)
		}
		walked = append(walked, m)
	}
	if d := cmp.Diff(page.Data, walked); d != "" || len(walked) != 3 {
		t.Errorf("%d models page by page differ from one page:\n%s", len(walked), d)
	}
	if m := walked[0]; m.ID != "practice.solver-80" || m.Pricing == nil || *m.Pricing.InputMicrousd != usd.Dollar {
		t.Errorf("the first model reads %+v", m)
	}
}

func newQuote() api.NewQuote {
	return api.NewQuote{
		Selection: api.Selection{ProfileIDs: []string{"arithmetic@1"}}, Model: api.ModelRef{Kind: api.ManagedKind, RouteID: "acme.model-x"},
		Coverage: &api.Coverage{Mode: api.Sample, SampleCount: new(10)}, MaxChargeMicrousd: new(usd.Dollar),
	}
}

func TestQuotes_LIB05_StartNothing(t *testing.T) {
	t.Parallel()
	f, c := newFake(t, apitest.Options{})
	before, err := c.Credits.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	q, err := c.Quotes.Create(t.Context(), newQuote())
	if err != nil {
		t.Fatal(err)
	}
	after, err := c.Credits.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	after.AsOf = before.AsOf
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("a quote moved money:\n%s", d)
	}
	var sent []string
	for _, m := range f.Mutations() {
		sent = append(sent, m.Method+" "+m.Path)
	}
	if d := cmp.Diff([]string{"POST /v1/quotes"}, sent); d != "" || f.Runs() != 0 || q.RunID != nil || q.Status != "open" {
		t.Errorf("%d runs after a quote, quote %+v, requests:\n%s", f.Runs(), q, d)
	}
}

func TestRuns_LIB06_SubmitTakesAKey(t *testing.T) {
	t.Parallel()
	f, c := newFake(t, apitest.Options{})
	q, err := c.Quotes.Create(t.Context(), newQuote())
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []evalrouter.IdempotencyKey{"", "line\nbreak", "ü", evalrouter.IdempotencyKey(strings.Repeat("k", 129))} {
		if _, err := c.Runs.Submit(t.Context(), api.NewRun{QuoteID: q.ID}, key); !errors.Is(err, api.InvalidInput) {
			t.Errorf("key %q answers %v", key, err)
		}
	}
	if n := f.Count("POST /v1/runs"); n != 0 {
		t.Fatalf("%d submissions were sent with a bad key", n)
	}
	const key = "order 66: the same key"
	first, err := c.Runs.Submit(t.Context(), api.NewRun{QuoteID: q.ID}, key)
	if err != nil {
		t.Fatal(err)
	}
	second, err := c.Runs.Submit(t.Context(), api.NewRun{QuoteID: q.ID}, key)
	if err != nil {
		t.Fatal(err)
	}
	if first.ID != second.ID || f.Runs() != 1 {
		t.Errorf("two submissions with one key made runs %s and %s, %d in all", first.ID, second.ID, f.Runs())
	}
	for _, m := range f.Mutations() {
		if m.Path == "/v1/runs" && m.IdempotencyKey != key {
			t.Errorf("a submission carried the key %q", m.IdempotencyKey)
		}
	}
	done, err := c.Runs.Wait(t.Context(), first.ID, evalrouter.WaitOptions{})
	if err != nil || done.SpendMicrousd <= 0 {
		t.Errorf("the submitted run spent %s (%v)", done.SpendMicrousd, err)
	}
	if a, b := evalrouter.NewIdempotencyKey(), evalrouter.NewIdempotencyKey(); a == b {
		t.Errorf("two fresh keys are both %s", a)
	}
}

// A lost answer: the client itself repeats the submission with the same key.
func TestRuns_LIB06_LostAnswerStartsOneRun(t *testing.T) {
	t.Parallel()
	f, c := newFake(t, apitest.Options{})
	q, err := c.Quotes.Create(t.Context(), newQuote())
	if err != nil {
		t.Fatal(err)
	}
	f.Drop("POST /v1/runs", 2)
	run, err := c.Runs.Submit(t.Context(), api.NewRun{QuoteID: q.ID}, "k")
	if err != nil || f.Runs() != 1 || f.Count("POST /v1/runs") != 3 {
		t.Errorf("run %s (%v), %d runs after %d submissions", run.ID, err, f.Runs(), f.Count("POST /v1/runs"))
	}
	q, err = c.Quotes.Create(t.Context(), newQuote())
	if err != nil {
		t.Fatal(err)
	}
	f.Drop("POST /v1/runs", 3)
	_, err = c.Runs.Submit(t.Context(), api.NewRun{QuoteID: q.ID}, "k2")
	e := asError(t, err)
	if e.Code != api.NetworkError || !e.Uncertain || e.IdempotencyKey != "k2" || !strings.Contains(e.Message, "same idempotency key") {
		t.Errorf("three lost answers read %+v", e)
	}
}

// The client and everything it needs: the standard library, this module, and
// google/uuid.
func TestDependencies_LIB09(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatalf("list the dependencies: %v", err)
	}
	own := 0
	for p := range strings.FieldsSeq(string(out)) {
		switch {
		case strings.HasPrefix(p, "github.com/evalrouter/evalrouter/lib"):
			own++
		case p == "github.com/google/uuid":
		default:
			t.Errorf("the client depends on %s", p)
		}
	}
	if own < 2 {
		t.Errorf("only %d own packages are listed: the list proves nothing", own)
	}
}

// The transport of net/http repeats a request by itself when a reused
// connection breaks. It must not: the client decides what is repeated.
func TestRequests_AreNeverRepeatedByTheTransport(t *testing.T) {
	t.Parallel()
	s := newStub(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			io.WriteString(w, `{"data":[],"next_cursor":null}`)
			return
		}
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		conn.(*net.TCPConn).SetLinger(0)
		conn.Close()
	})
	c := s.client(t, func(cfg *evalrouter.Config) { cfg.Retries = new(0) })
	for _, post := range []func() error{
		func() error { _, err := c.Quotes.Create(t.Context(), api.NewQuote{}); return err },
		func() error { _, err := c.Runs.Submit(t.Context(), api.NewRun{QuoteID: "q"}, "k"); return err },
		func() error { _, err := c.Runs.Cancel(t.Context(), "r"); return err },
	} {
		if _, err := c.Runs.List(t.Context(), evalrouter.RunQuery{}); err != nil { // a connection to reuse
			t.Fatal(err)
		}
		before := s.count()
		err := post()
		if e := asError(t, err); e.Code != api.NetworkError || !e.Uncertain {
			t.Errorf("a broken connection reads %+v", e)
		}
		if n := s.count() - before; n != 1 {
			t.Errorf("the service got %d requests", n)
		}
	}
}

// A changing credential is asked for before each operation that carries one, and
// never for a public read. Its refusal sends nothing.
func TestCredential(t *testing.T) {
	t.Parallel()
	s := newStub(t, text(200, `{"data":[],"next_cursor":null}`))
	n, refused := 0, error(nil)
	c := s.client(t, func(cfg *evalrouter.Config) {
		cfg.APIKey = ""
		cfg.Credential = func(context.Context, string) (string, error) {
			n++
			return fmt.Sprintf("ers_token-%d", n), refused
		}
	})
	for range 2 {
		if _, err := c.Workspaces.List(t.Context(), evalrouter.Paging{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Catalog.Public().Benchmarks(t.Context(), evalrouter.BenchmarkQuery{}); err != nil {
		t.Fatal(err)
	}
	var sent []string
	for _, r := range s.requests() {
		sent = append(sent, r.Header.Get("Authorization"))
	}
	if d := cmp.Diff([]string{"Bearer ers_token-1", "Bearer ers_token-2", ""}, sent); d != "" || n != 2 {
		t.Errorf("asked %d times (-want +got):\n%s", n, d)
	}
	refused = api.SessionExpired
	if _, err := c.Workspaces.List(t.Context(), evalrouter.Paging{}); !errors.Is(err, api.SessionExpired) || s.count() != 3 {
		t.Errorf("without a credential: %v, %d requests", err, s.count())
	}
}

// A token that the service calls expired is replaced once and the operation sent
// again: nothing was done. What is refused twice, or has no successor, is an error.
func TestCredentialRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		tokens []string // in the order of asking
		good   string
		code   api.Code
		sent   int
	}{
		{"another one is good", []string{"ers_1", "ers_2"}, "ers_2", "", 2},
		{"there is no other", []string{"ers_1", "ers_1"}, "", api.SessionExpired, 1},
		{"the other one is refused too", []string{"ers_1", "ers_2", "ers_3"}, "", api.SessionExpired, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStub(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer "+tt.good {
					w.WriteHeader(http.StatusUnauthorized)
					io.WriteString(w, `{"error":{"code":"session_expired","message":"it is over"}}`)
					return
				}
				io.WriteString(w, `{"ok":true}`)
			})
			asked := 0
			c := s.client(t, func(cfg *evalrouter.Config) {
				cfg.Credential = func(_ context.Context, refused string) (string, error) {
					if asked > 0 && refused != tt.tokens[asked-1] {
						t.Errorf("refused was %q", refused)
					}
					asked++
					return tt.tokens[asked-1], nil
				}
			})
			_, err := c.Runs.Cancel(t.Context(), "r")
			if tt.code == "" && err != nil || tt.code != "" && !errors.Is(err, tt.code) || s.count() != tt.sent {
				t.Errorf("%v after %d requests", err, s.count())
			}
		})
	}
}
