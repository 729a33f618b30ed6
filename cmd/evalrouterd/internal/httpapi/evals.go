package httpapi

import (
	"context"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/offer"
	"github.com/evalrouter/evalrouter/lib/api"
)

type evalsInput struct {
	Paging
	Provider       string `query:"provider"`
	Kind           string `query:"kind" enum:"benchmark,environment,remote"`
	Protocol       string `query:"protocol" enum:"batch,interactive,agentic"`
	Q              string `query:"q"`
	Behavior       string `query:"behavior"`
	Availability   string `query:"availability"`
	Publisher      string `query:"publisher"`
	IncludePrivate bool   `query:"include_private" default:"true"`
}

func (s *Server) listEvals(ctx context.Context, in *evalsInput) (*answer[api.Page[api.EvalRecord]], error) {
	all, err := s.profiles(ctx, func(p core.Profile) bool {
		e := offer.Evaluation(p)
		return equals(in.Provider, e.Provider) && equals(in.Kind, e.Kind) && equals(in.Protocol, e.Protocol) && equals(in.Availability, e.Availability) &&
			equals(in.Publisher, e.Publisher) && in.Behavior == "" && mentions(in.Q, e.Name, e.DisplayName, e.Description) &&
			(in.IncludePrivate || p.Workspace == "")
	})
	if err != nil {
		return nil, err
	}
	return slicePage("evals", all, in.Paging, func(p core.Profile) string { return string(p.ID) }, offer.Evaluation)
}

type refInput struct {
	Ref string `path:"ref"`
}

func (s *Server) getEval(ctx context.Context, in *refInput) (*answer[api.EvalRecord], error) {
	p, err := s.byReference(ctx, in.Ref, "")
	if err != nil {
		return nil, err
	}
	return reply(offer.Evaluation(p)), nil
}

// byReference finds a benchmark by name@version, by its name alone (the newest
// version), or by eval://provider/name/version.
func (s *Server) byReference(ctx context.Context, ref, provider string) (core.Profile, error) {
	name, version, _ := strings.Cut(ref, "@")
	if rest, ok := strings.CutPrefix(ref, "eval://"); ok {
		parts := strings.Split(rest, "/")
		if len(parts) != 3 {
			return core.Profile{}, refuseField("eval", "invalid_reference", "an evaluation is name@version or eval://provider/name/version")
		}
		if provider != "" && provider != parts[0] {
			return core.Profile{}, refuseField("provider", "conflicts_with_eval", "the reference names another provider")
		}
		provider, name, version = parts[0], parts[1], parts[2]
	}
	if provider != "" && provider != offer.OwnProvider {
		return core.Profile{}, core.Refuse(namespaceNotFound, "there is no such provider of evaluations here; this service has %s", offer.OwnProvider)
	}
	found, err := s.profiles(ctx, func(p core.Profile) bool { return p.Slug == name && (version == "" || offer.Version(p) == version) })
	if err != nil {
		return core.Profile{}, err
	}
	if len(found) == 0 {
		return core.Profile{}, core.Missing("evaluation")
	}
	return found[0], nil
}
