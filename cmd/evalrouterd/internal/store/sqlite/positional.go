package sqlite

import (
	"strconv"
	"strings"
)

// Positional writes a statement's parameters $1, $2 … as ?, and gives the index
// of the argument for each ? in turn; nil means the arguments as they are. A
// statement that has anything in which a $ could stand for something else is
// given as it is.
//
// To SQLite $1 is a name, not a number. The driver asks for the name of every
// parameter at every use of a statement, and SQLite looks for it from the first
// one on: with a hundred parameters that is most of what binding costs.
func Positional(q string) (text string, order []int) {
	var b strings.Builder
	last, straight := 0, true
	for i := 0; i < len(q); i++ {
		switch q[i] {
		case '"', '`', '[', '?', ':', '@':
			return q, nil
		case '-', '/':
			if strings.HasPrefix(q[i:], "--") || strings.HasPrefix(q[i:], "/*") {
				return q, nil
			}
		case '\'':
			end := strings.IndexByte(q[i+1:], '\'')
			if end < 0 {
				return q, nil
			}
			i += end + 1
		case '$':
			end := i + 1
			for end < len(q) && q[end] >= '0' && q[end] <= '9' {
				end++
			}
			n, err := strconv.Atoi(q[i+1 : end])
			if err != nil || strconv.Itoa(n) != q[i+1:end] || n == 0 {
				return q, nil
			}
			straight = straight && n == len(order)+1
			order = append(order, n-1)
			b.WriteString(q[last:i])
			b.WriteByte('?')
			last, i = end, end-1
		}
	}
	if straight {
		order = nil
	}
	b.WriteString(q[last:])
	return b.String(), order
}
