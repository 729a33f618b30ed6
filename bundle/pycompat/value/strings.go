package value

import (
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// strings parses string literals that follow each other as one.
func (p *literalParser) strings() (any, error) {
	var b []byte
	for {
		start := p.at
		prefix := strings.ToLower(p.name())
		if q := p.peek(); q != '"' && q != '\'' {
			p.at = start
			return string(b), nil
		}
		raw := false
		switch prefix {
		case "", "u":
		case "r":
			raw = true
		case "f", "fr", "rf", "b", "br", "rb":
			p.malformed = true // formatted, or bytes: no value of ours
			raw = strings.Contains(prefix, "r")
		default:
			return nil, p.syntax("invalid syntax")
		}
		body, err := p.quoted()
		if err != nil {
			return nil, err
		}
		if raw {
			b = append(b, body...)
		} else if b, err = p.unescape(b, body); err != nil {
			return nil, err
		}
		p.space()
	}
}

// quoted consumes a quoted text and returns what is between the quotes.
func (p *literalParser) quoted() (string, error) {
	quote := p.text[p.at : p.at+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(p.text[p.at:], triple) {
		quote = triple
	}
	p.at += len(quote)
	for i := p.at; i < len(p.text); i++ {
		switch {
		case p.text[i] == '\\':
			i++
		case strings.HasPrefix(p.text[i:], quote):
			body := p.text[p.at:i]
			p.at = i + len(quote)
			return body, nil
		case p.text[i] == '\n' && len(quote) == 1:
			return "", p.syntax("unterminated string literal")
		}
	}
	return "", p.syntax("unterminated string literal")
}

// unescape appends body with its escapes replaced. Python keeps a backslash
// before a character that needs none.
func (p *literalParser) unescape(b []byte, body string) ([]byte, error) {
	for {
		i := strings.IndexByte(body, '\\')
		if i < 0 {
			return append(b, body...), nil
		}
		b = append(b, body[:i]...)
		c := body[i+1]
		body = body[i+2:]
		if c == '\n' {
			continue
		}
		if at := strings.IndexByte(`abfnrtv\'"`, c); at >= 0 {
			b = append(b, "\a\b\f\n\r\t\v\\'\""[at])
			continue
		}
		size, base := 0, 16
		switch {
		case c == 'x':
			size = 2
		case c == 'u':
			size = 4
		case c == 'U':
			size = 8
		case c == 'N':
			return nil, pycompat.Raise("ValueError", `\N{...} is not supported`)
		case c >= '0' && c <= '7':
			body, base = string(c)+body, 8
			for size < 3 && size < len(body) && body[size] >= '0' && body[size] <= '7' {
				size++
			}
		default:
			b = append(b, '\\', c)
			continue
		}
		if len(body) < size {
			return nil, p.syntax("truncated escape")
		}
		n, err := strconv.ParseUint(body[:size], base, 32)
		if err != nil || n > 0x10FFFF {
			return nil, p.syntax("malformed escape")
		}
		b = str.AppendRune(b, rune(n))
		body = body[size:]
	}
}
