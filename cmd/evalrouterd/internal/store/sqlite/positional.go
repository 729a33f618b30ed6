package sqlite

import (
	"strconv"
	"strings"
)

// Positional writes a statement's parameters $1, $2 … as ?, and gives the index
// of the argument for each ? in turn; nil means the arguments as they are.
//
// To SQLite $1 is a name, not a number. The driver asks for the name of every
// parameter at every use of a statement, and SQLite looks for it from the first
// one on: the time grows with the square of how many there are.
func Positional(q string) (text string, order []int) {
	var b strings.Builder
	var quote byte
	straight := true
	for i := 0; i < len(q); i++ {
		c := q[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == '$':
			end := i + 1
			for end < len(q) && q[end] >= '0' && q[end] <= '9' {
				end++
			}
			if n, err := strconv.Atoi(q[i+1 : end]); err == nil {
				straight = straight && n == len(order)+1
				order = append(order, n-1)
				b.WriteByte('?')
				i = end - 1
				continue
			}
		}
		b.WriteByte(c)
	}
	if straight {
		order = nil
	}
	return b.String(), order
}
