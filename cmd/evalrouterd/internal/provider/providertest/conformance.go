// Package providertest holds every provider adapter to the contract of
// package provider, over real connections: at most one request a call, and
// never a claim that a provider did no work without proof.
package providertest

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

// Subject is an adapter and samples of its wire form.
type Subject struct {
	// New makes the adapter on a transport.
	New func(transport func(core.Target) http.RoundTripper) provider.Adapter
	// Request is a valid request; its key is at least 16 characters long.
	Request provider.Request
	// Good is a whole answer with this text and usage.
	Good  []byte
	Text  string
	Usage core.Usage
	// Unauthorized, RateLimited and ServerError are bodies of 401, 429, 500.
	Unauthorized, RateLimited, ServerError []byte
	// Stream is Good as a stream.
	Stream []byte
	// Answers that are complete and hold less than was hoped for: none at all
	// and without usage, one without text, one that the output limit cut off
	// after Text, a refusal, and Good with usage that cannot be right.
	None, Silent, Long, Refusal, OddUsage []byte
	// BadRequest is a body of 400 about a parameter; Overloaded one that the
	// provider documents for a lack of capacity, with its status.
	BadRequest, Overloaded []byte
	OverloadedStatus       int
	// Delayed is a body of 429 that asks to wait for 36.5 seconds; nil where
	// the protocol says so in headers only.
	Delayed []byte
}

// Case is one way in which a call can go.
type Case struct {
	Name string
	// Why says what would go wrong with an adapter that fails here.
	Why    string
	Script Script
	Class  provider.Class
	Reach  provider.Reach
	Code   string
	// Sent is whether the server sees the request.
	Sent bool
	Text string
	// What follows is compared where it is set.
	Finish     bundle.Finish
	Refused    bool
	UsageState provider.UsageState
	Wait       time.Duration
}

// Run runs every case.
func Run(t *testing.T, s Subject) {
	for _, c := range append(Cases(s), answers(t, s)...) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			c.run(t, s)
		})
	}
	t.Run("dropped on a reused connection", func(t *testing.T) {
		t.Parallel()
		reused(t, s)
	})
	t.Run("what was rendered is what is sent", func(t *testing.T) {
		t.Parallel()
		rendered(t, s)
	})
	t.Run("redirect is not followed", func(t *testing.T) {
		t.Parallel()
		redirect(t, s)
	})
	t.Run("key that comes back", func(t *testing.T) {
		t.Parallel()
		echoedKey(t, s)
	})
}

func (c Case) run(t *testing.T, s Subject) {
	st := Stage(t, c.Script)
	r := s.Request
	if c.Script.End == TLSError {
		r.Target.BaseURL = strings.Replace(r.Target.BaseURL, "http://", "https://", 1)
	}
	a := s.New(st.Transport)
	o := a.Call(st.Context(t), r)
	if o.Class != c.Class || o.Reach != c.Reach || o.Code != c.Code || o.Text != c.Text {
		t.Errorf("got class %q, reach %q, code %q, text %q; want %q, %q, %q, %q\n%s",
			o.Class, o.Reach, o.Code, o.Text, c.Class, c.Reach, c.Code, c.Text, c.Why)
	}
	if c.Finish != "" && o.Finish != c.Finish || o.Refused != c.Refused || c.UsageState != "" && o.UsageState != c.UsageState {
		t.Errorf("got finish %q, refused %v, usage %q; want %q, %v, %q\n%s", o.Finish, o.Refused, o.UsageState, c.Finish, c.Refused, c.UsageState, c.Why)
	}
	if c.Wait != 0 && (!o.HasRetryAfter || o.RetryAfter != c.Wait) {
		t.Errorf("got a wait of %s (%v), want %s", o.RetryAfter, o.HasRetryAfter, c.Wait)
	}
	if n := st.Requests(); n > 1 || (n == 1) != c.Sent {
		t.Errorf("the server read %d requests; %s", n, c.Why)
	}
	if c.Class != provider.Answered && o.Message == "" {
		t.Error("no message says what happened")
	}
	checkRecord(t, a, o)
	if last := st.Last(); last != nil {
		checkRequest(t, last, r)
	}
}

// checkRecord: what was kept reads again as it came.
func checkRecord(t *testing.T, a provider.Adapter, o provider.Outcome) {
	t.Helper()
	if o.Status < 200 || o.Status > 299 || o.Raw == nil {
		return
	}
	again := a.Parse(o.Raw)
	type part struct {
		Class  provider.Class
		Text   string
		Finish string
		Usage  *core.Usage
	}
	if d := cmp.Diff(part{o.Class, o.Text, string(o.Finish), o.Usage}, part{again.Class, again.Text, string(again.Finish), again.Usage}); d != "" {
		t.Errorf("the record reads differently from the call:\n%s", d)
	}
}

