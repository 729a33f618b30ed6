package sum_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/traces/sum"
	"github.com/evalrouter/evalrouter/lib/usd"
)

func n(v int64) *int64 { return &v }

func model(id, parent string, in, out int64) core.Span {
	cost := usd.Micro(in)
	return core.Span{ID: id, ParentID: parent, Kind: core.SpanModel, Model: "m", Status: core.TraceOK, Start: 10, End: 20, Usage: core.SpanUsage{Input: n(in), Output: n(out)}, Cost: &cost}
}

func TestOf(t *testing.T) {
	t.Parallel()
	root := core.Span{ID: "r", Kind: core.SpanAgent, Name: "agent", Status: core.TraceOK, Start: 5, End: 50, Usage: core.SpanUsage{Input: n(999)}, Agent: "a"}
	open := root
	open.End, open.Status = 0, core.TraceRunning
	failed := root
	failed.Status, failed.ErrorType, failed.ErrorText = core.TraceError, "E", "bad"
	lost := model("l", "nobody", 1, 1)
	lost.Status = core.TraceError
	for _, c := range []struct {
		name  string
		spans []core.Span
		want  func(core.TraceSummary) bool
	}{
		{"nothing", nil, func(v core.TraceSummary) bool { return v.Spans == 0 && v.Status == core.TraceRunning }},
		{"model calls add up, their agent does not", []core.Span{root, model("a", "r", 3, 4), model("b", "r", 5, 6)},
			func(v core.TraceSummary) bool {
				return *v.Usage.Input == 8 && *v.Usage.Output == 10 && *v.Cost == 8 && v.Models == 2 && v.Start == 5 && v.End == 50
			}},
		{"a model call inside another one counts, the outer does not", []core.Span{root, model("a", "r", 3, 4), {ID: "t", ParentID: "a", Kind: core.SpanTool, Name: "t", Start: 11}, model("b", "t", 5, 6)},
			func(v core.TraceSummary) bool {
				return *v.Usage.Input == 5 && v.Models == 2 && v.Tools == 1 && v.ToolNames[0] == "t"
			}},
		{"without model calls the root's own figures stand", []core.Span{root}, func(v core.TraceSummary) bool { return *v.Usage.Input == 999 && v.Cost == nil }},
		{"a root that goes on", []core.Span{open, model("a", "r", 1, 1)}, func(v core.TraceSummary) bool { return v.End == 0 && !v.RootEnded && v.Status == core.TraceRunning }},
		{"a root that failed", []core.Span{failed}, func(v core.TraceSummary) bool {
			return v.Status == core.TraceError && v.ErrorText == "bad" && v.RootEnded
		}},
		{"a step that failed is not the trace", []core.Span{root, {ID: "t", ParentID: "r", Status: core.TraceError}}, func(v core.TraceSummary) bool { return v.Status == core.TraceOK }},
		{"no root yet", []core.Span{lost}, func(v core.TraceSummary) bool { return v.Orphans == 1 && v.Status == core.TraceError && v.End == 0 }},
		{"parents in a circle", []core.Span{model("a", "b", 1, 1), model("b", "a", 1, 1)}, func(v core.TraceSummary) bool { return v.Spans == 2 && v.Usage.Input == nil }},
		{"two roots: the first one names it", []core.Span{{ID: "z", Name: "later", Start: 9, End: 99, Status: core.TraceOK}, root}, func(v core.TraceSummary) bool { return v.Name == "agent" && v.End == 99 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if v := sum.Of(c.spans); !c.want(v) {
				t.Errorf("%+v", v)
			}
		})
	}
}

// The order in which spans came changes nothing.
func TestOf_InAnyOrder(t *testing.T) {
	t.Parallel()
	spans := []core.Span{{ID: "r", Kind: core.SpanAgent, Name: "agent", Status: core.TraceOK, Start: 5, End: 50}, model("c", "b", 9, 9), model("a", "r", 3, 4), model("b", "r", 5, 6), {ID: "x", ParentID: "gone"}}
	for i := range 30 {
		spans = append(spans, core.Span{ID: strings.Repeat("t", i+1), ParentID: "r", Kind: core.SpanTool, Name: strings.Repeat("n", i+1), Conversation: string(rune('a' + i%5))})
	}
	want := sum.Of(spans)
	if len(want.ToolNames) != core.MaxNames {
		t.Errorf("%d names", len(want.ToolNames))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		r.Shuffle(len(spans), func(i, j int) { spans[i], spans[j] = spans[j], spans[i] })
		if diff := cmp.Diff(want, sum.Of(spans)); diff != "" {
			t.Fatal(diff)
		}
	}
}
