// Package deliver sends one batch over OTLP/HTTP and says what became of it.
//
// It makes one request and retries nothing: whether to wait, to send again or to
// give up is decided where the batch is kept. It follows no redirect, because
// the key is for one host, and it is not instrumented, because a request that
// made a span would never end.
package deliver

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/tracing/internal/otlp"
)

// Fate is what became of a request.
type Fate int

// Fates.
const (
	Taken    Fate = iota // stored, but for Rejected spans
	Later                // not now: the same request may be taken later
	TooLarge             // smaller requests may be taken
	Refused              // the same request will never be taken
	Barred               // nothing is taken from this key at this address
)

// Outcome is a fate and its circumstances.
type Outcome struct {
	Fate     Fate
	Rejected int           // of a request that was taken
	After    time.Duration // how long the service asks to wait, 0 when it does not say
	// Why says it for a person: what the service or the network said, without
	// the key and bounded.
	Why string
}

// maxAnswer bounds the bytes of an answer that are read.
const maxAnswer = 64 << 10

// Config says where to and as whom.
type Config struct {
	URL        string
	Key        string
	Workspace  string
	Connection string
	UserAgent  string
	Transport  http.RoundTripper
	Timeout    time.Duration // of one request
	Now        func() time.Time
}

// Sender sends requests. One goroutine uses it.
type Sender struct {
	cfg    Config
	client *http.Client
	body   bytes.Buffer
	raw    []byte
	zip    *gzip.Writer
}

// New makes a sender. It makes no request.
func New(cfg Config) *Sender {
	return &Sender{cfg: cfg, client: &http.Client{
		Transport:     cfg.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Send sends the groups. The context ends the request, which is Later then.
func (s *Sender) Send(ctx context.Context, groups []otlp.Group) Outcome {
	if err := s.compress(groups); err != nil {
		return Outcome{Fate: Refused, Why: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.cfg.URL, bytes.NewReader(s.body.Bytes()))
	if err != nil {
		return Outcome{Fate: Barred, Why: "the address of the service cannot be requested"}
	}
	h := req.Header
	h.Set("Content-Type", "application/x-protobuf")
	h.Set("Content-Encoding", "gzip")
	h.Set("Authorization", "Bearer "+s.cfg.Key)
	h.Set("X-Workspace-Id", s.cfg.Workspace)
	h.Set("X-Trace-Connection-Id", s.cfg.Connection)
	h.Set("User-Agent", s.cfg.UserAgent)
	resp, err := s.client.Do(req)
	if err != nil {
		return Outcome{Fate: Later, Why: s.network(ctx, err)}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil && resp.StatusCode/100 == 2 {
		// Whether it was stored is unknown; sent again, the service knows the ids.
		return Outcome{Fate: Later, Why: s.network(ctx, err)}
	}
	return s.judge(resp, body)
}

// compress keeps its buffers for the next request, unless this one was unusual.
func (s *Sender) compress(groups []otlp.Group) (err error) {
	if s.raw, err = otlp.Request(s.raw[:0], groups); err != nil {
		return err
	}
	s.body.Reset()
	if s.zip == nil {
		if s.zip, err = gzip.NewWriterLevel(nil, gzip.BestSpeed); err != nil {
			return fmt.Errorf("compress a batch: %w", err)
		}
	}
	s.zip.Reset(&s.body)
	_, err = s.zip.Write(s.raw)
	if err = errors.Join(err, s.zip.Close()); err != nil {
		return fmt.Errorf("compress a batch: %w", err)
	}
	return nil
}

func (s *Sender) judge(resp *http.Response, body []byte) Outcome {
	after := retryAfter(resp.Header.Get("Retry-After"), s.cfg.Now())
	why := fmt.Sprintf("the service answered %d", resp.StatusCode)
	switch code := resp.StatusCode; {
	case code/100 == 2:
		return taken(resp, body)
	case code == http.StatusRequestEntityTooLarge:
		return Outcome{Fate: TooLarge, Why: why}
	case code == http.StatusTooManyRequests, code == http.StatusBadGateway, code == http.StatusServiceUnavailable,
		code == http.StatusGatewayTimeout, code == http.StatusRequestTimeout:
		return Outcome{Fate: Later, After: after, Why: why}
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return Outcome{Fate: Barred, Why: why + "; check EVALROUTER_TRACE_KEY, EVALROUTER_TRACE_CONNECTION_ID and EVALROUTER_WORKSPACE_ID"}
	case code == http.StatusNotFound, code == http.StatusMethodNotAllowed, code/100 == 3:
		return Outcome{Fate: Barred, Why: why + "; check EVALROUTER_BASE_URL"}
	case code/100 == 5:
		// An error of the service that it does not call passing. It says nothing
		// about the batch, so the batch is kept.
		return Outcome{Fate: Later, After: after, Why: why}
	}
	return Outcome{Fate: Refused, Why: why + said(string(body))}
}

// taken reads a partial success. An answer that is no OTLP came from something
// else than the service, such as a proxy's login page.
func taken(resp *http.Response, body []byte) Outcome {
	var a otlp.Answer
	var err error
	switch kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";"); {
	case len(body) == 0:
	case kind == "application/x-protobuf":
		a, err = otlp.ReadAnswer(body)
	case kind == "application/json":
		a, err = otlp.ReadJSONAnswer(body)
	default:
		err = errors.ErrUnsupported
	}
	if err != nil {
		return Outcome{Fate: Barred, Why: "what answers at this address is not the service; check EVALROUTER_BASE_URL"}
	}
	o := Outcome{Fate: Taken, Rejected: int(min(max(a.Rejected, 0), 1<<30))}
	if o.Rejected > 0 {
		o.Why = fmt.Sprintf("the service refused %d spans%s", o.Rejected, said(a.Message))
	}
	return o
}

// said quotes a stranger's words: printable, bounded, on one line.
func said(text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	if len(text) > 200 {
		text = text[:200]
	}
	return ": " + strconv.QuoteToASCII(text)
}

// network says what kind of failure it was. The text of the error is not used:
// it holds addresses, and those of a proxy hold passwords.
func (s *Sender) network(ctx context.Context, err error) string {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "the service did not answer in time"
	case ctx.Err() != nil:
		return "the request was ended"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "the connection ended before the answer"
	}
	return "the service could not be reached"
}

// maxAfter bounds what a service may ask to wait.
const maxAfter = 5 * time.Minute

func retryAfter(text string, now time.Time) time.Duration {
	if text == "" {
		return 0
	}
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, maxAfter)
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), maxAfter)
}
