package httpapi

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/ratelimit"
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
	scopeFeedbackWrite    = "feedback:write"
	scopeKeysAdmin        = "keys:admin"
	scopeDatasetsRead     = "datasets:read"
	scopeDatasetsReview   = "datasets:review"
	scopeDatasetsWrite    = "datasets:write"
	scopeTracesRead       = "traces:read"
	scopeTracesWrite      = "traces:write"
	// scopeTracesIngest is that of trace connections' keys; no other has it.
	scopeTracesIngest = "traces:ingest"
)

// Scopes lists every scope that a key of this service may be given.
func Scopes() []string {
	return []string{
		scopeBenchmarksSubmit, scopeBillingRead, scopeConnectionsRead, scopeConnectionsWrite, scopeDatasetsRead, scopeDatasetsReview, scopeDatasetsWrite,
		scopeEvalRead, scopeEvalWrite, scopeFeedbackWrite, scopeKeysAdmin, scopeTracesRead, scopeTracesWrite,
	}
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

// Kinds of caller.
const (
	KindOwner   = "local_owner"
	KindKey     = "api_key"
	KindIngest  = "ingest_key"
	KindSession = "session"
)

// Caller is who a request acts as. The zero value is nobody.
type Caller struct {
	Kind string
	// Workspace is "" for a session that names none.
	Workspace core.WorkspaceID
	Actor     string
	Scopes    []string
	Key       core.APIKey // of a key
	// User, Grant, Role and Expires are those of a session; Role is "" without a
	// workspace.
	User    core.User
	Grant   string
	Role    core.Role
	Expires core.Micros
}

// Person is who answers for what the caller makes: of a key, whoever made it. ""
// is the operator.
func (c Caller) Person() core.UserID {
	if c.Kind == KindSession {
		return c.User.ID
	}
	return c.Key.CreatedBy
}

func (c Caller) known() bool { return c.Kind != "" }

func (c Caller) scope() core.Scope {
	return core.Scope{Workspace: c.Workspace, Actor: c.Actor, Person: cmp.Or(string(c.Person()), c.Key.Lineage), Ceiling: c.Key.Ceiling, Lineage: c.Key.Lineage}
}

func callerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey).(Caller)
	return c
}

// CallerOf is who a request acts as.
func CallerOf(ctx context.Context) Caller { return callerOf(ctx) }

// Require refuses a caller without a scope beyond that of the route, where what is
// asked for reaches further.
func Require(ctx context.Context, scope string) error {
	if c := callerOf(ctx); !slices.Contains(c.Scopes, scope) {
		return core.Refuse(insufficientScope, "this %s lacks the scope %s, and what was asked copies what only that scope may read; nothing was done", c.noun(), scope).With("required", scope)
	}
	return nil
}

// ConnectionOf is the trace connection that an ingest key belongs to.
func ConnectionOf(ctx context.Context) core.TraceConnectionID { return callerOf(ctx).Key.Connection }

// ScopeOf is on whose behalf a request acts.
func ScopeOf(ctx context.Context) core.Scope { return scopeOf(ctx) }

func scopeOf(ctx context.Context) core.Scope { return callerOf(ctx).scope() }

