package sqlite_test

import (
	"slices"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/sqlite"
)

func TestPositional(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, query, text string
		order             []int
	}{
		{name: "none", query: "SELECT 1", text: "SELECT 1"},
		{name: "in turn", query: "INSERT INTO t VALUES ($1, $2), ($3, $4)", text: "INSERT INTO t VALUES (?, ?), (?, ?)"},
		{name: "past nine", query: "$1 $2 $3 $4 $5 $6 $7 $8 $9 $10 $11", text: "? ? ? ? ? ? ? ? ? ? ?"},
		{name: "one twice", query: "SET b = b - $1 WHERE b >= $1 AND id = $2", text: "SET b = b - ? WHERE b >= ? AND id = ?", order: []int{0, 0, 1}},
		{name: "another turn", query: "SET a = $2 WHERE id = $1", text: "SET a = ? WHERE id = ?", order: []int{1, 0}},
		{name: "within a text", query: "SET a = 'it''s $1' WHERE \"$2\" = $1", text: "SET a = 'it''s $1' WHERE \"$2\" = ?"},
		{name: "a name", query: "SELECT $name, $1", text: "SELECT $name, ?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text, order := sqlite.Positional(c.query)
			if text != c.text || !slices.Equal(order, c.order) {
				t.Errorf("%q %v, want %q %v", text, order, c.text, c.order)
			}
		})
	}
}