func checkRequest(t *testing.T, last *http.Request, r provider.Request) {
	t.Helper()
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key"} {
		if last.Header.Get(name) != "" {
			t.Errorf("%s is sent: the transport would take it as leave to send twice", name)
		}
	}
	if got := last.Header.Get("Accept-Encoding"); got != "identity" {
		t.Errorf("Accept-Encoding is %q: what is stored would not be what was sent", got)
	}
	if strings.Contains(last.URL.String(), r.Key.Reveal()) {
		t.Error("the key stands in the URL, and so in the logs of every proxy")
	}
	if last.Method != http.MethodPost || !strings.HasPrefix(last.Header.Get("Content-Type"), "application/json") {
		t.Errorf("%s with content type %q", last.Method, last.Header.Get("Content-Type"))
	}
}

// Cases lists the cases for an adapter.
func Cases(s Subject) []Case {
	const (
		lost    = core.CodeOutcomeUnknown
		late    = core.CodeProviderTimeout
		nothing = core.CodeProviderError
	)
	half := s.Good[:len(s.Good)/2]
	at := func(name, why string, s Script, class provider.Class, reach provider.Reach, code string, sent bool, text string) Case {
		return Case{Name: name, Why: why, Script: s, Class: class, Reach: reach, Code: code, Sent: sent, Text: text}
	}
	return []Case{
		at("answer", "the ordinary case", Script{Status: 200, Body: s.Good}, provider.Answered, "", "", true, s.Text),
		at("whole body, early end", "the body is complete although the length promised more: the answer is there, and throwing it away costs the owner its price",
			Script{Status: 200, Body: s.Good, End: EarlyEOF}, provider.Answered, "", "", true, s.Text),
		at("cut in the middle", "the provider did the work; a second call would be billed again",
			Script{Status: 200, Body: half, End: EarlyEOF}, provider.Unknown, "", lost, true, ""),
		at("stalled body", "a slow sender must not hold a worker beyond the deadline",
			Script{Status: 200, Body: half, End: SilentBody}, provider.Unknown, "", late, true, ""),
		at("no headers", "the provider may be working still",
			Script{End: SilentHeaders}, provider.Unknown, "", late, true, ""),
		at("reset after the request", "the request was read; whether it was processed nobody knows",
			Script{End: ResetEarly}, provider.Unknown, "", lost, true, ""),
		at("name not found", "nothing was sent, so the call may be made again freely", Script{End: DNSError}, provider.NotSent, "", nothing, false, ""),
		at("no TLS", "the handshake failed before the request", Script{Status: 200, Body: s.Good, End: TLSError}, provider.NotSent, "", nothing, false, ""),
		at("huge body", "memory is bounded whatever a provider sends",
			Script{Status: 200, Body: bytes.Repeat([]byte(" "), 9<<20)}, provider.Unknown, "", lost, true, ""),
		at("huge headers", "so it is for headers",
			Script{Status: 200, Header: map[string]string{"X-Fill": strings.Repeat("x", 100<<10)}, Body: s.Good}, provider.Unknown, "", lost, true, ""),
		at("compressed all the same", "what was not asked for is not inflated: a small body could become a huge one",
			Script{Status: 200, Header: map[string]string{"Content-Encoding": "gzip"}, Body: bomb()}, provider.Unknown, "", lost, true, ""),
		at("not JSON", "a gateway's page is no answer, and no proof that none was made",
			Script{Status: 200, Body: []byte("<html>ok</html>")}, provider.Unknown, "", lost, true, ""),
		at("empty body", "likewise", Script{Status: 200}, provider.Unknown, "", lost, true, ""),
		at("401", "every further task would be rejected too", Script{Status: 401, Body: s.Unauthorized}, provider.Rejected, provider.Connection, core.CodeCredentialRejected, true, ""),
		at("429", "the provider did no work and says when to come back",
			Script{Status: 429, Body: s.RateLimited, Header: map[string]string{"Retry-After": "2"}}, provider.Rejected, provider.Overload, core.CodeRateLimited, true, ""),
		at("429 with a cut body", "the status alone says that no work was done",
			Script{Status: 429, Body: s.RateLimited[:1], End: EarlyEOF}, provider.Rejected, provider.Overload, core.CodeRateLimited, true, ""),
		at("500", "a server error comes before, during or after the work", Script{Status: 500, Body: s.ServerError}, provider.Unknown, "", lost, true, ""),
		at("bare 503", "a proxy says this when it gave up on a finished call", Script{Status: 503, Body: []byte("<html></html>")}, provider.Unknown, "", lost, true, ""),
		at("504", "the model may be working still", Script{Status: 504}, provider.Unknown, "", late, true, ""),
	}
}

// bomb is 16 MiB of spaces, compressed: beyond the limit once inflated.
func bomb() []byte {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		panic(err) // the level exists
	}
	block := bytes.Repeat([]byte(" "), 1<<20)
	for range 16 {
		if _, err := z.Write(block); err != nil {
			panic(err) // a buffer takes everything
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func readAll(r *http.Request) ([]byte, error) { return io.ReadAll(r.Body) }
