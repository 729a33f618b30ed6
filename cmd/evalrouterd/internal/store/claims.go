package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Several processes share a database by taking turns at its runs. A claim is a
// turn: it ends when its lease runs out by the database's clock, and whoever
// claims the run next settles, in the same commit, every call that the one
// before left open. So no call of an earlier turn is ever live in a later one
// (the audit holds this), and each step of a call, which starts from a live
// state, is refused to a worker that has lost its turn. What changes a run
// itself names its fence.

const liveRun = `state IN ('queued', 'running', 'stopping', 'finalizing')`

// acknowledged holds while no restore waits for its operator. A process that is
// alone looks at its start; beside others a restore can happen at any time.
const acknowledged = `NOT EXISTS (SELECT 1 FROM meta WHERE k = '` + metaPending + `' AND v <> '')`

// Claim takes a run's next turn for a worker, or says that there is none: the
// run has ended, another worker's turn has not, or a restore waits to be
// acknowledged.
func (s *Store) Claim(ctx context.Context, run core.RunID, worker string, lease time.Duration) (c core.Claim, ok bool, err error) {
	err = s.writer.do(ctx, func(t *tx) error {
		c, ok = core.Claim{Run: run}, false
		err := t.row(`UPDATE runs SET owner = $1, fence = fence + 1, lease_until = $2
			WHERE id = $3 AND `+liveRun+` AND (owner = '' OR owner = $1 OR lease_until <= $4) AND `+acknowledged+` RETURNING fence, workspace_id`,
			worker, int64(t.now)+lease.Microseconds(), string(run), int64(t.now)).Scan(&c.Fence, &c.Workspace)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("claim run: %w", err)
		}
		ok = true
		return t.settleLive(run, "worker_lost")
	})
	return c, ok && err == nil, err
}

// settleLive ends every live call of a run whose maker is gone: one that was
// never sent is planned again, one that may have been is unknown. The calls
// are locked as they are read, so that none is sent in between.
func (t *tx) settleLive(run core.RunID, why string) error {
	live, err := t.callsOf(`c.run = `+numOf(1)+` AND c.live = 1 ORDER BY c.idx, c.kind, c.part`+t.w.lockOf("c"), string(run))
	if err != nil {
		return err
	}
	for _, c := range live {
		if err := t.giveBack(c, why); err != nil {
			return err
		}
	}
	return nil
}

// Renew lengthens every turn of a worker and lists those that it still has.
func (s *Store) Renew(ctx context.Context, worker string, lease time.Duration) (held []core.Claim, err error) {
	err = s.writer.do(ctx, func(t *tx) error {
		rows, err := t.rows(`UPDATE runs SET lease_until = $1 WHERE owner = $2 AND `+liveRun+` RETURNING id, workspace_id, fence`,
			int64(t.now)+lease.Microseconds(), worker)
		held, err = collect(rows, err, intoClaim)
		return err
	})
	return held, err
}

// Release ends a turn early. One that is over already is left alone.
func (s *Store) Release(ctx context.Context, c core.Claim) error {
	return s.writer.do(ctx, func(t *tx) error {
		_, err := t.exec(`UPDATE runs SET owner = '', lease_until = 0 WHERE id = $1 AND fence = $2 AND `+liveRun, string(c.Run), c.Fence)
		return err
	})
}

// Orphans lists live runs that nobody has a turn at, oldest first.
func (s *Store) Orphans(ctx context.Context, limit int) ([]core.Claim, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT id, workspace_id, fence FROM runs WHERE `+liveRun+` AND (owner = '' OR lease_until <= $1) ORDER BY created_at, id LIMIT $2`,
		int64(s.Now()), limit)
	return collect(rows, err, intoClaim)
}

func intoClaim(c *core.Claim) []any { return []any{&c.Run, &c.Workspace, &c.Fence} }

// Holding is the store for the worker that has a turn: every change of the run
// itself is refused with core.ErrFenced once the turn is over.
func (s *Store) Holding(c core.Claim) *Store {
	h := *s
	h.claim = c
	return &h
}

// holds locks the run's row and says whether the claim still counts.
func (t *tx) holds(c core.Claim) error {
	if c.Fence == 0 {
		return nil // the caller is alone
	}
	var fence int64
	if err := t.row(`SELECT fence FROM runs WHERE id = $1`+t.w.lock, string(c.Run)).Scan(&fence); err != nil {
		return fmt.Errorf("look at the claim of run %s: %w", c.Run, err)
	}
	if fence != c.Fence {
		return core.ErrFenced
	}
	return nil
}

// Late takes an answer that Respond could not, because its call was settled
// meanwhile or because nobody knew whether the first attempt was committed, and
// gives the state that the call then has; "" when there is no such call, as in a
// database that was restored. A call that had become unknown keeps the answer as
// evidence and stays free of charge; its task stays unresolved, and a
// continuation can grade it without another call.
func (s *Store) Late(ctx context.Context, r core.Response) (state core.CallState, err error) {
	usage := usageDoc(r)
	err = s.writer.do(ctx, func(t *tx) error {
		err := t.row(`SELECT state FROM calls WHERE run = `+numOf(1)+` AND idx = $2 AND id = $3`+t.w.lock, string(r.Run), r.Idx, string(r.Call)).Scan(&state)
		if errors.Is(err, sql.ErrNoRows) {
			state = ""
			return nil
		}
		if err != nil || state != core.CallUnknown {
			return err
		}
		if err := t.one(`UPDATE calls SET state = 'late', usage_doc = $1, finish = $2, provider_request_id = $3
			WHERE run = `+numOf(4)+` AND idx = $5 AND id = $6 AND `+stateBefore(core.CallLate),
			usage, r.Finish, r.RequestID, string(r.Run), r.Idx, string(r.Call)); err != nil {
			return err
		}
		// What was kept when the call became unknown is no whole answer.
		if _, err := t.exec(`DELETE FROM blobs WHERE call_id = $1`, string(r.Call)); err != nil {
			return err
		}
		state = core.CallLate
		if r.ExpiresAt <= t.now { // those of its run are dropped already, or next
			return t.keepHash(r)
		}
		return t.keep(r.Call, r.Raw, r.RawSHA256, r.ExpiresAt)
	})
	if err != nil {
		return "", err
	}
	return state, nil
}
