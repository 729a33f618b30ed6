package httpapi

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

type newEvaluationInput struct {
	Keyed
	With[api.NewEvaluation]
}

// createEvaluation quotes and starts under one key. A repeated key is answered
// before a second quote is made.
func (s *Server) createEvaluation(ctx context.Context, in *newEvaluationInput) (*replayable[api.RunRecord], error) {
	o, err := in.once("POST /v1/evaluations", in.RawBody)
	if err != nil {
		return nil, err
	}
	n := in.Body.value
	return exactlyOnce[api.RunRecord](s, ctx, o, func() (core.Admitted, error) {
		quote, err := newQuote(n)
		if err != nil {
			return core.Admitted{}, err
		}
		r, err := s.quoteRequest(ctx, quote)
		if err != nil {
			return core.Admitted{}, err
		}
		q, err := s.o.Admission.Quote(ctx, scopeOf(ctx), r)
		if err != nil {
			return core.Admitted{}, err
		}
		return s.start(ctx, o, api.NewRun{QuoteID: string(q.ID), Name: n.Name, Metadata: n.Metadata})
	})
}

// newQuote is the quote that an evaluation stands for.
func newQuote(n api.NewEvaluation) (api.NewQuote, error) {
	limit, err := budget(n)
	if err != nil {
		return api.NewQuote{}, err
	}
	for _, unsupported := range []string{"checkpoint:", "agent:", "artifact:"} {
		if strings.HasPrefix(n.Model.RouteID, unsupported) {
			return api.NewQuote{}, feature("models_by_"+strings.TrimSuffix(unsupported, ":"), "this service evaluates managed routes and connections only")
		}
	}
	if n.Eval == "" {
		return api.NewQuote{}, refuseField("eval", "required", "an evaluation names what to run in eval, as name@version")
	}
	return api.NewQuote{
		Selection: api.Selection{Eval: n.Eval, Provider: n.Provider, Split: n.Split}, Model: n.Model.ModelRef, Coverage: n.Coverage, MaxChargeMicrousd: &limit,
	}, nil
}

// budget reads the cap: micro-dollars, or dollars from the text of a JSON
// number or string, so that no float rounds it.
func budget(n api.NewEvaluation) (usd.Micro, error) {
	text := strings.TrimSpace(string(n.BudgetUSD))
	given := text != "" && text != "null"
	switch {
	case given && n.MaxChargeMicrousd != nil:
		return 0, refuseField("budget_usd", "conflicts_with_max_charge_microusd", "give the budget once: budget_usd or max_charge_microusd")
	case n.MaxChargeMicrousd != nil:
		return *n.MaxChargeMicrousd, nil
	case !given:
		return 0, core.Refuse(budgetRequired, "an evaluation needs a budget in budget_usd or max_charge_microusd; nothing was started")
	}
	if text[0] == '"' {
		if err := json.Unmarshal([]byte(text), &text); err != nil {
			return 0, refuseField("budget_usd", "invalid_amount", "a budget is an amount in US dollars such as 5 or 0.25")
		}
	}
	m, err := usd.Parse(text)
	if err != nil {
		return 0, refuseField("budget_usd", "invalid_amount", "a budget is an amount in US dollars such as 5 or 0.25")
	}
	return m, nil
}
