// Package accounts is the routes of who somebody is: sign-in, workspaces, API
// keys and credit. It belongs to httpapi, whose gate and answers it uses, and
// translates between the wire records and packages identity and oauth.
//
// /v1/auth/device, /v1/auth/token and /v1/auth/revoke follow RFC 8628, 6749 and
// 7009: forms, and their kind of error. They are the only routes outside the
// envelope.
package accounts

import (
	"context"
	"net/http"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/identity"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/oauth"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/ratelimit"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/history"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Money reads workspaces and their money.
type Money interface {
	Workspace(context.Context, core.WorkspaceID) (core.WorkspaceInfo, error)
	Credits(context.Context, core.WorkspaceID, core.Book) (core.Credits, error)
	Entries(context.Context, core.Scope, history.EntryQuery) ([]history.Entry, error)
}

// Access reads members and keys.
type Access interface {
	Workspaces(context.Context, core.UserID) ([]core.Membership, error)
	Keys(ctx context.Context, w core.WorkspaceID, after *core.Place, limit int) ([]core.APIKey, error)
	Spent(ctx context.Context, lineage string) (usd.Micro, error)
}

// Handlers answers the routes.
type Handlers struct {
	Money  Money
	Access Access
	// People makes and ends keys. SignIn is nil where nobody signs in.
	People *identity.Service
	SignIn *oauth.Service
	// Often bounds beginnings of sign-ins by address, and Asks everything else
	// that is asked without a credential here.
	Often, Asks *ratelimit.Limiter
	// Origin is where browsers find the service, "" where there are no pages.
	Origin string
	Now    func() core.Micros
	// Fault is told of errors that are no refusals.
	Fault func(ctx context.Context, err error)
}

const (
	billingRead = "billing:read"
	keysAdmin   = "keys:admin"
)

// Features are none: every service knows who asks.
func (h *Handlers) Features() []string { return nil }

// Routes lists the routes.
func (h *Handlers) Routes() []httpapi.Route {
	at := func(method, path, id, scope, summary string) httpapi.Route {
		r := httpapi.Route{Method: method, Path: path, ID: id, Summary: summary, Tag: "account", Scope: scope}
		if scope == "" {
			r.Access = httpapi.AccessAny
		}
		return r
	}
	open := func(method, path, id, summary string) httpapi.Route {
		return httpapi.Route{Method: method, Path: path, ID: id, Summary: summary, Tag: "sign-in", Access: httpapi.AccessPublic}
	}
	body := func(r httpapi.Route) httpapi.Route { r.Body = true; return r }
	return []httpapi.Route{
		httpapi.On(at(http.MethodGet, "/v1/credits", "get-credits", billingRead, "Balance, held and available"), h.credits),
		httpapi.On(at(http.MethodGet, "/v1/credits/ledger", "list-ledger", billingRead, "Every movement of credit"), h.ledger),
		httpapi.On(at(http.MethodGet, "/v1/auth/whoami", "whoami", "", "Who the credential is"), h.whoami),
		httpapi.On(at(http.MethodGet, "/v1/workspaces", "list-workspaces", "", "Workspaces of the credential"), h.listWorkspaces),
		httpapi.On(at(http.MethodGet, "/v1/workspaces/{id}", "get-workspace", "", "One workspace"), h.getWorkspace),
		httpapi.On(at(http.MethodGet, "/v1/api-keys", "list-api-keys", keysAdmin, "API keys of the workspace, newest first"), h.listKeys),
		httpapi.On(body(at(http.MethodPost, "/v1/api-keys", "create-api-key", keysAdmin, "Make a key; its secret is shown once")), h.createKey),
		httpapi.On(body(at(http.MethodPost, "/v1/api-keys/{id}/rotate", "rotate-api-key", keysAdmin, "Make a key's successor; both are good for the overlap")), h.rotateKey),
		httpapi.On(at(http.MethodDelete, "/v1/api-keys/{id}", "revoke-api-key", keysAdmin, "End a key at once"), h.revokeKey),
		httpapi.On(open(http.MethodGet, "/v1/auth/config", "get-auth-config", "How to sign in here"), h.config),
		httpapi.Form(open(http.MethodPost, "/v1/auth/device", "begin-device", "Sign in from a device without a browser (RFC 8628)"), h.form(h.device)),
		httpapi.Form(open(http.MethodPost, "/v1/auth/token", "exchange-token", "Exchange a code or refresh token (RFC 6749)"), h.form(h.token)),
		httpapi.Form(open(http.MethodPost, "/v1/auth/revoke", "revoke-token", "Sign out (RFC 7009)"), h.form(h.revoke)),
		httpapi.Form(open(http.MethodGet, "/.well-known/oauth-authorization-server", "get-oauth-metadata", "What the sign-in can (RFC 8414)"), h.metadata),
	}
}
