// Package phrase makes the texts of statements that are used again and again,
// puts their arguments in place, and runs writes on a connection that nobody else
// uses.
package phrase

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Insert is an INSERT of rows of one shape: what is the same in every row
// is bound once, and what is always the same stands in the text.
type Insert struct {
	Into   string
	Row    string // a row: %[n]s is value n of all rows, ? a value of its own
	Shared int    // values of all rows
	Own    int    // values of each row
}

// Text is the statement for n rows.
func (i Insert) Text(n int) string {
	shared := make([]any, i.Shared)
	for at := range shared {
		shared[at] = "$" + strconv.Itoa(at+1)
	}
	row := i.Row
	if i.Shared > 0 {
		row = fmt.Sprintf(i.Row, shared...)
	}
	parts := strings.Split(row, "?")
	var b strings.Builder
	b.WriteString("INSERT INTO " + i.Into + " VALUES ")
	next := i.Shared
	for at := range n {
		if at > 0 {
			b.WriteString(", ")
		}
		for j, p := range parts {
			if j > 0 {
				next++
				b.WriteString("$" + strconv.Itoa(next))
			}
			b.WriteString(p)
		}
	}
	return b.String()
}

// In is a text that ends in a list of n parameters, the first of which has a number.
func In(text string, first, n int) string {
	var b strings.Builder
	b.WriteString(text + " IN (")
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("$" + strconv.Itoa(first+i))
	}
	return b.String() + ")"
}

// Storable makes every text among arguments one that both databases keep, so that
// what SQLite took never keeps an installation from moving. It changes args, which
// are a statement's own.
func Storable(args []any) []any {
	for i, a := range args {
		if s, ok := a.(string); ok {
			if kept := core.Storable(s); kept != s {
				args[i] = kept
			}
		}
	}
	return args
}

// Prepared is a statement, and which argument each of its parameters takes
// where that is not the one of its own number.
type Prepared struct {
	*sql.Stmt
	Order []int
}

// Arguments are those of a statement, as its parameters take them.
func (p Prepared) Arguments(args []any) []any {
	if p.Order == nil {
		return args
	}
	out := make([]any, len(p.Order))
	for i, at := range p.Order {
		out[i] = args[at]
	}
	return out
}
