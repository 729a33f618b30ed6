package generic

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/bundle"
)

// choice decides lettered options. Options:
//
//	answer_pattern  RE2; looked at before every other place
//	letters         how many letters are options when a task lists no
//	                choices, 2 to 26, default 5
//	extraction      lenient (default) or strict: a letter alone, where
//	                answer_pattern or the form of an answer puts it; brackets,
//	                a point or a bracket behind it are allowed
//
// The letter is looked for in this order, and in each place the last one
// that names an option counts: what answer_pattern marks; an answer line or
// sentence (Answer: B, the correct option is B, option B is correct); a boxed
// letter; a text that
// is only a letter, or opens or closes with a line that is one; the words of
// exactly one option standing alone. A place that names two options at once
// names none. A and I before a word are English, not letters, unless the word
// goes on about an answer (A because …).
type choice struct {
	pattern *regexp.Regexp
	letters int
	extraction
	id bundle.Identity
}

func newChoice(o options) *choice {
	g := &choice{pattern: o.pattern(), letters: int(o.f.Int("letters", 2, 26, 5)), extraction: o.extraction()}
	g.id = identity(MultipleChoice, map[string]any{"answer_pattern": patternText(g.pattern), "letters": g.letters, "extraction": g.extraction})
	return g
}

func (g *choice) Identity() bundle.Identity { return g.id }

func (g *choice) Grade(t bundle.Task, a bundle.Answer) (bundle.Verdict, error) {
	n := g.letters
	if len(t.Choices) > 0 {
		n = len(t.Choices)
	}
	if len(t.Target) == 0 {
		return bundle.Verdict{}, errNoTarget
	}
	if n > 26 {
		return bundle.Verdict{}, fmt.Errorf("read choices: %d options, and only 26 letters", n)
	}
	want := map[byte]bool{}
	for i, s := range t.Target {
		s = strings.ToUpper(strings.TrimSpace(s))
		if len(s) != 1 || s[0] < 'A' || int(s[0]-'A') >= n {
			return bundle.Verdict{}, fmt.Errorf("read target %d: not the letter of an option", i)
		}
		want[s[0]] = true
	}
	p := picker{text: a.Text, n: n, choices: t.Choices}
	read := func(got picked, ok bool) reading {
		if !ok {
			return reading{rule: "no letter"}
		}
		right := want[got.letter]
		return reading{&got.at, right, equalRule(got.how+" "+string(got.letter), right)}
	}
	return g.verdict(a, read(p.pick(g.pattern)), read(p.alone(g.pattern))), nil
}

// picked is an option that a text names.
type picked struct {
	at     region
	letter byte
	how    string
}

type picker struct {
	text    string
	n       int
	choices []string
}

var (
	answerMark = regexp.MustCompile(`(?i)\b(?:answer|(?:correct|right|best|chosen)\s+(?:option|choice|letter))[*_\s]*(?:[:：=]|(?:\s(?:is|would be|should be|must be)\b))[:：*_\s]*`)
	boxedMark  = regexp.MustCompile(`\\boxed\s?\{`)
	wrapping   = regexp.MustCompile("^(?:[\\s*_`\"'“‘(\\[{$<]|\\\\text(?:bf|rm)?\\s?|\\\\boxed\\s?|\\\\mathrm\\s?|\\\\\\(|(?i:option|choice|letter)\\s)*")
	secondOne  = regexp.MustCompile(`^[)\].*_}$]*(?:\s*(?:,|/|&)\s*|\s+(?:and|or)\s+)[(\[*]*([A-Za-z])(?:[^\p{L}\p{Nd}'’]|$)`)
	nextWord   = regexp.MustCompile(`^\s+(\p{L}+)`)
	goesOn     = regexp.MustCompile(`(?i)^(?:because|since|as|which|where|given|due|by|from|based|with|and|for|so|when|if|option|choice|is)$`)
)

// maxMarks bounds how many marks are read back from the end. An answer whose
// last marks all name no option gives none.
const maxMarks = 64

func lastOf[T any](marks []T) []T { return marks[max(0, len(marks)-maxMarks):] }

func (p picker) pick(pattern *regexp.Regexp) (picked, bool) {
	for _, r := range slices.Backward(lastOf(marked(pattern, p.text))) {
		if got, ok := p.place(r, "marked letter"); ok {
			return got, true
		}
	}
	if got, ok := p.sentences(); ok {
		return got, true
	}
	for _, at := range slices.Backward(lastOf(boxedMark.FindAllStringIndex(p.text, -1))) {
		if got, ok := p.place(p.line(at[1]), "boxed letter"); ok {
			return got, true
		}
	}
	return p.bare()
}

var lone = regexp.MustCompile(`^[(\[*]*([A-Z])[)\]*.]*$`)

