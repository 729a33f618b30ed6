package store

import (
	"cmp"
	"context"
	"database/sql"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/sqlite"
)

// dialect holds what differs between the two databases.
type dialect struct {
	name  string
	goose goose.Dialect
	// begin opens a write transaction. Where the database's clock counts, it
	// gives its time; the zero time means the clock of this process.
	begin func(context.Context, *sql.Conn) (time.Time, error)
	// lock ends a SELECT whose row nobody else may change before the commit.
	lock string
	// snapshot is the isolation in which several reads agree.
	snapshot sql.IsolationLevel
	// patient lets one transaction take its time, "" where nothing bounds it.
	patient string
	// positional writes $1, $2 … as the driver binds them fastest, and gives which
	// argument each parameter takes; nil where $1, $2 … are that.
	positional func(string) (string, []int)
	// embedded says that the driver is the database: what stands between it and a
	// write is all that a write costs beyond its own.
	embedded bool
	// pipe sends many writes at once; nil where each costs next to nothing.
	pipe pipe
	// again says that a transaction failed because of another one, and that
	// the same transaction can succeed.
	again func(error) bool
	// identify names the history of commits that a connection leads to; "" where
	// there can be only one.
	identify func(context.Context, *sql.Conn) (string, error)
	// alone waits until no other process changes the schema.
	alone  func(context.Context, *sql.DB) (unlock func(), err error)
	open   func(context.Context) (write, read *sql.DB, err error)
	assert func(context.Context, *sql.DB) error
	// empty cuts off a log beside the database; nil where the server sees to it.
	empty func(context.Context, *sql.DB) error
}

// bound is a statement as the driver binds it fastest, and which argument each of
// its parameters takes; nil where that is the one of its own number.
func (d dialect) bound(q string) (text string, order []int) {
	if d.positional == nil {
		return q, nil
	}
	return d.positional(q)
}

func dialectOf(o Options) dialect {
	if o.Postgres != "" {
		return postgresDialect(o)
	}
	return dialect{
		name: "sqlite", goose: goose.DialectSQLite3,
		begin: func(ctx context.Context, c *sql.Conn) (time.Time, error) {
			_, err := c.ExecContext(ctx, "BEGIN IMMEDIATE")
			return time.Time{}, err
		},
		positional: sqlite.Positional,
		embedded:   true,
		again:      func(error) bool { return false },
		identify:   func(context.Context, *sql.Conn) (string, error) { return "", nil },
		alone:      func(context.Context, *sql.DB) (func(), error) { return func() {}, nil },
		open: func(context.Context) (*sql.DB, *sql.DB, error) {
			return sqlite.Open(cmp.Or(o.Driver, "sqlite"), o.Path)
		},
		assert: sqlite.Assert,
		empty:  sqlite.Empty,
	}
}
