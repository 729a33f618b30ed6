package admission

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// judges freezes the routes that a benchmark's grader names. A benchmark
// cannot be quoted without all of them: every judge is asked about every task.
func (s *Service) judges(g bundle.Judged) ([]core.Judge, error) {
	if g == nil {
		return nil, nil
	}
	panel := g.Panel()
	var out []core.Judge
	for _, id := range panel.Routes {
		t, ok := s.Catalog.Route(core.RouteID(id))
		switch {
		case !ok || t.Status != "active":
			return nil, core.Refuse(core.ModelUnavailable, "this benchmark is graded by %s, and there is no such model route here", id).With("judge", id)
		case !t.Priced:
			return nil, core.Refuse(core.UnboundedModelCost, "this benchmark is graded by %s, which has no prices here", id).With("judge", id)
		}
		j := core.Judge{Target: t, MaxOutputTokens: min(panel.MaxOutputTokens, t.MaxOutputTokens)}
		if least := j.LeastOutput(); j.MaxOutputTokens < least {
			return nil, core.Refuse(core.FeatureUnavailable, "this benchmark is graded by %s in %d output tokens, and that model needs %d to come to a verdict; nothing was quoted. Raise max_output_tokens of its grader, or name another judge",
				id, j.MaxOutputTokens, least).With("judge", id).With("least_output_tokens", least)
		}
		out = append(out, j)
	}
	return out, nil
}

func judgeWarning(q core.Quote) string {
	names := make([]string, len(q.Judges))
	simulated := false
	for i, j := range q.Judges {
		names[i] = j.Target.Name()
		simulated = simulated || j.Target.Simulated
	}
	w := "Judge-graded: what is right is decided by " + strings.Join(names, ", ") + ". Models that grade err, and their calls count against the cap."
	if simulated {
		w += " A judge is simulated, so the score shows nothing about a model."
	}
	return w
}
