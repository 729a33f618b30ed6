// Package mathtext finds the texts in an answer that may be its mathematical
// result, as Inspect's math scorer does before it parses them. The symbolic
// comparison of that scorer needs a computer algebra system and is not here.
package mathtext

import (
	"errors"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// Bounds of the reference, in code points and counts.
const (
	maxText      = 1_000_000
	maxCandidate = 4096
	maxNesting   = 64
	maxBoxes     = 256
	maxComposite = 512
)

// ErrTooLong reports a text of more than a million characters.
var ErrTooLong = errors.New("text is too long to search for a mathematical answer")

var (
	boxStart    = re.MustCompile(`(?:\\(?:beginboxed|boxed|fbox)|(?<![A-Za-z\\])(?:boxed|fbox|oxed))\s*\{`, 0)
	marker      = re.MustCompile(`(?i)(?:final\s+answer|answer|result)\s*(?:is\b|[:=])\s*`, 0)
	numberForm  = re.MustCompile(`[-+]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?\s*%?`, 0)
	leadSpaces  = re.MustCompile(`^(?:(?:\\[,;:!]|\\quad|\\qquad)\s*)+`, 0)
	trailSpaces = re.MustCompile(`(?:(?:\\[,;:!]|\\quad|\\qquad)\s*)+$`, 0)
	mathParts   = re.MustCompile(`\$\$.*?\$\$|\$.*?\$|\\\(.*?\\\)|\\\[.*?\\\]`, re.DotAll)
	longWord    = re.MustCompile(`[A-Za-z]{2,}`, 0)
)

// Candidates lists the possible answers in text, the most explicit first: the
// last box, what follows the last "answer is", the last delimited formula, the
// text or its last line, the last number. Each stands once.
func Candidates(text string) ([]string, error) {
	text = ReplaceUnicode(text)
	if str.Len(text) > maxText {
		return nil, ErrTooLong
	}
	c := &collector{}
	if box, ok := c.box(text); ok {
		c.add(box)
	}
	if last, ok := c.last(marker, text); ok {
		if lines := str.SplitLines(text[last[1]:]); len(lines) > 0 {
			c.add(lines[0])
		}
	}
	composite := c.composite(text)
	if composite {
		c.add(text)
	}
	if inner, ok := delimited(text); ok {
		c.add(inner)
	}
	if !composite && str.Len(text) <= maxCandidate {
		c.add(text)
	}
	for _, line := range slices.Backward(str.SplitLines(text)) {
		if line = str.Strip(line); line != "" {
			c.add(line)
			break
		}
	}
	if last, ok := c.last(numberForm, text); ok {
		c.add(text[last[0]:last[1]])
	}
	return c.out, c.err
}

// Box is the content of the last \boxed{...}, or of its kin, in text.
func Box(text string) (string, bool, error) {
	c := &collector{}
	box, ok := c.box(text)
	return box, ok, c.err
}

// collector gathers candidates and keeps the first error of a search.
type collector struct {
	out []string
	err error
}

func (c *collector) add(s string) {
	s, err := StripDelimiters(s)
	c.fail(err)
	if s != "" && !slices.Contains(c.out, s) {
		c.out = append(c.out, s)
	}
}

func (c *collector) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// last is the range of the last match in text.
func (c *collector) last(r *re.Regexp, text string) (span [2]int, found bool) {
	for m, err := range r.Iter(text) {
		if err != nil {
			c.fail(err)
			break
		}
		span[0], span[1] = m.Span(0)
		found = true
	}
	return span, found
}

func (c *collector) box(text string) (box string, found bool) {
	end, count := 0, 0 // what starts before the end of a box is not a box of its own
	for m, err := range boxStart.Iter(text) {
		if err != nil {
			c.fail(err)
			break
		}
		from, to := m.Span(0)
		if from < end {
			continue
		}
		content, after, ok := balanced(text, to-1)
		if !ok {
			continue
		}
		box, found, end = content, true, after
		if count++; count == maxBoxes {
			break
		}
	}
	return box, found
}

// balanced is what stands in the braces that open at i.
func balanced(text string, i int) (content string, after int, ok bool) {
	depth := 0
	for j := i; j < len(text); j++ {
		switch text[j] {
		case '{':
			if depth++; depth > maxNesting {
				return "", 0, false
			}
		case '}':
			if depth--; depth == 0 {
				return str.Slice(text[i+1:j], 0, maxCandidate+1), j + 1, true
			}
		}
	}
	return "", 0, false
}

// composite reports a short answer that mixes words and formulas.
func (c *collector) composite(text string) bool {
	if str.Len(text) > maxComposite || strings.Count(text, "\n") > 2 {
		return false
	}
	if !strings.Contains(text, "$") && !strings.Contains(text, `\(`) && !strings.Contains(text, `\[`) {
		return false
	}
	if strings.Contains(text, "\n") && strings.Count(text, "$") >= 4 {
		return true
	}
	outside, err := mathParts.SubFunc(text, 0, func(*re.Match) string { return " " })
	c.fail(err)
	m, err := longWord.Search(outside)
	c.fail(err)
	return m != nil
}

// delimited is the formula whose closing delimiter stands last.
func delimited(text string) (string, bool) {
	best, at, found := "", -1, false
	consider := func(s string, end int) {
		if end > at {
			best, at, found = s, end, true
		}
	}
	for _, d := range [...][2]string{{"$$", "$$"}, {`\[`, `\]`}, {`\(`, `\)`}} {
		end := strings.LastIndex(text, d[1])
		if end < 0 {
			continue
		}
		if start := strings.LastIndex(text[:end], d[0]); start >= 0 {
			consider(text[start+len(d[0]):end], end)
		}
	}
	if s, ok := singleDollar(text); ok {
		consider(s, strings.LastIndexByte(text, '$'))
	}
	return best, found
}

// singleDollar is the last pair of single dollar signs that are not escaped.
func singleDollar(text string) (string, bool) {
	var at []int
	for i := 0; i < len(text); i++ {
		escaped := i > 0 && (text[i-1] == '\\' || text[i-1] == '$')
		if text[i] == '$' && !escaped && (i+1 == len(text) || text[i+1] != '$') {
			at = append(at, i)
		}
	}
	pairs := len(at) / 2
	if pairs == 0 {
		return "", false
	}
	return text[at[2*pairs-2]+1 : at[2*pairs-1]], true
}

// StripDelimiters takes bold marks, formula delimiters, TeX spaces and closing
// punctuation off a candidate.
func StripDelimiters(s string) (string, error) {
	s = str.Strip(s)
	for len(s) >= 4 && strings.HasPrefix(s, "**") && strings.HasSuffix(s, "**") {
		s = str.Strip(s[2 : len(s)-2])
	}
	for _, d := range [...][2]string{{"$$", "$$"}, {`\[`, `\]`}, {`\(`, `\)`}, {"$", "$"}} {
		if strings.HasPrefix(s, d[0]) && strings.HasSuffix(s, d[1]) && (d[0] != "$" || strings.Count(s, "$") == 2) {
			s = str.Strip(s[min(len(d[0]), len(s)):max(len(s)-len(d[1]), min(len(d[0]), len(s)))])
		}
	}
	s, err := leadSpaces.Sub("", s)
	if err != nil {
		return "", err
	}
	if s, err = trailSpaces.Sub("", s); err != nil {
		return "", err
	}
	return str.RStripSet(s, " \t\r\n.,;:"), nil
}

// unicodeAsTeX is made once: to make it costs more than most answers do.
var unicodeAsTeX = strings.NewReplacer(
	"⎧", `\boxed{`, "⎫", "}", "\n│", `\boxed{`, "│", "}", "\n┃", `\boxed{`, "┃", "}",
	"\n\uf8f0", `\boxed{`, "\uf8fb", "}", "√", `\sqrt`, "×", `\cdot`, "÷", "/", "\u202f", " ",
	"−", "-", "–", "-", "π", `\pi`, "°", `^\circ`, "∞", `\infty`, "≤", `\le`, "≥", `\ge`, "≠", `\ne`,
	"∪", `\cup`, "∩", `\cap`,
)

// ReplaceUnicode writes box drawings and mathematical characters as TeX and
// drops control characters.
func ReplaceUnicode(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0x7f {
			return -1
		}
		return r
	}, text)
	return unicodeAsTeX.Replace(text)
}
