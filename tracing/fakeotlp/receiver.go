// Package fakeotlp receives OTLP over HTTP as the service does, for tests and
// measurements. It reads requests with the generated types of OTLP, so that what
// it understands is what any receiver does.
package fakeotlp

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"sync"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Path is where requests must go.
const Path = "/v1/otlp/v1/traces"

// Fault is what a request meets instead of success. The zero value is success.
type Fault struct {
	Status     int
	RetryAfter string
	// Stored says that the spans are kept although the answer fails: the client
	// must send them again and the receiver must know them.
	Stored bool
	// Rejected spans, the first ones, are refused by a successful answer.
	Rejected int
	Message  string
	// Header and Body replace those of the answer.
	Header http.Header
	Body   []byte
}

// Span is a span that arrived, and how often.
type Span struct {
	*tracepb.Span
	Resource *resourcepb.Resource
	Scope    *commonpb.InstrumentationScope
	Times    int
}

// Receiver keeps every span by its ids.
type Receiver struct {
	// Key, Workspace and Connection are what a request must carry.
	Key, Workspace, Connection string
	// MaxBytes bounds an inflated request; a larger one is answered 413.
	MaxBytes int
	// Plan says what the n-th request meets, counted from 0. Nil means success.
	Plan func(n int) Fault

	mu       sync.Mutex
	requests int
	spans    []*Span
	byID     map[string]*Span
	bodies   bytes.Buffer
	faults   []error
}

// New receives from one connection.
func New() *Receiver {
	return &Receiver{Key: "eri_test", Workspace: "workspace", Connection: "connection", MaxBytes: 4 << 20, byID: map[string]*Span{}}
}

// Requests counts all of them.
func (r *Receiver) Requests() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests
}

// Spans is what arrived, in order.
func (r *Receiver) Spans() []Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Span, len(r.spans))
	for i, s := range r.spans {
		out[i] = *s
	}
	return out
}

// Bytes is every request inflated, one after the other.
func (r *Receiver) Bytes() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.bodies.Bytes())
}

// Err says what was wrong with a request that a service would not take.
func (r *Receiver) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.faults) == 0 {
		return nil
	}
	return r.faults[0]
}

func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, status, err := r.read(req)
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.requests
	r.requests++
	var f Fault
	if r.Plan != nil {
		f = r.Plan(n)
	}
	var traces tracepb.TracesData
	if err == nil {
		if err = proto.Unmarshal(body, &traces); err != nil {
			status = http.StatusBadRequest
		}
	}
	if err != nil {
		if status != http.StatusRequestEntityTooLarge {
			r.faults = append(r.faults, err)
		}
		w.WriteHeader(status)
		return
	}
	if f.Status/100 == 0 || f.Status/100 == 2 || f.Stored {
		r.bodies.Write(body)
		r.keep(&traces, f.Rejected)
	}
	r.answer(w, f)
}

func (r *Receiver) read(req *http.Request) (body []byte, status int, err error) {
	for _, h := range []struct{ name, want string }{
		{"Authorization", "Bearer " + r.Key}, {"X-Workspace-Id", r.Workspace}, {"X-Trace-Connection-Id", r.Connection},
	} {
		if got := req.Header.Get(h.name); got != h.want {
			return nil, http.StatusUnauthorized, fmt.Errorf("the header %s is not the one of the connection", h.name)
		}
	}
	if req.Method != http.MethodPost || req.URL.Path != Path {
		return nil, http.StatusNotFound, fmt.Errorf("%s %s is no request of an exporter", req.Method, req.URL.Path)
	}
	if kind := req.Header.Get("Content-Type"); kind != "application/x-protobuf" {
		return nil, http.StatusUnsupportedMediaType, fmt.Errorf("the content type is %q", kind)
	}
	in := io.Reader(req.Body)
	if req.Header.Get("Content-Encoding") == "gzip" {
		if in, err = gzip.NewReader(req.Body); err != nil {
			return nil, http.StatusBadRequest, fmt.Errorf("inflate a request: %w", err)
		}
	}
	body, err = io.ReadAll(io.LimitReader(in, int64(r.MaxBytes)+1))
	switch {
	case err != nil:
		return nil, http.StatusBadRequest, fmt.Errorf("read a request: %w", err)
	case len(body) > r.MaxBytes:
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("a request has more than %d bytes", r.MaxBytes)
	}
	return body, http.StatusOK, nil
}

func (r *Receiver) keep(traces *tracepb.TracesData, rejected int) {
	for _, rs := range traces.ResourceSpans {
		for _, ss := range rs.ScopeSpans {
			for _, s := range ss.Spans {
				if rejected > 0 {
					rejected--
					continue
				}
				id := string(s.TraceId) + string(s.SpanId)
				if known := r.byID[id]; known != nil {
					known.Times++
					continue
				}
				kept := &Span{Span: s, Resource: rs.Resource, Scope: ss.Scope, Times: 1}
				r.byID[id] = kept
				r.spans = append(r.spans, kept)
			}
		}
	}
}

func (r *Receiver) answer(w http.ResponseWriter, f Fault) {
	h := w.Header()
	h.Set("Content-Type", "application/x-protobuf")
	for name, values := range f.Header {
		h[name] = values
	}
	if f.RetryAfter != "" {
		h.Set("Retry-After", f.RetryAfter)
	}
	body := f.Body
	if f.Rejected > 0 && body == nil {
		body = partialSuccess(f.Rejected, f.Message)
	}
	if f.Status != 0 {
		w.WriteHeader(f.Status)
	}
	// The client may be gone, which is its business.
	_, _ = w.Write(body)
}

// partialSuccess is an ExportTraceServiceResponse. Its generated type brings
// gRPC, so it is written here.
func partialSuccess(rejected int, message string) []byte {
	var partial []byte
	partial = protowire.AppendTag(partial, 1, protowire.VarintType)
	partial = protowire.AppendVarint(partial, uint64(rejected))
	partial = protowire.AppendTag(partial, 2, protowire.BytesType)
	partial = protowire.AppendString(partial, message)
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), partial)
}
