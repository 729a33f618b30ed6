package generic

import (
	"regexp"
	"strings"
	"unicode"
)

// Digits that are part of something else are not the number that they spell:
// √2, 2π, ±7, >7, 2^10, 3 × 4. Such a place holds a quantity, so it is not
// passed over, which would give its rank as the last number to an earlier one.
// It is kept as a number that is not read, with the reason.
const (
	unreadForm      = "digits that the locale does not write so"
	unreadPower     = "part of a power"
	unreadLetter    = "a letter stands at the digits"
	unreadDivision  = "a division that is no fraction"
	unreadRange     = "too large or too small"
	unreadRoot      = "part of a root, a function or a constant"
	unreadBound     = "a bound"
	unreadSigns     = "two signs"
	unreadOperation = "an operation without its result"
	unreadGroups    = "one number or several"
	unreadSum       = "a number in several parts"
)

var (
	rootHead   = regexp.MustCompile(`(?:[√∛∜]|\\?(?i:sqrt|cbrt|log|ln|exp|sin|cos|tan|binom)(?:\[[^\]\n]{0,8}\]|_\{?\w{1,3}\}?)?)[ \t]?[({\[]*[ \t]?$`)
	tagHead    = regexp.MustCompile(`</?[A-Za-z][\w:-]*(?:\s[^<>]*=[^<>]*)?\s?/?>$`)
	texHead    = regexp.MustCompile(`\\(pm|mp|times|cdot|div|ge|geq|geqslant|gt|le|leq|leqslant|lt|ne|neq|pi|sqrt|log|ln|exp|sin|cos|tan)$`)
	texAfter   = regexp.MustCompile(`^(?:\\[,;! ])?\\(?:pm|mp|pi|sqrt|infty)(?:[^A-Za-z]|$)`)
	boundAfter = regexp.MustCompile(`^ (?:[<>]=?|[≤≥]) |^\+(?:[\s.,;:!?)\]}*_"'$]|$)`)
	wordsAfter = regexp.MustCompile(`(?i)^ (?:and (?:a|one|three)[ -](?:half|third|quarter)|or (?:more|less|fewer|higher|lower|above|below)|to the power)\b`)
)

// obstacle says why the digits at [from,to), sign included, are not the number
// they spell, "" when nothing is in the way.
func (x lexer) obstacle(from, to int) string {
	if why := x.headObstacle(from, to); why != "" {
		return why
	}
	return x.tailObstacle(to)
}

// headObstacle looks at the line before a number.
func (x lexer) headObstacle(from, to int) string {
	if r, w := before(x.text, from); unicode.Is(unicode.Sc, r) && r != '$' {
		from -= w
	}
	if from == 0 || x.text[from-1] == '\n' {
		return ""
	}
	const reach = 48
	line := x.text[max(0, from-reach):from]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	head := strings.TrimRight(line, " \t\u00a0")
	spaced := len(head) < len(line)
	r, w := before(head, len(head))
	switch r {
	case '√', '∛', '∜', 'π':
		return unreadRoot
	case '(', '{', '[':
		if inner, _ := before(head, len(strings.TrimRight(head, "({["))); inner == '√' || inner == '∛' || inner == ']' || inner == '}' || unicode.IsLetter(inner) || unicode.IsNumber(inner) {
			if rootHead.MatchString(head) {
				return unreadRoot
			}
		}
		return ""
	case '±', '∓':
		return unreadSigns
	case '+':
		if first, _ := after(x.text, from); minusSign(first) && !spaced {
			return unreadSigns // +-7
		}
	case '≥', '≤', '≧', '≦', '⩾', '⩽', '≠', '≫', '≪':
		return unreadBound
	}
	if r < 'A' || r == '\\' || r >= 0x80 {
		return x.operator(head[:len(head)-w], r, spaced, to)
	}
	if strings.IndexByte(head, '\\') >= 0 {
		if m := texHead.FindStringSubmatch(head); m != nil {
			return texObstacle(m[1], head[:len(head)-len(m[0])])
		}
		return ""
	}
	if (r == 'x' || r == 'X') && spaced && operand(head[:len(head)-1], true) {
		return unreadOperation
	}
	return ""
}

