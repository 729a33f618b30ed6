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
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// order resolves the typed names and builds the request.
func (o *options) order(ctx context.Context, c *evalrouter.Client, args []string) (flow.Order, error) {
	conc, err := api.ParseConcurrency(o.concurrency)
	if err != nil {
		return flow.Order{}, &argv.UsageError{Message: "--concurrency: " + err.Error()}
	}
	if _, err := reasoning(o.reasoning); err != nil {
		return flow.Order{}, err
	}
	b, err := o.benchmark(ctx, c, args)
	if err != nil {
		return flow.Order{}, err
	}
	m, err := o.model(ctx, c, b)
	if err != nil {
		return flow.Order{}, err
	}
	think, err := reasoning(o.reasoning)
	if err != nil {
		return flow.Order{}, err
	}
	cover, err := o.askCoverage(ctx, b)
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
			Origin: p.BaseURL.Value, Workspace: p.Workspace.Value, Kind: flow.RunKind, ProfileID: b.ID, Coverage: cover, Cap: o.max, SourceRunID: o.from,
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
			names = append(names, strings.TrimRight(fmt.Sprintf("%-28s %s", known[i].Slug, name(known[i].Name)), " "))
		}
	}
	return asked(ctx, o, "Benchmark", names, func(typed string) (*api.BenchmarkRecord, error) { return flow.Benchmark(typed, known) })
}

func (o *options) named(typed string, known []api.BenchmarkRecord) (*api.BenchmarkRecord, error) {
	b, err := flow.Benchmark(typed, known)
	return b, o.closest(err, typed, "evalrouter catalog")
}

func name(s *string) string {
	if s == nil {
		return ""
	}
	return *s
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

// connections are those of the workspace. A route that was named in full needs
// none of them, and a key that may not list them still runs routes.
func (o *options) connections(ctx context.Context, c *evalrouter.Client, routes []api.ManagedRoute) (out []api.ConnectionRecord, err error) {
	if len(o.models) == 1 && slices.ContainsFunc(routes, func(r api.ManagedRoute) bool { return r.ID == o.models[0] }) {
		return nil, nil
	}
	named := len(o.models) == 1
	for r, err := range c.Connections.All(ctx, evalrouter.Paging{Limit: 200}) {
		if errors.Is(err, api.InsufficientScope) && !(named && strings.HasPrefix(o.models[0], "connection:")) {
			return nil, nil // connections are not visible with this key; routes are
		}
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

const (
	maxAsked = 20
	maxTries = 5
)

// asked shows the choices and asks until a name is understood.
func asked[T any](ctx context.Context, o *options, what string, choices []string, find func(string) (T, error)) (T, error) {
	var none T
	for n := range maxTries {
		if n == 0 {
			o.choices(choices)
		}
		typed, err := o.Term.Ask(ctx, what+": ")
		if err != nil {
			return none, err
		}
		if typed = strings.TrimSpace(typed); typed == "" {
			continue
		}
		got, err := find(typed)
		if err == nil {
			return got, nil
		}
		o.Note("%s", sentence(command.Explain(err)))
	}
	return none, term.ErrDeclined
}

// sentence is a refusal as one line between two questions.
func sentence(r command.Report) string {
	if near := r.Closest(); near != "" {
		return "That is not known: " + r.Message + "; closest: " + near
	}
	return "That is not known: " + r.Message
}

// choices lists names to type.
func (o *options) choices(names []string) {
	for _, n := range names[:min(maxAsked, len(names))] {
		o.Note("  %s", n)
	}
	if len(names) > maxAsked {
		o.Note("  and %s more: evalrouter catalog", command.Thousands(len(names)-maxAsked))
	}
}
