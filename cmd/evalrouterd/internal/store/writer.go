package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/allowance"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/phrase"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/postgres"
)

// errClosed is returned for writes after Close.
var errClosed = errors.New("the store is closed")

// maxAgain bounds how often a batch is repeated that lost against another
// process: the database broke a deadlock at its cost.
const maxAgain = 3

// maxBatch bounds how many operations share a commit.
const maxBatch = 512

// op is one operation. When another operation of its batch fails in an
// unexpected way, the transaction is rolled back and the rest runs again: its
// function may therefore run more than once and must set its results afresh.
type op struct {
	fn   func(*tx) error
	kind opKind
	err  error
	done chan error
}

// opKind says how an operation stands beside the others of its batch.
type opKind int

const (
	// plain operations find the books written and write them themselves.
	plain opKind = iota
	// guarded operations may refuse. They run behind a savepoint, so that a
	// refusal takes nothing from the operations around it and costs them
	// nothing.
	guarded
	// booked operations touch runs and ledger through the books alone, and
	// share them with those beside them.
	booked
)

// writer owns the one connection that writes. It runs queued operations in
// order, as many in one transaction as had queued when it began.
type writer struct {
	db      *sql.DB
	conn    *sql.Conn // nil after it broke
	dialect dialect
	lock    string // ends a SELECT whose row is to stay as it is until the commit
	now     func() time.Time
	server  postgres.Clock
	stmts   map[string]phrase.Prepared
	directs phrase.Directs
	texts   map[insertText]string
	// identity is the history of commits that this process began on, and
	// replaced is closed when a connection leads to another one.
	identity string
	// nums are the numbers of runs that were seen committed.
	nums map[core.RunID]int64
	// due is when the next batch may begin, where operations share commits; gather
	// is Options.Gather.
	gather   time.Duration
	due      time.Time
	bounds   allowance.Bounds
	replaced chan struct{}
	last     atomic.Int64 // the latest time that was given out
	commits  atomic.Int64

	mu     sync.RWMutex // guards closed against sends on ops
	closed bool
	ops    chan *op
	ended  chan struct{}
}

func newWriter(ctx context.Context, db *sql.DB, d dialect, now func() time.Time, gather time.Duration) (*writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{
		db: db, conn: conn, dialect: d, lock: d.lock, now: now, gather: gather,
		stmts: map[string]phrase.Prepared{}, directs: phrase.Directs{}, texts: map[insertText]string{}, nums: map[core.RunID]int64{},
		ops: make(chan *op, maxBatch), ended: make(chan struct{}), replaced: make(chan struct{}),
	}
	if w.identity, err = d.identify(ctx, conn); err != nil {
		return nil, errors.Join(fmt.Errorf("identify the database: %w", err), conn.Close())
	}
	go w.loop()
	return w, nil
}

// do runs fn in a transaction and returns once it is durable or has failed.
// ctx bounds the wait for a place in the queue; what is in the queue is carried
// out, and its caller learns how it ended.
func (w *writer) do(ctx context.Context, fn func(*tx) error) error {
	return w.carryOut(ctx, &op{fn: fn, done: make(chan error, 1)})
}

// ask is do for operations that may refuse.
func (w *writer) ask(ctx context.Context, fn func(*tx) error) error {
	return w.carryOut(ctx, &op{fn: fn, kind: guarded, done: make(chan error, 1)})
}

// book is do for operations that change runs and ledger through the books
// alone.
func (w *writer) book(ctx context.Context, fn func(*tx) error) error {
	return w.carryOut(ctx, &op{fn: fn, kind: booked, done: make(chan error, 1)})
}

func (w *writer) carryOut(ctx context.Context, o *op) error {
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
		batch := w.collect(first)
		w.run(batch)
		w.due = time.Now().Add(pause(len(batch), w.gather))
	}
	w.drop()
}

// drop lets go of the connection and everything prepared on it.
func (w *writer) drop() {
	for _, s := range w.stmts {
		s.Close()
	}
	clear(w.stmts)
	w.directs.Close()
	if w.conn != nil {
		w.conn.Close()
		w.conn = nil
	}
}

// open begins a transaction. A connection that broke while nobody used it is
// replaced: nothing of a transaction that never began can have happened.
func (w *writer) open(ctx context.Context) error {
	var err error
	for range 2 {
		if w.conn == nil {
			if err = w.connect(ctx); err != nil {
				return fmt.Errorf("connect: %w", err)
			}
		}
		var at time.Time
		if at, err = w.dialect.begin(ctx, w.conn); err == nil {
			w.server.Set(at, w.now())
			return nil
		}
		w.drop()
	}
	return fmt.Errorf("begin: %w", err)
}

// errReplaced says that the database behind the address is not the one that
// this process began with: a standby was promoted, or a backup restored. What
// was committed may be missing there, so nothing is written before a new start
// has settled it.
var errReplaced = errors.New("the database was replaced by another one; evalrouterd must be started again")

