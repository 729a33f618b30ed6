package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// errClosed is returned for writes after Close.
var errClosed = errors.New("the store is closed")

// maxBatch bounds how many operations share a commit.
const maxBatch = 512

// op is one operation. Its function may run more than once: when another
// operation of the batch fails, the transaction is rolled back and the rest
// runs again. It must therefore set its results afresh each time.
type op struct {
	fn   func(*tx) error
	done chan error
}

// writer owns the one connection that writes. It runs queued operations in
// order, as many in one transaction as had queued when it began.
type writer struct {
	conn    *sql.Conn
	begin   string
	now     func() time.Time
	stmts   map[string]*sql.Stmt
	last    core.Micros
	commits atomic.Int64

	mu     sync.RWMutex // guards closed against sends on ops
	closed bool
	ops    chan *op
	ended  chan struct{}
}

func newWriter(ctx context.Context, db *sql.DB, d dialect, now func() time.Time) (*writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{
		conn: conn, begin: d.begin, now: now, stmts: map[string]*sql.Stmt{},
		ops: make(chan *op, maxBatch), ended: make(chan struct{}),
	}
	go w.loop()
	return w, nil
}

// do runs fn in a transaction and returns once it is durable or has failed.
// ctx bounds the wait for a place in the queue; what is in the queue is carried
// out, and its caller learns how it ended.
func (w *writer) do(ctx context.Context, fn func(*tx) error) error {
	o := &op{fn: fn, done: make(chan error, 1)}
	if err := w.enqueue(ctx, o); err != nil {
		return err
	}
	return <-o.done
}

func (w *writer) enqueue(ctx context.Context, o *op) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return errClosed
	}
	select {
	case w.ops <- o:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *writer) close() {
	w.mu.Lock()
	already := w.closed
	w.closed = true
	w.mu.Unlock()
	if !already {
		close(w.ops)
	}
	<-w.ended
}

func (w *writer) loop() {
	defer close(w.ended)
	for first := range w.ops {
		w.run(w.collect(first))
	}
	for _, s := range w.stmts {
		s.Close()
	}
	w.conn.Close()
}

func (w *writer) collect(first *op) []*op {
	batch := []*op{first}
	for len(batch) < maxBatch {
		select {
		case o, ok := <-w.ops:
			if !ok {
				return batch
			}
			batch = append(batch, o)
		default:
			return batch
		}
	}
	return batch
}

// run commits a batch, leaving out the operations that fail.
func (w *writer) run(batch []*op) {
	for len(batch) > 0 {
		failed, err := w.attempt(batch)
		switch {
		case err == nil:
			for _, o := range batch {
				o.done <- nil
			}
			return
		case failed < 0: // begin or commit: nothing of the batch is durable
			for _, o := range batch {
				o.done <- err
			}
			return
		}
		batch[failed].done <- err
		batch = append(batch[:failed:failed], batch[failed+1:]...)
	}
}

// attempt runs the batch in one transaction. failed is the index of the
// operation that refused, or -1 when the transaction itself failed.
func (w *writer) attempt(batch []*op) (failed int, err error) {
	ctx := context.Background() // a started transaction always ends here
	if _, err := w.conn.ExecContext(ctx, w.begin); err != nil {
		return -1, fmt.Errorf("begin: %w", err)
	}
	t := &tx{w: w, now: w.clock()}
	for i, o := range batch {
		if err := o.fn(t); err != nil {
			w.rollback(ctx)
			return i, err
		}
	}
	if _, err := w.conn.ExecContext(ctx, "COMMIT"); err != nil {
		w.rollback(ctx)
		return -1, fmt.Errorf("commit: %w", err)
	}
	w.commits.Add(1)
	return -1, nil
}

// rollback ends a transaction that failed. After a failed commit there may be
// nothing left to roll back; a begin that follows says whether it worked.
func (w *writer) rollback(ctx context.Context) { _, _ = w.conn.ExecContext(ctx, "ROLLBACK") }

// clock never goes back: a clock that was set back stands still until real
// time has caught up.
func (w *writer) clock() core.Micros {
	w.last = max(w.last, core.Micros(w.now().UnixMicro()))
	return w.last
}

// tx is an open write transaction with one fixed time.
type tx struct {
	w   *writer
	now core.Micros
}

func (t *tx) stmt(q string) (*sql.Stmt, error) {
	if s, ok := t.w.stmts[q]; ok {
		return s, nil
	}
	s, err := t.w.conn.PrepareContext(context.Background(), q)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", q, err)
	}
	t.w.stmts[q] = s
	return s, nil
}

// exec runs a statement and returns how many rows it touched.
func (t *tx) exec(q string, args ...any) (int64, error) {
	s, err := t.stmt(q)
	if err != nil {
		return 0, err
	}
	r, err := s.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// one runs a statement that must touch exactly one row.
func (t *tx) one(q string, args ...any) error {
	n, err := t.exec(q, args...)
	if err == nil && n != 1 {
		err = fmt.Errorf("%w: %d rows", core.ErrMoved, n)
	}
	return err
}

func (t *tx) row(q string, args ...any) scanner {
	s, err := t.stmt(q)
	if err != nil {
		return failedScan{err}
	}
	return s.QueryRowContext(context.Background(), args...)
}

func (t *tx) rows(q string, args ...any) (*sql.Rows, error) {
	s, err := t.stmt(q)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(context.Background(), args...)
}

// scanner is a row that can be read.
type scanner interface{ Scan(...any) error }

type failedScan struct{ err error }

func (f failedScan) Scan(...any) error { return f.err }
