package command

import (
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
)

// ReasoningControls says in a few words what can be chosen about reasoning.
func ReasoningControls(c *api.ReasoningControls) string {
	if c == nil {
		return ""
	}
	switch {
	case c.Mode == "efforts":
		return "reasoning: " + strings.Join(c.Efforts, ", ")
	case c.Mode == "budget" && c.Budget != nil:
		return fmt.Sprintf("reasoning: %s to %s tokens", Thousands(c.Budget.MinTokens), Thousands(c.Budget.MaxTokens))
	case c.Mode == "fixed":
		return "reasoning: fixed"
	case c.Mode == "provider_default":
		return "reasoning: provider's default"
	}
	return ""
}
