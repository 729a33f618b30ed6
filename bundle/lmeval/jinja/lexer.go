package jinja

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

type kind uint8

const (
	kEnd kind = iota
	kText
	kOutput // {{
	kTag    // {%
	kClose  // }} or %}
	kName
	kInt
	kFloat
	kString
	kOp
)

type token struct {
	kind kind
	text string // for kString, the value
	line int
}

// lexer cuts a template into tokens. Expression tokens stand between kOutput or
// kTag and kClose.
type lexer struct {
	src   string
	at    int
	line  int
	out   []token
	strip bool // the text that follows loses its leading white space
}

func lex(src string) ([]token, error) {
	src = strings.ReplaceAll(strings.ReplaceAll(src, "\r\n", "\n"), "\r", "\n")
	l := &lexer{src: src, line: 1}
	for l.at < len(l.src) {
		if err := l.next(); err != nil {
			return nil, err
		}
	}
	return append(l.out, token{kind: kEnd, line: l.line}), nil
}

func (l *lexer) fail(message string) error { return &SyntaxError{l.line, message} }

func (l *lexer) add(k kind, text string) { l.out = append(l.out, token{k, text, l.line}) }

func (l *lexer) skip(n int) {
	l.line += strings.Count(l.src[l.at:l.at+n], "\n")
	l.at += n
}

// next reads text up to a delimiter and then what the delimiter opens.
func (l *lexer) next() error {
	open := len(l.src)
	for _, d := range []string{"{{", "{%", "{#"} {
		if i := strings.Index(l.src[l.at:], d); i >= 0 {
			open = min(open, l.at+i)
		}
	}
	text := l.src[l.at:open]
	if l.strip {
		text, l.strip = str.LStrip(text), false
	}
	rest := l.src[open:]
	if len(rest) > 2 && rest[2] == '-' {
		text = str.RStrip(text)
	}
	if text != "" {
		l.add(kText, text)
	}
	l.skip(open - l.at)
	if rest == "" {
		return nil
	}
	delimiter := rest[:2]
	l.skip(2)
	if len(rest) > 2 && (rest[2] == '-' || rest[2] == '+' && delimiter != "{{") {
		l.skip(1)
	}
	switch delimiter {
	case "{#":
		return l.comment()
	case "{{":
		l.add(kOutput, "")
		return l.expression("}}")
	}
	if done, err := l.raw(); done || err != nil {
		return err
	}
	l.add(kTag, "")
	return l.expression("%}")
}

func (l *lexer) comment() error {
	end := strings.Index(l.src[l.at:], "#}")
	if end < 0 {
		return l.fail("the comment is not closed")
	}
	body := l.src[l.at : l.at+end]
	l.strip = strings.HasSuffix(body, "-")
	l.skip(end + 2)
	return nil
}

// tagNamed reports the length of a tag with this one name at the start of s,
// opened already if open is empty, and whether its end strips what follows.
func tagNamed(s, open, name string) (n int, before, after, ok bool) {
	rest := s
	if open != "" {
		if rest, ok = strings.CutPrefix(rest, open); !ok {
			return 0, false, false, false
		}
		if r, minus := strings.CutPrefix(rest, "-"); minus {
			rest, before = r, true
		} else {
			rest = strings.TrimPrefix(rest, "+")
		}
	}
	rest, ok = strings.CutPrefix(str.LStrip(rest), name)
	if !ok {
		return 0, false, false, false
	}
	rest = str.LStrip(rest)
	if r, minus := strings.CutPrefix(rest, "-"); minus {
		rest, after = r, true
	} else {
		rest = strings.TrimPrefix(rest, "+")
	}
	rest, ok = strings.CutPrefix(rest, "%}")
	return len(s) - len(rest), before, after, ok
}

