package httpapi

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/ratelimit"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/lib/api"
)

// Scopes that a key may have.
const (
	scopeBenchmarksSubmit = "benchmarks:submit"
	scopeEvalRead         = "eval:read"
	scopeEvalWrite        = "eval:write"
	scopeBillingRead      = "billing:read"
	scopeConnectionsRead  = "connections:read"
	scopeConnectionsWrite = "connections:write"
)

// Scopes lists every scope that a key of this service may be given.
func Scopes() []string {
	return []string{scopeBenchmarksSubmit, scopeBillingRead, scopeConnectionsRead, scopeConnectionsWrite, "datasets:read", "datasets:review", "datasets:write", scopeEvalRead, scopeEvalWrite, "traces:read", "traces:write"}
}

// access says who may call a route. The zero value is no declaration, and a
// route without one does not start.
type access int

const (
	undeclared access = iota
	// public answers anybody; a credential that is sent must still be good.
	public
	// anyCaller needs a good credential and no scope.
	anyCaller
	// scoped needs the route's scope.
	scoped
	// ingest needs it too, of a key that can do nothing else.
	ingest
)

// caller is who a request acts as. The zero value is nobody.
type caller struct {
	kind      string // local_owner, api_key or ingest_key
	workspace core.WorkspaceID
	actor     string
	scopes    []string
	key       store.Key
}

func (c caller) known() bool { return c.kind != "" }

func (c caller) scope() core.Scope { return core.Scope{Workspace: c.workspace, Actor: c.actor} }

func callerOf(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey).(caller)
	return c
}

// ConnectionOf is the trace connection that an ingest key belongs to.
func ConnectionOf(ctx context.Context) core.TraceConnectionID { return callerOf(ctx).key.Connection }

// ScopeOf is on whose behalf a request acts.
func ScopeOf(ctx context.Context) core.Scope { return scopeOf(ctx) }

func scopeOf(ctx context.Context) core.Scope { return callerOf(ctx).scope() }

// admit is the gate of a route: it finds the caller, or answers in its place.
func (s *Server) admit(rt route) func(huma.Context, func(huma.Context)) {
	return func(hc huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(hc)
		c, err := s.authenticate(rt, r)
		if often := s.limits(r.Context(), rt, r, c); often != nil {
			err = often
		}
		if err == nil {
			err = rt.allows(c)
		}
		if err == nil {
			err = checkHeaders(rt, r)
		}
		if err == nil {
			err = checkQuery(hc.Operation(), r)
		}
		if err == nil && rt.body {
			err = s.readBody(w, r, int64(rt.maxBody))
		}
		if err != nil {
			s.fail(w, r.Context(), err)
			return
		}
		hc = huma.WithValue(hc, callerKey, c)
		if rt.upload {
			hc = huma.WithValue(hc, uploadKey, &Upload{Reader: &patientBody{r.Body, http.NewResponseController(w)}, Length: r.ContentLength})
		}
		next(hc)
	}
}

func (rt route) allows(c caller) error {
	switch {
	case rt.access == public:
		return nil
	case c.kind == "ingest_key" && rt.access != ingest:
		return core.Refuse(core.Code(api.IngestOnly), "this key brings traces to its connection and does nothing else; use an API key")
	case !c.known():
		return core.Refuse(unauthenticated, "this route needs a credential: send Authorization: Bearer with an API key")
	case rt.access >= scoped && !slices.Contains(c.scopes, rt.scope):
		return core.Refuse(insufficientScope, "this key lacks the scope %s", rt.scope).With("required", rt.scope)
	}
	return nil
}

// authenticate finds out who asks. No credential is nobody; a wrong one is an
// error even where none is needed.
func (s *Server) authenticate(rt route, r *http.Request) (caller, error) {
	headers := r.Header.Values("Authorization")
	if len(headers) == 0 {
		return caller{}, nil
	}
	kind, token, ok := strings.Cut(headers[0], " ")
	if _, secret, basic := r.BasicAuth(); basic && rt.access == ingest {
		kind, token = "Bearer", secret // some senders have a public key beside the secret one
	}
	if len(headers) > 1 || !ok || !strings.EqualFold(kind, "Bearer") || !credential(token) {
		return caller{}, core.Refuse(unauthenticated, "the Authorization header is not one Bearer credential")
	}
	c, err := s.identify(r.Context(), token)
	if err != nil {
		return caller{}, err
	}
	if ws := r.Header.Get("X-Workspace-Id"); ws != "" && ws != string(c.workspace) {
		return caller{}, core.Refuse(workspaceMismatch, "this credential belongs to another workspace than X-Workspace-Id names")
	}
	return c, nil
}

// credential bounds what is taken for a token: 1 to 4,096 visible ASCII
// characters.
func credential(t string) bool {
	if t == "" || len(t) > 4096 {
		return false
	}
	for i := range len(t) {
		if t[i] < 0x21 || t[i] > 0x7E {
			return false
		}
	}
	return true
}

func (s *Server) identify(ctx context.Context, token string) (caller, error) {
	if s.ownerSum != nil {
		sum := sha256.Sum256([]byte(token))
		if subtle.ConstantTimeCompare(sum[:], s.ownerSum) == 1 {
			return caller{kind: "local_owner", workspace: core.Local, actor: "owner", scopes: Scopes()}, nil
		}
	}
	k, ok, err := s.o.Keys.Identify(ctx, token)
	switch {
	case err != nil:
		return caller{}, err
	case !ok:
		return caller{}, core.Refuse(unauthenticated, "this credential is not known here")
	case k.RevokedAt != 0:
		return caller{}, core.Refuse(keyRevoked, "this key was revoked")
	case k.ExpiresAt != 0 && s.micros() >= k.ExpiresAt:
		return caller{}, core.Refuse(sessionExpired, "this key has expired")
	}
	kind := "api_key"
	if k.Connection != "" {
		kind = "ingest_key"
	}
	return caller{kind: kind, workspace: k.Workspace, actor: k.ID, scopes: k.Scopes, key: k}, nil
}

// Requests a minute.
const (
	anonymousRate = 60
	keyRate       = 600
)

// limits refuses whoever asks too often: by key, and by address where there is
// no good key, so that guessing one is bounded too. The owner of a local
// service has no limit, and what reaches a local service comes from his
// machine. Nor has loopback otherwise: there stands a proxy that speaks for
// many.
func (s *Server) limits(ctx context.Context, rt route, r *http.Request, c caller) error {
	var wait time.Duration
	switch {
	case s.owner != nil && c.kind != "api_key", !c.known() && rt.tag == "service", c.kind == "ingest_key" && rt.access == ingest:
		return nil
	case c.known():
		wait = s.byKey.Take(c.actor, s.o.Now())
	default:
		from, ok := ratelimit.Network(r.RemoteAddr)
		if !ok {
			return nil
		}
		wait = s.byAddress.Take(from, s.o.Now())
	}
	if wait == 0 {
		return nil
	}
	f := s.failureOf(ctx, core.Refuse(core.Code(api.RateLimited), "too many requests; repeat this one after the time in Retry-After. Nothing was done"))
	f.retryAfter = int(math.Ceil(wait.Seconds()))
	return f
}
