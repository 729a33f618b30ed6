// Package private keeps what workspaces bring: sources in chunks of their
// bytes, imports, and the benchmarks made of them. Every statement names the
// workspace, and what belongs to another reads as missing.
//
// The bytes of a source are rows. They then are where everything else is, on
// both databases and for every process of a cluster, a backup holds them, and
// a move takes them along.
package private

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Tx is an open write transaction with one fixed time.
type Tx interface {
	Exec(q string, args ...any) (rows int64, err error)
	// One is Exec for a statement that must touch exactly one row; it fails
	// with core.ErrMoved otherwise.
	One(q string, args ...any) error
	Row(q string, args ...any) Row
	Now() core.Micros
	// Recall is the answer that was kept for a request, and Remember keeps one.
	Recall(core.Scope, core.Once) (out core.Admitted, ok bool, err error)
	Remember(core.Scope, core.Once, core.Admitted) error
}

// Row is a row that can be read.
type Row = interface{ Scan(...any) error }

// Store reads through db and writes through the one writer of the database.
// It is safe for concurrent use.
type Store struct {
	db  *sql.DB
	ask func(context.Context, func(Tx) error) error
}

// New makes a store. ask runs a function in a transaction, more than once where
// the transaction must be made again.
func New(db *sql.DB, ask func(context.Context, func(Tx) error) error) *Store {
	return &Store{db: db, ask: ask}
}

// behind is the condition and the order of a page: newest first, behind a
// place.
func behind(after *core.Place, id string, args []any, limit int) (string, []any) {
	text := ""
	if after != nil {
		n := len(args)
		args = append(args, int64(after.At), int64(after.At), after.ID)
		text = fmt.Sprintf(` AND (created_at < $%d OR (created_at = $%d AND %s < $%d))`, n+1, n+2, id, n+3)
	}
	args = append(args, limit)
	return text + fmt.Sprintf(` ORDER BY created_at DESC, %s DESC LIMIT $%d`, id, len(args)), args
}
