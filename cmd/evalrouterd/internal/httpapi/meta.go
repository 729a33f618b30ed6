package httpapi

import (
	"context"
	"errors"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/strictjson"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/local"
)

// features says what this version has; what it lacks answers
// feature_unavailable or not_found.
func (s *Server) features() map[string]bool {
	all := map[string]bool{
		"accounts": s.o.Sessions != nil,
		"groups":   false, "resume": false, "private_benchmarks": false, "huggingface_import": false, "traces": false, "datasets": false, "export_html": true,
	}
	for _, subject := range s.o.Subjects {
		for _, f := range subject.Features() {
			all[f] = true
		}
	}
	return all
}

// models is how many models one quote may have.
func (s *Server) models() int {
	if s.features()["groups"] {
		return core.MaxMembers
	}
	return 1
}

// Features says what this version has.
func (s *Server) Features() map[string]bool { return s.features() }

func (s *Server) getMeta(context.Context, *none) (*answer[api.MetaRecord], error) {
	return reply(api.MetaRecord{
		Service: "evalrouterd", Version: s.o.Version, APIVersion: "v1", StartedAt: s.started.UTC(), Features: s.features(),
		Limits:    api.MetaLimits{MaxModelsPerRun: s.models(), MaxChargeMicrousd: core.MaxCap, SampleCountMax: core.MaxSample, SourceMaxBytes: core.MaxSourceBytes, SourceMaxRows: core.MaxSourceRows},
		WebOrigin: s.o.WebOrigin,
	}), nil
}

func (s *Server) getOpenAPI(context.Context, *none) (*answer[stored[any]], error) {
	b, err := s.description()
	return reply(stored[any]{b}), err
}

// nonceHeader asks a local service to prove that it knows the owner's token.
const nonceHeader = "X-Local-Nonce"

type healthInput struct {
	Nonce string `header:"X-Local-Nonce" doc:"32 to 64 hexadecimal digits; a local service answers with proof"`
	host  string
}

// Resolve reads where the service was asked: its proof is good there alone.
func (in *healthInput) Resolve(ctx huma.Context) []error {
	in.host = ctx.Host()
	return nil
}

// healthz answers anybody. The proof gives nothing away: without the token it
// cannot be made, and from it the token cannot be had.
func (s *Server) healthz(_ context.Context, in *healthInput) (*answer[api.HealthRecord], error) {
	out := api.HealthRecord{OK: true}
	if s.owner == nil || in.Nonce == "" {
		return reply(out), nil
	}
	if len(in.Nonce) < 32 || len(in.Nonce) > 64 || strings.Trim(in.Nonce, "0123456789abcdefABCDEF") != "" {
		return nil, refuseField("header."+nonceHeader, strictjson.InvalidValue, "a nonce is 32 to 64 hexadecimal digits")
	}
	out.Proof = local.Proof(string(s.owner), in.Nonce, in.host)
	return reply(out), nil
}

func (s *Server) readyz(ctx context.Context, _ *none) (*answer[api.OKResponse], error) {
	if s.o.Ready != nil {
		err := s.o.Ready(ctx)
		if no := (*core.Refusal)(nil); errors.As(err, &no) {
			return nil, err
		} else if err != nil {
			s.log.Error("not ready", "error", err.Error())
			return nil, core.Refuse(unavailable, "the service cannot work now")
		}
	}
	return reply(api.OKResponse{OK: true}), nil
}
