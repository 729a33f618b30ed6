package score_test

import (
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle/inspect/score"
)

// answer is as long as answers to word problems are.
func answer() string {
	return strings.Repeat("Each of the 12 boxes holds 4 pens, so there are 48 pens in all. ", 9) + "The answer is $1,234.50."
}

// Goal P18: includes allocates nothing for ASCII texts, whether or not it
// finds its target.
func TestIncludesAllocatesNothing(t *testing.T) {
	s := score.Includes{}
	text := answer()
	for _, target := range []string{"Answer IS", "not in there"} {
		if n := testing.AllocsPerRun(100, func() { s.Find(text, target) }); n != 0 {
			t.Errorf("%q: %v allocations", target, n)
		}
	}
}

func bench(b *testing.B, s scorer, text string, target ...string) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Score(text, target); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkIncludesFind(b *testing.B) {
	text := answer()
	b.ReportAllocs()
	for b.Loop() {
		score.Includes{}.Find(text, "the ANSWER is $")
	}
}
func BenchmarkIncludes(b *testing.B) { bench(b, score.Includes{}, answer(), "the ANSWER is $") }
func BenchmarkMatchNumber(b *testing.B) {
	bench(b, score.Match{Location: score.End, Numeric: true}, answer(), "1234.5")
}
func BenchmarkMatchAnyNumber(b *testing.B) {
	bench(b, score.Match{Location: score.Anywhere, Numeric: true}, answer(), "1234.5")
}
func BenchmarkMatchText(b *testing.B) {
	bench(b, score.Match{Location: score.End}, answer(), "1,234.50")
}
func BenchmarkAnswerLetter(b *testing.B) {
	bench(b, score.NewAnswer(score.Letter), answer()+"\nANSWER: B", "B")
}
func BenchmarkAnswerLine(b *testing.B) {
	bench(b, score.NewAnswer(score.Line), answer()+"\nANSWER: B", "B")
}
func BenchmarkAnswerWord(b *testing.B) {
	bench(b, score.NewAnswer(score.Word), answer()+"\nANSWER: B", "B")
}
func BenchmarkF1(b *testing.B)    { bench(b, score.F1{}, answer(), "48 pens in all") }
func BenchmarkExact(b *testing.B) { bench(b, score.Exact{}, answer(), "48 pens in all") }
