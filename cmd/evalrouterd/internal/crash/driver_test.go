package crash_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"runtime"
	"strings"

	"github.com/jackc/pgx/v5/stdlib"
	"modernc.org/sqlite"
)

// Names under which the watched drivers are registered.
const (
	watchedSQLite   = "watched-sqlite"
	watchedPostgres = "watched-pgx"
)

// register puts the recorder between the store and both databases: it sees
// every statement and commit, whichever code makes them.
func register(r *recorder) {
	sql.Register(watchedSQLite, watched{&sqlite.Driver{}, r})
	sql.Register(watchedPostgres, watched{stdlib.GetDefaultDriver(), r})
}

type watched struct {
	driver.Driver
	r *recorder
}

func (w watched) Open(name string) (driver.Conn, error) {
	c, err := w.Driver.Open(name)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, r: w.r}, nil
}

// conn is a connection whose writes are points.
type conn struct {
	driver.Conn
	r *recorder
	// in says that a transaction is open; name is the operation whose statement
	// came first, n the writing statements so far.
	in   bool
	name string
	n    int
}

// before names what is about to be done; after is called once it was.
func (c *conn) before(q string) (after func()) {
	verb, _, _ := strings.Cut(strings.TrimSpace(q), " ")
	switch strings.ToUpper(verb) {
	case "BEGIN":
		c.begin()
	case "COMMIT":
		return c.commit()
	case "ROLLBACK":
		c.in = c.in && strings.Contains(q, " TO ")
	case "SELECT", "PRAGMA", "SAVEPOINT", "RELEASE", "SET", "SHOW":
	default:
		c.write(q)
	}
	return func() {}
}

func (c *conn) begin() { c.in, c.name, c.n = true, "", 0 }

func (c *conn) commit() (after func()) {
	name := c.name
	if !c.in || name == "" {
		return func() {} // nothing was written
	}
	c.in = false
	c.r.point(name + ": before the commit")
	return func() { c.r.point(name + ": after the commit") }
}

func (c *conn) write(q string) {
	if !c.in || c.name == "" {
		c.name = operation()
	}
	c.n++
	c.r.point(fmt.Sprintf("%s: before statement %d, %s", c.name, c.n, gist(q)))
}

// gist is a statement's verb and table.
func gist(q string) string {
	words := strings.Fields(q)
	for i, w := range words {
		if i > 0 && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz_") == "" {
			return words[0] + " " + w
		}
	}
	return words[0]
}

// operation is the method of the store that makes a statement, as the stack
// of its caller says. A method that is inlined keeps its name behind that of
// the function that it stands in.
func operation() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		if _, method, ok := strings.Cut(f.Function, "(*Store)."); ok {
			name, _, _ := strings.Cut(method, ".")
			return name
		}
		if !more {
			return "store"
		}
	}
}

func (c *conn) ExecContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Result, error) {
	in, ok := c.Conn.(driver.ExecerContext)
	if !ok {
		return nil, driver.ErrSkip
	}
	after := c.before(q)
	res, err := in.ExecContext(ctx, q, args)
	after()
	return res, err
}

func (c *conn) QueryContext(ctx context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	in, ok := c.Conn.(driver.QueryerContext)
	if !ok {
		return nil, driver.ErrSkip
	}
	after := c.before(q)
	rows, err := in.QueryContext(ctx, q, args)
	after()
	return rows, err
}

func (c *conn) PrepareContext(ctx context.Context, q string) (driver.Stmt, error) {
	var s driver.Stmt
	var err error
	if in, ok := c.Conn.(driver.ConnPrepareContext); ok {
		s, err = in.PrepareContext(ctx, q)
	} else {
		s, err = c.Conn.Prepare(q)
	}
	if err != nil {
		return nil, err
	}
	return &stmt{Stmt: s, c: c, q: q}, nil
}

func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	t, err := c.Conn.(driver.ConnBeginTx).BeginTx(ctx, o)
	if err == nil {
		c.begin()
	}
	return &transaction{t, c}, err
}

// transaction is one that was begun through database/sql.
type transaction struct {
	driver.Tx
	c *conn
}

func (t *transaction) Commit() error {
	after := t.c.commit()
	err := t.Tx.Commit()
	after()
	return err
}

// Optional parts of a connection, as the one below has them.

func (c *conn) Ping(ctx context.Context) error {
	if in, ok := c.Conn.(driver.Pinger); ok {
		return in.Ping(ctx)
	}
	return nil
}

func (c *conn) ResetSession(ctx context.Context) error {
	if in, ok := c.Conn.(driver.SessionResetter); ok {
		return in.ResetSession(ctx)
	}
	return nil
}

func (c *conn) IsValid() bool {
	in, ok := c.Conn.(driver.Validator)
	return !ok || in.IsValid()
}

func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	if in, ok := c.Conn.(driver.NamedValueChecker); ok {
		return in.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// stmt is a prepared statement whose writes are points.
type stmt struct {
	driver.Stmt
	c *conn
	q string
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	after := s.c.before(s.q)
	res, err := s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
	after()
	return res, err
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	after := s.c.before(s.q)
	rows, err := s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
	after()
	return rows, err
}
