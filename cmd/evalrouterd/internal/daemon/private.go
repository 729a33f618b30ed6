package daemon

import (
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/byob"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/catalog"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/private"
	kept "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/private"
)

var (
	_ byob.Sources    = (*kept.Store)(nil)
	_ byob.Bytes      = (*kept.Store)(nil)
	_ byob.Benchmarks = (*kept.Store)(nil)
	_ byob.Catalog    = (*catalog.Catalog)(nil)
)

// private is the routes of workspaces' own benchmarks. Files are read from the
// directory of exports, whose files have no name.
func (s *service) private(spool string) *private.Handlers {
	own := s.store.Private()
	return &private.Handlers{Service: &byob.Service{Sources: own, Bytes: own, Benchmarks: own, Catalog: s.catalog, NewID: newID, SpoolDir: spool}}
}
