package rule_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/traces/rule"
	"github.com/evalrouter/evalrouter/lib/usd"
)

func tool(id, name, input string) core.Span {
	return core.Span{ID: id, ParentID: "r", Kind: core.SpanTool, Name: name, Status: core.TraceOK, Input: json.RawMessage(input)}
}

func model(id, output string) core.Span {
	return core.Span{ID: id, ParentID: "r", Kind: core.SpanModel, Model: "m", Status: core.TraceOK, Output: json.RawMessage(output)}
}

// Each rule fires where it should, at the step where it should, and not beside
// it.
func TestLook(t *testing.T) {
	t.Parallel()
	root := core.Span{ID: "r", Kind: core.SpanAgent, Name: "agent"}
	bad := tool("t1", "buy", `{}`)
	bad.Status, bad.ErrorType, bad.ErrorText = core.TraceError, "E", "order 17 of 0xAF failed"
	n, cost := int64(50), usd.Micro(900)
	trace := core.Trace{TraceSummary: core.TraceSummary{Name: "agent", Status: core.TraceOK, Start: 0, End: 5_000_000_000, Usage: core.SpanUsage{Input: &n, Output: &n}, Cost: &cost}}
	failed := trace
	failed.Status, failed.ErrorType, failed.ErrorText = core.TraceError, "Timeout", "after 30 s"
	loop := []core.Span{root, tool("a", "look", `{"q":1}`), tool("b", "look", `{"q":1}`), tool("c", "look", `{"q":2}`), tool("d", "look", `{"q":1}`), tool("e", "look", `{"q":1}`)}
	for _, c := range []struct {
		name, rule, config string
		trace              core.Trace
		spans              []core.Span
		want               string // the step, "-" for none
	}{
		{"a run that failed", "error", "", failed, []core.Span{root}, "r"},
		{"a run that did not", "error", "{}", trace, []core.Span{root, bad}, "-"},
		{"a tool that failed", "tool_error", "", trace, []core.Span{root, bad, tool("t2", "buy", `{}`)}, "t1"},
		{"the third same call", "tool_loop", `{"times":3}`, trace, loop, "d"},
		{"not as many", "tool_loop", `{"times":5}`, trace, loop, "-"},
		{"an answer of nothing", "empty_output", "", trace, []core.Span{root, model("m1", `[{"role":"assistant","content":" "}]`)}, "-"},
		{"an empty content", "empty_output", "", trace, []core.Span{root, model("m1", `[{"role":"assistant","content":""}]`)}, "m1"},
		{"an empty text", "empty_output", "", trace, []core.Span{root, model("m1", `"  "`)}, "m1"},
		{"a call is an answer", "empty_output", "", trace, []core.Span{root, model("m1", `[{"role":"assistant","tool_calls":[{"name":"x"}]}]`)}, "-"},
		{"an answer that was cut off", "truncated", "", trace, []core.Span{root, model("m1", `[{"content":"x","finish_reason":"length"}]`)}, "m1"},
		{"an answer that speaks of length", "truncated", "", trace, []core.Span{root, model("m1", `"the length is 5"`)}, "-"},
		{"too slow", "slow", `{"ms":4999}`, trace, []core.Span{root}, "r"},
		{"just in time", "slow", `{"ms":5000}`, trace, []core.Span{root}, "-"},
		{"too many tokens", "tokens", `{"tokens":99}`, trace, []core.Span{root}, "r"},
		{"as many as it may", "tokens", `{"tokens":100}`, trace, []core.Span{root}, "-"},
		{"too dear", "cost", `{"microusd":899}`, trace, []core.Span{root}, "r"},
		{"what was said", "phrase", `{"phrase":"AS AN AI"}`, trace, []core.Span{root, model("m1", `"No."`), model("m2", `[{"content":"as an ai, I"}]`)}, "m2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			hits, err := rule.Look(c.rule, json.RawMessage(c.config), c.trace, c.spans)
			if err != nil {
				t.Fatal(err)
			}
			got := "-"
			if len(hits) > 0 {
				got = hits[0].Span
				if hits[0].Title == "" || hits[0].Signature == "" {
					t.Errorf("%+v", hits[0])
				}
			}
			if got != c.want || len(hits) > 1 {
				t.Errorf("%+v, want %s", hits, c.want)
			}
		})
	}
}

// The same failure with other numbers is the same finding; another one is not.
func TestLook_Signatures(t *testing.T) {
	t.Parallel()
	signature := func(text string) string {
		s := tool("t", "buy", `{}`)
		s.Status, s.ErrorText = core.TraceError, text
		hits, err := rule.Look("tool_error", nil, core.Trace{}, []core.Span{s})
		if err != nil || len(hits) != 1 {
			t.Fatal(hits, err)
		}
		return hits[0].Signature
	}
	if signature("order 17 failed at 0xAF\n twice") != signature("order 9 failed at 0x1  twice") {
		t.Error("numbers make another finding")
	}
	if signature("order 17 failed") == signature("order 17 was refused") {
		t.Error("another message is the same finding")
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, bad := range [][2]string{{"nothing", ""}, {"tool_loop", ""}, {"tool_loop", `{"times":1}`}, {"slow", `{"ms":-1}`}, {"phrase", `{"phrase":" "}`}, {"error", `{"extra":1}`}, {"cost", `[]`}} {
		if err := rule.Check(bad[0], json.RawMessage(bad[1])); !errors.Is(err, rule.ErrConfig) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if len(rule.Names()) != 9 {
		t.Error(rule.Names())
	}
}