// raw reads a raw block, whose tag has just been opened.
func (l *lexer) raw() (bool, error) {
	n, _, strip, ok := tagNamed(l.src[l.at:], "", "raw")
	if !ok {
		return false, nil
	}
	l.skip(n)
	for from := l.at; ; {
		i := strings.Index(l.src[from:], "{%")
		if i < 0 {
			return true, l.fail("the raw block is not closed")
		}
		from += i
		n, before, after, ok := tagNamed(l.src[from:], "{%", "endraw")
		if !ok {
			from += 2
			continue
		}
		text := l.src[l.at:from]
		if strip {
			text = str.LStrip(text)
		}
		if before {
			text = str.RStrip(text)
		}
		if text != "" {
			l.add(kText, text)
		}
		l.strip = after
		l.skip(from + n - l.at)
		return true, nil
	}
}

// expression reads tokens up to the closing delimiter. Brackets hide a closing
// delimiter, as in {{ {'a': {}} }}.
func (l *lexer) expression(end string) error {
	depth := 0
	for {
		rest := l.src[l.at:]
		trimmed := str.LStrip(rest)
		l.skip(len(rest) - len(trimmed))
		switch {
		case trimmed == "":
			return l.fail("the template ends within " + end)
		case depth == 0 && (strings.HasPrefix(trimmed, "-"+end) || strings.HasPrefix(trimmed, end)):
			l.strip = trimmed[0] == '-'
			l.skip(strings.Index(trimmed, end) + 2)
			l.add(kClose, end)
			return nil
		case depth == 0 && end == "%}" && strings.HasPrefix(trimmed, "+%}"):
			l.skip(3)
			l.add(kClose, end)
			return nil
		}
		if err := l.token(trimmed); err != nil {
			return err
		}
		if t := l.out[len(l.out)-1]; t.kind == kOp {
			switch t.text {
			case "(", "[", "{":
				depth++
			case ")", "]", "}":
				depth--
			}
		}
		if depth < 0 {
			return l.fail("a bracket is closed that was not opened")
		}
	}
}

// token reads one token of an expression.
func (l *lexer) token(s string) error {
	switch c := s[0]; {
	case c == '\'' || c == '"':
		return l.quoted(s)
	case c >= '0' && c <= '9':
		return l.number(s)
	}
	n := 0
	for n < len(s) {
		r, size := str.DecodeRune(s[n:])
		if !str.Of(r).Word() {
			break
		}
		n += size
	}
	if n > 0 {
		if !str.IsIdentifier(s[:n]) {
			return l.fail("bad name " + s[:n])
		}
		l.add(kName, s[:n])
		l.skip(n)
		return nil
	}
	for _, op := range []string{"**", "//", "==", "!=", ">=", "<="} {
		if strings.HasPrefix(s, op) {
			l.add(kOp, op)
			l.skip(2)
			return nil
		}
	}
	if strings.IndexByte("+-/*%~[](){}<>=.:|,", s[0]) < 0 {
		return l.fail("unexpected character in an expression")
	}
	l.add(kOp, s[:1])
	l.skip(1)
	return nil
}

// number reads a decimal integer or a float. Other notations are refused.
func (l *lexer) number(s string) error {
	n := digits(s)
	k := kInt
	previousDot := len(l.out) > 0 && l.out[len(l.out)-1] == token{kOp, ".", l.line}
	if !previousDot {
		if m := digits(s[min(n+1, len(s)):]); n < len(s) && s[n] == '.' && m > 0 {
			n += 1 + m
			k = kFloat
		}
		if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
			e := n + 1
			if e < len(s) && (s[e] == '+' || s[e] == '-') {
				e++
			}
			if m := digits(s[e:]); m > 0 {
				n, k = e+m, kFloat
			}
		}
	}
	text := s[:n]
	if r, _ := str.DecodeRune(s[n:]); n < len(s) && str.Of(r).Word() {
		return l.fail("bad number " + text)
	}
	if k == kInt && len(text) > 1 && text[0] == '0' && strings.Trim(text, "0_") != "" {
		return l.fail("an integer starts with 0")
	}
	l.add(k, text)
	l.skip(n)
	return nil
}

// digits is the length of a run of digits with single underscores in it.
func digits(s string) int {
	n := 0
	for n < len(s) {
		switch {
		case s[n] >= '0' && s[n] <= '9':
			n++
		case s[n] == '_' && n > 0 && n+1 < len(s) && s[n+1] >= '0' && s[n+1] <= '9':
			n++
		default:
			return n
		}
	}
	return n
}
