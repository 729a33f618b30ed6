// Package datasets is the routes of datasets. It belongs to httpapi, whose gate
// and answers it uses, and translates between the wire records and package
// datasets of the service.
package datasets

import (
	"context"
	"net/http"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/byob"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/datasets"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
)

// Scopes of these routes. Who may review is a right of its own.
const (
	read   = "datasets:read"
	write  = "datasets:write"
	review = "datasets:review"
)

// maxItems bounds a request with items.
const maxItems = 4 << 20

// Findings reads what evaluators found.
type Findings interface {
	Finding(context.Context, core.Scope, core.FindingID) (core.Finding, error)
}

// Handlers answers the routes. Own is nil where the operator has switched
// workspaces' own benchmarks off.
type Handlers struct {
	Service  *datasets.Service
	Findings Findings
	Own      *byob.Service
}

// Features is what the routes add to the service.
func (h *Handlers) Features() []string { return []string{"datasets"} }

// Routes lists the routes.
func (h *Handlers) Routes() []httpapi.Route {
	at := func(method, path, id, scope, summary string) httpapi.Route {
		return httpapi.Route{Method: method, Path: "/v1/datasets" + path, ID: id, Summary: summary, Tag: "datasets", Scope: scope}
	}
	body := func(r httpapi.Route) httpapi.Route { r.Body = true; return r }
	items := body(at(http.MethodPost, "/{id}/items", "add-dataset-items", write, "Add items, all or none; what they take from traces is copied"))
	items.MaxBody = maxItems
	promote := httpapi.Route{Method: http.MethodPost, Path: "/v1/trace-findings/{id}/promote", ID: "promote-trace-finding", Tag: "traces", Scope: write, Body: true, Summary: "Make a dataset item of a finding"}
	edit := body(at(http.MethodPatch, "/{id}/items/{item_id}", "edit-dataset-item", write, "Give an item other content, which voids its review"))
	edit.MaxBody = maxItems
	return []httpapi.Route{
		httpapi.On(promote, h.promote),
		httpapi.On(at(http.MethodGet, "", "list-datasets", read, "Datasets, newest first"), h.list),
		httpapi.On(body(at(http.MethodPost, "", "create-dataset", write, "Make an empty dataset")), h.create),
		httpapi.On(at(http.MethodGet, "/{id}", "get-dataset", read, "One dataset"), h.get),
		httpapi.On(body(at(http.MethodPatch, "/{id}", "update-dataset", write, "Change description and review policy")), h.update),
		httpapi.On(at(http.MethodPost, "/{id}/archive", "archive-dataset", write, "Take a dataset out of use; its versions stay"), h.archive),
		httpapi.On(at(http.MethodGet, "/{id}/items", "list-dataset-items", read, "Items, in the order in which they came"), h.items),
		httpapi.On(items, h.add),
		httpapi.On(at(http.MethodGet, "/{id}/items/{item_id}", "get-dataset-item", read, "One item"), h.item),
		httpapi.On(edit, h.edit),
		httpapi.On(at(http.MethodDelete, "/{id}/items/{item_id}", "withdraw-dataset-item", write, "Take an item out; versions that have it keep it"), h.withdraw),
		httpapi.On(body(at(http.MethodPost, "/{id}/items/{item_id}/review", "review-dataset-item", review, "Approve or reject an item as it stands")), h.review),
		httpapi.On(body(at(http.MethodPost, "/{id}/versions", "seal-dataset-version", write, "Seal the approved items; the version never changes")), h.seal),
		httpapi.On(at(http.MethodGet, "/{id}/versions", "list-dataset-versions", read, "Versions, newest first"), h.versions),
		httpapi.On(at(http.MethodGet, "/{id}/versions/{n}", "get-dataset-version", read, "One version; 0 is the newest"), h.version),
		httpapi.On(at(http.MethodGet, "/{id}/versions/{n}/export", "export-dataset-version", read, "A version as a file, the same bytes each time"), h.export),
		httpapi.On(at(http.MethodGet, "/{id}/versions/{n}/diff/{m}", "diff-dataset-versions", read, "By which items two versions differ"), h.diff),
		httpapi.On(body(at(http.MethodPost, "/{id}/versions/{n}/retract", "retract-dataset-version", write, "Say that a version was a mistake; it stays readable")), h.retract),
		httpapi.On(at(http.MethodPost, "/{id}/versions/{n}/package", "package-dataset-version", "benchmarks:submit", "A version as a source of a private benchmark"), h.pack),
	}
}
