package score

import (
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/inspect/internal/numeral"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// Location says which part of the completion has to match.
type Location string

// The locations. End is the default of the reference.
const (
	Begin    Location = "begin"
	End      Location = "end"
	Anywhere Location = "any"
	Whole    Location = "exact"
)

// Match compares the completion with each target at a location, without
// ASCII punctuation and white space at the ends. With Numeric, a target that
// is a number is compared with numbers of the completion by five significant
// digits, and never as text: 25 does not end with 5.
type Match struct {
	Location      Location
	CaseSensitive bool
	Numeric       bool
}

// Score tries the targets in order and reports the answer of the last one
// tried.
func (m Match) Score(completion string, target Target) (Score, error) {
	last := Score{Value: Incorrect, Explanation: &completion}
	for _, t := range target {
		s, err := m.one(completion, t)
		if err != nil {
			return Score{}, fmt.Errorf("match target %q: %w", t, err)
		}
		if last = s; s.Value == Correct {
			break
		}
	}
	return last, nil
}

func (m Match) one(completion, target string) (Score, error) {
	v := str.Strip(completion)
	t := str.Strip(target)
	if m.Numeric {
		if !m.CaseSensitive {
			t = str.Casefold(t)
		}
		t = numeral.StripDecoration(t)
		want, is, err := numeral.Normalize(t)
		if err != nil {
			return Score{}, err
		}
		if is {
			return m.number(completion, v, want)
		}
	}
	span := &Span{From: strings.Index(completion, v)}
	span.To = span.From + len(v)
	return decided(m.text(v, t), v, completion, span), nil
}

func (m Match) text(v, t string) bool {
	ascii := !m.CaseSensitive && isASCII(v) && isASCII(t)
	if !m.CaseSensitive && !ascii {
		v, t = str.Casefold(v), str.Casefold(t)
	}
	v, t = numeral.StripPunctuation(v), numeral.StripPunctuation(t)
	equal := func(a, b string) bool { return a == b }
	if ascii {
		equal = equalASCII
	}
	switch m.Location {
	case Begin:
		return len(v) >= len(t) && equal(v[:len(t)], t)
	case End:
		return len(v) >= len(t) && equal(v[len(v)-len(t):], t)
	case Whole:
		return equal(v, t)
	}
	if ascii {
		at, _ := indexFold(v, t)
		return at >= 0
	}
	return strings.Contains(v, t)
}

// number looks for want, a normalised number, in v, the stripped completion.
func (m Match) number(completion, v, want string) (Score, error) {
	base := strings.Index(completion, v)
	switch m.Location {
	case Whole:
		text := v
		if !m.CaseSensitive {
			text = str.Casefold(text)
		}
		got, _, err := numeral.Normalize(numeral.StripDecoration(text))
		return decided(got == want, got, completion, &Span{base, base + len(v)}), err
	case Begin, End:
		got, span, err := m.find(v, m.Location == End, func(string) bool { return true })
		if span != nil {
			span.From, span.To = span.From+base, span.To+base
		}
		return decided(got == want, got, completion, span), err
	}
	got, span, err := m.find(v, false, func(n string) bool { return n == want })
	right := span != nil
	if !right && err == nil { // the last number stands for those that were compared
		got = v
		_, span, err = m.find(v, true, func(string) bool { return true })
	}
	if span != nil {
		span.From, span.To = span.From+base, span.To+base
	}
	return decided(right, got, completion, span), err
}

// find returns the first number word of v that accept takes, normalised, and
// where it stands; backward searches from the end. Words are cleaned one by
// one, which gives what cleaning the whole text gives, because cleaning never
// touches white space.
func (m Match) find(v string, backward bool, accept func(string) bool) (string, *Span, error) {
	for v, at := v, 0; v != ""; {
		from, to := firstWord(v)
		if backward {
			from, to = lastWord(v)
		}
		w := v[from:to]
		if !lettered(w) {
			if !m.CaseSensitive {
				w = str.Casefold(w)
			}
			got, is, err := numeral.Normalize(numeral.StripDecoration(w))
			if err != nil {
				return "", nil, err
			}
			if is && accept(got) {
				return got, &Span{at + from, at + to}, nil
			}
		}
		if backward {
			v = v[:from]
		} else {
			v, at = v[to:], at+to
		}
	}
	return "", nil, nil
}

// lettered reports an ASCII word with a letter that stands in no number. It
// is a short cut: such a word is no number however it is cleaned.
func lettered(w string) bool {
	found := false
	for i := 0; i < len(w); i++ {
		c := w[i]
		if c >= 0x80 {
			return false
		}
		if l := c | 0x20; 'a' <= l && l <= 'z' && l != 'e' {
			found = true
		}
	}
	return found
}

// firstWord and lastWord are the ranges of the first and last run of what is
// not white space; empty at the far end when there is none.
func firstWord(s string) (from, to int) {
	for from < len(s) {
		r, n := str.DecodeRune(s[from:])
		if !space(r) {
			break
		}
		from += n
	}
	for to = from; to < len(s); {
		r, n := str.DecodeRune(s[to:])
		if space(r) {
			break
		}
		to += n
	}
	return from, to
}

func lastWord(s string) (from, to int) {
	for to = len(s); to > 0; {
		r, n := str.DecodeLastRune(s[:to])
		if !space(r) {
			break
		}
		to -= n
	}
	for from = to; from > 0; {
		r, n := str.DecodeLastRune(s[:from])
		if space(r) {
			break
		}
		from -= n
	}
	return from, to
}

func space(r rune) bool {
	if r < 0x80 {
		return r == ' ' || r >= '\t' && r <= '\r' || r >= 0x1c && r <= 0x1f
	}
	return str.Of(r).Space()
}
