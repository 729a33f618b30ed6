// Package private is the routes of a workspace's own data and benchmarks. It
// belongs to httpapi, whose gate and answers it uses, and translates between
// the wire records and package byob.
package private

import (
	"net/http"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/byob"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
)

// Scopes of these routes: what is made is one right, what is run another.
const (
	read   = "eval:read"
	submit = "benchmarks:submit"
)

// Handlers answers the routes.
type Handlers struct {
	// Service is nil where the operator has switched the feature off, and
	// Importer where nothing can be imported.
	Service  *byob.Service
	Importer *byob.Importer
}

// Features is what the routes add to the service.
func (h *Handlers) Features() []string {
	if h.Service == nil {
		return nil
	}
	if h.Importer == nil {
		return []string{"private_benchmarks"}
	}
	return []string{"private_benchmarks", "huggingface_import"}
}

// on is the service, or the refusal of one that has none.
func (h *Handlers) on() (*byob.Service, error) {
	if h.Service == nil {
		return nil, core.Refuse(core.FeatureUnavailable, "this service takes no benchmarks of your own: its operator has switched them off; nothing was changed").With("feature", "private_benchmarks")
	}
	return h.Service, nil
}

// imports is the importer, or the refusal of a service that has none.
func (h *Handlers) imports() (*byob.Importer, error) {
	if _, err := h.on(); err != nil {
		return nil, err
	}
	if h.Importer == nil {
		return nil, core.Refuse(core.FeatureUnavailable, "this service imports nothing: its operator has switched that off; nothing was changed").With("feature", "huggingface_import")
	}
	return h.Importer, nil
}

// Routes lists the routes.
func (h *Handlers) Routes() []httpapi.Route {
	at := func(method, path, id, scope, summary string) httpapi.Route {
		return httpapi.Route{Method: method, Path: path, ID: id, Summary: summary, Tag: "benchmarks", Scope: scope}
	}
	post := func(path, id, summary string, body bool) httpapi.Route {
		r := at(http.MethodPost, path, id, submit, summary)
		r.Body = body
		return r
	}
	put := at(http.MethodPut, "/v1/benchmark-sources/{id}/content", "upload-benchmark-source", submit, "The bytes of a source, or the next of them")
	put.Upload = true
	return []httpapi.Route{
		httpapi.On(post("/v1/benchmark-sources", "create-benchmark-source", "Announce a file", true), h.createSource),
		httpapi.On(put, h.upload),
		httpapi.On(at(http.MethodGet, "/v1/benchmark-sources", "list-benchmark-sources", read, "Your files, newest first"), h.listSources),
		httpapi.On(at(http.MethodGet, "/v1/benchmark-sources/{id}", "get-benchmark-source", read, "One of your files"), h.getSource),
		httpapi.On(post("/v1/benchmark-sources/{id}/archive", "archive-benchmark-source", "Take a file out of use and drop its bytes", false), h.archiveSource),
		httpapi.On(post("/v1/benchmark-imports", "create-benchmark-import", "Fetch files of a public data set", true), h.createImport),
		httpapi.On(at(http.MethodGet, "/v1/benchmark-imports/{id}", "get-benchmark-import", read, "The receipt of an import"), h.getImport),
		httpapi.On(post("/v1/benchmarks/preview", "preview-benchmark", "What a manifest would make of its source; makes nothing", true), h.preview),
		httpapi.On(post("/v1/benchmarks", "create-benchmark", "Make a benchmark that only your workspace sees", true), h.create),
		httpapi.On(at(http.MethodGet, "/v1/benchmarks", "list-private-benchmarks", read, "Your own benchmarks, newest first"), h.list),
		httpapi.On(at(http.MethodGet, "/v1/benchmarks/{profile_id}", "get-private-benchmark", read, "One of your own benchmarks"), h.get),
		httpapi.On(post("/v1/benchmarks/{profile_id}/archive", "archive-benchmark", "Take one of your own benchmarks out of use", false), h.archive),
	}
}
