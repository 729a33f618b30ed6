package sqlite

import (
	"strconv"
	"strings"
)

// Spell writes a statement whose parameters are $1, $2 and so on, each once and
// in that order, with ? for each of them. They mean the same, but SQLite keeps a
// list of the names of numbered ones, and the driver looks each of them up there
// whenever it binds: with a hundred parameters that is most of what binding
// costs. Any other statement is given as it is.
func Spell(q string) string {
	var b strings.Builder
	last, want := 0, 1
	for i := 0; i < len(q); i++ {
		switch q[i] {
		case '\'', '"', '`', '[', '?', ':', '@', '-', '/':
			if q[i] == '-' && !strings.HasPrefix(q[i:], "--") || q[i] == '/' && !strings.HasPrefix(q[i:], "/*") {
				continue
			}
			if q[i] != '\'' {
				return q
			}
			end := strings.IndexByte(q[i+1:], '\'')
			if end < 0 {
				return q
			}
			i += end + 1
		case '$':
			end := i + 1
			for end < len(q) && q[end] >= '0' && q[end] <= '9' {
				end++
			}
			if q[i+1:end] != strconv.Itoa(want) {
				return q
			}
			b.WriteString(q[last:i])
			b.WriteByte('?')
			last, want, i = end, want+1, end-1
		}
	}
	b.WriteString(q[last:])
	return b.String()
}
