package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/pressly/goose/v3"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/audit"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/postgres"
)

// Unfit says what a database lacks for the promise that an acknowledged answer
// is never lost.
type Unfit = postgres.Unfit

// NotEmpty says that the database to move into has rows already, and Moved
// counts the rows of a table that was copied.
type (
	NotEmpty = postgres.NotEmpty
	Moved    = postgres.Moved
)

// Unsound says that a copy does not keep what the audit demands.
type Unsound struct{ Findings []audit.Finding }

// Error counts what was found.
func (u *Unsound) Error() string {
	return fmt.Sprintf("the audit of the copy found %d faults, the first: %s %s: %s", len(u.Findings), u.Findings[0].Rule, u.Findings[0].Subject, u.Findings[0].Detail)
}

// MoveTo copies everything into an empty PostgreSQL, in one transaction there:
// all of it is there afterwards, counted and audited, or nothing is. The caller
// sees to it that nobody writes to this store meanwhile.
func (s *Store) MoveTo(ctx context.Context, to *Store, each func(Moved)) error {
	if s.dialect.name != "sqlite" || to.dialect.name != "postgres" {
		return errors.New("an installation moves from SQLite to PostgreSQL")
	}
	return postgres.Move(ctx, s.read, to.write, each, func(ctx context.Context, conn *sql.Conn) error {
		found, err := audit.Run(ctx, conn)
		if err == nil && len(found) > 0 {
			err = &Unsound{found}
		}
		return err
	})
}

// Unreachable says that an error comes from a database that could not be
// reached or was too busy at the moment: the same call can succeed later. What
// a failed write did is for its caller to find out.
func Unreachable(err error) bool { return postgres.Unreachable(err) }

func postgresDialect(o Options) dialect {
	d := dialect{
		name: "postgres", goose: goose.DialectPostgres, lock: " FOR UPDATE", snapshot: sql.LevelRepeatableRead,
		patient: postgres.Patient, begin: postgres.Begin, pipe: postgres.Pipe, again: postgres.LostRace, alone: postgres.Alone,
		identify: postgres.Identify, assert: postgres.Assert,
		open: func(context.Context) (*sql.DB, *sql.DB, error) {
			db, err := postgres.Open(o.Postgres, o.Driver)
			return db, db, err
		},
	}
	if o.Driver != "" {
		d.pipe = nil // another driver sees statement by statement
	}
	if o.ServerClock {
		d.begin = postgres.BeginWithClock
	}
	return d
}

// Synchronous says whether a commit is acknowledged only once a second machine
// has it. It is true for SQLite, which has one machine and no failover.
func (s *Store) Synchronous(ctx context.Context) (bool, error) {
	if s.dialect.name != "postgres" {
		return true, nil
	}
	var names string
	err := s.read.QueryRowContext(ctx, "SELECT current_setting('synchronous_standby_names')").Scan(&names)
	return names != "", err
}

// Stands says whether a PostgreSQL holds an installation. It changes nothing.
func Stands(ctx context.Context, address string) (bool, error) {
	db, err := postgres.Open(address, "")
	if err != nil {
		return false, err
	}
	defer db.Close()
	var stands bool
	err = db.QueryRowContext(ctx, `SELECT to_regclass('runs') IS NOT NULL`).Scan(&stands)
	return stands, err
}
