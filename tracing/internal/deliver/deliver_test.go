package deliver_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/evalrouter/evalrouter/tracing/fakeotlp"
	"github.com/evalrouter/evalrouter/tracing/internal/deliver"
	"github.com/evalrouter/evalrouter/tracing/internal/otlp"
)

type inside struct{ h http.Handler }

func (t inside) RoundTrip(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	t.h.ServeHTTP(w, req)
	return w.Result(), nil
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

const key = "eri_test"

func sender(t http.RoundTripper) *deliver.Sender {
	return deliver.New(deliver.Config{
		URL: "https://traces.example" + fakeotlp.Path, Key: key, Workspace: "workspace", Connection: "connection", UserAgent: "test",
		Transport: t, Timeout: time.Minute, Now: func() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) },
	})
}

func groups(spans ...string) []otlp.Group {
	g := otlp.Group{Origin: otlp.Origin{Scope: "s"}.Encode()}
	for _, s := range spans {
		g.Spans = append(g.Spans, []byte(s))
	}
	return []otlp.Group{g}
}

func TestSend_Answers(t *testing.T) {
	t.Parallel()
	asJSON := http.Header{"Content-Type": {"application/json; charset=utf-8"}}
	page := http.Header{"Content-Type": {"text/html"}}
	tests := []struct {
		name  string
		fault fakeotlp.Fault
		want  deliver.Outcome
		why   string
	}{
		{"taken", fakeotlp.Fault{}, deliver.Outcome{}, ""},
		{"accepted", fakeotlp.Fault{Status: 202}, deliver.Outcome{}, ""},
		{"partial success", fakeotlp.Fault{Rejected: 2, Message: "bad\nid"}, deliver.Outcome{Rejected: 2}, `the service refused 2 spans: "bad\nid"`},
		{"taken in JSON", fakeotlp.Fault{Header: asJSON, Body: []byte(`{"partialSuccess":{}}`)}, deliver.Outcome{}, ""},
		{"rejected in JSON", fakeotlp.Fault{Header: asJSON, Body: []byte(`{"partialSuccess":{"rejectedSpans":"2","errorMessage":"no"}}`)}, deliver.Outcome{Rejected: 2}, `refused 2 spans: "no"`},
		{"rejected as a number", fakeotlp.Fault{Header: asJSON, Body: []byte(`{"partialSuccess":{"rejectedSpans":2}}`)}, deliver.Outcome{Rejected: 2}, "refused 2 spans"},
		{"a nonsense count", fakeotlp.Fault{Header: asJSON, Body: []byte(`{"partialSuccess":{"rejectedSpans":"x"}}`)}, deliver.Outcome{Fate: deliver.Barred}, "is not the service"},
		{"JSON that is none", fakeotlp.Fault{Header: asJSON, Body: []byte(`hello`)}, deliver.Outcome{Fate: deliver.Barred}, "is not the service"},
		{"too many", fakeotlp.Fault{Status: 429, RetryAfter: "7"}, deliver.Outcome{Fate: deliver.Later, After: 7 * time.Second}, "answered 429"},
		{"a date", fakeotlp.Fault{Status: 503, RetryAfter: "Mon, 30 Nov 2026 12:00:30 GMT"}, deliver.Outcome{Fate: deliver.Later, After: 30 * time.Second}, "answered 503"},
		{"a date that is over", fakeotlp.Fault{Status: 503, RetryAfter: "Mon, 30 Nov 2026 11:00:30 GMT"}, deliver.Outcome{Fate: deliver.Later}, "answered 503"},
		{"a year", fakeotlp.Fault{Status: 503, RetryAfter: "31536000"}, deliver.Outcome{Fate: deliver.Later, After: 5 * time.Minute}, "answered 503"},
		{"nonsense", fakeotlp.Fault{Status: 502, RetryAfter: "soon"}, deliver.Outcome{Fate: deliver.Later}, "answered 502"},
		{"an error inside", fakeotlp.Fault{Status: 500}, deliver.Outcome{Fate: deliver.Later}, "answered 500"},
		{"too large", fakeotlp.Fault{Status: 413}, deliver.Outcome{Fate: deliver.TooLarge}, "answered 413"},
		{"refused", fakeotlp.Fault{Status: 400, Body: []byte("bad \x1b[31mspans")}, deliver.Outcome{Fate: deliver.Refused}, `answered 400: "bad \x1b[31mspans"`},
		{"a bad key", fakeotlp.Fault{Status: 401}, deliver.Outcome{Fate: deliver.Barred}, "check EVALROUTER_TRACE_KEY"},
		{"another workspace", fakeotlp.Fault{Status: 403}, deliver.Outcome{Fate: deliver.Barred}, "EVALROUTER_WORKSPACE_ID"},
		{"no such route", fakeotlp.Fault{Status: 404}, deliver.Outcome{Fate: deliver.Barred}, "check EVALROUTER_BASE_URL"},
		{"a login page", fakeotlp.Fault{Header: page, Body: []byte("<html>")}, deliver.Outcome{Fate: deliver.Barred}, "is not the service"},
		{"a page that reads as OTLP", fakeotlp.Fault{Header: page, Body: []byte("\n\x00")}, deliver.Outcome{Fate: deliver.Barred}, "is not the service"},
		{"no OTLP", fakeotlp.Fault{Body: []byte("hello")}, deliver.Outcome{Fate: deliver.Barred}, "is not the service"},
		{"elsewhere", fakeotlp.Fault{Status: 307, Header: http.Header{"Location": {"https://other.example/"}}}, deliver.Outcome{Fate: deliver.Barred}, "answered 307"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := fakeotlp.New()
			r.Plan = func(int) fakeotlp.Fault { return tt.fault }
			got := sender(inside{r}).Send(t.Context(), groups("", "", ""))
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(deliver.Outcome{}, "Why")); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
			if !strings.Contains(got.Why, tt.why) || (got.Why == "") != (tt.why == "") || strings.Contains(got.Why, key) {
				t.Errorf("why: %q", got.Why)
			}
			if err := r.Err(); err != nil || r.Requests() != 1 {
				t.Errorf("%d requests: %v", r.Requests(), err)
			}
		})
	}
}

// A failed connection is not described in the words of the error, which holds
// the address of a proxy with its password.
func TestSend_Network(t *testing.T) {
	t.Parallel()
	failing := func(err error) http.RoundTripper {
		return transport(func(*http.Request) (*http.Response, error) { return nil, err })
	}
	cut := transport(func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: io.NopCloser(io.MultiReader(strings.NewReader("x"), failingReader{})), Request: req}, nil
	})
	tests := []struct {
		name      string
		transport http.RoundTripper
		why       string
	}{
		{"refused", failing(&url.Error{Op: "proxyconnect", URL: "http://user:hunter2@proxy", Err: errors.New("refused by hunter2")}), "the service could not be reached"},
		{"closed", failing(io.ErrUnexpectedEOF), "the connection ended before the answer"},
		{"cut inside the answer", cut, "the connection ended before the answer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := sender(tt.transport).Send(t.Context(), groups(""))
			if diff := cmp.Diff(deliver.Outcome{Fate: deliver.Later, Why: tt.why}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestSend_Deadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hanging := transport(func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		})
		began := time.Now()
		got := sender(hanging).Send(t.Context(), groups(""))
		if took := time.Since(began); took != time.Minute || got.Fate != deliver.Later || got.Why != "the service did not answer in time" {
			t.Errorf("after %v: %+v", took, got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if got := sender(hanging).Send(ctx, groups("")); got.Fate != deliver.Later || got.Why != "the request was ended" {
			t.Errorf("%+v", got)
		}
	})
}
