package httpapi

import (
	"context"
	"encoding/json"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/api"
)

// features says what this version has; what it lacks answers
// feature_unavailable or not_found.
func features() map[string]bool {
	return map[string]bool{
		"groups": false, "resume": false, "private_benchmarks": false, "huggingface_import": false, "traces": false, "datasets": false, "export_html": false,
	}
}

func (s *Server) getMeta(context.Context, *none) (*answer[api.MetaRecord], error) {
	return reply(api.MetaRecord{
		Service: "evalrouterd", Version: s.o.Version, APIVersion: "v1", StartedAt: s.started.UTC(), Features: features(),
		Limits: api.MetaLimits{MaxModelsPerRun: 1, MaxChargeMicrousd: core.MaxCap, SampleCountMax: core.MaxSample},
	}), nil
}

func (s *Server) getOpenAPI(context.Context, *none) (*answer[json.RawMessage], error) {
	b, err := json.Marshal(s.api.OpenAPI())
	if err != nil {
		return nil, err
	}
	return reply(json.RawMessage(b)), nil
}

func (s *Server) healthz(context.Context, *none) (*answer[api.OKResponse], error) {
	return reply(api.OKResponse{OK: true}), nil
}

func (s *Server) readyz(ctx context.Context, _ *none) (*answer[api.OKResponse], error) {
	if s.o.Ready != nil {
		if err := s.o.Ready(ctx); err != nil {
			s.log.Error("not ready", "error", err.Error())
			return nil, core.Refuse(unavailable, "the service cannot work now")
		}
	}
	return reply(api.OKResponse{OK: true}), nil
}
