package daemon

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	web "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/traces"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
	kept "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/traces"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/traces"
)

var (
	_ traces.Connections = (*kept.Store)(nil)
	_ traces.Writer      = (*kept.Store)(nil)
	_ traces.Importer    = (*kept.Store)(nil)
	_ web.Reader         = (*kept.Store)(nil)
)

// tracing joins the parts that take traces in.
func (s *service) tracing() (*web.Handlers, error) {
	st, err := s.store.Traces(newCallID)
	if err != nil {
		return nil, err
	}
	s.traces, s.door = st, traces.NewDoor(st)
	keeps := &traces.Service{Connections: st, NewID: newID, Issue: s.issueIngestKey}
	return web.New(keeps, &traces.Intake{Door: s.door, Importer: st}, st, s.now), nil
}

// issueIngestKey draws the key of a trace connection.
func (s *service) issueIngestKey() (string, core.IngestKey, error) {
	k, err := seal.NewKey(seal.IngestKey, rand.Reader)
	if err != nil {
		return "", core.IngestKey{}, err
	}
	return k.Reveal(), core.IngestKey{ID: newID(), Prefix: k.Prefix(), MAC: s.master.MAC(k)}, nil
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