// alone is the letter of the strict reading.
func (p picker) alone(pattern *regexp.Regexp) (picked, bool) {
	r, ok := formal(p.text)
	if pattern != nil {
		marks := marked(pattern, p.text)
		if ok = len(marks) > 0; ok {
			r = trimRegion(p.text, marks[len(marks)-1], unicode.IsSpace)
		}
	}
	const longest = 16
	if !ok || r.to-r.from > longest {
		return picked{}, false
	}
	m := lone.FindStringSubmatchIndex(p.text[r.from:r.to])
	if m == nil {
		return picked{}, false
	}
	letter := p.text[r.from+m[2]]
	return picked{region{r.from + m[2], r.from + m[3]}, letter, "letter alone"}, int(letter-'A') < p.n
}

// bare looks at texts and lines that are nothing but an option.
func (p picker) bare() (picked, bool) {
	whole := trimRegion(p.text, region{0, len(p.text)}, unicode.IsSpace)
	if got, ok := p.words(whole, "the words of"); ok {
		return got, true
	}
	first := p.line(whole.from)
	last := region{strings.LastIndexByte(p.text[:whole.to], '\n') + 1, whole.to}
	for _, r := range []region{last, first} {
		if got, ok := p.opening(r); ok {
			return got, true
		}
	}
	return picked{}, false
}

// opening reads a line that is a letter, or a letter set off from the words
// of its option: "(B)", "B) 12 apples".
func (p picker) opening(r region) (picked, bool) {
	got, ok := p.letter(r, "bare letter")
	if !ok {
		return picked{}, false
	}
	rest := p.text[got.at.to:r.to]
	setOff := strings.HasPrefix(rest, ")") || strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "]")
	alone := strings.TrimFunc(rest, func(c rune) bool { return unicode.IsSpace(c) || edge(c) }) == ""
	return got, alone || setOff
}

// place reads one place: a letter first, else the words of an option.
func (p picker) place(r region, how string) (picked, bool) {
	if got, ok := p.letter(r, how); ok {
		return got, true
	}
	return p.words(r, how+" with the words of")
}

// letter reads the letter that a place opens with.
func (p picker) letter(r region, how string) (picked, bool) {
	i := r.from + len(wrapping.FindString(p.text[r.from:r.to]))
	c, w := utf8.DecodeRuneInString(p.text[i:r.to])
	if w == 0 {
		return picked{}, false
	}
	up := unicode.ToUpper(c)
	if c >= utf8.RuneSelf || up < 'A' || int(up-'A') >= p.n || !p.standsAlone(c, i+w, r.to) {
		return picked{}, false
	}
	if m := secondOne.FindStringSubmatch(p.text[i+w : r.to]); m != nil {
		if other := unicode.ToUpper(rune(m[1][0])); other != up && int(other-'A') < p.n && !(m[1] == "a" || m[1] == "i") {
			return picked{}, false
		}
	}
	return picked{region{i, i + w}, byte(up), how}, true
}

// standsAlone says whether the letter before i is one, and not the start of a
// word or a word itself.
func (p picker) standsAlone(c rune, i, end int) bool {
	rest := p.text[i:end]
	next, _ := utf8.DecodeRuneInString(rest)
	if rest == "" {
		return true
	}
	if wordy(next) || unicode.IsNumber(next) || unicode.IsMark(next) || next == '\'' || next == '’' || next == '_' && len(rest) > 1 && alnum(rune(rest[1])) {
		return false
	}
	m := nextWord.FindStringSubmatch(rest)
	if m == nil {
		return true
	}
	switch {
	case c == 'A' || c == 'I':
		return goesOn.MatchString(m[1])
	case c >= 'a':
		return false // a lower-case letter before a word is part of prose
	}
	return true
}

// words reads a place that holds the text of exactly one option.
func (p picker) words(r region, how string) (picked, bool) {
	drop := func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune("*_`\"'“”‘’.$", c) }
	r = trimRegion(p.text, r, drop)
	if r.empty() {
		return picked{}, false
	}
	got := squeeze(p.text[r.from:r.to])
	found := -1
	for i, c := range p.choices {
		whole := trimRegion(c, region{0, len(c)}, drop)
		if squeeze(c[whole.from:whole.to]) != got {
			continue
		}
		if found >= 0 {
			return picked{}, false
		}
		found = i
	}
	if found < 0 {
		return picked{}, false
	}
	return picked{r, byte('A' + found), how}, true
}

func squeeze(s string) string { return foldCase(strings.Join(strings.Fields(s), " ")) }

// line is what follows i on its line, as far as a letter or the words of an
// option can reach. Without that bound, a long line full of marks would be
// read once for each of them.
func (p picker) line(i int) region {
	reach := 4096
	for _, c := range p.choices {
		reach = max(reach, 4*len(c))
	}
	to := min(len(p.text), i+reach)
	if n := strings.IndexByte(p.text[i:to], '\n'); n >= 0 {
		to = i + n
	}
	return region{i, to}
}
