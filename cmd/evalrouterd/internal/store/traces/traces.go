// Package traces keeps the traces of agents: connections, traces with their
// spans, and content. Every statement names the workspace or a trace that was
// found by it.
//
// Decisions:
//
//   - A span is known by its trace and its sender's id. What comes again changes
//     nothing, unless it says more than what is kept: it ended later, or it is
//     longer. So a request may be repeated, and spans may come in any order.
//   - A content is kept once in its trace, by hash: what agents repeat is the
//     history that each turn of a run sends again. Content is not shared between
//     traces, so that a trace that is deleted or expires takes all of its content
//     with it, and nothing of another.
//   - What a trace's spans say together is recomputed when some have come, in the
//     same transaction: a list needs no sums.
//   - A trace that nothing came before is summed up from what came; only one
//     that grows is read again.
package traces

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Tx is an open write transaction with one fixed time.
type Tx interface {
	Exec(q string, args ...any) (rows int64, err error)
	// One is Exec for a statement that must touch exactly one row; it fails with
	// core.ErrMoved otherwise.
	One(q string, args ...any) error
	Rows(q string, args ...any) (*sql.Rows, error)
	Now() core.Micros
}

// Store reads through db and writes through the one writer of the database.
// It is safe for concurrent use.
type Store struct {
	db *sql.DB
	// do runs a function in a transaction, more than once where the transaction
	// must be made again. ask does so for one that may refuse.
	do, ask func(context.Context, func(Tx) error) error
	newID   func() string
	*packer
}

// New makes a store. newID gives time-ordered ids.
func New(db *sql.DB, do, ask func(context.Context, func(Tx) error) error, newID func() string) (*Store, error) {
	p, err := newPacker()
	return &Store{db: db, do: do, ask: ask, newID: newID, packer: p}, err
}

// marks are n groups of placeholders, each of width, counted from first on.
func marks(first, n, width int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('(')
		for j := range width {
			if j > 0 {
				b.WriteByte(',')
			}
			b.WriteByte('$')
			b.WriteString(strconv.Itoa(first + i*width + j))
		}
		b.WriteByte(')')
	}
	return b.String()
}

// inChunks visits [0, n) in ranges of three sizes, so that there are three
// statements and no more: size, a quarter of it, and 1 for what is left over.
func inChunks(n, size int, visit func(from, to int) error) error {
	for from := 0; from < n; {
		part := size
		if n-from < part {
			part = max(1, size/4)
		}
		if n-from < part {
			part = 1
		}
		if err := visit(from, from+part); err != nil {
			return err
		}
		from += part
	}
	return nil
}

// gather reads every row.
func gather[T any](rows *sql.Rows, err error, scan func(*sql.Rows) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// single reads the only row; ok is false when there is none.
func single(rows *sql.Rows, err error, into ...any) (ok bool, _ error) {
	if err != nil {
		return false, err
	}
	defer rows.Close()
	if !rows.Next() {
		return false, rows.Err()
	}
	if err := rows.Scan(into...); err != nil {
		return false, err
	}
	return true, rows.Err()
}
