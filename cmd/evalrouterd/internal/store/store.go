// Package store is the record of everything: all SQL, for both databases.
//
// One SQL text serves SQLite and PostgreSQL; only the table definitions and
// the few lines of dialect.go differ. An exported method is one transaction.
// All writes of a process pass through one writer that commits at once when
// nothing else is queued and otherwise commits together what queued meanwhile
// (writer.go), so durable commits per sample fall as the load rises and a lone
// call never waits for a window.
//
// Durability is part of the money promise: SQLite runs with synchronous=FULL
// and write-ahead logging, asserted when a database is opened.
package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/history"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/phrase"
)

//go:embed schema
var schemas embed.FS

// Options of Open. Now must be set.
type Options struct {
	// Path is the SQLite file; Postgres is a connection URL. Exactly one is set.
	Path     string
	Postgres string
	Now      func() time.Time
	// Driver names another database/sql driver for the same database, "" for
	// its own. A test that must see or fail statements brings one.
	Driver string
	// ServerClock takes the time from PostgreSQL, so that processes whose
	// clocks differ agree; Now then only measures how long ago that was.
	ServerClock bool
	// Gather is the longest pause between commits that many operations share: each
	// costs as much as many rows. Where few do, it is shorter. An operation that finds
	// no pause is committed at once, and so is every one when Gather is 0.
	Gather time.Duration
}

// Store is an open database. It is safe for concurrent use.
type Store struct {
	history.Reader
	dialect dialect
	read    *sql.DB
	write   *sql.DB
	writer  *writer
	now     func() time.Time
	gather  time.Duration
	// claim is under which worker's writes are made (Holding).
	claim core.Claim
	// taskAt and tasksAt are the texts of TasksAt for one position and for many,
	// prepared.
	taskAt, tasksAt *sql.Stmt
}

// Open opens or creates the database, brings its schema up to date and
// asserts the settings that durability depends on.
func Open(ctx context.Context, o Options) (*Store, error) {
	d := dialectOf(o)
	write, read, err := d.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	s := &Store{Reader: history.NewReader(read), dialect: d, read: read, write: write, now: o.Now, gather: o.Gather}
	if err := s.prepare(ctx); err != nil {
		s.closePools()
		return nil, err
	}
	return s, nil
}

func (s *Store) prepare(ctx context.Context) error {
	if err := s.dialect.assert(ctx, s.write); err != nil {
		return fmt.Errorf("check the database's settings: %w", err)
	}
	if err := s.migrate(ctx); err != nil {
		return fmt.Errorf("bring the schema up to date: %w", err)
	}
	for n, into := range map[int]**sql.Stmt{1: &s.taskAt, tasksAtOnce: &s.tasksAt} {
		text, _ := s.dialect.bound(phrase.In(tasksAtText, 2, n)) // its parameters stand in their order
		var err error
		if *into, err = s.read.PrepareContext(ctx, text); err != nil {
			return fmt.Errorf("prepare the reading of tasks: %w", err)
		}
	}
	w, err := newWriter(ctx, s.write, s.dialect, s.now, s.gather)
	if err != nil {
		return fmt.Errorf("start the writer: %w", err)
	}
	s.writer = w
	return w.do(ctx, func(*tx) error { return nil }) // reads the clock
}

// migrate brings the schema up to date, one process at a time.
func (s *Store) migrate(ctx context.Context) error {
	unlock, err := s.dialect.alone(ctx, s.write)
	if err != nil {
		return err
	}
	defer unlock()
	files, err := fs.Sub(schemas, "schema/"+s.dialect.name)
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(s.dialect.goose, s.write, files)
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}

// Close waits for queued writes and closes the database.
func (s *Store) Close() error {
	if s.writer != nil {
		s.writer.close()
	}
	return s.closePools()
}

func (s *Store) closePools() error {
	err := s.read.Close()
	if s.read == s.write {
		return err
	}
	if werr := s.write.Close(); err == nil {
		err = werr
	}
	return err
}

// Now is the store's clock, in the unit that it keeps. It never goes back.
func (s *Store) Now() core.Micros { return s.writer.clock() }

// Alone waits until no other process sets anything up in the database, and
// keeps them waiting until unlock.
func (s *Store) Alone(ctx context.Context) (unlock func(), err error) {
	return s.dialect.alone(ctx, s.write)
}

// Replaced is closed when the database turns out to be another one than at the
// start. Every write fails from then on.
func (s *Store) Replaced() <-chan struct{} { return s.writer.replaced }

// Commits is the number of durable commits so far, for measurements.
func (s *Store) Commits() int64 { return s.writer.commits.Load() }
