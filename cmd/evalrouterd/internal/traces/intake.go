package traces

import (
	"context"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/dialect"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/otlp"
)

// Importer keeps whole traces.
type Importer interface {
	Import(ctx context.Context, c core.TraceConnection, source string, traces []core.ImportedTrace) ([]core.ImportFate, error)
}

// Intake takes traces in.
type Intake struct {
	Door     *Door
	Importer Importer
	cleaners cleaners
}

// Receive keeps the spans of a batch. It gives how many were not kept, with
// why.
func (i *Intake) Receive(ctx context.Context, c core.TraceConnection, b otlp.Batch) (rejected int, reason string, err error) {
	if c.Kind == core.TraceLangSmith {
		return 0, "", core.Refuse(core.InvalidRequest, "this connection takes imports from LangSmith; nothing was kept. Make a connection of the kind otlp for an exporter").With("kind", c.Kind)
	}
	rejected, reason = b.Rejected, b.Reason
	arrivals := i.arrivals(c, b.Spans)
	if len(arrivals) == 0 {
		return rejected, reason, nil
	}
	refused, err := i.Door.Bring(ctx, arrivals)
	if refused > 0 {
		rejected += refused
		reason = fmt.Sprintf("a trace has at most %d spans", core.MaxTraceSpans)
	}
	return rejected, reason, err
}

// arrivals sorts spans by trace, redacted.
func (i *Intake) arrivals(c core.TraceConnection, spans []otlp.Span) []core.Arrival {
	clean := i.cleaners.of(c.Capture)
	at := map[string]int{}
	var out []core.Arrival
	for _, s := range spans {
		n, there := at[s.TraceID]
		if !there {
			n = len(out)
			at[s.TraceID] = n
			out = append(out, core.Arrival{Connection: c.ID, Workspace: c.Workspace, Days: c.Days, Source: c.Kind, TraceID: s.TraceID})
		}
		one, content := dialect.Span(s)
		redacted := clean.fill(&one, content)
		out[n].Spans = append(out[n].Spans, one)
		out[n].Redacted = out[n].Redacted || redacted
	}
	return out
}

// Import keeps whole traces of another system.
func (i *Intake) Import(ctx context.Context, c core.TraceConnection, source string, traces []core.ImportedTrace) ([]core.ImportFate, error) {
	if c.Kind != core.TraceLangSmith {
		return nil, core.Refuse(core.InvalidRequest, "this connection takes spans of an exporter; nothing was kept. Make a connection of the kind langsmith for imports").With("kind", c.Kind)
	}
	clean := i.cleaners.of(c.Capture)
	for n := range traces {
		t := &traces[n]
		n := clean.trace(t)
		t.Redacted = t.Redacted || n.Fields+n.Values+n.Errors > 0
		for m := range t.Spans {
			one, redacted := clean.span(t.Spans[m])
			t.Spans[m] = one
			t.Redacted = t.Redacted || redacted
		}
	}
	return i.Importer.Import(ctx, c, source, traces)
}
