package store

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// rowsAtOnce is how many rows of a batch share an INSERT. What is left over
// goes one by one, so that each table has two statements and no more.
const rowsAtOnce = 16

// insertion is an INSERT of rows of one shape: what is the same in every row
// is bound once, and what is always the same stands in the text.
type insertion struct {
	into   string
	row    string // a row: %[n]s is value n of all rows, ? a value of its own
	shared int    // values of all rows
	own    int    // values of each row
}

var (
	intoSamples = insertion{"samples (run, idx, task_id, state, max_cost, pledged, attempt, started_at)", "(%[1]s, ?, ?, 'in_call', ?, ?, 1, %[2]s)", 2, 4}
	intoCalls   = insertion{"calls (run, worker, fence, lease_until, created_at, id, idx, kind, part, attempt, state, reserved, request_hash, nonce)",
		"(%[1]s, %[2]s, %[3]s, %[4]s, %[5]s, ?, ?, ?, ?, ?, 'intent', ?, ?, ?)", 5, 8}
	intoBlobs  = insertion{"blobs (call_id, hash, size, codec, data, expires_at)", "(?, ?, ?, 'identity', ?, ?)", 0, 5}
	intoEvents = insertion{"events (at, run, seq, type, doc)", "(%[1]s, ?, ?, ?, ?)", 1, 4}
)

// text is the statement for n rows.
func (i insertion) text(n int) string {
	shared := make([]any, i.shared)
	for at := range shared {
		shared[at] = "$" + strconv.Itoa(at+1)
	}
	row := i.row
	if i.shared > 0 {
		row = fmt.Sprintf(i.row, shared...)
	}
	parts := strings.Split(row, "?")
	var b strings.Builder
	b.WriteString("INSERT INTO " + i.into + " VALUES ")
	next := i.shared
	for at := range n {
		if at > 0 {
			b.WriteString(", ")
		}
		for j, p := range parts {
			if j > 0 {
				next++
				b.WriteString("$" + strconv.Itoa(next))
			}
			b.WriteString(p)
		}
	}
	return b.String()
}

// insert writes rows, whose own values stand one behind the other.
func (t *tx) insert(i insertion, shared, rows []any) error {
	for len(rows) > 0 {
		n := 1
		if len(rows) >= rowsAtOnce*i.own {
			n = rowsAtOnce
		}
		if err := t.put(t.w.inserting(i, n), append(shared[:len(shared):len(shared)], rows[:n*i.own]...)...); err != nil {
			return err
		}
		rows = rows[n*i.own:]
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
	into   insertion
	shared []any
	rows   []any
}

// add inserts a row into a table that booked operations neither read nor
// change: with the books, where they are shared. shared must be the same for
// every row of one transaction.
func (t *tx) add(i insertion, shared []any, row ...any) error {
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
	samples := make([]any, 0, len(fresh)*intoSamples.own)
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
	rows := make([]any, 0, len(ins)*intoCalls.own)
	for _, in := range ins {
		rows = append(rows, string(in.Call), in.Idx, in.Kind(), in.Part, in.Attempt, int64(in.Worst), in.Hash, in.Nonce)
	}
	if err := t.insert(intoCalls, []any{num, l.Worker, l.Fence, int64(l.Until), int64(t.now)}, rows); err != nil {
		return fmt.Errorf("journal calls: %w", err)
	}
	return nil
}
