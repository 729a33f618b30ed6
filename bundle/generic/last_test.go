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
	same := func(t rapid.TB, text string) {
		a := bundle.Answer{Text: text, Finish: bundle.FinishStop}
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
	}
	for _, text := range []string{"\\frac{3}\n3", "\\frac3\n3", "\\frac\n3 3", "\\frac\n{3}\n{1}", "\\frac 3\t1", "3x10^3\n3", "3x10^{3\n}\n3"} { // found by the search below, and their like
		same(t, text)
	}
	rapid.Check(t, func(t *rapid.T) {
		same(t, strings.Join(rapid.SliceOfN(piece, 0, 14).Draw(t, "pieces"), ""))
	})
}
