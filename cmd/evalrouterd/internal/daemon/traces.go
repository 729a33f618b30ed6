package daemon

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/byob"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/datasets"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/export"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	sets "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/datasets"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/off"
	web "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/traces"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/judging"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
	keptsets "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/datasets"
	kept "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/traces"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/traces"
	pages "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web/bring"
	agents "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web/traces"
)

var (
	_ traces.Connections = (*kept.Store)(nil)
	_ traces.Writer      = (*kept.Store)(nil)
	_ traces.Importer    = (*kept.Store)(nil)
	_ traces.Findings    = (*kept.Store)(nil)
	_ traces.Recent      = (*kept.Store)(nil)
	_ web.Reader         = (*kept.Store)(nil)
	_ judging.Kept       = (*kept.Store)(nil)
	_ datasets.Traces    = (*kept.Store)(nil)
	_ datasets.Sets      = (*keptsets.Store)(nil)
	_ datasets.Items     = (*keptsets.Store)(nil)
	_ datasets.Versions  = (*keptsets.Store)(nil)
)

// tracing joins the parts that take traces in. own is nil where workspaces bring
// no benchmarks.
func (s *service) tracing(own *byob.Service, adapters provider.Set) (*web.Handlers, error) {
	st, err := s.store.Traces(newCallID)
	if err != nil {
		return nil, err
	}
	s.traces, s.door = st, traces.NewDoor(st)
	keeps := &traces.Service{Connections: st, NewID: newID, NewEntry: newCallID, Issue: s.issueIngestKey}
	looks := &traces.Evaluation{Findings: st, Recent: st, NewID: newID, Now: func() core.Micros { return s.store.Now() }}
	judges := &judging.Service{Kept: st, Own: own, Runs: s.store, Answers: export.Source{Samples: s.store, Replies: s.store, Tasks: s.catalog, Adapters: adapters}, NewID: newID, Now: looks.Now}
	return web.New(keeps, &traces.Intake{Door: s.door, Importer: st}, st, looks, judges, s.now), nil
}

// curation joins the parts that make benchmarks of traces. own is nil where
// workspaces bring no benchmarks.
func (s *service) curation(own *byob.Service) *sets.Handlers {
	st := s.store.Datasets(datasets.VersionDigest)
	return &sets.Handlers{Service: &datasets.Service{Sets: st, Items: st, Versions: st, Traces: s.traces, NewID: newID, NewItemID: newCallID}, Findings: s.traces, Own: own}
}

// agents is a subject, or the refusal of one that is switched off.
func (o ownData) agents(subject httpapi.Subject, feature, name string) httpapi.Subject {
	if o.noTraces {
		return off.Subject{Of: subject, Feature: feature, Name: name}
	}
	return subject
}

// peoplePages is the pages about a workspace's own benchmarks, traces and datasets,
// where people sign in.
func (s *service) peoplePages(o options, spans *web.Handlers, sets *sets.Handlers) ([]pages.Subject, error) {
	if o.signIn.origin == "" {
		return nil, nil
	}
	own := []pages.Subject{&bring.Handlers{Service: sets.Own, Scopes: httpapi.Scopes()}}
	if o.own.noTraces {
		return own, nil
	}
	h, err := agents.New(agents.Handlers{
		Reader: s.traces, Service: spans.Service, Evaluation: spans.Evaluation, Datasets: sets.Service, Origin: o.signIn.origin, Scopes: httpapi.Scopes(),
		Now: func() core.Micros { return s.store.Now() },
	})
	return append(own, h), err
}

// issueIngestKey draws the key of a trace connection.
func (s *service) issueIngestKey() (string, core.APIKey, error) {
	k, err := seal.NewKey(seal.IngestKey, rand.Reader)
	if err != nil {
		return "", core.APIKey{}, err
	}
	return k.Reveal(), core.APIKey{ID: newID(), Prefix: k.Prefix(), MAC: s.master.MAC(k)}, nil
}

// expireTraces takes the traces away whose time is over.
func (s *service) expireTraces(ctx context.Context) {
	switch n, err := s.traces.Expire(ctx); {
	case err != nil && !errors.Is(err, context.Canceled):
		s.log.Warn("traces past their time were not dropped", "error", err.Error())
	case n > 0:
		s.log.Info("dropped traces past their time", "traces", n)
	}
}