// connect takes a connection to the same history of commits as before.
func (w *writer) connect(ctx context.Context) error {
	conn, err := w.db.Conn(ctx)
	if err != nil {
		return err
	}
	is, err := w.dialect.identify(ctx, conn)
	if err == nil && is != w.identity {
		err = errReplaced
		select {
		case <-w.replaced:
		default:
			close(w.replaced)
		}
	}
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	w.conn = conn
	return nil
}

// pauseEach is what each operation of a batch adds to the pause after it.
const pauseEach = 50 * time.Microsecond

// pause is how long after a batch of n operations the next one begins: at once
// after one that was alone. The more there were, the more will come within a while,
// and each commit that they share saves a sync, of about a millisecond; where there
// are few, nobody waits long.
func pause(n int, most time.Duration) time.Duration {
	if n < 2 {
		return 0
	}
	return min(most, time.Duration(n)*pauseEach)
}

// collect takes what is queued, and while operations share commits what comes
// until the next commit is due.
func (w *writer) collect(first *op) []*op {
	batch := []*op{first}
	due := time.Until(w.due)
	for len(batch) < maxBatch {
		select {
		case o, ok := <-w.ops:
			if !ok {
				return batch
			}
			batch = append(batch, o)
			continue
		default:
		}
		if due <= 0 {
			return batch
		}
		batch, due = w.await(batch, due), 0
	}
	return batch
}

// await takes what comes within a time.
func (w *writer) await(batch []*op, due time.Duration) []*op {
	timer := time.NewTimer(due)
	defer timer.Stop()
	for len(batch) < maxBatch {
		select {
		case o, ok := <-w.ops:
			if !ok {
				return batch
			}
			batch = append(batch, o)
		case <-timer.C:
			return batch
		}
	}
	return batch
}

// errBooks says that what a batch did together could not be written, though
// each of its operations had succeeded.
var errBooks = errors.New("the books do not close")

// run commits a batch, leaving out the operations that fail. Nobody is told
// anything before the commit: a refusal may rest on a row of the same batch.
func (w *writer) run(batch []*op) {
	var failed []*op
	var fault error
	tries, careful := 0, false
	for rest := batch; len(rest) > 0; {
		bad, err := w.attempt(rest, careful)
		if err != nil && !careful && w.dialect.pipe != nil && (bad >= 0 || errors.Is(err, errCare)) {
			careful = true // what failed may rest on a write that was wrongly believed
			continue
		}
		if tries++; err != nil && tries <= maxAgain && w.dialect.again(err) {
			continue
		}
		if bad < 0 && len(rest) > 1 && errors.Is(err, errBooks) {
			w.apart(failed, rest)
			return
		}
		if bad < 0 {
			fault = err
			break
		}
		rest[bad].err = err
		failed = append(failed, rest[bad])
		rest = append(rest[:bad:bad], rest[bad+1:]...)
	}
	tell(failed)
	for _, o := range batch {
		if slices.Contains(failed, o) {
			continue
		}
		if fault != nil {
			o.err = fault
		}
		o.done <- o.err
	}
}

func tell(ops []*op) {
	for _, o := range ops {
		o.done <- o.err
	}
}

// apart runs each operation of a batch in a transaction of its own, so that
// the one at fault is found and the others are carried out.
func (w *writer) apart(failed, rest []*op) {
	tell(failed)
	for _, o := range rest {
		w.run([]*op{o})
	}
}

// attempt runs the batch in one transaction. bad is the index of the operation
// that failed, or -1 when all ran: then err is nil or why the transaction
// itself could not be had or committed.
func (w *writer) attempt(batch []*op, careful bool) (bad int, err error) {
	ctx := context.Background() // a started transaction always ends here
	if err := w.open(ctx); err != nil {
		return -1, err
	}
	t := &tx{w: w, now: w.clock(), careful: careful}
	for i, o := range batch {
		if err := t.carry(o); err != nil {
			w.rollback(ctx)
			return i, err
		}
	}
	t.piped = true
	if err := t.closeBooks(); err != nil {
		w.rollback(ctx)
		return -1, fmt.Errorf("%w: %w", errBooks, err)
	}
	if err := t.flush(); err != nil {
		w.rollback(ctx)
		return -1, err
	}
	if _, err := w.conn.ExecContext(ctx, "COMMIT"); err != nil {
		w.rollback(ctx)
		return -1, fmt.Errorf("commit: %w", err)
	}
	w.commits.Add(1)
	w.remember(t.nums)
	return -1, nil
}

// rollback ends a transaction that failed. Where that is not to be had, the
// connection goes, and the transaction with it.
func (w *writer) rollback(ctx context.Context) {
	if _, err := w.conn.ExecContext(ctx, "ROLLBACK"); err != nil {
		w.drop()
	}
}

// clock never goes back: a clock that was set back stands still until real
// time has caught up. Readers and writers share it, so that what one of them
// dates the other does not find in the future.
func (w *writer) clock() core.Micros {
	now := w.server.Now(w.now()).UnixMicro()
	for {
		last := w.last.Load()
		if now <= last {
			return core.Micros(last)
		}
		if w.last.CompareAndSwap(last, now) {
			return core.Micros(now)
		}
	}
}
