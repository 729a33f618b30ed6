package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

const runColumns = `id, workspace_id, quote_id, coalesce(group_id, ''), coalesce(source_run_id, ''), chain_root, chain_pos, scope_hash, name, metadata,
	state, stop_reason, stop_detail, book, cap, held, charged, metered, reserved, waived, absorbed, unreported, hold_released, planned, next_seq, created_at, started_at,
	cancel_requested_at, ended_at, retry_at, waiting_reason, coalesce((SELECT n.id FROM runs n WHERE n.source_run_id = runs.id), '')`

func scanRun(row scanner) (r core.Run, err error) {
	var meta string
	err = row.Scan(&r.ID, &r.Workspace, &r.QuoteID, &r.GroupID, &r.SourceRun, &r.ChainRoot, &r.ChainPos, &r.ScopeHash, &r.Name, &meta,
		&r.State, &r.Reason, &r.Detail, &r.Book, &r.Cap, &r.Held, &r.Charged, &r.Metered, &r.Reserved, &r.Waived, &r.Absorbed, &r.Unreported, &r.HoldReleased,
		&r.Planned, &r.NextSeq, &r.CreatedAt, &r.StartedAt, &r.CancelRequestedAt, &r.EndedAt, &r.RetryAt, &r.WaitingReason, &r.ContinuedBy)
	if errors.Is(err, sql.ErrNoRows) {
		return r, core.Missing("run")
	}
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal([]byte(meta), &r.Metadata); err != nil {
		return r, fmt.Errorf("decode metadata: %w", err)
	}
	return r, nil
}

// queryer reads: the read pool or a transaction.
type queryer interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

// Run reads a run of a workspace with its tallies.
func (s *Store) Run(ctx context.Context, sc core.Scope, id core.RunID) (core.Run, error) {
	r, err := scanRun(s.read.QueryRowContext(ctx, `SELECT `+runColumns+` FROM runs WHERE id = $1 AND workspace_id = $2`, string(id), string(sc.Workspace)))
	if err != nil {
		return r, err
	}
	r.Tallies, err = readTallies(ctx, s.read, id)
	return r, err
}

func readTallies(ctx context.Context, q queryer, id core.RunID) (core.Tallies, error) {
	rows, err := q.QueryContext(ctx, `SELECT outcome, n FROM tallies WHERE run_id = $1`, string(id))
	if err != nil {
		return nil, err
	}
	return scanTallies(rows)
}

func scanTallies(rows *sql.Rows) (core.Tallies, error) {
	defer rows.Close()
	t := core.Tallies{}
	for rows.Next() {
		var o bundle.Outcome
		var n int
		if err := rows.Scan(&o, &n); err != nil {
			return nil, err
		}
		t[o] = n
	}
	return t, rows.Err()
}

// RunFilter selects runs of a workspace, newest first. Empty fields do not
// filter. After is the last run of the page before.
type RunFilter struct {
	IDPrefix      string
	States        []core.State
	Profile       core.ProfileID
	Target        string
	GroupID       string
	CreatedBefore core.Micros
	CreatedAfter  core.Micros
	After         *RunCursor
	Limit         int
}

// RunCursor is a place in the list of runs.
type RunCursor struct {
	CreatedAt core.Micros
	ID        core.RunID
}

