package generic

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// What stands beside a run of digits decides whether it is a number and
// whether it is negative. These are the rules of that neighbourhood.

// wordy says whether a letter belongs to a script that puts spaces between
// words; only there do digits beside letters make a name.
func wordy(r rune) bool {
	return unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Armenian, unicode.Georgian)
}

// numeral says whether a character is a number that is not a decimal digit: a
// superscript, a vulgar fraction, a circled number.
func numeral(r rune) bool { return unicode.In(r, unicode.No, unicode.Nl) }

func alnum(r rune) bool { return wordy(r) || unicode.Is(unicode.Nd, r) }

func before(text string, i int) (rune, int) {
	if i <= 0 {
		return 0, 0
	}
	return utf8.DecodeLastRuneInString(text[:i])
}

func after(text string, i int) (rune, int) {
	if i >= len(text) {
		return 0, 0
	}
	return utf8.DecodeRuneInString(text[i:])
}

// glue is what digits touch: nothing, a name that they are part of, or
// something that makes of them a quantity that is not read, with the reason.
type glue struct {
	name   bool
	unread string
}

func gluedLeft(text string, i int) glue {
	r, w := before(text, i)
	prev, w2 := before(text, i-w)
	switch r {
	case '_':
		return glue{name: alnum(prev)}
	case '^':
		return powerOf(prev)
	case '{':
		if prev == '^' {
			base, _ := before(text, i-w-w2)
			return powerOf(base)
		}
		return glue{name: prev == '_' || prev == '}'}
	case '*':
		d, _ := before(text, i-2)
		if prev == '*' && unicode.Is(unicode.Nd, d) {
			return glue{unread: unreadPower}
		}
		return glue{}
	}
	if numeral(r) {
		return glue{unread: unreadPower}
	}
	// A TeX command such as \text or \quad ends where the digits start.
	return glue{name: wordy(r) && r != 'π' && !texCommand(text[:i])}
}

// powerOf decides about an exponent: that of a letter belongs to a unit or a
// name, that of a number or a bracket to a quantity.
func powerOf(base rune) glue {
	if unicode.IsNumber(base) || closing(base) {
		return glue{unread: unreadPower}
	}
	return glue{name: wordy(base)}
}

func texCommand(head string) bool {
	cut := strings.TrimRightFunc(head[max(0, len(head)-16):], func(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) })
	return strings.HasSuffix(cut, `\`)
}

func gluedRight(text string, i int) glue {
	r, w := after(text, i)
	next, _ := after(text, i+w)
	switch r {
	case '_':
		return glue{name: alnum(next)}
	case '^':
		if alnum(next) || next == '{' || next == '(' || next == '-' {
			return glue{unread: unreadPower}
		}
		return glue{}
	case '*':
		d, _ := after(text, i+2)
		if next == '*' && unicode.Is(unicode.Nd, d) {
			return glue{unread: unreadPower}
		}
		return glue{}
	}
	if a, _ := vulgar(r); a != "" {
		return glue{} // 2½ is one number
	}
	if numeral(r) {
		return glue{unread: unreadPower}
	}
	if !wordy(r) || unitTail.MatchString(text[i:min(len(text), i+16)]) {
		return glue{}
	}
	if word := firstWord(text[i:min(len(text), i+16)]); r == 'π' || word == "pi" {
		return glue{unread: unreadRoot}
	}
	if !alnum(next) && next != '_' && !unicode.IsMark(next) {
		return glue{unread: unreadLetter} // 2x, 5k
	}
	return glue{name: true}
}

// pointStarts says whether the point at i opens a number such as .5 rather
// than ending a sentence or an ellipsis.
func pointStarts(text string, i int) bool {
	if d, _ := digitAt(text[i+1:]); d < 0 {
		return false
	}
	r, _ := before(text, i)
	return r == 0 || unicode.IsSpace(r) || unicode.Is(unicode.Sc, r) || strings.ContainsRune("-−﹣－–+=:([{<>~≈*\"'`|$", r)
}

// sign finds the minus of the number at [from,to) and where the number starts
// with it.
func sign(text string, from, to int) (int, bool) {
	i := from
	if r, w := before(text, i); unicode.Is(unicode.Sc, r) {
		i -= w
	}
	r, w := before(text, i)
	if minusSign(r) {
		return i - w, adjacent(text, r, i-w)
	}
	if r != ' ' {
		return from, false
	}
	r, w2 := before(text, i-w)
	at := i - w - w2
	if r != '-' && r != '−' {
		return from, false
	}
	return at, spaced(text, r, at, to)
}

func minusSign(r rune) bool {
	return r == '-' || r == '−' || r == '﹣' || r == '－' || r == '–'
}

// adjacent decides about a minus that touches its number.
func adjacent(text string, minus rune, at int) bool {
	r, _ := before(text, at)
	switch {
	case unicode.IsLetter(r), unicode.IsNumber(r), minusSign(r), r == '%', r == '_', closing(r):
		return false
	case r == '\n' || r == 0:
		return true
	case unicode.IsSpace(r):
		return !subtrahend(text, at)
	}
	return true
}

// spaced decides about a minus with one space before its number: at the start
// of a line it is a list mark, unless the number is all there is.
func spaced(text string, minus rune, at, to int) bool {
	head := strings.TrimRight(text[:at], " \t")
	r, _ := utf8.DecodeLastRuneInString(head)
	switch {
	case head == "" || r == '\n':
		alone := head == "" && strings.TrimFunc(text[to:], func(c rune) bool { return unicode.IsSpace(c) || edge(c) }) == ""
		return alone || minus == '−'
	}
	return strings.ContainsRune("=:([{<>≈", r)
}

// subtrahend says whether the last thing on the line before at is something
// that a minus could subtract from.
func subtrahend(text string, at int) bool {
	head := strings.TrimRight(text[:at], " \t\u00a0")
	r, _ := utf8.DecodeLastRuneInString(head)
	return head != "" && (unicode.IsNumber(r) || closing(r) || r == '%')
}

func closing(r rune) bool { return r == ')' || r == ']' || r == '}' }
