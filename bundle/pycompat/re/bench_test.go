package re_test

import (
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
)

// The patterns are those that graders run most, on a text of the length of a
// worked solution.
func BenchmarkFindAll(b *testing.B) {
	text := strings.Repeat("Janet sells 16 - 3 - 4 = 9 duck eggs a day. She makes 9 * 2 = $18 every day at the farmer's market. ", 6) + "#### 18"
	for _, bb := range []struct{ name, pattern string }{
		{"numbers", `(-?[$0-9.,]{2,})|(-?[0-9]+)`},
		{"marked", `#### (\-?[0-9\.\,]+)`},
		{"punctuation", `[^\w\s]`},
		{"articles", `\b(a|an|the)\b`},
		{"letter", `(?i)answer is:?\s*\(?([A-D])\)?`},
		{"lookbehind", `(?<=She makes )(.*)(?=.)`},
		{"last", `([A-Z])\b(?!.*[A-Z]\b)`},
		{"space", `\s+`},
	} {
		b.Run(bb.name, func(b *testing.B) {
			r := re.MustCompile(bb.pattern, 0)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.FindAll(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSub(b *testing.B) {
	text := strings.Repeat("The quick, brown fox; an apple (a day) keeps the doctor away! ", 4)
	r := re.MustCompile(`[^\w\s]`, 0)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Sub(" ", text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		if _, err := re.Compile(`(?i)answer is:?\s*\(?([A-D])\)?`, 0); err != nil {
			b.Fatal(err)
		}
	}
}
