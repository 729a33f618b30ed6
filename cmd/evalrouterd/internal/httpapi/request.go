package httpapi

import (
	"context"
	"encoding/hex"
	"net"
	"net/http"
	"path"
	"runtime/debug"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

type contextKey int

const (
	requestIDKey contextKey = iota
	callerKey
	uploadKey
	addressKey
	trustedKey
)

// AddressOf is where a request came from, for the log of changes.
func AddressOf(ctx context.Context) string {
	a, _ := ctx.Value(addressKey).(string)
	return a
}

// Address is the address of a remote end without its port.
func Address(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return ""
	}
	return host
}

func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey).(string)
	return id
}

// response notes what was answered, for the log, and keeps the router's own
// content type for errors off the wire.
type response struct {
	http.ResponseWriter
	status int
}

// WriteHeader sends the headers.
func (w *response) WriteHeader(code int) {
	if w.status != 0 {
		return
	}
	w.status = code
	h := w.Header()
	if ct := h.Get("Content-Type"); ct == "application/json" || ct == "application/problem+json" {
		h.Set("Content-Type", "application/json; charset=utf-8")
	}
	if code == http.StatusNotModified {
		h.Del("Content-Type")
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write sends the body.
func (w *response) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets the connection's deadlines be set.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	start := s.o.Now()
	s.served(start)
	w := &response{ResponseWriter: rw}
	id := s.newRequestID()
	ctx := context.WithValue(context.WithValue(r.Context(), requestIDKey, id), addressKey, Address(r.RemoteAddr))
	r = r.WithContext(ctx)
	h := w.Header()
	h.Set("X-Request-Id", id)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	defer s.finish(w, r, start)
	if s.o.Admit != nil {
		if err := s.o.Admit(r); err != nil {
			s.fail(w, ctx, err)
			return
		}
	}
	switch {
	case r.URL.Path != "/" && path.Clean(r.URL.Path) != r.URL.Path:
		// The mux would redirect to the clean path; clients follow none.
		s.fail(w, ctx, core.Missing("route"))
	default:
		s.mux.ServeHTTP(w, r)
	}
}

// finish logs a request and turns a panic into an answer. Bodies, queries and
// headers never reach the log.
func (s *Server) finish(w *response, r *http.Request, start time.Time) {
	if p := recover(); p != nil {
		if p == http.ErrAbortHandler {
			panic(p)
		}
		s.log.Error("request panicked", "request_id", requestID(r.Context()), "method", r.Method, "stack", string(debug.Stack()))
		if w.status == 0 {
			s.fail(w, r.Context(), core.Refuse(internalError, "the service failed; its log says more under this request id"))
		}
	}
	took := s.o.Now().Sub(start)
	s.log.Debug("request", "request_id", requestID(r.Context()), "method", r.Method, "route", r.Pattern, "status", w.status, "ms", took.Milliseconds())
	if s.o.Observe != nil {
		s.o.Observe(r.Pattern, w.status, took)
	}
}

// fail writes the envelope outside of a handler.
func (s *Server) fail(w http.ResponseWriter, ctx context.Context, err error) {
	f := s.failureOf(ctx, err)
	for k, v := range f.GetHeaders() {
		w.Header()[k] = v
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(f.status)
	if err := encodeJSON(w, f); err != nil {
		s.log.Debug("answer not written", "request_id", requestID(ctx), "error", err.Error())
	}
}

// unmatched answers a path that no route has, or that has other methods.
func (s *Server) unmatched(w http.ResponseWriter, r *http.Request) {
	allow := ""
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		try := r.Clone(r.Context())
		try.Method = m
		if _, pattern := s.mux.Handler(try); pattern != "/" && pattern != "" {
			if allow != "" {
				allow += ", "
			}
			allow += m
		}
	}
	if allow == "" {
		s.fail(w, r.Context(), core.Missing("route"))
		return
	}
	f := s.failureOf(r.Context(), core.Refuse(methodNotAllowed, "this route takes %s", allow))
	f.allow = allow
	s.fail(w, r.Context(), f)
}

func (s *Server) newRequestID() string {
	var b [12]byte
	s.o.Random(b[:])
	return "req_" + hex.EncodeToString(b[:])
}
