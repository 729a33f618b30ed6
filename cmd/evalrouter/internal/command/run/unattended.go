package run

import (
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
)

// unattended refuses what spends where nobody can be asked and consent or cap was
// not given. It comes before any request, so that nothing at all has happened.
func unattended(a *command.App, yes, capped bool) error {
	missing, add := "--yes and --max-cost", []string{"--max-cost", "5", "--yes"}
	switch {
	case yes && capped:
		return nil
	case yes:
		missing, add = "--max-cost", []string{"--max-cost", "5"}
	case capped:
		missing, add = "--yes", []string{"--yes"}
	}
	return command.WithNext(&flow.Error{
		Code: api.UnattendedRefused, Message: "nobody can be asked here, so this needs " + missing,
		Facts: []string{"nothing was quoted, started or charged"},
	}, a.Again(command.Edit{Add: add}))
}
