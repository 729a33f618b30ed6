package routefile

import (
	"slices"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// reasoning reads what a route lets its caller choose. Each mode has names of
// its own, and each protocol a way to say only some of them.
func (r *reader) reasoning(f map[string]node, protocol string) core.Reasoning {
	n, ok := f["reasoning"]
	if !ok {
		return core.Reasoning{}
	}
	c := r.fields(n, "mode", "efforts", "default", "min_tokens", "max_tokens", "step", "default_tokens", "can_disable", "note")
	out := core.Reasoning{
		Mode: r.choice(c, n, "mode", "", core.ReasoningEfforts, core.ReasoningBudget, core.ReasoningFixed, core.ReasoningDefault, core.ReasoningNone),
		Note: r.text(c, n, "note", false),
	}
	var own []string
	switch out.Mode {
	case core.ReasoningEfforts:
		own = []string{"efforts", "default"}
		r.efforts(&out, c, n, protocol)
	case core.ReasoningBudget:
		own = []string{"min_tokens", "max_tokens", "step", "default_tokens", "can_disable"}
		r.budget(&out, c, n, protocol)
	}
	for name, field := range c {
		if name != "mode" && name != "note" && !slices.Contains(own, name) && out.Mode != "" {
			r.fail(field, "", "does not belong to this mode of reasoning")
		}
	}
	return out
}

func (r *reader) efforts(out *core.Reasoning, c map[string]node, n node, protocol string) {
	out.Efforts, out.DefaultEffort = r.words(c, n, "efforts"), r.text(c, n, "default", false)
	switch {
	case protocol == core.OpenAICompletions:
		r.fail(n, "mode", "this protocol has no efforts")
	case out.DefaultEffort != "" && !slices.Contains(out.Efforts, out.DefaultEffort):
		r.fail(c["default"], "", "is none of efforts")
	}
}

func (r *reader) budget(out *core.Reasoning, c map[string]node, n node, protocol string) {
	const most = 100_000_000
	out.MinTokens, out.MaxTokens = r.integer(c, n, "min_tokens", 0, 1, most), r.integer(c, n, "max_tokens", 0, 1, most)
	out.Step, out.DefaultTokens = r.integer(c, n, "step", 1, 1, most), 0
	if _, ok := c["default_tokens"]; ok {
		out.DefaultTokens = r.integer(c, n, "default_tokens", 0, 1, most)
	}
	out.CanDisable = r.boolean(c, "can_disable")
	switch {
	case protocol != "" && protocol != core.AnthropicMessages && protocol != core.GoogleGenerate:
		r.fail(n, "mode", "this protocol has no thinking budget")
	case out.MinTokens > out.MaxTokens:
		r.fail(n, "min_tokens", "is larger than max_tokens")
	case out.DefaultTokens > 0 && (out.DefaultTokens < out.MinTokens || out.DefaultTokens > out.MaxTokens):
		r.fail(c["default_tokens"], "", "is outside of min_tokens and max_tokens")
	}
}
