package launch

import (
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// ask is the question about a model's reasoning.
type ask struct {
	model   string
	options []option
	at      int
	budget  *api.ReasoningBudget
	typed   kit.Input
	note    string
}

type option struct {
	label  string
	choice *api.ReasoningChoice // nil types a number
}

// newAsk is nil where there is nothing to choose.
func newAsk(r offer) *ask {
	c := r.reasoning
	switch {
	case c == nil:
		return nil
	case c.Mode == "efforts" && len(c.Efforts) > 0:
		return efforts(r, c)
	case c.Mode == "budget" && c.Budget != nil:
		return budget(r, *c.Budget)
	}
	return nil
}

func efforts(r offer, c *api.ReasoningControls) *ask {
	a := &ask{model: r.name}
	for i, e := range c.Efforts {
		label := e
		if c.DefaultEffort != nil && *c.DefaultEffort == e {
			label, a.at = e+"   the route's default", i
		}
		a.options = append(a.options, option{label, &api.ReasoningChoice{Mode: "effort", Effort: e}})
	}
	return a
}

func budget(r offer, b api.ReasoningBudget) *ask {
	a := &ask{model: r.name, budget: &b}
	usual := "the provider's default"
	if b.DefaultTokens != nil {
		usual = show.Thousands(*b.DefaultTokens) + " tokens, the route's default"
		a.options = append(a.options, option{usual, &api.ReasoningChoice{Mode: "budget", BudgetTokens: *b.DefaultTokens}})
	} else {
		a.options = append(a.options, option{usual, &api.ReasoningChoice{Mode: "provider_default"}})
	}
	if b.CanDisable {
		a.options = append(a.options, option{"off", &api.ReasoningChoice{Mode: "off"}})
	}
	a.options = append(a.options, option{"tokens, " + show.Thousands(b.MinTokens) + " to " + show.Thousands(b.MaxTokens) + ": ", nil})
	return a
}

// press says whether the question was answered.
func (a ask) press(p kit.Press) (ask, *api.ReasoningChoice, bool) {
	a.note = ""
	number := a.options[a.at].choice == nil
	switch {
	case p.Key == kit.Up:
		a.at = max(a.at-1, 0)
	case p.Key == kit.Down:
		a.at = min(a.at+1, len(a.options)-1)
	case p.Key == kit.Esc || p.Key == kit.Left && !number:
		return a, nil, true
	case p.Key == kit.Enter || p.Key == kit.Char && p.Rune == ' ':
		if !number {
			return a, a.options[a.at].choice, true
		}
		n, err := strconv.Atoi(strings.ReplaceAll(a.typed.Text(), ",", ""))
		if err != nil || n < a.budget.MinTokens || n > a.budget.MaxTokens {
			a.note = "a number from " + show.Thousands(a.budget.MinTokens) + " to " + show.Thousands(a.budget.MaxTokens)
			return a, nil, false
		}
		return a, &api.ReasoningChoice{Mode: "budget", BudgetTokens: n}, true
	case number:
		a.typed, _ = a.typed.Update(p)
	}
	return a, nil, false
}

func (a ask) lines(int) []plain.Safe {
	out := []plain.Safe{show.F(" Reasoning of %s", a.model)}
	for i, o := range a.options {
		mark := "   ( ) "
		if i == a.at {
			mark = " ▸ (•) "
		}
		label := o.label
		if o.choice == nil {
			label += "[" + a.typed.Text() + "]"
		}
		out = append(out, plain.Line(mark+label))
	}
	if a.note != "" {
		out = append(out, plain.Line("   "+a.note))
	}
	return out
}

func (a ask) view(c kit.Canvas) {
	w, _ := c.Size()
	for y, t := range a.lines(w) {
		role := kit.Plain
		switch y {
		case 0:
			role = kit.Strong
		case a.at + 1:
			role = kit.Focus
			c.Cursor(1, y)
		}
		c.Text(0, y, role, t)
	}
}