// Runs lists runs.
func (s *Store) Runs(ctx context.Context, sc core.Scope, f RunFilter) ([]core.Run, error) {
	where, args := f.where(sc)
	args = append(args, f.Limit)
	rows, err := s.read.QueryContext(ctx, fmt.Sprintf(`SELECT %s FROM runs WHERE %s ORDER BY created_at DESC, id DESC LIMIT $%d`,
		runColumns, strings.Join(where, " AND "), len(args)), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []core.Run
	for rows.Next() {
		r, err := scanRun(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for i := range out {
		if out[i].Tallies, err = readTallies(ctx, s.read, out[i].ID); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (f RunFilter) where(sc core.Scope) (where []string, args []any) {
	add := func(cond string, v ...any) {
		for _, x := range v {
			args = append(args, x)
			cond = strings.Replace(cond, "?", fmt.Sprintf("$%d", len(args)), 1)
		}
		where = append(where, cond)
	}
	add("workspace_id = ?", string(sc.Workspace))
	if f.IDPrefix != "" {
		add("id >= ? AND id < ?", f.IDPrefix, f.IDPrefix+"g") // ids are lower-case hex and dashes
	}
	if len(f.States) > 0 {
		marks := make([]any, len(f.States))
		for i, st := range f.States {
			marks[i] = string(st)
		}
		add("state IN ("+strings.TrimSuffix(strings.Repeat("?, ", len(marks)), ", ")+")", marks...)
	}
	for col, v := range map[string]string{"profile_id": string(f.Profile), "target": f.Target, "group_id": f.GroupID} {
		if v != "" {
			add(col+" = ?", v)
		}
	}
	if f.CreatedBefore != 0 {
		add("created_at < ?", int64(f.CreatedBefore))
	}
	if f.CreatedAfter != 0 {
		add("created_at > ?", int64(f.CreatedAfter))
	}
	if f.After != nil {
		add("(created_at < ? OR (created_at = ? AND id < ?))", int64(f.After.CreatedAt), int64(f.After.CreatedAt), string(f.After.ID))
	}
	return where, args
}

// RequestCancel asks a run to stop. It is idempotent: a run that is stopping
// or has ended is left as it is.
func (s *Store) RequestCancel(ctx context.Context, sc core.Scope, id core.RunID) error {
	return s.writer.ask(ctx, func(t *tx) error {
		var state core.State
		err := t.row(`SELECT state FROM runs WHERE id = $1 AND workspace_id = $2`, string(id), string(sc.Workspace)).Scan(&state)
		if errors.Is(err, sql.ErrNoRows) {
			return core.Missing("run")
		}
		if err != nil || (state != core.Queued && state != core.Running) {
			return err
		}
		// The run may end in another process between the two statements.
		n, err := t.exec(`UPDATE runs SET state = 'stopping', stop_reason = $1, cancel_requested_at = $2, retry_at = 0, waiting_reason = '' WHERE id = $3 AND state IN ('queued', 'running')`,
			string(core.CancelledByUser), int64(t.now), string(id))
		if err != nil || n == 0 {
			return err
		}
		return t.event(id, core.EventCancelRequested, nil)
	})
}

// Start moves a queued run to running. It is a no-op for any other state.
func (s *Store) Start(ctx context.Context, id core.RunID) error {
	return s.writer.do(ctx, func(t *tx) error {
		if err := t.holds(s.claim); err != nil {
			return err
		}
		n, err := t.exec(`UPDATE runs SET state = 'running', started_at = $1 WHERE id = $2 AND state = 'queued'`, int64(t.now), string(id))
		if err != nil || n == 0 {
			return err
		}
		return t.event(id, core.EventStarted, nil)
	})
}

// Stop ends dispatch of a running run for a reason; calls in flight go on. A
// run that is stopping already keeps its first reason.
func (s *Store) Stop(ctx context.Context, id core.RunID, why core.Stop) error {
	detail, kind, data := cut(why.Detail, core.MaxDetail), why.Event, copyData(why.Data)
	if kind == "" {
		kind = core.EventStopping
	}
	data["reason"] = string(why.Reason)
	if detail != "" {
		data["detail"] = detail
	}
	return s.writer.do(ctx, func(t *tx) error {
		if err := t.holds(s.claim); err != nil {
			return err
		}
		n, err := t.exec(`UPDATE runs SET state = 'stopping', stop_reason = $1, stop_detail = $2, retry_at = 0, waiting_reason = '' WHERE id = $3 AND state IN ('queued', 'running')`,
			string(why.Reason), detail, string(id))
		if err != nil || n == 0 {
			return err
		}
		return t.event(id, kind, copyData(data))
	})
}

// Park records why a running run makes no calls until a time, 0 for one that
// nobody knows; with an empty reason, that it goes on.
func (s *Store) Park(ctx context.Context, id core.RunID, until core.Micros, why string) error {
	return s.writer.do(ctx, func(t *tx) error {
		if err := t.holds(s.claim); err != nil {
			return err
		}
		n, err := t.exec(`UPDATE runs SET retry_at = $1, waiting_reason = $2 WHERE id = $3 AND state = 'running'`, int64(until), why, string(id))
		if err != nil || n == 0 || why == "" {
			return err
		}
		data := map[string]any{"reason": why}
		if until != 0 {
			data["retry_at"] = time.UnixMicro(int64(until)).UTC().Format(time.RFC3339)
		}
		return t.event(id, core.EventWaiting, data)
	})
}

// Live lists every run that has not ended, oldest first, of all workspaces.
func (s *Store) Live(ctx context.Context) ([]core.Run, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT `+runColumns+` FROM runs WHERE state IN ('queued', 'running', 'stopping', 'finalizing') ORDER BY created_at, id`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []core.Run
	for rows.Next() {
		r, err := scanRun(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, rows.Err()
}
