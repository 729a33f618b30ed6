package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/access"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/postgres"
)

// A database that comes from a backup, or a standby that was promoted before
// it had everything, does not know what was done after its last commit: calls
// may have been made that it has no row of. It begins a new epoch. No quote of
// an earlier one counts, no run of an earlier one makes another call, and
// whatever was live is unknown, intents included: that they were not sent
// cannot be proven any more. Sign-ins end, because some may have been revoked in
// what is missing. An operator acknowledges it before the first call.
const (
	metaEpoch    = "epoch"
	metaPending  = "restore_pending"
	metaIdentity = "database_identity"
)

// Restored says what a new epoch found.
type Restored struct {
	Epoch int64       `json:"epoch"`
	Why   string      `json:"why"`
	At    core.Micros `json:"at"`
	// Runs were live and have stopped; Unknown of their calls may have been
	// processed.
	Runs    int `json:"runs"`
	Unknown int `json:"unknown"`
	// Gap says that commits may be missing: what was revoked in them would be
	// good again. SignIns of browsers and terminals were ended for that.
	Gap     bool `json:"gap"`
	SignIns int  `json:"sign_ins"`
}

// FollowIdentity begins a new epoch when PostgreSQL is on another history than
// the one that was recorded last, and records it. began is nil when it is the
// same, and always on SQLite.
func (s *Store) FollowIdentity(ctx context.Context) (began *Restored, err error) {
	if s.dialect.name != "postgres" {
		return nil, nil
	}
	synchronous, err := s.Synchronous(ctx)
	if err != nil {
		return nil, err
	}
	err = s.writer.do(ctx, func(t *tx) error {
		began = nil
		var is, was string
		if err := t.row(postgres.Identity).Scan(&is); err != nil {
			return fmt.Errorf("read the identity of the database: %w", err)
		}
		if _, err := t.exec(`INSERT INTO meta (k, v) VALUES ($1, $2) ON CONFLICT (k) DO NOTHING`, metaIdentity, is); err != nil {
			return err
		}
		if err := t.row(`SELECT v FROM meta WHERE k = $1`+t.w.lock, metaIdentity).Scan(&was); err != nil || was == is {
			return err
		}
		if err := t.one(`UPDATE meta SET v = $1 WHERE k = $2`, is, metaIdentity); err != nil {
			return err
		}
		r, err := t.newEpoch("the database is on another timeline or another server than before", !synchronous)
		began = &r
		return err
	})
	return began, err
}

// NewEpoch begins an epoch because an operator says that the database was
// restored.
func (s *Store) NewEpoch(ctx context.Context, why string) (r Restored, err error) {
	err = s.writer.do(ctx, func(t *tx) error {
		r, err = t.newEpoch(why, true)
		return err
	})
	return r, err
}

// newEpoch stops everything. gap says that commits may be missing, so that any
// task without a record may have been called.
func (t *tx) newEpoch(why string, gap bool) (r Restored, err error) {
	r = Restored{Why: why, At: t.now, Gap: gap}
	if r.Epoch, err = t.nextEpoch(); err != nil {
		return r, err
	}
	if _, err := t.exec(`UPDATE workspaces SET epoch = epoch + 1`); err != nil {
		return r, err
	}
	ids, err := t.names(`SELECT id FROM runs WHERE ` + liveRun + ` ORDER BY id` + t.w.lock)
	if err != nil {
		return r, err
	}
	for _, id := range ids {
		n, err := t.stopRestored(core.RunID(id), gap)
		if err != nil {
			return r, fmt.Errorf("stop run %s: %w", id, err)
		}
		r.Runs++
		r.Unknown += n
	}
	if gap {
		by := core.By{Entry: fmt.Sprintf("epoch-%d-%d", r.Epoch, r.At), Actor: "operator"}
		if r.SignIns, err = access.Void(door{t}, by); err != nil {
			return r, fmt.Errorf("end sign-ins: %w", err)
		}
	}
	doc, err := json.Marshal(r)
	if err != nil {
		return r, err
	}
	return r, t.setMeta(metaPending, string(doc))
}

func (t *tx) nextEpoch() (n int64, err error) {
	var text string
	err = t.row(`SELECT v FROM meta WHERE k = $1`, metaEpoch).Scan(&text)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		n = 1
	case err != nil:
		return 0, err
	default:
		if _, err := fmt.Sscan(text, &n); err != nil {
			return 0, fmt.Errorf("read epoch: %w", err)
		}
	}
	n++
	return n, t.setMeta(metaEpoch, fmt.Sprint(n))
}

func (t *tx) setMeta(k, v string) error {
	_, err := t.exec(`INSERT INTO meta (k, v) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = excluded.v`, k, v)
	return err
}

func (t *tx) names(q string, args ...any) ([]string, error) {
	rows, err := t.rows(q, args...)
	return collect(rows, err, func(s *string) []any { return []any{s} })
}

// stopRestored stops one run and makes its live calls unknown. Whoever had a
// turn at it has none any more.
func (t *tx) stopRestored(id core.RunID, gap bool) (unknown int, err error) {
	if _, err := t.exec(`UPDATE calls SET state = 'sent', sent_at = $1 WHERE run = `+numOf(2)+` AND live = 1 AND state = 'intent'`, int64(t.now), string(id)); err != nil {
		return 0, err
	}
	live, err := t.callsOf(`c.run = `+numOf(1)+` AND c.live = 1 ORDER BY c.idx, c.kind, c.part`+t.w.lockOf("c"), string(id))
	if err != nil {
		return 0, err
	}
	for _, c := range live {
		if err := t.giveBack(c, "restored"); err != nil {
			return 0, err
		}
	}
	at := core.Micros(0)
	if gap {
		at = t.now
	}
	if _, err := t.exec(`UPDATE runs SET owner = '', lease_until = 0, fence = fence + 1, restored_at = $1, retry_at = 0, waiting_reason = $2 WHERE id = $3`,
		int64(at), core.WaitsForOperator, string(id)); err != nil {
		return 0, err
	}
	n, err := t.exec(`UPDATE runs SET state = 'stopping', stop_reason = $1, stop_detail = $2 WHERE id = $3 AND state IN ('queued', 'running')`,
		string(core.RestoredReason), "the database was restored; calls may have been made that it does not know", string(id))
	if err != nil || n == 0 {
		return len(live), err
	}
	return len(live), t.event(id, core.EventStopping, map[string]any{"reason": string(core.RestoredReason)})
}

// PendingRestore is the epoch that nobody has acknowledged; ok is false when
// there is none.
func (s *Store) PendingRestore(ctx context.Context) (r Restored, ok bool, err error) {
	doc, err := s.Meta(ctx, metaPending)
	if err != nil || doc == "" {
		return r, false, err
	}
	return r, true, json.Unmarshal([]byte(doc), &r)
}

// AcknowledgeRestore lets calls be made again.
func (s *Store) AcknowledgeRestore(ctx context.Context) error { return s.SetMeta(ctx, metaPending, "") }
