package generic_test

import (
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/generic"
)

// Sentences that name one option, whichever it is: X stands for it.
var saysOne = []string{
	"Option X is correct.", "The correct option is (X)", "X is the answer", "X is the answer.", "**X** is the correct answer.", "(X) is correct",
	"Option (X) is the right choice, because it fits.", "So option X must be the best answer.", "Therefore, X is correct.", "This means that option X is correct.",
	"answer X is correct", "Choice X is right.", "option **X** is correct", "X is the one.", "Y is wrong and X is correct.", "X is correct and Y is wrong.",
	"X is the correct option since it fits", "Option Y is correct. Wait, option X is correct.", "The answer is Y. No: X is the answer.", "Option Y is correct.\nAnswer: X",
	"The best choice is X.", "It follows that\n\nX is the correct answer\n", "Y is not correct. X is correct.", "Option X is clearly correct.", "The right option would be X",
}

// Sentences that leave it open or say the contrary.
var saysNone = []string{
	"Option X is not correct.", "X is incorrect.", "X or Y is correct.", "X and Y is the answer", "Either X or Y is the answer.", "X is correct or Y is correct.",
	"X is correct and Y is correct.", "If option X is correct, the sum is odd.", "Whether X is correct, I cannot say.", "Is X correct?", "X is correct?", "Neither X nor Y is correct.",
	"Both X and Y are correct.", "X is right of Y.", "X is best for Y.", "X is correct about the colour of the hat", "The correct option is X or Y", "The answer is not X.",
	"Option X, Y is correct", "Suppose X is correct.", "He says X is correct.", "the x is correct",
}

// What a sentence names does not depend on the letters that stand in it: each
// pair of letters gives the same verdict, and the same text is right for its
// own letter alone.
func TestChoice_SentencesAreSymmetric(t *testing.T) {
	t.Parallel()
	g := must(t, generic.MultipleChoice, "")
	const letters = "ABCDE"
	grade := func(text string, target byte) bundle.Verdict {
		v, err := g.Grade(bundle.Task{ID: "t", Target: []string{string(target)}}, bundle.Answer{Text: text, Finish: bundle.FinishStop})
		if err != nil {
			t.Fatal(err)
		}
		checkVerdict(t, text, v)
		return v
	}
	for _, x := range letters {
		for _, y := range letters {
			if x == y {
				continue
			}
			write := strings.NewReplacer("X", string(x), "Y", string(y), "the x ", "the "+strings.ToLower(string(x))+" ")
			for _, form := range saysOne {
				text := write.Replace(form)
				for _, target := range []byte(letters) {
					want := bundle.Wrong
					if target == byte(x) {
						want = bundle.Right
					}
					if v := grade(text, target); v.Outcome != want {
						t.Errorf("%q for %c: %+v, want %s", text, target, v, want)
					}
				}
			}
			for _, form := range saysNone {
				text := write.Replace(form)
				if v := grade(text, byte(x)); v.Outcome != bundle.ExtractionFailed {
					t.Errorf("%q: %+v, want no option", text, v)
				}
			}
		}
	}
}
