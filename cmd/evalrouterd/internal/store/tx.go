package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/access"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/continuation"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/datasets"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/feedback"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/group"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/phrase"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/postgres"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/private"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/sealed"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/traces"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/waits"
)

// tx is an open write transaction with one fixed time.
type tx struct {
	w     *writer
	now   core.Micros
	books books
	// nums are the numbers of runs that this transaction has read.
	nums map[core.RunID]int64
	// waiting is what the pipe has not sent yet, piped whether writes may wait
	// now, and careful that none may.
	waiting        []postgres.Statement
	piped, careful bool
}

func (t *tx) stmt(q string) (phrase.Prepared, error) {
	if s, ok := t.w.stmts[q]; ok {
		return s, nil
	}
	text, order := t.w.dialect.bound(q)
	s, err := t.w.conn.PrepareContext(context.Background(), text)
	if err != nil {
		return phrase.Prepared{}, fmt.Errorf("prepare %q: %w", q, err)
	}
	t.w.stmts[q] = phrase.Prepared{Stmt: s, Order: order}
	return t.w.stmts[q], nil
}

// exec runs a statement and returns how many rows it touched.
func (t *tx) exec(q string, args ...any) (int64, error) {
	if err := t.flush(); err != nil {
		return 0, err
	}
	if t.w.dialect.embedded {
		d, err := t.w.directs.Of(context.Background(), t.w.conn, q, t.w.dialect.bound)
		if err != nil {
			return 0, err
		}
		return d.Exec(context.Background(), phrase.Storable(args))
	}
	s, err := t.stmt(q)
	if err != nil {
		return 0, err
	}
	r, err := s.ExecContext(context.Background(), s.Arguments(phrase.Storable(args))...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// one runs a statement that must touch exactly one row.
func (t *tx) one(q string, args ...any) error {
	if t.later(q, true, args) {
		return nil
	}
	n, err := t.exec(q, args...)
	if err == nil && n != 1 {
		err = fmt.Errorf("%w: %d rows", core.ErrMoved, n)
	}
	return err
}

func (t *tx) row(q string, args ...any) scanner {
	if err := t.flush(); err != nil {
		return failedScan{err}
	}
	return t.peek(q, args...)
}

// peek is row for what no waiting write touches.
func (t *tx) peek(q string, args ...any) scanner {
	s, err := t.stmt(q)
	if err != nil {
		return failedScan{err}
	}
	return s.QueryRowContext(context.Background(), s.Arguments(phrase.Storable(args))...)
}

func (t *tx) rows(q string, args ...any) (*sql.Rows, error) {
	if err := t.flush(); err != nil {
		return nil, err
	}
	s, err := t.stmt(q)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(context.Background(), s.Arguments(phrase.Storable(args))...)
}

// scanner is a row that can be read.
type scanner interface{ Scan(...any) error }

type failedScan struct{ err error }

func (f failedScan) Scan(...any) error { return f.err }

// carry runs one operation. A guarded one that refuses leaves its error in the
// operation and the transaction as it was.
func (t *tx) carry(o *op) error {
	t.books.deferred, t.piped = o.kind == booked, true
	if o.kind == booked {
		return calm(o.fn, t)
	}
	if err := t.closeBooks(); err != nil {
		return err
	}
	if err := t.flush(); err != nil {
		return err
	}
	t.piped = false
	if o.kind == plain {
		return calm(o.fn, t)
	}
	if _, err := t.exec("SAVEPOINT op"); err != nil {
		return err
	}
	if o.err = calm(o.fn, t); o.err != nil {
		if t.w.dialect.again(o.err) {
			return o.err
		}
		if _, err := t.exec("ROLLBACK TO SAVEPOINT op"); err != nil {
			return errors.Join(o.err, err)
		}
		t.books, t.nums = books{}, nil // what it had read and changed is undone with it
	}
	_, err := t.exec("RELEASE SAVEPOINT op")
	return err
}

// calm turns a panic of a caller's function into an error: the writer serves
// everybody.
func calm(fn func(*tx) error, t *tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a transaction: %v\n%s", p, debug.Stack())
		}
	}()
	return fn(t)
}

// door is a transaction as the packages beside this one see it.
type door struct{ *tx }

