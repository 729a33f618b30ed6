package apitest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/apitest/strict"
)

const maxBody = 256 << 10

// failure is an answer that is not a success.
type failure struct {
	status  int
	code    api.Code
	message string
	details map[string]any
}

func refuse(status int, code api.Code, message string) *failure {
	return &failure{status: status, code: code, message: message}
}

func (x *failure) with(name string, v any) *failure {
	if x.details == nil {
		x.details = map[string]any{}
	}
	x.details[name] = v
	return x
}

func invalid(bad ...api.FieldError) *failure {
	return refuse(http.StatusUnprocessableEntity, api.InvalidRequest, "the request is not valid").with("fields", bad)
}

// request is one request after authentication.
type request struct {
	*http.Request
	body []byte
}

// reply is a success. Raw bytes are sent as they are.
type reply struct {
	body   any
	header map[string]string
}

type route struct {
	pattern string
	scope   string // empty: no credentials needed
	key     bool   // an idempotency key is required
	serve   func(*request) (*reply, *failure)
}

func (f *Fake) handle(r route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		body, err := io.ReadAll(io.LimitReader(in.Body, maxBody+1))
		f.mu.Lock()
		name := routeName(r.pattern)
		f.counts[name]++
		var status int
		var answer []byte
		x := f.takeFault(name, false)
		switch {
		case x != nil:
			if x.after != "" {
				w.Header().Set("Retry-After", x.after)
			}
			status, answer = f.encode(w, nil, refuse(x.status, x.code, "scripted failure"))
		case err != nil:
			status, answer = f.encode(w, nil, refuse(http.StatusBadRequest, api.InvalidRequest, "the body cannot be read"))
		default:
			status, answer = f.process(w, r, &request{Request: in, body: body})
		}
		if in.Method != http.MethodGet {
			f.mutations = append(f.mutations, Mutation{in.Method, in.URL.Path, in.Header.Get("Idempotency-Key"), string(body), status})
		}
		lost := x == nil && f.takeFault(name, true) != nil
		f.mu.Unlock()
		if lost {
			panic(http.ErrAbortHandler) // net/http closes the connection
		}
		w.WriteHeader(status)
		w.Write(answer)
	})
}

// process authenticates, replays or serves. It returns what to send.
func (f *Fake) process(w http.ResponseWriter, r route, in *request) (int, []byte) {
	if x := f.authorize(r, in); x != nil {
		return f.encode(w, nil, x)
	}
	if len(in.body) > maxBody {
		return f.encode(w, nil, refuse(http.StatusRequestEntityTooLarge, api.RequestTooLarge, "the request is larger than 256 KiB"))
	}
	key := in.Header.Get("Idempotency-Key")
	if r.key && key == "" {
		return f.encode(w, nil, refuse(http.StatusBadRequest, api.IdempotencyKeyRequired, "this request needs an Idempotency-Key header"))
	}
	if len(key) > 128 || strings.ContainsFunc(key, func(c rune) bool { return c < 0x20 || c > 0x7E }) {
		return f.encode(w, nil, invalid(api.FieldError{Path: "Idempotency-Key", Code: "invalid_value"}))
	}
	slot := r.pattern + " " + key
	if old, ok := f.replays[slot]; ok && key != "" && in.Method != http.MethodGet {
		if old.body != in.URL.Path+"\n"+string(in.body) {
			return f.encode(w, nil, refuse(http.StatusConflict, api.IdempotencyConflict, "this key was used with another request"))
		}
		f.head(w)
		w.Header().Set("Idempotency-Replayed", "true")
		return old.status, old.answer
	}
	out, x := r.serve(in)
	status, answer := f.encode(w, out, x)
	if x == nil && in.Header.Get("Authorization") == "" && strings.HasPrefix(in.URL.Path, "/v1/catalog/") {
		w.Header().Set("Cache-Control", f.caching)
		w.Header().Set("Vary", "Authorization")
	}
	if x == nil && key != "" {
		f.replays[slot] = replay{in.URL.Path + "\n" + string(in.body), status, answer}
	}
	return status, answer
}

