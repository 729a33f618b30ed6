package sqlite_test

import (
	"slices"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/sqlite"
)

func TestPositional(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, query, text string // text is "" where the statement stays as it is
		order             []int
	}{
		{name: "none", query: "SELECT 1"},
		{name: "in turn", query: "INSERT INTO a (b, c) VALUES ($1, $2),($3,$4)", text: "INSERT INTO a (b, c) VALUES (?, ?),(?,?)"},
		{name: "beyond nine", query: "$1$2$3$4$5$6$7$8$9$10$11", text: "???????????"},
		{name: "at the end", query: "a = $1", text: "a = ?"},
		{name: "one twice", query: "SET b = b - $1 WHERE b >= $1 AND id = $2", text: "SET b = b - ? WHERE b >= ? AND id = ?", order: []int{0, 0, 1}},
		{name: "another order", query: "a = $2 AND b = $1", text: "a = ? AND b = ?", order: []int{1, 0}},
		{name: "not from one on", query: "a = $2", text: "a = ?", order: []int{1}},
		{name: "beside a text", query: "a = '$1' AND b = $1 - $2 / 'it''s $9'", text: "a = '$1' AND b = ? - ? / 'it''s $9'"},
		{name: "a name", query: "a = $1 AND b = $name"},
		{name: "a leading zero", query: "a = $01"},
		{name: "naught", query: "a = $0"},
		{name: "other parameters", query: "a = $1 AND b = ?"},
		{name: "a quoted name", query: `a = $1 AND "b" = $2`},
		{name: "a comment", query: "a = $1 -- $2"},
		{name: "a comment inside", query: "a = $1 /* $2 */"},
		{name: "a text without an end", query: "a = $1 AND b = 'x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			want := c.text
			if want == "" {
				want = c.query
			}
			if text, order := sqlite.Positional(c.query); text != want || !slices.Equal(order, c.order) {
				t.Errorf("%q %v, want %q %v", text, order, want, c.order)
			}
		})
	}
}
