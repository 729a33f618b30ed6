package fakesmith

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"github.com/evalrouter/evalrouter/lib/api"
)

// Sink is the importing side of EvalRouter on a port of this machine.
type Sink struct {
	URL string
	Key string
	// Connection and Workspace must be named by every request.
	Connection, Workspace string
	// On, if set, is told about every request before its effect, and after it
	// and before the answer.
	On func()

	http     *httptest.Server
	mu       sync.Mutex
	digests  map[string][]string // by trace id, the newest last
	traces   map[string]api.ImportedTrace
	keep     bool
	bytes    bytes.Buffer
	requests int
	replays  map[string][32]byte
	faults   []*Fault
	reject   map[string]api.Code
	dupes    int
	drop     int
}

// NewSink starts one. keep makes it hold whole traces and every byte that
// arrives.
func NewSink(keep bool) *Sink {
	s := &Sink{
		Key: "eri_fake0123456789", Connection: "11111111-2222-4333-8444-555555555555", Workspace: "ws-1", keep: keep,
		digests: map[string][]string{}, traces: map[string]api.ImportedTrace{}, replays: map[string][32]byte{}, reject: map[string]api.Code{},
	}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL
	return s
}

// Close stops it.
func (s *Sink) Close() { s.http.CloseClientConnections(); s.http.Close() }

// Break adds a fault.
func (s *Sink) Break(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &f)
}

// Drop loses the next n answers after their effect.
func (s *Sink) Drop(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop += n
}

// Reject makes it refuse one trace.
func (s *Sink) Reject(traceID string, code api.Code) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reject[traceID] = code
}

// Revisions is how many revisions of each trace it has.
func (s *Sink) Revisions() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]int{}
	for id, d := range s.digests {
		out[id] = len(d)
	}
	return out
}

// Trace is the newest revision of a trace.
func (s *Sink) Trace(id string) (api.ImportedTrace, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.traces[id]
	return t, ok
}

// Bytes is everything that arrived: request lines, headers and bodies.
func (s *Sink) Bytes() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes.String()
}

// Counts are the requests so far and the traces that came again unchanged.
func (s *Sink) Counts() (requests, duplicates int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests, s.dupes
}

func (s *Sink) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, api.MaxImportBytes))
	if s.On != nil {
		s.On()
		defer s.On()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	if s.keep {
		fmt.Fprintf(&s.bytes, "%s %s\n", r.Method, r.URL)
		r.Header.Write(&s.bytes)
		s.bytes.Write(body)
	}
	for _, f := range s.faults {
		if f.N > 0 {
			f.N--
			if f.RetryAfter != "" {
				w.Header().Set("Retry-After", f.RetryAfter)
			}
			refuse(w, f.Status, api.Code(f.Body), "this is a fault")
			return
		}
	}
	if err != nil {
		refuse(w, 413, api.RequestTooLarge, "the import is larger than 4 MiB")
		return
	}
	res, status, code, why := s.take(r, body)
	if code != "" {
		refuse(w, status, code, why)
		return
	}
	if s.drop > 0 {
		s.drop--
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(res) // a client that has gone away is its own affair
}

func refuse(w http.ResponseWriter, status int, code api.Code, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(api.Envelope{Error: api.Error{Code: code, Message: why}})
}

func (s *Sink) take(r *http.Request, body []byte) (res api.TraceImportResult, status int, code api.Code, why string) {
	key := r.Header.Get("Idempotency-Key")
	var in api.TraceImport
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	switch err := dec.Decode(&in); {
	case r.Method != http.MethodPost || r.URL.Path != "/v1/trace-connections/"+s.Connection+"/imports":
		return res, 404, api.NotFound, "no such route"
	case r.Header.Get("Authorization") != "Bearer "+s.Key:
		return res, 401, api.Unauthenticated, "the ingest key is not known"
	case r.Header.Get("X-Workspace-Id") != s.Workspace:
		return res, 403, api.WorkspaceMismatch, "the key belongs to another workspace"
	case key == "":
		return res, 400, api.IdempotencyKeyRequired, "no idempotency key"
	case err != nil:
		return res, 422, api.InvalidRequest, err.Error()
	case in.Source != api.SourceLangSmith || in.ProjectID == "" || len(in.Traces) == 0 || len(in.Traces) > api.MaxImportTraces:
		return res, 422, api.InvalidRequest, "not a batch of 1 to 100 traces with source and project"
	}
	sum := sha256.Sum256(body)
	if old, ok := s.replays[key]; ok && old != sum {
		return res, 409, api.IdempotencyConflict, "another body came with this key"
	}
	s.replays[key] = sum
	res.Rejected = []api.TraceRejection{}
	for _, t := range in.Traces {
		if why := check(t); why != "" {
			return res, 422, api.InvalidRequest, "trace " + t.SourceTraceID + ": " + why
		}
		if code, ok := s.reject[t.SourceTraceID]; ok {
			res.Rejected = append(res.Rejected, api.TraceRejection{SourceTraceID: t.SourceTraceID, Code: code})
			continue
		}
		d := s.digests[t.SourceTraceID]
		if len(d) > 0 && d[len(d)-1] == t.Digest {
			res.Duplicates++
			s.dupes++
			continue
		}
		res.Accepted++
		s.digests[t.SourceTraceID] = append(d, t.Digest)
		if s.keep {
			s.traces[t.SourceTraceID] = t
		}
	}
	return res, 0, "", ""
}

// check says what is wrong with a trace.
func check(t api.ImportedTrace) string {
	digest, _, err := t.ContentDigest()
	switch {
	case err != nil:
		return err.Error()
	case digest != t.Digest:
		return "its digest is not that of its content"
	case t.SourceTraceID == "" || t.StartedAt.IsZero() || t.Redaction.Profile == "":
		return "a field is missing"
	case !slices.Contains([]string{api.TraceOK, api.TraceError, api.TraceOpen}, t.Status):
		return "its status is unknown"
	case t.Completeness == api.TraceComplete && (t.Status == api.TraceOpen || len(t.Reasons) > 0):
		return "it is called complete and is not"
	case t.OmittedSpans+len(t.Spans) != t.SpanCount:
		return "its spans are not all counted"
	}
	seen := map[string]bool{}
	for _, x := range t.Spans {
		if seen[x.SourceSpanID] {
			return "a span comes twice"
		}
		seen[x.SourceSpanID] = true
		for _, c := range []json.RawMessage{x.Input, x.Output, x.Attributes} {
			if len(c) > 64<<10 || !json.Valid(c) || strings.Contains(string(c), "\n") {
				return "a content is not bounded, canonical JSON"
			}
		}
	}
	return ""
}
