package httpapi

import (
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/codes"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/report/evidence"
)

// RouteFacts is a line of the route table.
type RouteFacts struct {
	Method, Path, Scope string
	Public, Body        bool
	Upload, Form        bool
}

// RouteTable is the table that the server was made from.
func (s *Server) RouteTable() []RouteFacts {
	var out []RouteFacts
	for _, rt := range s.routes() {
		out = append(out, RouteFacts{rt.method, rt.path, rt.scope, rt.access == public, rt.body, rt.upload, rt.form})
	}
	return out
}

// DeclarationOf says whether a route with this access and scope would start.
func DeclarationOf(access int, scope string) error {
	return route{method: "GET", path: "/v1/new", access: accessOf(access), scope: scope}.declared()
}

func accessOf(n int) access { return access(n) }

// Accesses that a route may declare.
const (
	Undeclared = int(undeclared)
	Public     = int(public)
	AnyCaller  = int(anyCaller)
	Scoped     = int(scoped)
)

// Statuses is the table of codes.
func Statuses() map[api.Code]int { return codes.Statuses() }

// StatusOf is the status of a code of the domain.
func StatusOf(c core.Code) int { return statusOf(c) }

// PriceBookOf is a target's prices as evidence has them.
func PriceBookOf(t core.Target) evidence.PriceBook { return priceBook(t) }