func (f *Fake) authorize(r route, in *request) *failure {
	token, given := strings.CutPrefix(in.Header.Get("Authorization"), "Bearer ")
	if !given && r.scope == "" {
		return nil
	}
	scopes, ok := f.tokens[token]
	if !ok {
		return refuse(http.StatusUnauthorized, api.Unauthenticated, "sign in, or send a valid API key")
	}
	_, person := f.auth.sessions[token]
	switch id := in.Header.Get("X-Workspace-Id"); {
	case f.ended(token):
		return refuse(http.StatusUnauthorized, api.SessionExpired, "the session is over")
	case person && id == "" && r.scope != "any" && r.scope != "":
		return refuse(http.StatusBadRequest, api.WorkspaceRequired, "choose a workspace")
	case id != "" && id != f.WorkspaceID && !(person && slices.ContainsFunc(f.auth.workspaces, func(w api.WorkspaceRecord) bool { return w.ID == id })):
		return refuse(http.StatusForbidden, api.WorkspaceMismatch, "the key belongs to another workspace")
	}
	if r.scope != "" && r.scope != "any" && !slices.Contains(scopes, r.scope) {
		return refuse(http.StatusForbidden, api.InsufficientScope, "the key may not do this").with("required", r.scope)
	}
	return nil
}

func (f *Fake) unmatched(w http.ResponseWriter, in *http.Request) {
	f.mu.Lock()
	var allow []string
	for _, m := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		other := in.Clone(in.Context())
		other.Method = m
		if _, pattern := f.mux.Handler(other); pattern != "/" {
			allow = append(allow, m)
		}
	}
	x := refuse(http.StatusNotFound, api.NotFound, "there is no such route")
	if len(allow) > 0 {
		x = refuse(http.StatusMethodNotAllowed, api.MethodNotAllowed, "the route has no such method")
		w.Header().Set("Allow", strings.Join(allow, ", "))
	}
	status, answer := f.encode(w, nil, x)
	f.mu.Unlock()
	w.WriteHeader(status)
	w.Write(answer)
}

func (f *Fake) head(w http.ResponseWriter) string {
	var b [12]byte
	rand.Read(b[:]) // never fails
	id := "req_" + hex.EncodeToString(b[:])
	w.Header().Set("X-Request-Id", id)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	return id
}

func (f *Fake) encode(w http.ResponseWriter, out *reply, x *failure) (int, []byte) {
	id := f.head(w)
	if x != nil {
		b, _ := json.Marshal(api.Envelope{Error: api.Error{Code: x.code, Message: x.message, Details: x.details, RequestID: id}})
		return x.status, b
	}
	for k, v := range out.header {
		w.Header().Set(k, v)
	}
	if raw, ok := out.body.([]byte); ok {
		return http.StatusOK, raw
	}
	b, err := json.Marshal(out.body)
	if err != nil {
		return http.StatusInternalServerError, []byte(`{"error":{"code":"internal_error","message":"the answer cannot be written"}}`)
	}
	return http.StatusOK, b
}

func (in *request) decode(into any) *failure {
	if bad := strict.Decode(in.body, into); len(bad) > 0 {
		return invalid(bad...)
	}
	return nil
}

// page cuts a list by the cursor and limit of a request. The cursor is the
// position, in a form that invites no arithmetic.
func page[T any](in *request, all []T) (*reply, *failure) {
	from, x := cursor(in.URL.Query().Get("cursor"), len(all))
	if x != nil {
		return nil, x
	}
	limit, x := in.number("limit", 50, 1, 200)
	if x != nil {
		return nil, x
	}
	to := min(from+limit, len(all))
	p := api.Page[T]{Data: append([]T{}, all[from:to]...)}
	if to < len(all) {
		p.NextCursor = new(base64.RawURLEncoding.EncodeToString([]byte("at:" + strconv.Itoa(to))))
	}
	return &reply{body: p}, nil
}

func cursor(s string, size int) (int, *failure) {
	if s == "" {
		return 0, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(s)
	at, ok := strings.CutPrefix(string(b), "at:")
	n, err2 := strconv.Atoi(at)
	if err != nil || err2 != nil || !ok || n < 0 || n > size {
		return 0, refuse(http.StatusUnprocessableEntity, api.InvalidCursor, "the cursor is not one of this list")
	}
	return n, nil
}

// number reads a query parameter.
func (in *request) number(name string, fallback, low, high int) (int, *failure) {
	s := in.URL.Query().Get(name)
	if s == "" {
		return fallback, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < low || n > high {
		return 0, invalid(api.FieldError{Path: name, Code: "out_of_range"})
	}
	return n, nil
}

func ok(body any) (*reply, *failure) { return &reply{body: body}, nil }

func notFound(what string) *failure {
	return refuse(http.StatusNotFound, api.NotFound, fmt.Sprintf("there is no such %s", what))
}

func sha256Hex(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
