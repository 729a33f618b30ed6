package store

import (
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/phrase"
)

// rowsAtOnce is how many rows of a batch share an INSERT. What is left over
// goes one by one, so that each table has two statements and no more.
const rowsAtOnce = 16

var (
	intoSamples = phrase.Insert{Into: "samples (run, idx, task_id, state, max_cost, pledged, attempt, started_at)",
		Row: "(%[1]s, ?, ?, 'in_call', ?, ?, 1, %[2]s)", Shared: 2, Own: 4}
	intoCalls = phrase.Insert{Into: "calls (run, worker, fence, lease_until, created_at, id, idx, kind, part, attempt, state, reserved, request_hash, nonce)",
		Row: "(%[1]s, %[2]s, %[3]s, %[4]s, %[5]s, ?, ?, ?, ?, ?, 'intent', ?, ?, ?)", Shared: 5, Own: 8}
	intoBlobs = phrase.Insert{Into: "blobs (call_id, hash, size, codec, data, expires_at)",
		Row: "(?, ?, ?, 'identity', ?, ?)", Shared: 0, Own: 5}
	intoEvents = phrase.Insert{Into: "events (at, run, seq, type, doc)",
		Row: "(%[1]s, ?, ?, ?, ?)", Shared: 1, Own: 4}
)

// insert writes rows, whose own values stand one behind the other.
func (t *tx) insert(i phrase.Insert, shared, rows []any) error {
	for len(rows) > 0 {
		n := 1
		if len(rows) >= rowsAtOnce*i.Own {
			n = rowsAtOnce
		}
		if err := t.put(t.w.inserting(i, n), append(shared[:len(shared):len(shared)], rows[:n*i.Own]...)...); err != nil {
			return err
		}
		rows = rows[n*i.Own:]
	}
	return nil
}

// inserting is the text of an INSERT, made once.
func (w *writer) inserting(i phrase.Insert, n int) string {
	key := insertText{i, n}
	q, ok := w.texts[key]
	if !ok {
		q = i.Text(n)
		w.texts[key] = q
	}
	return q
}

type insertText struct {
	phrase.Insert
	rows int
}

// gathered are rows that wait for the books to be closed.
type gathered struct {
	into   phrase.Insert
	shared []any
	rows   []any
}

// add inserts a row into a table that booked operations neither read nor
// change: with the books, where they are shared. shared must be the same for
// every row of one transaction.
func (t *tx) add(i phrase.Insert, shared []any, row ...any) error {
	if !t.books.deferred {
		return t.insert(i, shared, row)
	}
	for _, g := range t.books.rows {
		if g.into == i {
			g.rows = append(g.rows, row...)
			return nil
		}
	}
	t.books.rows = append(t.books.rows, &gathered{i, shared, row})
	return nil
}

// open opens tasks that were never called before and journals their calls.
func (t *tx) open(run core.RunID, l core.Lease, fresh []core.Intent) error {
	if len(fresh) == 0 {
		return nil
	}
	num, err := t.num(run)
	if err != nil {
		return err
	}
	samples := make([]any, 0, len(fresh)*intoSamples.Own)
	for _, in := range fresh {
		samples = append(samples, in.Idx, in.TaskID, int64(in.Worst+in.Pledge), int64(in.Pledge))
	}
	if err := t.insert(intoSamples, []any{num, int64(t.now)}, samples); err != nil {
		return fmt.Errorf("open samples: %w", err)
	}
	return t.insertCalls(run, l, fresh...)
}

// reopen opens a task again that was planned again, and journals its call.
func (t *tx) reopen(run core.RunID, l core.Lease, in core.Intent) error {
	err := t.one(`UPDATE samples SET state = 'in_call', attempt = $1, max_cost = $2, pledged = $3, task_id = $6 WHERE run = `+numOf(4)+` AND idx = $5 AND state = 'planned'`,
		in.Attempt, int64(in.Worst+in.Pledge), int64(in.Pledge), string(run), in.Idx, in.TaskID)
	if err != nil {
		return fmt.Errorf("open sample %d again: %w", in.Idx, err)
	}
	return t.insertCalls(run, l, in)
}

// insertCalls journals calls of one run.
func (t *tx) insertCalls(run core.RunID, l core.Lease, ins ...core.Intent) error {
	num, err := t.num(run)
	if err != nil {
		return err
	}
	rows := make([]any, 0, len(ins)*intoCalls.Own)
	for _, in := range ins {
		rows = append(rows, string(in.Call), in.Idx, in.Kind(), in.Part, in.Attempt, int64(in.Worst), in.Hash, in.Nonce)
	}
	if err := t.insert(intoCalls, []any{num, l.Worker, l.Fence, int64(l.Until), int64(t.now)}, rows); err != nil {
		return fmt.Errorf("journal calls: %w", err)
	}
	return nil
}
