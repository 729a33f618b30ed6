package report

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/lib/plain"
)

// Sizes of what stands in a summary, so that no text from elsewhere can make one
// too large to be written.
const (
	maxText = 300 // characters of one text
	maxList = 25  // figures, warnings or licences
)

// line is a text of a summary: safe to show, on one line, and not too long.
func line(s string) plain.Safe { return plain.Line(cut(string(plain.Line(s)), maxText)) }

// cut shortens text to a number of characters and says so where it ends.
func cut(s string, limit int) string {
	head, left := split(s, limit)
	if left == 0 {
		return head
	}
	return head + " … (" + Count(left) + " more characters)"
}

// split is the first characters of a text and how many follow them.
func split(s string, limit int) (head string, left int) {
	if len(s) <= limit {
		return s, 0
	}
	at := 0
	for range limit {
		_, n := utf8.DecodeRuneInString(s[at:])
		if n == 0 {
			return s, 0
		}
		at += n
	}
	return s[:at], utf8.RuneCountInString(s[at:])
}

// marked is an answer in three parts, of which the middle one was graded. The
// middle is "" when it is not known where it stands.
type marked struct{ Before, Graded, After plain.Safe }

// mark finds the graded part of an answer. A span that does not hold what was
// extracted is of another text, as when reasoning was taken out, and marks
// nothing.
func mark(answer string, span *[2]int, extracted string) marked {
	whole := marked{Before: plain.Block(answer)}
	if span == nil || extracted == "" || span[0] < 0 || span[1] <= span[0] {
		return whole
	}
	head, left := split(answer, span[0])
	if left == 0 {
		return whole
	}
	rest := answer[len(head):]
	mid, left := split(rest, span[1]-span[0])
	if left == 0 && utf8.RuneCountInString(mid) < span[1]-span[0] || !strings.HasPrefix(mid, extracted) {
		return whole
	}
	return marked{plain.Block(head), plain.Block(mid), plain.Block(rest[len(mid):])}
}

func sortedKeys(m map[string]float64) []string { return slices.Sorted(maps.Keys(m)) }

// number is a score as it is, in the fewest digits that give it again.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
