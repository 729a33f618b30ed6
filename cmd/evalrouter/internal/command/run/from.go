package run

import (
	"context"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
)

// copySetup takes what the flags leave open from an earlier run, and answers the
// operands: its benchmark, if none was named. The earlier run is only read. A
// cap is never copied: it is given, or asked for, anew.
func (o *options) copySetup(ctx context.Context, c *evalrouter.Client, args []string) ([]string, error) {
	id, err := o.OneRun(ctx, []string{o.from})
	if err != nil {
		return nil, err
	}
	r, err := c.Runs.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	m := r.Model.Selected
	if len(r.Profiles) != 1 || m == nil || m.RouteID == nil && m.ConnectionID == nil {
		return nil, command.WithNext(&flow.Error{
			Code: api.UnsupportedFeature, Message: "run " + command.Short(id) + " is not one benchmark with one model, so that it cannot be repeated this way",
			Facts: []string{"nothing was quoted, started or charged"},
		}, "evalrouter status "+command.Short(id))
	}
	o.from = id
	// The coverage of another benchmark means nothing, as its tasks are others.
	if len(args) == 0 {
		args = []string{r.Profiles[0].ID}
		o.earlier = r.Coverage
	}
	if len(o.models) == 0 {
		o.models = []string{modelOf(*m)}
		o.keepReasoning(r)
	}
	if !o.flags.Given("concurrency") {
		o.concurrency = r.Concurrency.Requested.String()
	}
	if !o.flags.Given("output-format") && r.OutputFormat != nil && *r.OutputFormat != "default" {
		o.format = *r.OutputFormat
	}
	if !o.flags.Given("name") {
		o.name = r.Name
	}
	return args, nil
}

func modelOf(m api.SelectedModel) string {
	if m.ConnectionID != nil {
		return "connection:" + *m.ConnectionID
	}
	return *m.RouteID
}

// keepReasoning takes the earlier setting, as the flag spells it.
func (o *options) keepReasoning(r api.RunRecord) {
	if o.flags.Given("reasoning") || r.Reasoning == nil {
		return
	}
	o.reasoning = spelled(*r.Reasoning)
}
