package sob

import (
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// tokens are the words of a leaf: its text in lower case, split wherever a
// character is no word character, without articles.
func tokens(v any) []string {
	var text string
	switch v := v.(type) {
	case nil:
		text = "null"
	case bool:
		text = "false"
		if v {
			text = "true"
		}
	default:
		text = value.Str(v)
	}
	return words(str.Lower(text))
}

// words splits text into runs of word characters. The reference replaces
// everything else by blanks and articles by blanks before it splits; what is
// left between blanks is the same.
func words(text string) []string {
	var out []string
	start := -1
	for i := 0; i <= len(text); {
		word, size := false, 1
		if i < len(text) {
			word, size = wordAt(text[i:])
		}
		if word && start < 0 {
			start = i
		}
		if !word && start >= 0 {
			if w := text[start:i]; w != "a" && w != "an" && w != "the" {
				out = append(out, w)
			}
			start = -1
		}
		i += size
	}
	return out
}

func wordAt(s string) (word bool, size int) {
	c := s[0]
	if c < utf8.RuneSelf {
		return c-'0' < 10 || c|0x20-'a' < 26 || c == '_', 1
	}
	r, size := str.DecodeRune(s)
	return str.Of(r).Word(), size
}

// tokenF1 is the F1 of the two bags of words; two empty bags agree.
func tokenF1(truth, answer any) float64 {
	if a, ok := truth.(string); ok {
		if b, ok := answer.(string); ok && a == b {
			return 1 // whatever the words are
		}
	}
	want, got := tokens(truth), tokens(answer)
	if len(want) == 0 && len(got) == 0 {
		return 1
	}
	overlap := common(want, got)
	if overlap == 0 {
		return 0
	}
	return f1(overlap, len(got), len(want))
}

// common is the size of the multiset intersection.
func common(a, b []string) int {
	count := make(map[string]int, len(a))
	for _, w := range a {
		count[w]++
	}
	n := 0
	for _, w := range b {
		if count[w] > 0 {
			count[w]--
			n++
		}
	}
	return n
}

// f1 is the F1 of counts: common ones, those answered, those wanted.
func f1(overlap, answered, wanted int) float64 {
	if answered == 0 || wanted == 0 {
		return 0
	}
	precision := float64(overlap) / float64(answered)
	recall := float64(overlap) / float64(wanted)
	if precision+recall == 0 {
		return 0
	}
	return (2 * precision * recall) / (precision + recall)
}

func ratio(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// meanTokenF1 is the mean over the leaves of the truth; a leaf that the answer
// lacks counts as null.
func meanTokenF1(truth, answer *leaves) float64 {
	if len(truth.list) == 0 {
		return 1
	}
	var sum number.Adder
	for i := range truth.list {
		v, _ := answer.get(truth.list[i].path)
		sum.Add(tokenF1(truth.list[i].value, v))
	}
	return sum.Sum() / float64(len(truth.list))
}
