package evalrouter_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
)

const goodRun = `{"id":"r1","status":"running","model":{"kind":"managed"}}`

func TestRetries(t *testing.T) {
	t.Parallel()
	get := func(c *evalrouter.Client) error { _, err := c.Runs.Get(t.Context(), "r1"); return err }
	submit := func(c *evalrouter.Client) error {
		_, err := c.Runs.Submit(t.Context(), api.NewRun{QuoteID: "q"}, "k")
		return err
	}
	cancel := func(c *evalrouter.Client) error { _, err := c.Runs.Cancel(t.Context(), "r1"); return err }
	quote := func(c *evalrouter.Client) error { _, err := c.Quotes.Create(t.Context(), api.NewQuote{}); return err }
	check := func(c *evalrouter.Client) error { _, err := c.Connections.Check(t.Context(), "c1"); return err }
	tests := []struct {
		name     string
		call     func(*evalrouter.Client) error
		statuses []int // the last one repeats; 0 is a broken connection
		retries  *int
		requests int
		code     api.Code
		doubt    bool
	}{
		{"read, 503 once", get, []int{503, 200}, nil, 2, "", false},
		{"read, 429 then 502", get, []int{429, 502, 200}, nil, 3, "", false},
		{"read, 504 for ever", get, []int{504}, nil, 3, "http_error", false},
		{"read, broken once", get, []int{0, 200}, nil, 2, "", false},
		{"read, broken for ever", get, []int{0}, nil, 3, "network_error", false},
		{"read, five more", get, []int{503}, new(5), 6, "http_error", false},
		{"read, no more", get, []int{503}, new(0), 1, "http_error", false},
		{"read, 500 is final", get, []int{500}, nil, 1, "http_error", false},
		{"read, 404 is final", get, []int{404}, nil, 1, "http_error", false},
		{"submission, 503 once", submit, []int{503, 200}, nil, 2, "", false},
		{"submission, broken once", submit, []int{0, 200}, nil, 2, "", false},
		{"submission, broken then refused", submit, []int{0, 402}, nil, 2, "http_error", false},
		{"submission, broken then limited", submit, []int{0, 429}, nil, 3, "http_error", true},
		{"submission, limited", submit, []int{429}, nil, 3, "http_error", false},
		{"submission, 502", submit, []int{502}, nil, 3, "http_error", true},
		{"cancel, broken once", cancel, []int{0, 200}, nil, 2, "", false},
		{"quote, 503", quote, []int{503, 200}, nil, 1, "http_error", true},
		{"quote, broken", quote, []int{0, 200}, nil, 1, "network_error", true},
		{"quote, limited", quote, []int{429, 200}, nil, 1, "http_error", false},
		{"check, broken", check, []int{0, 200}, nil, 1, "network_error", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			turn := turns()
			s := newStub(t, func(w http.ResponseWriter, r *http.Request) {
				status := tt.statuses[min(turn(), len(tt.statuses))-1]
				switch status {
				case 0:
					panic(http.ErrAbortHandler)
				case 200:
					io.WriteString(w, goodRun)
				default:
					w.WriteHeader(status)
				}
			})
			err := tt.call(s.client(t, func(c *evalrouter.Config) { c.Retries = tt.retries }))
			if got := s.count(); got != tt.requests {
				t.Errorf("%d requests, want %d", got, tt.requests)
			}
			if tt.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if e := asError(t, err); e.Code != tt.code || e.Uncertain != tt.doubt {
				t.Errorf("code %s and uncertain %v, want %s and %v", e.Code, e.Uncertain, tt.code, tt.doubt)
			}
		})
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	tests := []struct {
		name   string
		header string
		rand   float64
		want   []time.Duration
	}{
		{"doubling", "", 0, []time.Duration{250e6, 500e6, 1e9, 2e9, 4e9}},
		{"chance adds a quarter second", "", 0.5, []time.Duration{375e6, 625e6, 1125e6, 2125e6, 4125e6}},
		{"seconds raise", "3", 0, []time.Duration{3e9, 3e9, 3e9, 3e9, 4e9}},
		{"seconds never lower", "0", 0, []time.Duration{250e6, 500e6, 1e9, 2e9, 4e9}},
		{"a date raises", at.Add(2 * time.Second).Format(http.TimeFormat), 0, []time.Duration{2e9, 2e9, 2e9, 2e9, 4e9}},
		{"a past date", at.Add(-time.Hour).Format(http.TimeFormat), 0, []time.Duration{250e6, 500e6, 1e9, 2e9, 4e9}},
		{"nonsense", "soon", 0, []time.Duration{250e6, 500e6, 1e9, 2e9, 4e9}},
		{"not a number", "NaN", 0, []time.Duration{250e6, 500e6, 1e9, 2e9, 4e9}},
		{"too long a header", strings.Repeat("0", 99) + "9", 0, []time.Duration{250e6, 500e6, 1e9, 2e9, 4e9}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStub(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Retry-After", tt.header)
				w.WriteHeader(503)
			})
			c := s.client(t, func(c *evalrouter.Config) {
				c.Retries, c.Now, c.Rand = new(5), func() time.Time { return at }, func() float64 { return tt.rand }
			})
			if _, err := c.Runs.Get(t.Context(), "r"); err == nil {
				t.Fatal("no error")
			}
			if d := cmp.Diff(tt.want, s.slept); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestRetryAfterBeyondTheDeadline(t *testing.T) {
	t.Parallel()
	for _, after := range []string{"121", "1e300", "Inf"} {
		s := newStub(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", after)
			w.WriteHeader(429)
			io.WriteString(w, `{"error":{"code":"rate_limited","message":"slow down"}}`)
		})
		_, err := s.client(t).Runs.Get(t.Context(), "r")
		e := asError(t, err)
		if e.Code != api.RequestTimeout || e.Status != 429 || !errors.Is(err, api.RateLimited) || len(s.slept) != 0 {
			t.Errorf("Retry-After %s: %+v after %v", after, e, s.slept)
		}
	}
}

func TestDeadlines(t *testing.T) {
	t.Parallel()
	hang := func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	halfway := func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"id":`)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	// Long enough for a request to arrive on a busy machine.
	short := func(c *evalrouter.Config) { c.AttemptTimeout, c.Retries = 500*time.Millisecond, new(0) }
	whole := func(c *evalrouter.Config) { c.Timeout = 600 * time.Millisecond }
	nowhere := func(c *evalrouter.Config) {
		c.Timeout = 20 * time.Millisecond
		c.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
	}
	tests := []struct {
		name   string
		serve  http.HandlerFunc
		change func(*evalrouter.Config)
		write  bool
		doubt  bool
	}{
		{"one attempt, read", hang, short, false, false},
		{"one attempt, submission", hang, short, true, true},
		{"within the body", halfway, short, true, true},
		{"whole operation", hang, whole, true, true},
		{"before there was a connection", hang, nowhere, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newStub(t, tt.serve).client(t, tt.change)
			var err error
			if tt.write {
				_, err = c.Runs.Submit(t.Context(), api.NewRun{QuoteID: "q"}, "k")
			} else {
				_, err = c.Runs.Get(t.Context(), "r")
			}
			e := asError(t, err)
			if e.Code != api.RequestTimeout || e.Uncertain != tt.doubt || strings.Contains(e.Message, "may have been done") != tt.doubt {
				t.Errorf("uncertain %v: %s", e.Uncertain, e)
			}
		})
	}
	t.Run("a timed-out attempt is repeated", func(t *testing.T) {
		t.Parallel()
		turn := turns()
		s := newStub(t, func(w http.ResponseWriter, r *http.Request) {
			if turn() == 1 {
				<-r.Context().Done()
				return
			}
			io.WriteString(w, goodRun)
		})
		c := s.client(t, func(c *evalrouter.Config) { c.AttemptTimeout = 100 * time.Millisecond })
		if _, err := c.Runs.Get(t.Context(), "r1"); err != nil {
			t.Error(err)
		}
	})
	t.Run("the caller's deadline", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), 40*time.Millisecond)
		defer cancel()
		_, err := newStub(t, hang).client(t).Runs.Get(ctx, "r")
		if !errors.Is(err, api.RequestTimeout) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("answers %v", err)
		}
	})
	t.Run("the caller cancels", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("enough")
		s := newStub(t, func(w http.ResponseWriter, r *http.Request) { cancel(why); <-r.Context().Done() })
		_, err := s.client(t).Runs.Submit(ctx, api.NewRun{QuoteID: "q"}, "k")
		if e := asError(t, err); e.Code != api.WaitCancelled || !errors.Is(err, why) || !e.Uncertain || s.count() != 1 {
			t.Errorf("answers %v after %d requests", err, s.count())
		}
	})
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close() // nobody listens on its port now
	s := &stub{url: "http://" + l.Addr().String()}
	_, err = s.client(t).Runs.Submit(t.Context(), api.NewRun{QuoteID: "q"}, "k")
	if e := asError(t, err); e.Code != api.NetworkError || e.Uncertain || strings.Contains(e.Message, "may have been done") || !strings.Contains(e.Message, l.Addr().String()) {
		t.Errorf("a service that was never reached reads %+v", e)
	}
	if len(s.slept) != 2 {
		t.Errorf("it was tried %d times", len(s.slept)+1)
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	huge := `{"id":"` + strings.Repeat("x", 2000) + `"}`
	tests := []struct {
		name, body string
		status     int
		code       api.Code
	}{
		{"a record", goodRun, 200, ""},
		{"unknown members", `{"id":"r1","new":{"x":[1e2,-0.5]},"model":{}}`, 200, ""},
		{"empty", "", 200, "invalid_response"},
		{"no content", "", 204, "invalid_response"},
		{"a list", "[]", 200, "invalid_response"},
		{"a text", `"x"`, 200, "invalid_response"},
		{"null", "null", 200, "invalid_response"},
		{"no JSON", "<html>", 200, "invalid_response"},
		{"two values", goodRun + goodRun, 200, "invalid_response"},
		{"wrong type", `{"id":5}`, 200, "invalid_response"},
		{"NaN", `{"id":"r1","x":NaN}`, 200, "invalid_response"},
		{"infinity", `{"id":"r1","x":-Infinity}`, 200, "invalid_response"},
		{"a number too large", `{"id":"r1","unknown":[{"x":1e999}]}`, 200, "invalid_response"},
		{"many digits", `{"id":"r1","unknown":1` + strings.Repeat("0", 400) + `}`, 200, "invalid_response"},
		{"digits in a text", `{"id":"1e999","model":{}}`, 200, ""},
		{"a tiny number", `{"id":"r1","unknown":1e-999,"model":{}}`, 200, ""},
		{"not UTF-8", "{\"id\":\"\xff\"}", 200, "invalid_response"},
		{"too large", huge, 200, "response_too_large"},
		{"too large an error", `{"error":{"code":"` + strings.Repeat("x", 66<<10) + `"}}`, 400, "response_too_large"},
		{"redirect", "", 302, "redirect_rejected"},
		{"permanent redirect", "", 308, "redirect_rejected"},
		{"not modified", "", 304, "redirect_rejected"},
		{"error without an envelope", "<html>", 500, "http_error"},
		{"error with a code", `{"error":{"code":"quote_expired","message":"too late"}}`, 410, "quote_expired"},
		{"error with a bad code", `{"error":{"code":"Not A Code"}}`, 400, "http_error"},
		{"error of another shape", `{"error":"no"}`, 400, "http_error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStub(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(tt.status)
				io.WriteString(w, tt.body)
			})
			_, err := s.client(t, func(c *evalrouter.Config) { c.MaxResponseBytes, c.Retries = 1000, new(0) }).Runs.Get(t.Context(), "r1")
			if tt.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if e := asError(t, err); e.Code != tt.code || e.Status != tt.status {
				t.Errorf("code %s and status %d, want %s and %d", e.Code, e.Status, tt.code, tt.status)
			}
			if n := s.count(); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestIdentifiersAndBodies(t *testing.T) {
	t.Parallel()
	s := newStub(t, text(200, `{}`))
	c := s.client(t)
	ctx := t.Context()
	for _, bad := range []string{"", ".", "..", "a/b", "a b", "a%2Fb", "ä", "a?b", "a#b", "a\nb", strings.Repeat("x", 201)} {
		if _, err := c.Runs.Get(ctx, bad); !errors.Is(err, api.InvalidInput) {
			t.Errorf("identifier %q answers %v", bad, err)
		}
	}
	if s.count() != 0 {
		t.Fatal("a bad identifier was sent")
	}
	long := strings.Repeat("x", 200)
	for id, want := range map[string]string{"acme:model-x": "acme%3Amodel-x", "gsm8k@1": "gsm8k%401", "a+b._-Z9": "a%2Bb._-Z9", "...": "...", long: long} {
		before := s.count()
		if _, err := c.Catalog.Model(ctx, id); err != nil {
			t.Errorf("identifier %q: %v", id, err)
			continue
		}
		if got := s.requests()[before].RequestURI; got != "/v1/catalog/models/"+want {
			t.Errorf("identifier %q was sent as %s", id, got)
		}
	}
	before := s.count()
	if _, err := c.Connections.Create(ctx, api.NewConnection{Name: "a<b>&c", BaseURL: "https://x", ModelID: "ü\u2028"}); err != nil {
		t.Fatal(err)
	}
	want := `{"name":"a<b>&c","base_url":"https://x","model_id":"ü\u2028","api_key":""}`
	if got := s.body(before); got != want || s.requests()[before].Header.Get("Content-Type") != "application/json" {
		t.Errorf("the body was sent as %s, want %s", got, want)
	}
	if _, err := c.Runs.Cancel(ctx, "r1"); err != nil {
		t.Fatal(err)
	}
	if r := s.requests()[s.count()-1]; r.Header.Get("Content-Type") != "" || r.ContentLength != 0 {
		t.Errorf("a cancel has a body: %v", r.Header)
	}
}

func TestErrorsAreCleaned(t *testing.T) {
	t.Parallel()
	long, wide := strings.Repeat("é", 3000), strings.Repeat("k", 150)
	s := newStub(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", "req_0123abc")
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(422)
		fmt.Fprintf(w, `{"error":{"code":"invalid_request","message":"key erk_secret-0001 and sk-model-9 \u001b[31m\u202e\nend","details":{
			"fields":[{"path":"api_key","code":"bad"}],"echo":"sk-model-9!","api_key":"x","Authorization":"y","set_cookie":"z","n":12345678901234567890,
			"long":%q,%q:1,"deep":{"a":{"b":{"c":{"d":1}}}},"list":[[[["too deep"]]]],"none":null,"yes":true}}}`, long, wide)
	})
	_, err := s.client(t).Connections.Create(t.Context(), api.NewConnection{Name: "n", BaseURL: "b", ModelID: "m", APIKey: "sk-model-9"})
	e := asError(t, err)
	if e.Code != api.InvalidRequest || e.RequestID != "req_0123abc" || e.RetryAfter != 7*time.Second || e.Uncertain || e.Op != "create a connection" {
		t.Errorf("reads %+v", e)
	}
	if want := "key [redacted] and [redacted]  [31m  end"; e.Message != want {
		t.Errorf("message %q, want %q", e.Message, want)
	}
	got := map[string]any{}
	for k, v := range e.Details {
		got[k] = fmt.Sprint(v)
	}
	want := map[string]any{
		"fields": "[map[code:bad path:api_key]]", "echo": "[redacted]!", "api_key": "[redacted]", "Authorization": "[redacted]", "set_cookie": "[redacted]",
		"n": "12345678901234567890", "long": strings.Repeat("é", 2000), strings.Repeat("k", 100): "1",
		"deep": "map[a:map[b:map[c:[too deep]]]]", "list": "[[[[too deep]]]]", "none": "<nil>", "yes": "true",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("details (-want +got):\n%s", d)
	}
	if e.Detail("n") != "12345678901234567890" || e.Detail("yes") != "true" || e.Detail("absent") != "" || e.Detail("fields") != "" {
		t.Errorf("Detail answers %q, %q, %q, %q", e.Detail("n"), e.Detail("yes"), e.Detail("absent"), e.Detail("fields"))
	}
}

func TestErrorsDropWhatHoldsASecret(t *testing.T) {
	t.Parallel()
	many := make([]string, 150)
	for i := range many {
		many[i] = fmt.Sprintf(`"f%03d":%d`, i, i)
	}
	tests := []struct {
		name, body, id string
		key            string
		check          func(*evalrouter.Error) bool
	}{
		{"code", `{"error":{"code":"has_abc123_inside","message":"m"}}`, "req_1", "abc123", func(e *evalrouter.Error) bool { return e.Code == api.HTTPError }},
		{"request id", `{"error":{"code":"a","message":"m"}}`, "req_abc123", "abc123", func(e *evalrouter.Error) bool { return e.RequestID == "" && e.Code == "a" }},
		{"request id of other characters", `{}`, "req 1", "k1k1k1", func(e *evalrouter.Error) bool { return e.RequestID == "" }},
		{"request id too long", `{}`, strings.Repeat("a", 101), "k1k1k1", func(e *evalrouter.Error) bool { return e.RequestID == "" }},
		{"request id of the body is not read", `{"error":{"code":"a","request_id":"req_2"}}`, "", "k1k1k1", func(e *evalrouter.Error) bool { return e.RequestID == "" }},
		{"member names", `{"error":{"code":"a","details":{"x abc123 y":1}}}`, "", "abc123", func(e *evalrouter.Error) bool { return e.Detail("x [redacted] y") == "1" }},
		{"a hundred entries", `{"error":{"code":"a","details":{` + strings.Join(many, ",") + `}}}`, "", "k1k1k1", func(e *evalrouter.Error) bool { return len(e.Details) == 100 }},
		{"details that are no object", `{"error":{"code":"a","details":["x"]}}`, "", "k1k1k1", func(e *evalrouter.Error) bool { return fmt.Sprint(e.Details) == "map[value:[x]]" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStub(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("X-Request-Id", tt.id)
				w.WriteHeader(400)
				io.WriteString(w, tt.body)
			})
			_, err := s.client(t, func(c *evalrouter.Config) { c.APIKey = tt.key }).Runs.Get(t.Context(), "r")
			if e := asError(t, err); !tt.check(e) {
				t.Errorf("reads %+v", e)
			}
		})
	}
}

// A client that the caller brings keeps neither its cookies nor its way with
// redirects.
func TestHTTPClientOfTheCaller(t *testing.T) {
	t.Parallel()
	s := newStub(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/v1/elsewhere", http.StatusFound) })
	jar := &countingJar{}
	c := s.client(t, func(c *evalrouter.Config) { c.HTTPClient = &http.Client{Jar: jar} })
	if _, err := c.Runs.Get(t.Context(), "r"); !errors.Is(err, api.RedirectRejected) || s.count() != 1 || jar.used {
		t.Errorf("answers %v after %d requests, cookies used: %v", err, s.count(), jar.used)
	}
}

type countingJar struct {
	http.CookieJar
	used bool
}

// HTTPS works with the caller's transport, and the address of a failed
// request with its query is not part of the error.
func TestErrorsHideTheQuery(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(text(200, `{"data":[],"next_cursor":null}`)))
	t.Cleanup(server.Close)
	for _, trusted := range []bool{true, false} {
		cfg := evalrouter.Config{BaseURL: server.URL, Retries: new(0)}
		if trusted {
			cfg.HTTPClient = server.Client()
		}
		c, err := evalrouter.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		_, err = c.Runs.List(t.Context(), evalrouter.RunQuery{IDPrefix: "private-words"})
		if trusted != (err == nil) {
			t.Fatalf("trusted %v answers %v", trusted, err)
		}
		for e := err; e != nil; e = errors.Unwrap(e) {
			if strings.Contains(e.Error(), "private-words") {
				t.Errorf("the error repeats the query: %v", e)
			}
		}
	}
}
