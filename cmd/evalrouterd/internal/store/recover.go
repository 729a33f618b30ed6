package store

import (
	"context"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// recoverBatch bounds how many calls one recovery transaction settles.
const recoverBatch = 500

// Recover settles the live calls that an earlier process of this data
// directory left behind. It may only run while the caller is the one process
// that makes calls. Intents become planned tasks; sent calls become unknown.
func (s *Store) Recover(ctx context.Context) (core.Recovered, error) {
	var total core.Recovered
	for {
		n, err := s.recoverSome(ctx)
		if err != nil {
			return total, fmt.Errorf("recover calls: %w", err)
		}
		total.Voided += n.Voided
		total.Unknown += n.Unknown
		if n.Voided+n.Unknown == 0 {
			return total, nil
		}
	}
}

func (s *Store) recoverSome(ctx context.Context) (out core.Recovered, err error) {
	err = s.writer.do(ctx, func(t *tx) error {
		out = core.Recovered{}
		live, err := t.liveCalls(recoverBatch)
		if err != nil {
			return err
		}
		for _, c := range live {
			e := core.Ended{Run: c.Run, Idx: c.Idx, Call: c.ID, Reserved: c.Reserved, Outcome: "restart"}
			if c.State == core.CallIntent {
				out.Voided++
				err = t.replan(e, core.CallVoided)
			} else {
				out.Unknown++
				err = t.unknown(e)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

func (t *tx) liveCalls(limit int) ([]core.Call, error) {
	rows, err := t.rows(`SELECT id, run_id, idx, state, reserved FROM calls WHERE state IN ('intent', 'sent') ORDER BY id LIMIT $1`, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []core.Call
	for rows.Next() {
		var c core.Call
		if err := rows.Scan(&c.ID, &c.Run, &c.Idx, &c.State, &c.Reserved); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, rows.Err()
}

// Progress reads where a run stands.
func (s *Store) Progress(ctx context.Context, run core.RunID) (p core.Progress, err error) {
	if err := s.read.QueryRowContext(ctx, `SELECT coalesce(max(idx) + 1, 0) FROM samples WHERE run_id = $1`, string(run)).Scan(&p.Next); err != nil {
		return p, err
	}
	rows, err := s.read.QueryContext(ctx, `SELECT idx, state, attempt FROM samples WHERE run_id = $1 AND state IN ('planned', 'answered') ORDER BY idx`, string(run))
	if err != nil {
		return p, err
	}
	defer rows.Close()
	for rows.Next() {
		var r core.Redo
		var state core.SampleState
		if err := rows.Scan(&r.Idx, &state, &r.Attempt); err != nil {
			return p, err
		}
		if state == core.SampleAnswered {
			p.Answered = append(p.Answered, r.Idx)
		} else {
			p.Redo = append(p.Redo, r)
		}
	}
	return p, rows.Err()
}

// Evidence reads the newest recorded answer of a task. ok is false when none
// was recorded.
func (s *Store) Evidence(ctx context.Context, run core.RunID, idx int) (e core.Evidence, ok bool, err error) {
	rows, err := s.read.QueryContext(ctx, `SELECT c.id, b.data, coalesce(b.hash, ''), c.finish, c.usage_doc, c.spent, c.reserved, c.provider_request_id
		FROM calls c LEFT JOIN blobs b ON b.call_id = c.id
		WHERE c.run_id = $1 AND c.idx = $2 AND c.state IN ('responded', 'late') ORDER BY c.attempt DESC LIMIT 1`, string(run), idx)
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
