package practice

import (
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Routes with a behaviour of their own.
const (
	Echo  core.RouteID = "practice.echo"
	Flaky core.RouteID = "practice.flaky"
	Judge core.RouteID = "practice.judge"
)

const solverPrefix = "practice.solver-"

// PriceVersion names the price book of all practice routes.
const PriceVersion = "practice-1"

// solvers are the offered accuracies, in thousandths.
var solvers = map[core.RouteID]uint64{
	solverPrefix + "0.5":  500,
	solverPrefix + "0.6":  600,
	solverPrefix + "0.7":  700,
	solverPrefix + "0.8":  800,
	solverPrefix + "0.9":  900,
	solverPrefix + "0.95": 950,
	Flaky:                 700,
}

// Routes lists the practice routes, best first among the solvers. Each call
// gives a fresh slice.
func Routes() []core.Target {
	var list []core.Target
	for _, p := range []string{"0.95", "0.9", "0.8", "0.7", "0.6", "0.5"} {
		list = append(list, route(core.RouteID(solverPrefix+p), "Practice solver "+p))
	}
	judge := route(Judge, "Practice judge")
	judge.JudgeOnly = true
	return append(list, route(Echo, "Practice echo"), route(Flaky, "Practice flaky"), judge)
}

func route(id core.RouteID, name string) core.Target {
	return core.Target{
		Kind:            core.Managed,
		RouteID:         id,
		ModelID:         strings.Replace(string(id), ".", "/", 1),
		DisplayName:     name + " (simulated)",
		Provider:        "practice",
		Protocol:        core.PracticeProtocol,
		Revision:        1,
		Simulated:       true,
		ContextWindow:   131_072,
		MaxOutputTokens: 8_192,
		Priced:          true,
		Prices:          prices(),
		Ceiling:         256,
		Auto:            16,
		Status:          "active",
	}
}

// prices are $0.50 for a million input tokens and $1.50 for a million output
// tokens, since 2026-11-01.
func prices() core.Prices {
	const in, out = 500_000, 1_500_000
	return core.Prices{
		Version: PriceVersion,
		Input:   in, CacheRead: in, CacheWrite: in,
		Output: out, Reasoning: out,
		Effective: 1_793_491_200_000_000,
	}
}
