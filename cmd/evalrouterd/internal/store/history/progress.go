package history

import (
	"context"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Progress reads where a run stands.
func (r Reader) Progress(ctx context.Context, run core.RunID) (p core.Progress, err error) {
	if err := r.db.QueryRowContext(ctx, `SELECT coalesce(max(idx) + 1, 0) FROM samples WHERE run = (SELECT num FROM runs WHERE id = $1)`, string(run)).Scan(&p.Next); err != nil {
		return p, err
	}
	rows, err := r.db.QueryContext(ctx, `SELECT idx, state, attempt FROM samples WHERE run = (SELECT num FROM runs WHERE id = $1)
		AND (state = 'planned' OR state = 'judging' OR state = 'answered') ORDER BY idx`, string(run))
	if err != nil {
		return p, err
	}
	defer rows.Close()
	for rows.Next() {
		var redo core.Redo
		var state core.SampleState
		if err := rows.Scan(&redo.Idx, &state, &redo.Attempt); err != nil {
			return p, err
		}
		redo.Opened = true
		switch state {
		case core.SampleAnswered:
			p.Answered = append(p.Answered, redo.Idx)
		case core.SampleJudging:
			p.Judging = append(p.Judging, redo.Idx)
		default:
			p.Redo = append(p.Redo, redo)
		}
	}
	return p, rows.Err()
}

// Evidence reads the newest recorded answer to the first part of a task. ok is false when none
// was recorded.
func (r Reader) Evidence(ctx context.Context, run core.RunID, idx int) (e core.Evidence, ok bool, err error) {
	rows, err := r.db.QueryContext(ctx, `SELECT c.id, b.data, coalesce(b.hash, ''), c.finish, c.usage_doc, c.spent, c.reserved, c.provider_request_id
		FROM samples s JOIN calls c ON c.run = `+madeIn+` AND c.idx = s.idx LEFT JOIN blobs b ON b.call_id = c.id
		WHERE s.run = (SELECT num FROM runs WHERE id = $1) AND s.idx = $2 AND c.kind = 'target' AND c.part = 0 AND c.state IN ('responded', 'late') ORDER BY c.attempt DESC LIMIT 1`, string(run), idx)
	if err != nil {
		return e, false, err
	}
	defer rows.Close()
	if !rows.Next() {
		return e, false, rows.Err()
	}
	err = rows.Scan(&e.Call, &e.Raw, &e.SHA256, &e.Finish, &e.UsageDoc, &e.Spent, &e.Reserved, &e.RequestID)
	return e, err == nil, err
}

// Replies reads what is recorded of the judges of the tasks in [from, to): for
// each judge its newest call, in the order of the panel.
func (r Reader) Replies(ctx context.Context, sc core.Scope, run core.RunID, from, to int) ([]core.Reply, error) {
	return r.replies(ctx, sc, core.KindJudge, run, from, to)
}

// Parts reads what is recorded of the model about the tasks in [from, to): for
// each part of a task its newest call, in the order of the parts.
func (r Reader) Parts(ctx context.Context, sc core.Scope, run core.RunID, from, to int) ([]core.Reply, error) {
	return r.replies(ctx, sc, core.KindTarget, run, from, to)
}

func (r Reader) replies(ctx context.Context, sc core.Scope, kind string, run core.RunID, from, to int) (out []core.Reply, err error) {
	rows, err := r.db.QueryContext(ctx, `SELECT c.idx, c.part, c.attempt, c.state, c.outcome, b.data, c.finish, c.usage_doc, c.spent, c.nonce, c.request_hash
		FROM samples s JOIN calls c ON c.run = `+madeIn+` AND c.idx = s.idx LEFT JOIN blobs b ON b.call_id = c.id
		WHERE s.run = (SELECT num FROM runs WHERE id = $1 AND workspace_id = $4) AND s.idx >= $2 AND s.idx < $3 AND c.kind = $5
		AND NOT EXISTS (SELECT 1 FROM calls d WHERE d.run = c.run AND d.idx = c.idx AND d.kind = c.kind AND d.part = c.part AND d.attempt > c.attempt) ORDER BY c.idx, c.part`,
		string(run), from, to, string(sc.Workspace), kind)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var p core.Reply
		if err := rows.Scan(&p.Idx, &p.Part, &p.Attempt, &p.State, &p.Outcome, &p.Raw, &p.Finish, &p.UsageDoc, &p.Spent, &p.Nonce, &p.Hash); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, rows.Err()
}

// BilledCall is an answered call with its money.
type BilledCall struct {
	Idx, Part       int
	Kind            string
	Reserved, Spent usd.Micro
	UsageDoc        string // "" where none was reported that could be believed
}

// Billed reads the answered calls of the tasks in [from, to), in the order of
// the tasks, of the model before its judges.
func (r Reader) Billed(ctx context.Context, sc core.Scope, run core.RunID, from, to int) (out []BilledCall, err error) {
	rows, err := r.db.QueryContext(ctx, `SELECT idx, part, kind, reserved, spent, usage_doc FROM calls
		WHERE run = (SELECT num FROM runs WHERE id = $1 AND workspace_id = $4) AND idx >= $2 AND idx < $3 AND state = 'responded'
		ORDER BY idx, kind DESC, part, attempt`, string(run), from, to, string(sc.Workspace))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var c BilledCall
		if err := rows.Scan(&c.Idx, &c.Part, &c.Kind, &c.Reserved, &c.Spent, &c.UsageDoc); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, rows.Err()
}
