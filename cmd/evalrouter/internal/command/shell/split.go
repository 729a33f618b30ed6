package shell

import (
	"errors"
	"strings"
)

// split reads a line as a shell does, as far as words and quotes go. Nothing is
// expanded, and no other program is ever run.
func split(line string) ([]string, error) {
	var out []string
	var word strings.Builder
	quote, started, escaped := rune(0), false, false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, started = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, started = r, true
		case strings.ContainsRune("|&;<>`$", r):
			return nil, errors.New("one command at a time, without pipes, redirections or variables")
		case r == ' ' || r == '\t':
			if started {
				out = append(out, word.String())
			}
			word.Reset()
			started = false
		default:
			word.WriteRune(r)
			started = true
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("a quote is not closed")
	}
	if started {
		out = append(out, word.String())
	}
	return out, nil
}
