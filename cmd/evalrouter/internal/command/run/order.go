package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
)

// order resolves the typed names and builds the request.
func (o *options) order(ctx context.Context, c *evalrouter.Client, args []string) (flow.Order, error) {
	conc, err := api.ParseConcurrency(o.concurrency)
	if err != nil {
		return flow.Order{}, &argv.UsageError{Message: "--concurrency: " + err.Error()}
	}
	think, err := reasoning(o.reasoning)
	if err != nil {
		return flow.Order{}, err
	}
	b, err := o.benchmark(ctx, c, args)
	if err != nil {
		return flow.Order{}, err
	}
	m, err := o.model(ctx, c)
	if err != nil {
		return flow.Order{}, err
	}
	cover, err := o.coverage(b)
	if err != nil {
		return flow.Order{}, err
	}
	p, err := o.Profile()
	if err != nil {
		return flow.Order{}, err
	}
	order := flow.Order{
		New: o.separate,
		Request: flow.Request{
			Origin: p.BaseURL.Value, Workspace: p.Workspace.Value, Kind: flow.RunKind, ProfileID: b.ID, Coverage: cover, Cap: o.max,
			Models: []flow.ModelSetting{{Model: m.Ref, Reasoning: think, Concurrency: conc.String(), OutputFormat: o.format}},
		},
		Quote: api.NewQuote{
			Selection: api.Selection{ProfileIDs: []string{b.ID}}, Model: m.Ref, Coverage: &cover,
			MaxChargeMicrousd: o.max, Reasoning: think, Concurrency: &conc,
		},
	}
	if o.format != "" {
		order.Quote.OutputFormat = &o.format
	}
	// The name travels with the quote: the submission must be the same, byte for
	// byte, when a later process repeats it.
	name := o.runName()
	order.Quote.Name = &name
	return order, nil
}

func (o *options) benchmark(ctx context.Context, c *evalrouter.Client, args []string) (*api.BenchmarkRecord, error) {
	var known []api.BenchmarkRecord
	for b, err := range c.Catalog.AllBenchmarks(ctx, evalrouter.BenchmarkQuery{Paging: evalrouter.Paging{Limit: 200}}) {
		if err != nil {
			return nil, err
		}
		known = append(known, b)
	}
	if len(args) == 1 {
		return o.named(args[0], known)
	}
	var names []string
	for i := range known {
		if flow.Quotable(&known[i]) {
			names = append(names, known[i].Slug)
		}
	}
	typed, err := o.ask(ctx, "Benchmark", names)
	if err != nil {
		return nil, err
	}
	return o.named(typed, known)
}

func (o *options) named(typed string, known []api.BenchmarkRecord) (*api.BenchmarkRecord, error) {
	b, err := flow.Benchmark(typed, known)
	return b, o.closest(err, typed, "evalrouter catalog")
}

// closest adds the command with the nearest name, or the list of names.
func (o *options) closest(err error, typed, list string) error {
	if err == nil {
		return nil
	}
	if near := command.Explain(err).Closest(); near != "" {
		return command.WithNext(err, o.Again(command.Edit{Replace: map[string]string{typed: near}}))
	}
	return command.WithNext(err, list)
}

func (o *options) model(ctx context.Context, c *evalrouter.Client) (*flow.Target, error) {
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
	typed := ""
	if len(o.models) == 1 {
		typed = o.models[0]
	} else {
		var names []string
		for _, r := range routes {
			names = append(names, r.ID)
		}
		for _, r := range conns {
			if r.DisabledAt == nil {
				names = append(names, r.Name)
			}
		}
		if typed, err = o.ask(ctx, "Model", names); err != nil {
			return nil, err
		}
	}
	t, err := flow.Model(typed, routes, conns)
	return t, o.closest(err, typed, "evalrouter catalog --models")
}

// connections are those of the workspace. A route that was named in full needs
// none of them, and a key that may not list them still runs routes.
func (o *options) connections(ctx context.Context, c *evalrouter.Client, routes []api.ManagedRoute) (out []api.ConnectionRecord, err error) {
	if len(o.models) == 1 && slices.ContainsFunc(routes, func(r api.ManagedRoute) bool { return r.ID == o.models[0] }) {
		return nil, nil
	}
	for r, err := range c.Connections.All(ctx, evalrouter.Paging{Limit: 200}) {
		if errors.Is(err, api.InsufficientScope) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

const maxAsked = 20

// ask lists the choices and reads a name.
func (o *options) ask(ctx context.Context, what string, names []string) (string, error) {
	for _, n := range names[:min(maxAsked, len(names))] {
		o.Note("  %s", n)
	}
	if len(names) > maxAsked {
		o.Note("  and %d more: evalrouter catalog", len(names)-maxAsked)
	}
	typed, err := o.Term.Ask(ctx, fmt.Sprintf("%s: ", what))
	return strings.TrimSpace(typed), err
}
