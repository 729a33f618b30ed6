// Package postgres is what the store needs of PostgreSQL beyond SQL: how its
// sessions are bounded, what makes it fit for money, whose history of commits a
// connection leads to, and which of its errors pass.
package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Patient lets the transaction that it begins take its time.
const Patient = "SELECT set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)"

// Statement is a write of a pipe. One demands that exactly one row is touched.
type Statement struct {
	Query string
	Args  []any
	One   bool
}

// minVersion is the oldest server that is still maintained.
const minVersion = 140000

// SchemaLock is the advisory lock of whoever changes the schema.
const SchemaLock = 0x6576_616c_0001

// poolSize bounds the connections of one process, its writer included.
const poolSize = 16

// sessionSettings bound what one statement may cost the other processes. A
// writer that hangs gives its locks back within the last of them.
func sessionSettings() map[string]string {
	return map[string]string{
		"application_name": "evalrouterd", "statement_timeout": "10s", "lock_timeout": "5s", "idle_in_transaction_session_timeout": "15s",
	}
}

// Open makes a pool of connections to an address, by another driver than pgx
// where one is named: such a driver brings its own settings.
func Open(url, driver string) (*sql.DB, error) {
	if driver != "" {
		return sql.Open(driver, url)
	}
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errors.New("the address is not a PostgreSQL URL that can be read") // the error would repeat the password
	}
	for k, v := range sessionSettings() {
		if _, given := cfg.RuntimeParams[k]; !given {
			cfg.RuntimeParams[k] = v
		}
	}
	db := stdlib.OpenDB(*cfg)
	db.SetMaxOpenConns(poolSize)
	db.SetMaxIdleConns(poolSize)
	db.SetConnMaxIdleTime(5 * time.Minute)
	return db, nil
}

// Begin begins a transaction.
func Begin(ctx context.Context, c *sql.Conn) (time.Time, error) {
	_, err := c.ExecContext(ctx, "BEGIN")
	return time.Time{}, err
}

// BeginWithClock reads the server's clock in the round trip that begins the
// transaction.
func BeginWithClock(ctx context.Context, c *sql.Conn) (at time.Time, err error) {
	err = c.Raw(func(driver any) error {
		b := &pgx.Batch{}
		b.Queue("BEGIN")
		b.Queue("SELECT clock_timestamp()").QueryRow(func(row pgx.Row) error { return row.Scan(&at) })
		return driver.(*stdlib.Conn).Conn().SendBatch(ctx, b).Close()
	})
	return at, err
}

// Identity names the history of commits that a server is on: the
// cluster, the timeline, which a promotion and a recovery to a point in time
// begin anew and a restart does not, and the database, which a dump that is read
// in makes anew.
const Identity = `SELECT (SELECT system_identifier FROM pg_control_system()) || '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
	|| '/' || (SELECT oid FROM pg_database WHERE datname = current_database())`

// Identify reads the identity of the server behind a connection.
func Identify(ctx context.Context, c *sql.Conn) (is string, err error) {
	err = c.QueryRowContext(ctx, Identity).Scan(&is)
	return is, err
}

// Pipe sends all statements in one go and then reads all answers.
func Pipe(ctx context.Context, c *sql.Conn, all []Statement) (touched []int64, err error) {
	err = c.Raw(func(driver any) error {
		b := &pgx.Batch{}
		for _, s := range all {
			b.Queue(s.Query, s.Args...)
		}
		results := driver.(*stdlib.Conn).Conn().SendBatch(ctx, b)
		for range all {
			tag, err := results.Exec()
			if err != nil {
				return errors.Join(err, results.Close())
			}
			touched = append(touched, tag.RowsAffected())
		}
		return results.Close()
	})
	return touched, err
}

// Alone waits until no other process sets anything up, on a connection of its
// own.
func Alone(ctx context.Context, db *sql.DB) (unlock func(), err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	// The lock ends with the session at the latest.
	unlock = func() {
		for _, q := range []string{fmt.Sprintf("SELECT pg_advisory_unlock(%d)", int64(SchemaLock)), "RESET statement_timeout", "RESET lock_timeout"} {
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), q)
		}
		conn.Close()
	}
	for _, q := range []string{"SET statement_timeout = '2min'", "SET lock_timeout = '2min'", fmt.Sprintf("SELECT pg_advisory_lock(%d)", int64(SchemaLock))} {
		if _, err := conn.ExecContext(ctx, q); err != nil {
			unlock()
			return nil, fmt.Errorf("wait for another process to set up the database: %w", err)
		}
	}
	return unlock, nil
}

// Assert refuses a server on which a commit that was acknowledged can
// be lost, and says everything that is missing at once.
func Assert(ctx context.Context, db *sql.DB) error {
	var missing []string
	for _, s := range []struct {
		name string
		ok   func(string) bool
		must string
	}{
		{"server_version_num", func(v string) bool { n := 0; _, err := fmt.Sscan(v, &n); return err == nil && n >= minVersion }, "140000 (PostgreSQL 14) or later"},
		{"fsync", is("on"), "on"},
		{"full_page_writes", is("on"), "on"},
		{"synchronous_commit", is("on", "remote_apply"), "on"},
		{"transaction_read_only", is("off"), "off: this is a standby, or a session that may not write"},
		{"server_encoding", is("UTF8"), "UTF8"},
		{"standard_conforming_strings", is("on"), "on"},
	} {
		var got string
		if err := db.QueryRowContext(ctx, "SELECT current_setting($1)", s.name).Scan(&got); err != nil {
			return fmt.Errorf("read %s: %w", s.name, err)
		}
		if !s.ok(got) {
			missing = append(missing, fmt.Sprintf("%s is %s and must be %s", s.name, got, s.must))
		}
	}
	if len(missing) > 0 {
		return &Unfit{Missing: missing}
	}
	return nil
}

// Unfit says what a database lacks for the promise that an acknowledged answer
// is never lost.
type Unfit struct{ Missing []string }

// Error lists everything that is missing.
func (u *Unfit) Error() string {
	return "an acknowledged answer could be lost: " + strings.Join(u.Missing, "; ")
}

func is(values ...string) func(string) bool {
	return func(got string) bool {
		for _, v := range values {
			if got == v {
				return true
			}
		}
		return false
	}
}
