package daemon

import (
	"net/url"
	"slices"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/byob"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/byob/hub"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/catalog"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/private"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/netguard"
	kept "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/private"
)

var (
	_ byob.Sources    = (*kept.Store)(nil)
	_ byob.Bytes      = (*kept.Store)(nil)
	_ byob.Benchmarks = (*kept.Store)(nil)
	_ byob.Imports    = (*kept.Store)(nil)
	_ byob.Catalog    = (*catalog.Catalog)(nil)
)

const (
	// publicHub is where data sets are imported from, unless the operator says
	// otherwise.
	publicHub = "https://huggingface.co"
	// importWait is how long a request waits for its import.
	importWait = 15 * time.Second
)

// ownData is what workspaces may bring.
type ownData struct {
	off bool
	// hub is "" where nothing can be imported; named says that the operator gave
	// its address.
	hub   string
	named bool
	// noTraces says that there are neither traces nor datasets.
	noTraces bool
}

// private declares the flags of workspaces' own benchmarks.
func (f *flagSet) private() func() (ownData, error) {
	off := f.toggle("no-private-benchmarks", "take no benchmarks of the workspaces' own")
	untraced := f.toggle("no-traces", "take no traces of agents, and have no datasets")
	from := f.StringLong("hub", "", "`URL` of the server that data sets are imported from, or off; "+publicHub+" by default")
	return func() (ownData, error) {
		named := *from
		switch {
		case *off || named == "off":
			return ownData{off: *off, noTraces: *untraced}, nil
		case named == "":
			return ownData{hub: publicHub, noTraces: *untraced}, nil
		}
		if u, err := url.Parse(named); err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" {
			return ownData{}, refuse("invalid_input", "--hub is an http or https address without user, query and fragment, or off; nothing was started")
		}
		return ownData{hub: named, named: true, noTraces: *untraced}, nil
	}
}

// private is the routes of workspaces' own benchmarks. Files are read from the
// directory of exports, whose files have no name.
func (s *service) private(o options, spool string) *private.Handlers {
	if o.own.off {
		return &private.Handlers{}
	}
	own := s.store.Private()
	made := &byob.Service{Sources: own, Bytes: own, Benchmarks: own, Catalog: s.catalog, NewID: newID, SpoolDir: spool}
	h := &private.Handlers{Service: made}
	base, err := url.Parse(o.own.hub)
	if err != nil || o.own.hub == "" {
		return h
	}
	// What the operator names is meant, also where it is on a private network.
	// The server's redirects are under the guard as every stranger's address.
	policy := o.policy
	if o.own.named {
		policy.AllowPrivate = append(slices.Clone(policy.AllowPrivate), netguard.HostOf(o.own.hub))
	}
	s.imports = &byob.Importer{
		Service: made, Imports: own, Now: func() core.Micros { return s.store.Now() }, Wait: func() <-chan time.Time { return time.After(importWait) }, Log: o.log,
		Hub: &hub.Hub{Base: base, Transport: netguard.NewTransport(netguard.Dialer{Policy: policy}), UserAgent: "evalrouterd/" + o.version},
	}
	h.Importer = s.imports
	return h
}
