package score

import (
	"fmt"
	"slices"

	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// Pattern compares what the groups of a regular expression matched with the
// targets. It is made by NewPattern or NewAnswer.
type Pattern struct {
	re            *re.Regexp
	caseSensitive bool
	all           bool
}

// NewPattern compiles a pattern in Python's syntax. With all, every group that
// took part has to be a target; else the first group that is one decides.
func NewPattern(pattern string, caseSensitive, all bool) (*Pattern, error) {
	flags := re.IgnoreCase
	if caseSensitive {
		flags = 0
	}
	r, err := re.Compile(pattern, flags)
	if err != nil {
		return nil, fmt.Errorf("compile pattern %q: %w", pattern, err)
	}
	return &Pattern{re: r, caseSensitive: caseSensitive, all: all}, nil
}

// The answers that NewAnswer looks for after the word ANSWER and a colon.
const (
	Letter = "letter"
	Word   = "word"
	Line   = "line"
)

// AnswerPattern is the expression for a kind of answer, "" for another kind.
// The last ANSWER of the text counts, and for Line it must end the text.
func AnswerPattern(kind string) string {
	switch kind {
	case Letter:
		return `(?is)ANSWER\s*:\s*([A-Za-z])(?:[^\w]|\n|$)(?!.*ANSWER\s*:)`
	case Word:
		return `(?is)ANSWER\s*:\s*(\S+?)(?=[.,;:!?]?\s*(?:\n|$))(?!.*ANSWER\s*:)`
	case Line:
		return `(?i)ANSWER\s*:\s*([^\n]+)\s*\Z`
	}
	return ""
}

// NewAnswer is the pattern of a kind of answer. It panics for another kind.
func NewAnswer(kind string) *Pattern {
	text := AnswerPattern(kind)
	if text == "" {
		panic("score: no kind of answer is called " + kind)
	}
	return &Pattern{re: re.MustCompile(text, re.IgnoreCase)}
}

// Groups is the number of groups of the pattern.
func (p *Pattern) Groups() int { return p.re.Groups() }

// Score searches the completion. No match gives NoAnswer. A matched empty text
// is never right, because Python takes it for false.
func (p *Pattern) Score(completion string, target Target) (Score, error) {
	m, err := p.re.Search(completion)
	if err != nil {
		return Score{}, fmt.Errorf("search pattern %q: %w", p.re, err)
	}
	if m == nil {
		return Score{Value: NoAnswer, Explanation: &completion}, nil
	}
	found, group := p.first(m, target)
	if p.all {
		found, group = p.every(m, target), 0
	}
	answer := found
	if found == nil && !p.all && p.re.Groups() == 1 {
		if text, ok := m.Group(1); ok {
			answer, group = &text, 1
		}
	}
	s := Score{Value: Incorrect, Answer: answer, Explanation: &completion}
	if found != nil && *found != "" {
		s.Value = Correct
	}
	if answer != nil {
		from, to := m.Span(group)
		s.Span = &Span{from, to}
	}
	return s, nil
}

// first is the first group that is a target, nil if none is.
func (p *Pattern) first(m *re.Match, target Target) (found *string, group int) {
	for i := 1; i <= p.re.Groups(); i++ {
		if text, ok := m.Group(i); ok && p.isTarget(text, target) {
			return &text, i
		}
	}
	return nil, 0
}

// every is the joined target if all groups that took part are targets and
// there is one, else nil.
func (p *Pattern) every(m *re.Match, target Target) *string {
	any := false
	for i := 1; i <= p.re.Groups(); i++ {
		text, ok := m.Group(i)
		if ok && !p.isTarget(text, target) {
			return nil
		}
		any = any || ok
	}
	if !any {
		return nil
	}
	text := target.Text()
	return &text
}

func (p *Pattern) isTarget(text string, target Target) bool {
	if p.caseSensitive {
		return slices.Contains(target, text)
	}
	text = str.Lower(text)
	return slices.ContainsFunc(target, func(t string) bool { return str.Lower(t) == text })
}