// admit is the gate of a route: it finds the caller, or answers in its place.
func (s *Server) admit(rt route) func(huma.Context, func(huma.Context)) {
	return func(hc huma.Context, next func(huma.Context)) {
		r, w := humago.Unwrap(hc)
		c, err := s.authenticate(rt, r)
		if often := s.limits(w, rt, r, c); often != nil {
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
		if rt.access == public && !slices.Contains(c.Scopes, scopeEvalRead) {
			c = Caller{} // a route for everybody shows no more to who may not read
		}
		hc = huma.WithValue(hc, callerKey, c)
		if rt.upload {
			hc = huma.WithValue(hc, uploadKey, &Upload{Reader: &patientBody{r.Body, http.NewResponseController(w)}, Length: r.ContentLength})
		}
		next(hc)
	}
}

func (rt route) allows(c Caller) error {
	switch {
	case rt.access == public:
		return nil
	case c.Kind == KindIngest && rt.access != ingest:
		return core.Refuse(core.Code(api.IngestOnly), "this key brings traces to its connection and does nothing else; use an API key")
	case !c.known():
		return core.Refuse(unauthenticated, "this route needs a credential: send Authorization: Bearer with an API key or a sign-in")
	case rt.access == ingest && c.Kind != KindIngest:
		return core.Refuse(insufficientScope, "this route takes the key of a trace connection only").With("required", rt.scope)
	case rt.access == scoped && c.Workspace == "":
		return core.Refuse(core.Code(api.WorkspaceRequired), "a sign-in is good for all your workspaces; name one in X-Workspace-Id. Nothing was done")
	case rt.access >= scoped && !slices.Contains(c.Scopes, rt.scope):
		return core.Refuse(insufficientScope, "this %s lacks the scope %s", c.noun(), rt.scope).With("required", rt.scope)
	}
	return nil
}

func (c Caller) noun() string {
	if c.Kind == KindSession {
		return "sign-in"
	}
	return "key"
}

// As is a request's context in which it acts as a caller whom somebody else has
// made sure of: pages know people by their cookies. The request passes the gate of
// its route like any other, but no rate limit: whoever calls As has one.
func As(ctx context.Context, c Caller) context.Context { return context.WithValue(ctx, trustedKey, c) }

func trusted(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(trustedKey).(Caller)
	return c, ok
}

// authenticate finds out who asks. No credential is nobody; a wrong one is an
// error even where none is needed.
func (s *Server) authenticate(rt route, r *http.Request) (Caller, error) {
	if c, ok := trusted(r.Context()); ok {
		return c, nil
	}
	headers := r.Header.Values("Authorization")
	if len(headers) == 0 {
		return Caller{}, nil
	}
	kind, token, ok := strings.Cut(headers[0], " ")
	if _, secret, basic := r.BasicAuth(); basic && rt.access == ingest {
		kind, token = "Bearer", secret // some senders have a public key beside the secret one
	}
	if len(headers) > 1 || !ok || !strings.EqualFold(kind, "Bearer") || !credential(token) {
		return Caller{}, core.Refuse(unauthenticated, "the Authorization header is not one Bearer credential")
	}
	ws := core.WorkspaceID(r.Header.Get("X-Workspace-Id"))
	if strings.HasPrefix(token, "ers_") && s.o.Sessions != nil {
		return s.signedIn(r.Context(), token, ws)
	}
	c, err := s.identify(r.Context(), token)
	if err != nil {
		return Caller{}, err
	}
	if ws != "" && ws != c.Workspace {
		return Caller{}, core.Refuse(workspaceMismatch, "this credential belongs to another workspace than X-Workspace-Id names")
	}
	return c, nil
}

// signedIn is who an access token stands for. What they may do is what both the
// sign-in was given and the role in the workspace has.
func (s *Server) signedIn(ctx context.Context, token string, ws core.WorkspaceID) (Caller, error) {
	v, ok, err := s.o.Sessions.SignedIn(ctx, token)
	switch {
	case err != nil:
		return Caller{}, err
	case !ok:
		return Caller{}, core.Refuse(unauthenticated, "this credential is not known here")
	case v.RevokedAt != 0, v.User.State != core.UserActive:
		return Caller{}, core.Refuse(unauthenticated, "this sign-in has ended; sign in again")
	case s.micros() >= v.ExpiresAt:
		return Caller{}, core.Refuse(sessionExpired, "this access token has expired; refresh it")
	}
	c := Caller{Kind: KindSession, Workspace: ws, Actor: string(v.User.ID), User: v.User, Grant: v.Grant, Expires: v.ExpiresAt}
	if ws == "" {
		return c, nil
	}
	if c.Role, err = s.o.Sessions.RoleIn(ctx, v.User.ID, ws); err != nil {
		return Caller{}, err
	}
	if c.Role == "" { // also for a workspace that does not exist
		return Caller{}, core.Refuse(workspaceMismatch, "you are no member of the workspace that X-Workspace-Id names")
	}
	c.Scopes = core.Within(v.Scopes, c.Role.Scopes(Scopes()))
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

func (s *Server) identify(ctx context.Context, token string) (Caller, error) {
	if s.ownerSum != nil {
		sum := sha256.Sum256([]byte(token))
		if subtle.ConstantTimeCompare(sum[:], s.ownerSum) == 1 {
			return Caller{Kind: KindOwner, Workspace: core.Local, Actor: "owner", Scopes: Scopes()}, nil
		}
	}
	k, ok, err := s.o.Keys.Identify(ctx, token)
	switch {
	case err != nil:
		return Caller{}, err
	case !ok:
		return Caller{}, core.Refuse(unauthenticated, "this credential is not known here")
	case k.RevokedAt != 0:
		return Caller{}, core.Refuse(keyRevoked, "this key was revoked")
	case k.ExpiresAt != 0 && s.micros() >= k.ExpiresAt:
		return Caller{}, core.Refuse(sessionExpired, "this key has expired")
	}
	c := Caller{Kind: KindKey, Workspace: k.Workspace, Actor: k.ID, Scopes: k.Scopes, Key: k}
	if strings.HasPrefix(k.Prefix, "eri_") || k.Connection != "" {
		// Such a key sits in a program that only sends; it never does more.
		c.Kind, c.Scopes = KindIngest, core.Within(k.Scopes, []string{scopeTracesIngest})
	}
	return c, nil
}

// Requests a minute.
const (
	anonymousRate = 60
	keyRate       = 600
)

// limits refuses whoever asks too often: by person, by key with those that it was
// rotated to, and by address where there is no good key, so that guessing one is
// bounded too. The owner of a local
// service has no limit, and what reaches a local service comes from his
// machine. Nor has loopback otherwise: there stands a proxy that speaks for
// many. RateLimit-* headers say how often one may ask still. A page asks several
// times for one look at it, and is bounded by whoever lets it act: see As.
func (s *Server) limits(w http.ResponseWriter, rt route, r *http.Request, c Caller) error {
	if _, page := trusted(r.Context()); page {
		return nil
	}
	of, name := s.byKey, cmp.Or(c.Key.Lineage, c.Actor)
	switch {
	case s.owner != nil && (!c.known() || c.Kind == KindOwner), !c.known() && (rt.id == "healthz" || rt.id == "readyz"), c.Kind == KindIngest && rt.access == ingest:
		return nil
	case !c.known():
		from, ok := ratelimit.Network(r.RemoteAddr)
		if !ok {
			return nil
		}
		of, name = s.byAddress, from
	}
	now := s.o.Now()
	wait := of.Take(name, now)
	most, left, full := of.State(name, now)
	w.Header().Set("RateLimit-Limit", strconv.Itoa(most))
	w.Header().Set("RateLimit-Remaining", strconv.Itoa(left))
	w.Header().Set("RateLimit-Reset", strconv.Itoa(int(math.Ceil(full.Seconds()))))
	if wait == 0 {
		return nil
	}
	f := s.failureOf(r.Context(), core.Refuse(core.Code(api.RateLimited), "too many requests; repeat this one after the time in Retry-After. Nothing was done"))
	f.retryAfter = int(math.Ceil(wait.Seconds()))
	return f
}
