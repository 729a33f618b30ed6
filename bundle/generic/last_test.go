package generic_test

import (
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/generic"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The search from the last line finds what reading the whole text finds: a
// pattern that marks nothing makes the grader read it all.
func TestNumeric_LastLineIsEnough(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{
		"\n", "\n", "\r\n", " ", "3", "4", "10", "1/2", "2 1/2", "1.5", ".5", "1,234", "x", "×", "10^", "^", "{", "}", "\\frac", "\\frac{3}", "\\times", "-", "−", "$", "%", "e3",
		"*", "·", "\\", "(", ")", "=", "a", "é", "五", "٣", "½", "²", "_", "'", ":", "\u00a0", "\t",
	})
	fast, whole := must(t, generic.Numeric, ``), must(t, generic.Numeric, `{"answer_pattern":"no such mark"}`)
	task := bundle.Task{Target: []string{"3"}}
	rapid.Check(t, func(t *rapid.T) {
		a := bundle.Answer{Text: strings.Join(rapid.SliceOfN(piece, 0, 14).Draw(t, "pieces"), ""), Finish: bundle.FinishStop}
		got, err := fast.Grade(task, a)
		if err != nil {
			t.Fatal(err)
		}
		want, err := whole.Grade(task, a)
		if err != nil {
			t.Fatal(err)
		}
		// The strict readings differ by their pattern.
		got.Strict, want.Strict, got.Rule, want.Rule = "", "", "", ""
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q (-whole +last): %s", a.Text, d)
		}
	})
}
