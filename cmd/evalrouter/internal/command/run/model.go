package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// model is the one that the flags name, or the one that a person picks among
// those that can run the benchmark.
func (o *options) model(ctx context.Context, c *evalrouter.Client, b *api.BenchmarkRecord) (*flow.Target, error) {
	var routes []api.ManagedRoute
	for r, err := range c.Catalog.AllModels(ctx, evalrouter.ModelQuery{Paging: evalrouter.Paging{Limit: 200}}) {
		if err != nil {
			return nil, err
		}
		routes = append(routes, r)
	}
	conns, err := o.connections(ctx, c, routes)
	if err != nil {
		return nil, err
	}
	find := func(typed string) (*flow.Target, error) { return flow.Model(typed, routes, conns) }
	if len(o.models) == 1 {
		t, err := find(o.models[0])
		return t, o.closest(err, o.models[0], "evalrouter catalog --models")
	}
	able, err := o.able(ctx, c, b)
	if err != nil {
		return nil, err
	}
	t, err := o.pickModel(ctx, able, find)
	if err != nil {
		return nil, err
	}
	for _, r := range able {
		if r.ID == t.Ref.RouteID || r.ConnectionID != nil && *r.ConnectionID == t.Ref.ConnectionID {
			return t, o.askReasoning(ctx, r.Reasoning)
		}
	}
	return t, nil
}

// able are the routes and connections that can run the benchmark.
func (o *options) able(ctx context.Context, c *evalrouter.Client, b *api.BenchmarkRecord) (out []api.CompatibleRoute, err error) {
	for r, err := range c.Catalog.AllCompatible(ctx, evalrouter.CompatibilityQuery{ProfileID: b.ID, Paging: evalrouter.Paging{Limit: 200}}) {
		if err != nil {
			return nil, err
		}
		if r.Compatible {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return nil, command.WithNext(&flow.Error{
			Code: api.ModelUnavailable, Message: "no model here can run " + b.Slug, Facts: []string{"nothing was quoted, started or charged"},
		}, "evalrouter catalog --models", "evalrouter connections create --help")
	}
	return out, nil
}

// pickModel is a checklist where the terminal can draw one, and a name to type
// elsewhere.
func (o *options) pickModel(ctx context.Context, able []api.CompatibleRoute, find func(string) (*flow.Target, error)) (*flow.Target, error) {
	lines := modelLines(able)
	chosen, err := o.Term.Checklist(ctx, "Model", lines, 1, 1)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return asked(ctx, o, "Model", lines, find)
	case err != nil:
		return nil, err
	}
	return find(typedName(able[chosen[0]]))
}

// typedName is what a person types to mean a route.
func typedName(r api.CompatibleRoute) string {
	if r.Kind == api.ConnectionKind && r.ConnectionID != nil {
		return "connection:" + *r.ConnectionID
	}
	return r.ID
}

// modelLines are the lines to choose from: what to type, then what can be set
// about its reasoning, then what it is called.
func modelLines(able []api.CompatibleRoute) (out []string) {
	var rows [][3]string
	var widths [2]int
	for _, r := range able {
		id, name := r.ID, r.DisplayName
		if r.Kind == api.ConnectionKind {
			id, name = r.DisplayName, "your connection, "+r.ModelID
		}
		if name == id {
			name = ""
		}
		if r.Simulated && !strings.Contains(name, "simulated") {
			name = strings.TrimSpace(name + "  simulated")
		}
		rows = append(rows, [3]string{id, command.ReasoningControls(r.Reasoning), name})
		for i := range widths {
			widths[i] = max(widths[i], len(rows[len(rows)-1][i]))
		}
	}
	for _, r := range rows {
		out = append(out, strings.TrimRight(fmt.Sprintf("%-*s  %-*s  %s", widths[0], r[0], widths[1], r[1], r[2]), " "))
	}
	return out
}

// askReasoning asks for the setting of the picked route, where there is one to
// choose, and says so where there is none. The quote checks it again.
func (o *options) askReasoning(ctx context.Context, c *api.ReasoningControls) error {
	if c == nil || o.flags.Given("reasoning") || o.yes {
		return nil
	}
	switch {
	case c.Mode == "efforts" && len(c.Efforts) > 0:
		return o.askEffort(ctx, c)
	case c.Mode == "budget" && c.Budget != nil:
		return o.askBudget(ctx, *c.Budget)
	case c.Mode == "fixed":
		o.Note("Reasoning: fixed by the route; there is nothing to choose.")
	case c.Mode == "provider_default":
		o.Note("Reasoning: the provider's default; there is nothing to choose.")
	}
	return nil
}

func (o *options) askEffort(ctx context.Context, c *api.ReasoningControls) error {
	usual := "default"
	if c.DefaultEffort != nil {
		usual = *c.DefaultEffort
	}
	for range maxTries {
		typed, err := o.Term.Ask(ctx, fmt.Sprintf("Reasoning, %s or default [%s]: ", strings.Join(c.Efforts, ", "), usual))
		if err != nil {
			return err
		}
		typed = strings.ToLower(strings.TrimSpace(typed))
		switch {
		case typed == "":
			o.reasoning = usual
			return nil
		case typed == "default" || slices.Contains(c.Efforts, typed):
			o.reasoning = typed
			return nil
		}
		o.Note("That is none of %s.", strings.Join(c.Efforts, ", "))
	}
	return term.ErrDeclined
}

func (o *options) askBudget(ctx context.Context, b api.ReasoningBudget) error {
	usual, off := "default", ""
	if b.DefaultTokens != nil {
		usual = strconv.Itoa(*b.DefaultTokens)
	}
	if b.CanDisable {
		off = ", or off"
	}
	for range maxTries {
		typed, err := o.Term.Ask(ctx, fmt.Sprintf("Thinking tokens, %s to %s%s [%s]: ", command.Thousands(b.MinTokens), command.Thousands(b.MaxTokens), off, usual))
		if err != nil {
			return err
		}
		typed = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(typed), ",", ""))
		n, bad := strconv.Atoi(typed)
		switch {
		case typed == "":
			o.reasoning = usual
			return nil
		case typed == "default", typed == "off" && b.CanDisable, bad == nil && n >= b.MinTokens && n <= b.MaxTokens:
			o.reasoning = typed
			return nil
		}
		o.Note("That is not a number from %s to %s%s.", command.Thousands(b.MinTokens), command.Thousands(b.MaxTokens), off)
	}
	return term.ErrDeclined
}
