package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Finalize ends a run whose calls have all settled: its state and result are
// frozen and what was held and not charged returns to the workspace. conclude
// must be pure. A run that has ended already is left alone.
func (s *Store) Finalize(ctx context.Context, id core.RunID, resultID, transferID string, conclude func(core.Ending) core.Result) (core.State, error) {
	var state core.State
	err := s.writer.do(ctx, func(t *tx) error {
		if err := t.holds(s.claim); err != nil {
			return err
		}
		e, err := t.ending(id)
		if err != nil {
			return err
		}
		if state = e.Run.State; state.Terminal() {
			return nil
		}
		var open int
		if err := t.row(`SELECT (SELECT count(*) FROM calls WHERE run = `+numOf(1)+` AND live = 1) +
			(SELECT count(*) FROM samples WHERE run = `+numOf(1)+` AND (state = 'judging' OR state = 'answered'))`, string(id)).Scan(&open); err != nil {
			return err
		}
		if open > 0 || e.Run.Reserved != 0 {
			return fmt.Errorf("%w: %d tasks are still open and %s is reserved", core.ErrMoved, open, e.Run.Reserved)
		}
		res := conclude(e)
		state = res.State
		return t.freeze(e.Run, res, resultID, transferID)
	})
	return state, err
}

func (t *tx) ending(id core.RunID) (e core.Ending, err error) {
	e.Now = t.now
	if e.Run, err = scanRun(t.row(`SELECT `+runColumns+` FROM runs WHERE id = $1`+t.w.lock, string(id))); err != nil {
		return e, err
	}
	if e.Run.Tallies, err = t.tallies(id); err != nil {
		return e, err
	}
	err = t.row(`SELECT coalesce(sum(CASE WHEN state = 'unresolved' THEN 1 ELSE 0 END), 0), coalesce(sum(CASE WHEN state = 'graded' THEN 1 ELSE 0 END), 0),
		coalesce(sum(score), 0), coalesce(sum(score * score), 0) FROM samples WHERE run = `+numOf(1), string(id)).
		Scan(&e.Unresolved, &e.Scores.N, &e.Scores.Sum, &e.Scores.SumSq)
	if err != nil {
		return e, err
	}
	if err := t.row(`SELECT count(*) FROM reuse_mismatches WHERE run = `+numOf(1), string(id)).Scan(&e.Mismatches); err != nil {
		return e, err
	}
	e.Errors, err = t.errorCounts(id)
	return e, err
}

func (t *tx) tallies(id core.RunID) (core.Tallies, error) {
	rows, err := t.rows(`SELECT outcome, n FROM tallies WHERE run_id = $1`, string(id))
	if err != nil {
		return nil, err
	}
	return scanTallies(rows)
}

func (t *tx) errorCounts(id core.RunID) (map[string]int, error) {
	rows, err := t.rows(`SELECT code, count(*) FROM samples WHERE run = `+numOf(1)+` AND code <> '' AND state <> 'planned' GROUP BY code`, string(id))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]int{}
	for rows.Next() {
		var code string
		var n int
		if err := rows.Scan(&code, &n); err != nil {
			return nil, err
		}
		out[code] = n
	}
	return out, rows.Err()
}

// freeze writes the end of a run.
func (t *tx) freeze(r core.Run, res core.Result, resultID, transferID string) error {
	doc, err := json.Marshal(res)
	if err != nil {
		return fmt.Errorf("encode result: %w", err)
	}
	for o, n := range res.Outcomes {
		if _, err := t.exec(`INSERT INTO tallies (run_id, outcome, n) VALUES ($1, $2, $3) ON CONFLICT (run_id, outcome) DO UPDATE SET n = excluded.n`,
			string(r.ID), string(o), n); err != nil {
			return err
		}
	}
	if err := t.event(r.ID, core.EventFinalizing, nil); err != nil {
		return err
	}
	left := r.Held - r.Charged
	if err := t.move(transfer{id: transferID, workspace: r.Workspace, book: r.Book, from: accHeld, to: accAvailable, amount: left, code: "release", run: r.ID}); err != nil {
		return fmt.Errorf("release hold: %w", err)
	}
	if err := t.one(`UPDATE runs SET state = $1, stop_reason = $2, hold_released = 1, ended_at = $3, retry_at = 0, waiting_reason = '' WHERE id = $4 AND hold_released = 0 AND reserved = 0`,
		string(res.State), string(res.Reason), int64(t.now), string(r.ID)); err != nil {
		return fmt.Errorf("end run: %w", err)
	}
	if _, err := t.exec(`INSERT INTO results (run_id, version, id, checksum, doc) VALUES ($1, $2, $3, $4, $5)`,
		string(r.ID), res.Version, resultID, res.Checksum(), string(doc)); err != nil {
		return fmt.Errorf("keep result: %w", err)
	}
	return t.lastEvents(r, res, left.Wire())
}

func (t *tx) lastEvents(r core.Run, res core.Result, released string) error {
	for _, e := range []core.Event{
		{Type: core.EventReleased, Data: map[string]any{"released_microusd": released}},
		{Type: core.EventSettled, Data: map[string]any{"charged_microusd": r.Charged.Wire(), "metered_microusd": r.Metered.Wire()}},
		{Type: core.EventPublished, Data: map[string]any{"version": res.Version}},
		{Type: core.EventFinished, Data: map[string]any{"status": string(res.State), "terminal_reason": string(res.Reason)}},
	} {
		if err := t.event(r.ID, e.Type, e.Data); err != nil {
			return err
		}
	}
	return nil
}

// Result is a frozen result with its identity.
type Result struct {
	core.Result
	ID       string
	Checksum string
}

// Result reads a result; version 0 is the newest.
func (s *Store) Result(ctx context.Context, sc core.Scope, run core.RunID, version int) (res Result, err error) {
	var doc string
	err = s.read.QueryRowContext(ctx, `SELECT x.id, x.checksum, x.doc FROM results x JOIN runs r ON r.id = x.run_id
		WHERE x.run_id = $1 AND r.workspace_id = $2 AND (x.version = $3 OR $3 = 0) ORDER BY x.version DESC LIMIT 1`,
		string(run), string(sc.Workspace), version).Scan(&res.ID, &res.Checksum, &doc)
	if errors.Is(err, sql.ErrNoRows) {
		return res, core.Missing("result")
	}
	if err != nil {
		return res, err
	}
	if err := json.Unmarshal([]byte(doc), &res.Result); err != nil {
		return res, fmt.Errorf("decode result: %w", err)
	}
	return res, nil
}
