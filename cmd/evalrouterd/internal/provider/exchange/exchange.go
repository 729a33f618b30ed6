// Package exchange is one HTTP request to a provider, made at most once.
//
// Adapters say what is sent and what an answer means; this package holds the
// rules that are the same for all of them:
//
//   - Nothing here or below repeats a request. The body cannot be rewound, no
//     idempotency key is sent (Go's transport would take it as leave to send
//     again), and redirects are answers, not instructions.
//   - Whether a provider may have seen a request is decided by one fact:
//     whether a connection was obtained for it. Before that nothing was sent.
//   - Every body is bounded. Nothing is inflated: compression is declined, and
//     a provider that compresses all the same sent something unreadable.
//   - The key goes into one header. Should it come back, it is taken out.
package exchange

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

const (
	// MaxBody is the largest body that is read, in bytes.
	MaxBody = 8 << 20
	// MaxStream is the largest stream: each token of one brings hundreds of
	// bytes with it.
	MaxStream = 64 << 20
	// evidence is how much is kept of a body beyond MaxBody.
	evidence = 64 << 10
	// presize bounds what is allocated on the word of a Content-Length.
	presize = 1 << 20
)

// ErrBodyLimit stands in Reply.Err when a body went beyond its limit; Raw then
// holds only its beginning.
var ErrBodyLimit = errors.New("answer larger than its limit of 8 MiB, or 64 MiB as a stream")

// oneAnswer is a connection that knows whether more came on it than was asked
// for. It takes no request then.
type oneAnswer interface{ Surplus() bool }

var errSurplus = errors.New("the endpoint sent more than one answer to a request")

// Post is a request: a JSON body and the headers that the adapter adds.
type Post struct {
	URL    string
	Header http.Header
	Body   []byte
	// Key is taken out of what comes back.
	Key provider.Secret
}

// Reply is what came back. Status is 0 when no headers came. With Err set,
// Raw is what came before the failure.
type Reply struct {
	Status int
	Header http.Header
	Raw    []byte
	// Connected says that a connection was obtained: the request may have
	// reached the provider.
	Connected bool
	Err       error
}

// OK says that the status promises an answer.
func (r Reply) OK() bool { return r.Status >= 200 && r.Status <= 299 }

// Do makes the request on rt and reads the whole answer. Only ctx bounds how
// long it takes.
func Do(ctx context.Context, rt http.RoundTripper, p Post) Reply {
	var connected, surplus atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
		if one, ok := c.Conn.(oneAnswer); ok && one.Surplus() {
			surplus.Store(true) // it takes no request, and whatever it gives answers another one
			return
		}
		connected.Store(true)
	}}
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, trace), http.MethodPost, p.URL, bytes.NewReader(p.Body))
	if err != nil {
		return Reply{Err: err}
	}
	req.GetBody = nil // what cannot be rewound cannot be sent twice
	for k, v := range p.Header {
		req.Header[k] = v
	}
	req.Header.Set("Content-Type", "application/json")
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "application/json")
	}
	req.Header.Set("Accept-Encoding", "identity")
	req.Header.Set("User-Agent", "evalrouterd")
	res, err := rt.RoundTrip(req)
	if surplus.Load() {
		if err == nil {
			err = errors.Join(errSurplus, res.Body.Close())
		}
		return Reply{Err: err}
	}
	if err != nil {
		return Reply{Connected: connected.Load(), Err: err}
	}
	raw, err := readBody(res)
	return Reply{Status: res.StatusCode, Header: res.Header, Raw: scrub(raw, p.Key), Connected: true, Err: err}
}

func readBody(res *http.Response) ([]byte, error) {
	defer res.Body.Close()
	var buf bytes.Buffer
	if n := res.ContentLength; n > 0 {
		buf.Grow(int(min(n, presize)) + bytes.MinRead)
	}
	most := int64(MaxBody)
	if kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";"); res.StatusCode == http.StatusOK && strings.TrimSpace(kind) == "text/event-stream" {
		most = MaxStream
	}
	n, err := buf.ReadFrom(io.LimitReader(res.Body, most+1))
	if n > most {
		return bytes.Clone(buf.Bytes()[:evidence]), ErrBodyLimit
	}
	return buf.Bytes(), err
}

// secretLength is how long a key must be before its characters are taken out
// of bodies: keys such as "none", which local servers accept, are words.
const secretLength = 16

const redacted = "[redacted]"

func scrub(raw []byte, key provider.Secret) []byte {
	if len(key.Reveal()) < secretLength {
		return raw
	}
	return hideIn(raw, key.Reveal())
}
