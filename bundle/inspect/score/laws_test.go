package score_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle/inspect/internal/numeral"
	"github.com/evalrouter/evalrouter/bundle/inspect/score"
	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"pgregory.net/rapid"
)

// texts draws answers that mix words, numbers, decoration and scripts.
func texts() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{" ", "\n", "\u3000", "\x1c", "the", "THE", "İ", "ß", "ﬁ", "Σ", "K", "$", "\\$", "**", "_", ".", "..", ",", "€", "½", "²", "−", "十二", "٣", "1e3", "nan", "-", "(", "42", "1,234.50", "0"}),
		rapid.StringMatching(`[A-Za-z0-9 .,$]{0,6}`),
		rapid.StringN(0, 4, -1),
	)
	return rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "") })
}

// The short cuts for ASCII change nothing: includes is a search of folded text.
func TestIncludesIsASearchOfFoldedText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, target := texts().Draw(t, "text"), texts().Draw(t, "target")
		if rapid.Bool().Draw(t, "long") {
			text = strings.Repeat("x", rapid.IntRange(4000, 4200).Draw(t, "before")) + text
			target = text[min(len(text), 4090):]
		}
		span, placed, found := score.Includes{}.Find(text, target)
		if want := strings.Contains(str.Casefold(text), str.Casefold(target)); found != want {
			t.Fatalf("Find(%q, %q) = %v, want %v", text, target, found, want)
		}
		if placed && str.Casefold(text[span.From:span.To]) != str.Casefold(target) {
			t.Fatalf("%q stands not at %v of %q", target, span, text)
		}
	})
}

// matchWhole is match as the reference writes it: it cleans the whole text and
// splits it afterwards. The scorer looks at one word after the other.
func matchWhole(m score.Match, text, target string) (answer string, right bool) {
	v, t := str.Strip(text), str.Strip(target)
	answer = v
	if !m.CaseSensitive {
		v, t = str.Casefold(v), str.Casefold(t)
	}
	if m.Numeric {
		t = numeral.StripDecoration(t)
		if want, is, _ := numeral.Normalize(t); is {
			return numbersOf(m, numeral.StripDecoration(v), answer, want)
		}
	}
	v, t = numeral.StripPunctuation(v), numeral.StripPunctuation(t)
	switch m.Location {
	case score.Begin:
		return answer, strings.HasPrefix(v, t)
	case score.End:
		return answer, strings.HasSuffix(v, t)
	case score.Whole:
		return answer, v == t
	}
	return answer, strings.Contains(v, t)
}

func numbersOf(m score.Match, v, answer, want string) (string, bool) {
	words, _ := re.MustCompile(`\s+`, 0).Split(v)
	if m.Location == score.Whole {
		words = []string{v}
	}
	var numbers []string
	for _, w := range words {
		if n, is, _ := numeral.Normalize(w); is || m.Location == score.Whole {
			numbers = append(numbers, n)
		}
	}
	switch {
	case m.Location == score.Anywhere && slices.Contains(numbers, want):
		return want, true
	case m.Location == score.Anywhere:
		return answer, false
	case len(numbers) == 0:
		return "", false
	case m.Location == score.End:
		return numbers[len(numbers)-1], numbers[len(numbers)-1] == want
	}
	return numbers[0], numbers[0] == want
}

func TestMatchIsTheReferencesProcedure(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := score.Match{
			Location:      rapid.SampledFrom([]score.Location{score.Begin, score.End, score.Anywhere, score.Whole}).Draw(t, "location"),
			CaseSensitive: rapid.Bool().Draw(t, "case"),
			Numeric:       rapid.Bool().Draw(t, "numeric"),
		}
		text, target := texts().Draw(t, "text"), texts().Draw(t, "target")
		got, err := m.Score(text, score.Target{target})
		if err != nil {
			t.Skip("the reference raises")
		}
		answer, right := matchWhole(m, text, target)
		if *got.Answer != answer || (got.Value == score.Correct) != right {
			t.Fatalf("%+v of %q for %q = %v, %q; want %v, %q", m, text, target, got.Value, *got.Answer, right, answer)
		}
	})
}

// F1 does not depend on which side is which, and a text is its own equal.
func TestF1Laws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := texts().Draw(t, "a"), texts().Draw(t, "b")
		f := score.F1{}
		empty := f.Normalize(a) == "" || f.Normalize(b) == ""
		if x, y := f.Raw(a, b), f.Raw(b, a); x != y && !empty {
			t.Fatalf("F1(%q, %q) = %v, the other way %v", a, b, x, y)
		}
		if x := f.Raw(a, a); x != 1 {
			t.Fatalf("F1(%q, itself) = %v", a, x)
		}
		if str.Strip(a) != "" {
			if s, err := (score.Exact{}).Score(a, score.Target{a}); err != nil || s.Value != score.Correct {
				t.Fatalf("%q is not exactly itself: %v, %v", a, s.Value, err)
			}
		}
	})
}

// Spelling is symmetric between answer and target.
func TestMathStringIsSymmetric(t *testing.T) {
	t.Parallel()
	forms := rapid.SampledFrom([]string{`\frac{1}{2}`, `\dfrac{1}{2}`, "0.5", "0.50", "1/2", "1,000", "1000", "-0", "0", `\left(1, 2\right)`, "(1,2)", "1e5", "-1e5", "10%", `10\%`, "½", "007", "x", "X"})
	rapid.Check(t, func(t *rapid.T) {
		a, b := forms.Draw(t, "a"), forms.Draw(t, "b")
		one, err := score.MathString{}.Score(`\boxed{`+a+`}`, score.Target{b})
		if err != nil {
			t.Fatal(err)
		}
		other, err := score.MathString{}.Score(`\boxed{`+b+`}`, score.Target{a})
		if err != nil || one.Value != other.Value {
			t.Fatalf("%q and %q: %v one way, %v the other, %v", a, b, one.Value, other.Value, err)
		}
		if a == b && one.Value != score.Correct {
			t.Fatalf("%q is not itself", a)
		}
	})
}

func FuzzPattern(f *testing.F) {
	f.Add(`ANSWER\s*:\s*(\w+)`, "ANSWER: x", true)
	f.Add(`(a+)+(b)`, "aaaa", false)
	f.Add(`(?<!x)(y)|(z)?`, "zy", true)
	f.Fuzz(func(t *testing.T, pattern, text string, all bool) {
		p, err := score.NewPattern(pattern, false, all)
		if err != nil {
			return
		}
		s, err := p.Score(text, score.Target{"x"})
		if err == nil && s.Span != nil && (s.Span.From < 0 || s.Span.To > len(text) || s.Span.From > s.Span.To) {
			t.Errorf("span %v of %q", *s.Span, text)
		}
	})
}

func FuzzVerdict(f *testing.F) {
	for _, s := range []string{"GRADE: C", "grade :\u200b i", "**GRADE: Partial**", "downgrade: I", "GRADE: GRADE: C"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		s, err := score.Judge{}.Verdict("a", reply)
		if err != nil {
			return
		}
		if s.Value != score.Correct && s.Value != score.Incorrect && !score.IsUnscored(s.Value) {
			t.Errorf("verdict of %q is %v", reply, s.Value)
		}
	})
}