func texObstacle(command, head string) string {
	switch command {
	case "pm", "mp":
		return unreadSigns
	case "times", "cdot", "div":
		return unreadOperation
	case "ge", "geq", "geqslant", "gt", "le", "leq", "leqslant", "lt", "ne", "neq":
		return unreadBound
	}
	return unreadRoot
}

// operator decides about the character before a number: head is what stands
// before that character.
func (x lexer) operator(head string, r rune, spaced bool, to int) string {
	prev, _ := before(head, len(head))
	switch r {
	case '+':
		if operand(head, spaced) || prev == '-' || prev == '−' {
			return unreadOperation
		}
	case '*', '×', '·', '⋅', '∙', '÷':
		if operand(head, spaced) {
			return unreadOperation
		}
	case '/', '⁄', '∕':
		if prev == '+' {
			return unreadSigns
		}
		if prev == '<' || spaced && unicode.IsLetter(prev) {
			return ""
		}
		if operand(head, spaced) || unicode.IsLetter(prev) || prev == 'π' {
			return unreadDivision
		}
	case '=':
		if prev == '>' || prev == '<' || prev == '!' {
			return unreadBound
		}
	case '<', '>':
		return x.bound(head, r, prev, spaced, to)
	}
	return ""
}

// operand says whether head ends with something that an operator behind it
// works on. The operator has a space on both sides or on none: "3 *5*" is a
// number in italics.
func operand(head string, spaced bool) bool {
	trimmed := strings.TrimRight(head, " \t\u00a0")
	if (len(trimmed) < len(head)) != spaced {
		return false
	}
	r, _ := before(trimmed, len(trimmed))
	return unicode.IsNumber(r) || closing(r) || r == '%' || r == 'π' || strings.HasSuffix(trimmed, `\pi`)
}

// bound decides about < and > before a number: arrows, tags, calculator marks,
// a quoted line and <7> are none.
func (x lexer) bound(head string, r, prev rune, spaced bool, to int) string {
	if prev == r || r == '>' && (prev == '=' || prev == '-' || prev == '/') {
		return ""
	}
	blank := strings.TrimLeft(head, " \t") == ""
	if r == '>' && (blank && spaced || tagHead.MatchString(head+">")) {
		return ""
	}
	if next, _ := after(x.text, to); r == '<' && next == '>' && !spaced {
		return ""
	}
	return unreadBound
}

// tailObstacle looks at what follows a number on its line.
func (x lexer) tailObstacle(to int) string {
	const reach = 24
	tail := x.text[to:min(len(x.text), to+reach)]
	if tail == "" {
		return ""
	}
	rest := strings.TrimLeft(tail, " \t\u00a0")
	r, _ := after(rest, 0)
	switch {
	case r == '±' || r == '∓':
		return unreadSigns
	case r == '√' || r == '∛' || r == '∜' || r == 'π' || r == '∞':
		return unreadRoot
	case r == '\\' && texAfter.MatchString(rest):
		return unreadRoot
	case (r == '*' || r == '·' || r == '×') && constantAfter(rest, r):
		return unreadRoot
	case (r == '<' || r == '>' || r == '≤' || r == '≥' || r == '+') && boundAfter.MatchString(tail):
		return unreadBound
	case (r == 'a' || r == 'o' || r == 't' || r == 'A') && wordsAfter.MatchString(tail):
		return unreadSum
	case 'A' <= r && r <= 'z':
		return wordObstacle(strings.ToLower(firstWord(tail)))
	}
	return ""
}

func constantAfter(rest string, op rune) bool {
	rest = strings.TrimLeft(strings.TrimPrefix(rest, string(op)), " ")
	return strings.HasPrefix(rest, "π") || strings.HasPrefix(rest, "√") || strings.HasPrefix(rest, `\pi`) || strings.HasPrefix(rest, `\sqrt`) ||
		strings.HasPrefix(rest, "sqrt(") || firstWord(rest) == "pi"
}

func firstWord(text string) string {
	word, _, _ := wordAt(text, 0)
	return word
}

// wordObstacle knows the words that make another number of the one before.
func wordObstacle(word string) string {
	switch word {
	case "pi", "sqrt":
		return unreadRoot
	case "squared", "cubed", "factorial":
		return unreadPower
	case "thirds", "fifths", "sixths", "sevenths", "eighths", "ninths", "tenths", "hundredths", "thousandths", "millionths", "billionths":
		return unreadDivision
	}
	return ""
}