func (d door) Exec(q string, args ...any) (int64, error)     { return d.exec(q, args...) }
func (d door) One(q string, args ...any) error               { return d.one(q, args...) }
func (d door) Row(q string, args ...any) private.Row         { return d.row(q, args...) }
func (d door) Rows(q string, args ...any) (*sql.Rows, error) { return d.rows(q, args...) }
func (d door) Now() core.Micros                              { return d.now }
func (d door) Lock() string                                  { return d.w.lock }
func (d door) NewWorkspace(w core.WorkspaceInfo) (bool, error) {
	return d.newWorkspace(w)
}

func (d door) Recall(sc core.Scope, o core.Once) (out core.Admitted, ok bool, err error) {
	ok, err = d.replay(core.Admission{Scope: sc, Op: o.Op, Key: o.Key, RequestHash: o.Hash}, &out)
	return out, ok, err
}

func (d door) Remember(sc core.Scope, o core.Once, out core.Admitted) error {
	return d.remember(core.Admission{Scope: sc, Op: o.Op, Key: o.Key, RequestHash: o.Hash}, out)
}

// PutQuote keeps a quote, and Begin makes the run of one.
func (d door) PutQuote(q core.Quote) error                          { return d.putQuote(q) }
func (d door) Begin(a core.Admission) (core.Run, core.Quote, error) { return d.begin(a) }
func (d door) MayBegin(w core.WorkspaceID, more int) error          { return d.w.bounds.MayBegin(d, w, more) }
func (d door) MayQuote(w core.WorkspaceID, more int) error          { return d.w.bounds.MayQuote(d, w, more) }

// Groups is what is kept of runs that were started together.
func (s *Store) Groups() *group.Store {
	return group.New(s.read, func(ctx context.Context, fn func(group.Tx) error) error {
		return s.writer.ask(ctx, func(t *tx) error { return fn(door{t}) })
	})
}

// Private is what is kept of the workspaces' own data and benchmarks.
func (s *Store) Private() *private.Store {
	return private.New(s.read, s.through)
}

// Seals reaches the sealed keys of all workspaces.
func (s *Store) Seals() *sealed.Store { return sealed.New(s.read, s.through) }

// Waits ends waits of runs.
func (s *Store) Waits() *waits.Store { return waits.New(s.read, s.through) }

// through lets another package write.
func (s *Store) through(ctx context.Context, fn func(private.Tx) error) error {
	return s.writer.ask(ctx, func(t *tx) error { return fn(door{t}) })
}

// mailbox is a door to the reports about the product.
type mailbox struct{ door }

func (d mailbox) Row(q string, args ...any) feedback.Row { return d.row(q, args...) }

// Feedback is what is kept of what people say about the product.
func (s *Store) Feedback() *feedback.Store {
	return feedback.New(s.read, func(ctx context.Context, fn func(feedback.Tx) error) error {
		return s.writer.ask(ctx, func(t *tx) error { return fn(mailbox{door{t}}) })
	})
}

// Access is what is kept of who may do what.
func (s *Store) Access() *access.Store {
	return access.New(s.read, s.Now, func(ctx context.Context, fn func(access.Tx) error) error {
		return s.writer.ask(ctx, func(t *tx) error { return fn(door{t}) })
	})
}

// Continuation is what is kept of chains of runs.
func (s *Store) Continuation() continuation.Keeper {
	return continuation.NewKeeper(continuation.NewReader(s.read, s.Now), func(ctx context.Context, fn func(continuation.Tx) error) error {
		return s.writer.do(ctx, func(t *tx) error { return fn(door{t}) })
	})
}

// Traces is what is kept of agents' traces. newID gives time-ordered ids.
func (s *Store) Traces(newID func() string) (*traces.Store, error) {
	return traces.New(s.read, func(ctx context.Context, fn func(traces.Tx) error) error {
		return s.writer.do(ctx, func(t *tx) error { return fn(door{t}) })
	}, func(ctx context.Context, fn func(traces.Tx) error) error {
		return s.writer.ask(ctx, func(t *tx) error { return fn(door{t}) })
	}, newID)
}

// Datasets is what is kept of datasets. digest is that of a version with items
// of these digests.
func (s *Store) Datasets(digest func([]string) string) *datasets.Store {
	return datasets.New(s.read, func(ctx context.Context, fn func(datasets.Tx) error) error {
		return s.writer.ask(ctx, func(t *tx) error { return fn(door{t}) })
	}, digest)
}
