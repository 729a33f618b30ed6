// Package group is the routes of runs that are started together. It belongs to
// httpapi, whose gate and answers it uses. What a group's record says is read
// from its members each time.
package group

import (
	"context"
	"net/http"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/admission"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/group"
)

// Scopes of these routes.
const (
	read  = "eval:read"
	write = "eval:write"
)

// Admission quotes and starts groups.
type Admission interface {
	QuoteGroup(context.Context, core.Scope, admission.GroupQuoteRequest) (core.GroupQuote, error)
	ContinueGroup(context.Context, core.Scope, admission.GroupContinuationRequest) (core.GroupQuote, error)
	StartGroup(context.Context, core.Scope, admission.GroupRequest) (core.Admitted, error)
}

// Groups reads groups.
type Groups interface {
	Quote(context.Context, core.Scope, core.GroupQuoteID) (core.GroupQuoteState, error)
	Group(context.Context, core.Scope, core.GroupID) (core.Group, error)
	Groups(context.Context, core.Scope, group.Query) ([]core.Group, error)
	Events(ctx context.Context, g core.Group, after int64, types []string, limit int) ([]group.Event, error)
}

// Runs reads and stops members.
type Runs interface {
	Run(context.Context, core.Scope, core.RunID) (core.Run, error)
	Quote(context.Context, core.Scope, core.QuoteID) (core.QuoteState, error)
	RequestCancel(context.Context, core.Scope, core.RunID) error
}

// Connections says whether a connection can be used as it is.
type Connections interface {
	Usable(context.Context, core.Scope, core.Target) error
}

// Handlers answers the routes. All fields are required.
type Handlers struct {
	Admission   Admission
	Groups      Groups
	Runs        Runs
	Connections Connections
	Changes     httpapi.Changes
	Waker       httpapi.Waker
	Now         func() time.Time
	Version     string // of the service
	// Origin is where browsers find the service, "" for nowhere.
	Origin string
	// After is a timer, as time.After is.
	After func(time.Duration) <-chan time.Time
}

// Features is what the routes add to the service.
func (h *Handlers) Features() []string { return []string{"groups"} }

// Routes lists the routes.
func (h *Handlers) Routes() []httpapi.Route {
	at := func(method, path, id, scope, summary string) httpapi.Route {
		return httpapi.Route{Method: method, Path: path, ID: id, Summary: summary, Tag: "groups", Scope: scope, Body: method == http.MethodPost && path != cancelPath}
	}
	return []httpapi.Route{
		httpapi.On(at(http.MethodPost, "/v1/group-quotes", "create-group-quote", write, "Quote two to eight models on the same tasks"), h.createQuote),
		httpapi.On(at(http.MethodGet, "/v1/group-quotes/{id}", "get-group-quote", read, "A group quote as it stands"), h.getQuote),
		httpapi.On(at(http.MethodPost, "/v1/groups", "create-group", write, "Start every run of a group quote, or none"), h.create),
		httpapi.On(at(http.MethodGet, "/v1/groups", "list-groups", read, "Groups, newest first"), h.list),
		httpapi.On(at(http.MethodGet, "/v1/groups/{id}", "get-group", read, "A group as it stands"), h.get),
		httpapi.On(at(http.MethodPost, cancelPath, "cancel-group", write, "Ask every member to stop"), h.cancel),
		httpapi.On(at(http.MethodPost, "/v1/groups/{id}/continuation-quotes", "create-group-continuation-quote", write, "What is left of a group's members under one cap; starts nothing"), h.continueGroup),
		httpapi.On(at(http.MethodGet, "/v1/groups/{id}/events", "list-group-events", read, "The members' logs as one"), h.events),
		httpapi.On(at(http.MethodGet, "/v1/groups/{id}/stream", "stream-group-events", read, "The members' logs as one, told as they grow"), h.stream),
		httpapi.On(at(http.MethodGet, "/v1/groups/{id}/comparison", "compare-group", read, "The members' results side by side"), h.comparison),
	}
}

const cancelPath = "/v1/groups/{id}/cancel"

func (h *Handlers) now() core.Micros { return core.Micros(h.Now().UnixMicro()) }
