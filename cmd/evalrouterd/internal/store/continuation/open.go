package continuation

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Claim makes sure, until the commit, that the source of a quote has ended and
// that nobody continues it. It comes before anything of the new run is written.
func Claim(t Tx, q core.Quote) error {
	c := q.Continuation
	if t.Lock() != "" { // others wait here, and then see what this one has written
		found, err := t.Rows(`SELECT num FROM runs WHERE id = $1`+t.Lock(), string(c.Source))
		if err != nil {
			return err
		}
		if err := found.Close(); err != nil {
			return err
		}
	}
	s, err := readSource(t.Rows, selectSource, q.Workspace, c.Source)
	if err != nil {
		return err
	}
	switch {
	case s.next != "":
		return core.Refuse(core.ContinuationExists, "run %s was continued by run %s already; nothing was started", c.Source, s.next).With("run_id", s.next)
	case !s.state.Terminal():
		return core.Refuse(core.RunNotFinished, "run %s has not ended; nothing was started", c.Source)
	}
	return nil
}

// Open writes the rows that the run of a continuation quote begins with. Every
// cell is decided again; anything other than what was quoted starts nothing.
func Open(t Tx, run core.Run, q core.Quote) error {
	s, err := readSource(t.Rows, selectSource, q.Workspace, q.Continuation.Source)
	if err != nil {
		return err
	}
	w := writer{t: t, run: run}
	found, err := t.Rows(`SELECT num FROM runs WHERE id = $1`, string(run.ID))
	if err != nil {
		return err
	}
	for found.Next() {
		err = found.Scan(&w.num)
	}
	if cerr := found.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("read the number of run %s: %w", run.ID, err)
	}
	survey := core.NewSurvey(q.Continuation.Flags())
	for page, err := range (cells{read: t.Rows, source: s, quote: q, now: t.Now()}).pages() {
		if err != nil {
			return fmt.Errorf("decide the tasks of run %s: %w", q.Continuation.Source, err)
		}
		for _, c := range page {
			w.add(c, survey.Add(c))
		}
		if err := w.flush(false); err != nil {
			return err
		}
	}
	if survey.Forbidden != nil || survey.Digest() != q.Continuation.Digest {
		return core.Refuse(core.QuoteStale, "what is recorded of run %s has changed since this quote; nothing was started. Quote it again", q.Continuation.Source)
	}
	return w.finish(s.num, survey.Reused)
}

// writer writes the first rows of a continuation in order.
type writer struct {
	t   Tx
	run core.Run
	num int64
	// due are rows to be written, and holes tasks to be asked that get a row only
	// if another one stands behind them: a run asks what has no row last.
	due, holes []row
}

type row struct {
	cell    core.Cell
	state   core.SampleState
	outcome string
	origin  core.Origin
	code    string
}

func (w *writer) add(c core.Cell, d core.Decision) {
	r := row{cell: c, state: core.SamplePlanned, origin: core.OriginNew}
	switch d.Bucket {
	case core.Reuse:
		w.close()
		return // copied all at once
	case core.Ask:
		w.holes = append(w.holes, r)
		return
	case core.Retry:
		r.origin = core.OriginRetried
	case core.Regrade:
		r.state, r.origin = core.SampleAnswered, core.OriginSaved
	case core.Leave:
		r.state, r.outcome, r.code = core.SampleLeftOut, string(core.LeftOut), d.Reason
	case core.Wait:
		if r.code = c.Code; r.code == "" {
			r.code = d.Reason
		}
		r.state, r.outcome = core.SamplePending, string(core.PendingTask)
	}
	w.close()
	w.due = append(w.due, r)
}

// close gives the tasks before a row theirs.
func (w *writer) close() {
	w.due = append(w.due, w.holes...)
	w.holes = w.holes[:0]
}

// rowsAtOnce is how many rows share a statement.
const rowsAtOnce = 32

// ownValues is how many arguments each row has.
const ownValues = 8

// flush writes full statements, and with all the rest one by one.
func (w *writer) flush(all bool) error {
	for len(w.due) >= rowsAtOnce || all && len(w.due) > 0 {
		n := rowsAtOnce
		if len(w.due) < n {
			n = 1
		}
		args := []any{w.num, int64(w.t.Now())}
		for _, r := range w.due[:n] {
			from, call := any(nil), any(nil)
			if r.cell.CallID != "" && (r.origin != core.OriginNew || r.state == core.SamplePending) {
				from, call = r.cell.From, string(r.cell.CallID)
			}
			args = append(args, r.cell.Idx, r.cell.TaskID, string(r.state), r.outcome, string(r.origin), from, call, r.code)
		}
		if _, err := w.t.Exec(insertRows(n), args...); err != nil {
			return fmt.Errorf("write %d tasks from %d on: %w", n, w.due[0].cell.Idx, err)
		}
		w.due = w.due[n:]
	}
	return nil
}

// insertRows is the statement for n rows. The first two arguments are of all of
// them.
func insertRows(n int) string {
	var b strings.Builder
	b.WriteString(`INSERT INTO samples (run, started_at, max_cost, idx, task_id, state, outcome, origin, source_run, source_call_id, code) VALUES `)
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("($1, $2, 0")
		for k := range ownValues {
			b.WriteString(", $" + strconv.Itoa(3+i*(ownValues)+k))
		}
		b.WriteString(")")
	}
	return b.String()
}

// reuse copies the graded tasks of a run. Their calls are those that the source
// took over itself, or its own.
const reuse = `INSERT INTO samples (run, idx, task_id, state, outcome, origin, source_run, source_call_id, max_cost, score, extracted, span_from, span_to, rule, grader, grader_compat, started_at, ended_at)
	SELECT CAST($1 AS BIGINT), s.idx, s.task_id, 'graded', s.outcome, 'reused', CASE WHEN s.origin IN ('reused', 'saved_response') THEN s.source_run ELSE s.run END,
		CASE WHEN s.origin IN ('reused', 'saved_response') THEN s.source_call_id
			ELSE (SELECT c.id FROM calls c WHERE c.run = s.run AND c.idx = s.idx AND c.kind = 'target' AND c.part = 0 AND c.state = 'responded') END,
		0, s.score, s.extracted, s.span_from, s.span_to, s.rule, s.grader, s.grader_compat, s.started_at, s.ended_at
	FROM samples s WHERE s.run = $2 AND s.state = 'graded'`

func (w *writer) finish(from int64, reused int) error {
	if err := w.flush(true); err != nil {
		return err
	}
	n, err := w.t.Exec(reuse, w.num, from)
	if err != nil {
		return fmt.Errorf("reuse graded tasks: %w", err)
	}
	if n != int64(reused) {
		return fmt.Errorf("reuse graded tasks: %d rows instead of %d: %w", n, reused, core.ErrMoved)
	}
	_, err = w.t.Exec(`INSERT INTO tallies (run_id, outcome, n) SELECT CAST($1 AS TEXT), outcome, count(*) FROM samples WHERE run = $2 AND outcome <> '' GROUP BY outcome`, string(w.run.ID), w.num)
	if err != nil {
		return fmt.Errorf("count first outcomes: %w", err)
	}
	return nil
}
