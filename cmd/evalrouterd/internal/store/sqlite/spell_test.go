package sqlite_test

import (
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/sqlite"
)

func TestSpell(t *testing.T) {
	t.Parallel()
	same := func(name, q string) [3]string { return [3]string{name, q, q} }
	for _, tt := range [][3]string{
		{"in order", "INSERT INTO a (b, c) VALUES ($1, $2),($3,$4)", "INSERT INTO a (b, c) VALUES (?, ?),(?,?)"},
		{"beyond nine", "$1$2$3$4$5$6$7$8$9$10$11", "???????????"},
		{"at the end", "a = $1", "a = ?"},
		{"beside a text", "a = '$1' AND b = $1 - $2 / 'it''s $9'", "a = '$1' AND b = ? - ? / 'it''s $9'"},
		same("none", "SELECT 1"),
		same("one twice", "a = $1 OR b = $1"),
		same("another order", "a = $2 AND b = $1"),
		same("not from one on", "a = $2"),
		same("a name", "a = $1 AND b = $name"),
		same("a leading zero", "a = $01"),
		same("other parameters", "a = $1 AND b = ?"),
		same("a quoted name", `a = $1 AND "b" = $2`),
		same("a comment", "a = $1 -- $2"),
		same("a comment inside", "a = $1 /* $2 */"),
		same("a text without an end", "a = $1 AND b = 'x"),
	} {
		if got := sqlite.Spell(tt[1]); got != tt[2] {
			t.Errorf("%s: %q became %q, want %q", tt[0], tt[1], got, tt[2])
		}
	}
}
