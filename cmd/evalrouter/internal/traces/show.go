package traces

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

type showCmd struct {
	*command.App
	content bool
	most    int
}

func show(a *command.App) *argv.Command {
	c := &showCmd{App: a, most: 200}
	fs := argv.NewFlags("show")
	fs.Bool(&c.content, "content", "what went into each step and came out")
	fs.Int(&c.most, "steps", "N", "at most N steps (200)", 1, 25_000)
	return &argv.Command{
		Name: "show", Args: "TRACE", Short: "Show the steps of a trace as a tree", Flags: fs,
		Examples: []string{"evalrouter traces show 5f0c1f9d2ab4", "evalrouter traces show 5f0c1f9d2ab4 --content"}, Exec: c.exec,
	}
}

// whole is a trace with its steps.
type whole struct {
	api.TraceRecord
	Spans       []api.SpanRecord      `json:"spans"`
	Evaluations []api.TraceEvaluation `json:"evaluations"`
}

func (c *showCmd) exec(ctx context.Context, args []string) error {
	client, err := c.Client(ctx)
	if err != nil {
		return err
	}
	id, err := One(ctx, client, args)
	if err != nil {
		return err
	}
	t := whole{Spans: []api.SpanRecord{}, Evaluations: []api.TraceEvaluation{}}
	if t.TraceRecord, err = client.Traces.Get(ctx, id); err != nil {
		return command.WithNext(err, "evalrouter traces list")
	}
	for s, err := range client.Traces.AllSpans(ctx, id, evalrouter.Paging{Limit: min(c.most, 500)}) {
		if err != nil {
			return err
		}
		if t.Spans = append(t.Spans, s); len(t.Spans) == c.most {
			break
		}
	}
	for e, err := range client.Traces.AllEvaluations(ctx, id, evalrouter.Paging{Limit: 200}) {
		if err != nil {
			return err
		}
		t.Evaluations = append(t.Evaluations, e)
	}
	return c.Value(t, func(p *term.Page) { c.print(p, t) })
}

func (c *showCmd) print(p *term.Page, t whole) {
	p.Line("%s  %s  %s", t.Name, t.Status, t.Completeness)
	p.Line("started %s, took %s, %s, %s tokens", t.StartedAt.Local().Format(time.DateTime), took(t.DurationMS), command.Count(t.SpanCount, "step"), tokens(t.Usage))
	if t.CostMicrousd != nil {
		p.Line("cost, as its sender says: %s", command.Money(*t.CostMicrousd))
	}
	if t.Error != nil {
		p.Line("error: %s", strings.TrimSpace(t.Error.Type+" "+t.Error.Message))
	}
	for _, e := range t.Evaluations {
		p.Line("judged %s in run %s, for %s: %s", e.Label, command.Short(e.RunID), command.Money(e.CostMicrousd), e.Explanation)
	}
	for _, s := range Tree(t.Spans) {
		indent := strings.Repeat("  ", min(s.Depth, 20))
		line := fmt.Sprintf("%s%s %s", indent, s.Span.Kind, s.Span.Name)
		if m := text(s.Span.Model); m != "" {
			line += " (" + m + ")"
		}
		line += "  " + took(s.Span.DurationMS)
		if n := tokens(s.Span.Usage); n != "-" {
			line += "  " + n + " tokens"
		}
		if s.Span.Status != api.TraceOK {
			line += "  " + s.Span.Status
		}
		if s.Lost {
			line += "  (the step around it has not come)"
		}
		p.Line("%s", line)
		if s.Span.Error != nil {
			p.Line("%s  ! %s", indent, strings.TrimSpace(s.Span.Error.Type+" "+s.Span.Error.Message))
		}
		if c.content {
			content(p, indent, "<", s.Span.Input)
			content(p, indent, ">", s.Span.Output)
		}
	}
	if len(t.Spans) < t.SpanCount {
		p.Line("%s of %s shown; --steps shows more", command.Thousands(len(t.Spans)), command.Count(t.SpanCount, "step"))
	}
}

func content(p *term.Page, indent, mark string, raw json.RawMessage) {
	if len(raw) > 0 && string(raw) != "null" {
		p.Line("%s  %s %s", indent, mark, string(raw))
	}
}

// Step is a span at its place in the tree. Lost says that its parent is named
// and not there.
type Step struct {
	Span  api.SpanRecord
	Depth int
	Lost  bool
}

// Tree puts spans in the order of a walk: a step, then those inside it by their
// start. Every span is there once, whatever their parents say.
func Tree(spans []api.SpanRecord) []Step {
	there := map[string]bool{}
	for _, s := range spans {
		there[s.ID] = true
	}
	inside := map[string][]api.SpanRecord{}
	var tops []Step
	for _, s := range spans {
		parent := text(s.ParentSpanID)
		if parent != "" && there[parent] {
			inside[parent] = append(inside[parent], s)
			continue
		}
		tops = append(tops, Step{Span: s, Lost: parent != ""})
	}
	out := make([]Step, 0, len(spans))
	seen := map[string]bool{}
	var walk func(Step)
	walk = func(s Step) {
		if seen[s.Span.ID] {
			return
		}
		seen[s.Span.ID] = true
		out = append(out, s)
		for _, in := range inside[s.Span.ID] {
			walk(Step{Span: in, Depth: s.Depth + 1})
		}
	}
	for _, s := range tops {
		walk(s)
	}
	for _, s := range spans { // what is left goes round in a circle
		if !slices.ContainsFunc(out, func(o Step) bool { return o.Span.ID == s.ID }) {
			walk(Step{Span: s, Lost: true})
		}
	}
	return out
}
