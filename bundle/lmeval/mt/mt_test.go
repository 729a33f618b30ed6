package mt_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/bundle/lmeval/mt"
)

type score = func([]mt.Pair) (func([]int) float64, error)

func one(t *testing.T, f score, prediction string, references ...string) float64 {
	t.Helper()
	g, err := f([]mt.Pair{{Prediction: prediction, References: references}})
	if err != nil {
		t.Fatal(err)
	}
	return g([]int{0})
}

// The figures of sacrebleu are replayed in package metric. These are worked by
// hand.
func TestScores(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		score      score
		prediction string
		references []string
		want       float64
	}{
		{"ter of equal texts", mt.TER, "a b c", []string{"A b c"}, 0},
		{"ter of one substitution", mt.TER, "a x c", []string{"a b c"}, 100.0 / 3},
		{"ter of one removal", mt.TER, "a b b c", []string{"a b c"}, 100.0 / 3},
		{"ter of one shift", mt.TER, "c d a b", []string{"a b c d"}, 25},
		{"ter of the best of two", mt.TER, "a b", []string{"x y", "a c"}, 50},
		{"ter of nothing for nothing", mt.TER, "", []string{""}, 0},
		{"ter of something for nothing", mt.TER, "a", []string{""}, 100},
		{"ter of nothing for something", mt.TER, "", []string{"a b"}, 100},
		{"bleu of nothing", mt.BLEU, "", []string{"a b c d"}, 0},
		{"chrf of nothing", mt.ChrF, "", []string{"a"}, 0},
		{"chrf of the best of two", mt.ChrF, "ab", []string{"xy", "ab"}, 100},
		{"chrf without white space", mt.ChrF, "a b", []string{"ab"}, 100},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := one(t, tt.score, tt.prediction, tt.references...); math.Abs(got-tt.want) > 1e-9 {
				t.Errorf("score = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestScores_Refuse(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]score{"bleu": mt.BLEU, "chrf": mt.ChrF, "ter": mt.TER} {
		if _, err := f([]mt.Pair{{Prediction: "a"}}); err == nil {
			t.Errorf("%s accepts a pair without references", name)
		}
		if _, err := f([]mt.Pair{{References: []string{"a"}}, {References: []string{"a", "b"}}}); err == nil {
			t.Errorf("%s accepts pairs with different numbers of references", name)
		}
	}
}

// A text is its own best translation, no score leaves its range, and a corpus
// scores the same in any order.
func TestScores_Laws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-d]{1,2}[.,]?`)
		text := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(word, 5, 12).Draw(t, "words"), " ") })
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		for name, f := range map[string]score{"bleu": mt.BLEU, "chrf": mt.ChrF, "ter": mt.TER} {
			g, err := f([]mt.Pair{{a, []string{a}}, {b, []string{a}}})
			if err != nil {
				t.Fatal(err)
			}
			best := 100.0
			if name == "ter" {
				best = 0
			}
			if got := g([]int{0}); math.Abs(got-best) > 1e-9 {
				t.Fatalf("%s of a text with itself = %v", name, got)
			}
			if got := g([]int{1}); got < 0 || name != "ter" && got > 100+1e-9 {
				t.Fatalf("%s = %v", name, got)
			}
			if x, y := g([]int{0, 1}), g([]int{1, 0}); math.Abs(x-y) > 1e-9 {
				t.Fatalf("%s depends on the order: %v and %v", name, x, y)
			}
		}
	})
}

// A translation of many words needs memory for the beam only.
func TestTER_Long(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 20_000)
	if got := one(t, mt.TER, long+"x", long+"y"); got <= 0 || got > 1 {
		t.Errorf("TER = %v, want one edit in 20001 words", got)
	}
}
