// Package sum says what the spans of a trace come to together.
package sum

import (
	"slices"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Of sums up spans in any order. It reads no content, only whether there is
// some.
//
// Tokens and costs are those of model calls that have no model call inside: an
// agent that repeats what its calls used would count them twice. Where no model
// call says anything, the root's own figures stand.
func Of(spans []core.Span) core.TraceSummary {
	t := core.TraceSummary{Status: core.TraceRunning, Spans: len(spans)}
	byID := make(map[string]*core.Span, len(spans))
	for i := range spans {
		byID[spans[i].ID] = &spans[i]
	}
	var root, first *core.Span
	models, tools := map[string]bool{}, map[string]bool{}
	failed := false
	for i := range spans {
		s := &spans[i]
		if first == nil || before(s, first) {
			first = s
		}
		if s.ParentID == "" && (root == nil || before(s, root)) {
			root = s
		}
		if s.ParentID != "" && byID[s.ParentID] == nil {
			t.Orphans++
		}
		failed = failed || s.Status == core.TraceError
		count(&t, s, models, tools)
	}
	t.ModelNames, t.ToolNames = names(models), names(tools)
	if first == nil {
		return t
	}
	figures(&t, spans, byID, root)
	head := first
	if root != nil {
		head, t.Status, t.RootEnded = root, root.Status, root.End != 0 && root.Status != core.TraceRunning
		t.ErrorType, t.ErrorText = root.ErrorType, root.ErrorText
	} else if failed {
		t.Status = core.TraceError
	}
	t.Name, t.Start = head.Name, first.Start
	t.Agent, t.Conversation = agent(head, spans), conversation(head, spans)
	if !t.RootEnded {
		t.End = 0
	}
	return t
}

func before(a, b *core.Span) bool {
	return a.Start < b.Start || a.Start == b.Start && a.ID < b.ID
}

func count(t *core.TraceSummary, s *core.Span, models, tools map[string]bool) {
	t.End = max(t.End, s.End)
	switch s.Kind {
	case core.SpanModel:
		t.Models++
		if s.Model != "" {
			models[s.Model] = true
		}
	case core.SpanTool:
		t.Tools++
		if s.Name != "" {
			tools[s.Name] = true
		}
	}
	for _, side := range []struct {
		there, cut bool
		n, nCut    *int
	}{{s.Input != nil, s.InputCut, &t.Inputs, &t.InputsCut}, {s.Output != nil, s.OutputCut, &t.Outputs, &t.OutputsCut}} {
		if side.there {
			*side.n++
		}
		if side.cut {
			*side.nCut++
		}
	}
}

// figures adds up the model calls that have no model call inside.
func figures(t *core.TraceSummary, spans []core.Span, byID map[string]*core.Span, root *core.Span) {
	outer := map[string]bool{}
	for i := range spans {
		if spans[i].Kind != core.SpanModel {
			continue
		}
		up := byID[spans[i].ParentID]
		for n := 0; up != nil && !outer[up.ID] && n < len(spans); n++ { // parents may go round in a circle
			outer[up.ID] = true
			up = byID[up.ParentID]
		}
	}
	for i := range spans {
		s := &spans[i]
		if s.Kind == core.SpanModel && !outer[s.ID] {
			plus(&t.Usage.Input, s.Usage.Input)
			plus(&t.Usage.Output, s.Usage.Output)
			plus(&t.Usage.Cached, s.Usage.Cached)
			plus(&t.Usage.Reasoning, s.Usage.Reasoning)
			if s.Cost != nil {
				total := *s.Cost
				if t.Cost != nil {
					total += *t.Cost
				}
				t.Cost = &total
			}
		}
	}
	if root == nil {
		return
	}
	if t.Usage == (core.SpanUsage{}) {
		t.Usage = root.Usage
	}
	if t.Cost == nil && root.Cost != nil {
		own := usd.Micro(*root.Cost)
		t.Cost = &own
	}
}

func plus(total **int64, n *int64) {
	if n == nil {
		return
	}
	v := *n
	if *total != nil {
		v += **total
	}
	*total = &v
}

func agent(head *core.Span, spans []core.Span) string {
	if head.Agent != "" {
		return head.Agent
	}
	var best *core.Span
	for i := range spans {
		if s := &spans[i]; s.Agent != "" && (best == nil || before(s, best)) {
			best = s
		}
	}
	if best == nil {
		return ""
	}
	return best.Agent
}

func conversation(head *core.Span, spans []core.Span) string {
	if head.Conversation != "" {
		return head.Conversation
	}
	least := ""
	for i := range spans {
		if c := spans[i].Conversation; c != "" && (least == "" || c < least) {
			least = c
		}
	}
	return least
}

func names(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for n := range set {
		out = append(out, n)
	}
	slices.Sort(out)
	return out[:min(len(out), core.MaxNames)]
}
