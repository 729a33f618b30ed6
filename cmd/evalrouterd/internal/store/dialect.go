package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // registers the driver "sqlite"
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
		again:    func(error) bool { return false },
		identify: func(context.Context, *sql.Conn) (string, error) { return "", nil },
		alone:    func(context.Context, *sql.DB) (func(), error) { return func() {}, nil },
		open:     func(context.Context) (*sql.DB, *sql.DB, error) { return openSQLite(cmp.Or(o.Driver, "sqlite"), o.Path) },
		assert:   assertSQLite,
	}
}

// openSQLite gives one connection for writing and a few that cannot write.
// Settings stand in the DSN: by Exec they would reach one pooled connection.
func openSQLite(driver, path string) (write, read *sql.DB, err error) {
	dsn := func(extra ...string) string {
		q := url.Values{"_pragma": append([]string{
			"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
			"journal_size_limit(67108864)", "cache_size(-16000)",
		}, extra...)}
		return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
	}
	if write, err = sql.Open(driver, dsn()+"&_txlock=immediate"); err != nil {
		return nil, nil, err
	}
	write.SetMaxOpenConns(1)
	if read, err = sql.Open(driver, dsn("query_only(1)")); err != nil {
		return nil, nil, errors.Join(err, write.Close())
	}
	read.SetMaxOpenConns(6)
	return write, read, nil
}

// minSQLite is the first version without the WAL-reset race, which can lose
// acknowledged commits.
var minSQLite = [3]int{3, 51, 3}

func assertSQLite(ctx context.Context, db *sql.DB) error {
	var version, journal string
	var synchronous, foreignKeys int
	for q, into := range map[string]any{
		"SELECT sqlite_version()": &version, "PRAGMA journal_mode": &journal,
		"PRAGMA synchronous": &synchronous, "PRAGMA foreign_keys": &foreignKeys,
	} {
		if err := db.QueryRowContext(ctx, q).Scan(into); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	if !atLeast(version, minSQLite) {
		return fmt.Errorf("SQLite %s can lose committed data; 3.51.3 or later is required", version)
	}
	if journal != "wal" || synchronous != 2 || foreignKeys != 1 {
		return fmt.Errorf("journal_mode=%s synchronous=%d foreign_keys=%d; WAL, 2 (FULL) and 1 are required", journal, synchronous, foreignKeys)
	}
	return nil
}

func atLeast(version string, floor [3]int) bool {
	parts := strings.SplitN(version, ".", 3)
	for i, want := range floor {
		if i >= len(parts) {
			return false
		}
		got, err := strconv.Atoi(parts[i])
		if err != nil || got < want {
			return false
		}
		if got > want {
			return true
		}
	}
	return true
}
