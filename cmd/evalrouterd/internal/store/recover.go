package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// recoverBatch bounds how many calls one recovery transaction settles.
const recoverBatch = 500

// Recover settles the live calls that an earlier process of this data
// directory left behind. It may only run while the caller is the one process
// that makes calls. Intents become planned tasks, or answered ones whose judge
// is to be asked again; sent calls become unknown.
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
	err = s.writer.book(ctx, func(t *tx) error {
		out = core.Recovered{}
		live, err := t.liveCalls(recoverBatch)
		if err != nil {
			return err
		}
		for _, c := range live {
			if err := t.giveBack(c, "restart"); err != nil {
				return err
			}
			if c.State == core.CallIntent {
				out.Voided++
			} else {
				out.Unknown++
			}
		}
		return nil
	})
	return out, err
}

// Abandon settles whatever is open in one run whose runner cannot go on:
// intents are planned again, sent calls become unknown, answers that could not
// be graded are errors of ours, and those whose judges were not asked are left
// unjudged. Afterwards the run can end.
func (s *Store) Abandon(ctx context.Context, run core.RunID) error {
	return s.writer.book(ctx, func(t *tx) error {
		if err := t.holds(s.claim); err != nil {
			return err
		}
		if err := t.settleLive(run, "abandoned"); err != nil {
			return err
		}
		answered, err := t.indices(`SELECT idx FROM samples WHERE run = `+numOf(1)+` AND state = 'answered' ORDER BY idx`, string(run))
		if err != nil {
			return err
		}
		for _, idx := range answered {
			if err := t.settleSample(run, idx, core.SampleFailed, core.GraderError, core.CodeGraderError, 0, core.EventTaskFailed); err != nil {
				return err
			}
		}
		judging, err := t.indices(`SELECT idx FROM samples WHERE run = `+numOf(1)+` AND state = 'judging' ORDER BY idx`, string(run))
		if err != nil {
			return err
		}
		for _, idx := range judging {
			if err := t.leaveUnjudged(run, idx); err != nil {
				return err
			}
		}
		return nil
	})
}

// giveBack settles a live call whose maker is gone.
func (t *tx) giveBack(c core.Call, why string) error {
	e := core.Ended{Run: c.Run, Idx: c.Idx, Call: c.ID, Reserved: c.Reserved, Judge: c.Kind == core.KindJudge, Part: c.Part, Outcome: why}
	if c.State == core.CallIntent {
		return t.replan(e, core.CallVoided)
	}
	return t.unknown(e)
}

func (t *tx) indices(q string, args ...any) ([]int, error) {
	rows, err := t.rows(q, args...)
	return collect(rows, err, func(i *int) []any { return []any{i} })
}

// collect reads all rows, each into the places that at gives for it.
func collect[T any](rows *sql.Rows, err error, at func(*T) []any) (out []T, _ error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var v T
		if err := rows.Scan(at(&v)...); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

func (t *tx) liveCalls(limit int) ([]core.Call, error) {
	return t.callsOf(`c.live = 1 ORDER BY c.run, c.idx, c.kind, c.part LIMIT $1`, limit)
}

// callsOf reads the calls that a condition names.
func (t *tx) callsOf(where string, args ...any) ([]core.Call, error) {
	rows, err := t.rows(`SELECT c.id, r.id, c.idx, c.kind, c.part, c.state, c.reserved FROM calls c JOIN runs r ON r.num = c.run WHERE `+where, args...)
	return collect(rows, err, func(c *core.Call) []any { return []any{&c.ID, &c.Run, &c.Idx, &c.Kind, &c.Part, &c.State, &c.Reserved} })
}
