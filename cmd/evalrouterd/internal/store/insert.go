package store

import (
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// rowsAtOnce is how many rows of a batch share an INSERT. What is left over
// goes one by one, so that each table has two statements and no more.
const rowsAtOnce = 16

// insertion is an INSERT into some columns of a table.
type insertion struct {
	into  string
	width int
}

var (
	intoSamples = insertion{"samples (run_id, idx, task_id, state, max_cost, pledged, attempt, started_at)", 8}
	intoCalls   = insertion{"calls (id, run_id, idx, kind, part, attempt, state, worker, fence, lease_until, reserved, request_hash, nonce, created_at)", 14}
	intoBlobs   = insertion{"blobs (call_id, hash, size, codec, data, expires_at)", 6}
	intoEvents  = insertion{"events (run_id, seq, type, at, doc)", 5}
)

// text is the statement for n rows.
func (i insertion) text(n int) string {
	var b strings.Builder
	b.WriteString("INSERT INTO " + i.into + " VALUES ")
	for row := range n {
		for col := range i.width {
			switch {
			case col > 0:
				b.WriteString(", ")
			case row > 0:
				b.WriteString(", (")
			default:
				b.WriteString("(")
			}
			fmt.Fprintf(&b, "$%d", row*i.width+col+1)
		}
		b.WriteString(")")
	}
	return b.String()
}

// insert writes rows, whose arguments stand one behind the other.
func (t *tx) insert(i insertion, args []any) error {
	for len(args) > 0 {
		n := 1
		if len(args) >= rowsAtOnce*i.width {
			n = rowsAtOnce
		}
		if err := t.put(t.w.inserting(i, n), args[:n*i.width]...); err != nil {
			return err
		}
		args = args[n*i.width:]
	}
	return nil
}

// inserting is the text of an INSERT, made once.
func (w *writer) inserting(i insertion, n int) string {
	key := insertText{i, n}
	q, ok := w.texts[key]
	if !ok {
		q = i.text(n)
		w.texts[key] = q
	}
	return q
}

type insertText struct {
	insertion
	rows int
}

// gathered are rows that wait for the books to be closed.
type gathered struct {
	into insertion
	args []any
}

// add inserts a row into a table that booked operations neither read nor
// change: with the books, where they are shared.
func (t *tx) add(i insertion, args ...any) error {
	if !t.books.deferred {
		return t.insert(i, args)
	}
	for _, g := range t.books.rows {
		if g.into == i {
			g.args = append(g.args, args...)
			return nil
		}
	}
	t.books.rows = append(t.books.rows, &gathered{i, args})
	return nil
}

// open opens tasks that were never called before and journals their calls.
func (t *tx) open(run core.RunID, l core.Lease, fresh []core.Intent) error {
	var samples, calls []any
	for _, in := range fresh {
		samples = append(samples, string(run), in.Idx, in.TaskID, string(core.SampleInCall), int64(in.Worst+in.Pledge), int64(in.Pledge), 1, int64(t.now))
		calls = append(calls, t.callRow(run, l, in)...)
	}
	if err := t.insert(intoSamples, samples); err != nil {
		return fmt.Errorf("open samples: %w", err)
	}
	if err := t.insert(intoCalls, calls); err != nil {
		return fmt.Errorf("journal calls: %w", err)
	}
	return nil
}

// reopen opens a task again that was planned again, and journals its call.
func (t *tx) reopen(run core.RunID, l core.Lease, in core.Intent) error {
	err := t.one(`UPDATE samples SET state = 'in_call', attempt = $1, max_cost = $2, pledged = $3 WHERE run_id = $4 AND idx = $5 AND state = 'planned'`,
		in.Attempt, int64(in.Worst+in.Pledge), int64(in.Pledge), string(run), in.Idx)
	if err != nil {
		return fmt.Errorf("open sample %d again: %w", in.Idx, err)
	}
	return t.insertCall(run, l, in)
}

func (t *tx) insertCall(run core.RunID, l core.Lease, in core.Intent) error {
	if err := t.insert(intoCalls, t.callRow(run, l, in)); err != nil {
		return fmt.Errorf("journal call: %w", err)
	}
	return nil
}

func (t *tx) callRow(run core.RunID, l core.Lease, in core.Intent) []any {
	return []any{string(in.Call), string(run), in.Idx, in.Kind(), in.Part, in.Attempt, string(core.CallIntent), l.Worker, l.Fence, int64(l.Until),
		int64(in.Worst), in.Hash, in.Nonce, int64(t.now)}
}
