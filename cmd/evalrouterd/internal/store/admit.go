package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/continuation"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// idempotencyLife is how long an answer is kept for replay.
const idempotencyLife = 30 * 24 * 3600 * 1_000_000

// Admit is the one place where a run begins: idempotency record, quote
// consumed, credit held, run, consent and first events are one transaction.
// An answer that is not a success is not stored, so that the same key works
// after credit was added.
func (s *Store) Admit(ctx context.Context, a core.Admission) (out core.Admitted, err error) {
	err = s.writer.ask(ctx, func(t *tx) error {
		out = core.Admitted{}
		// Whoever else accepts the quote, in this process or another, waits here
		// and then reads what became of it.
		if _, err := t.exec(`UPDATE quotes SET consumed_by = consumed_by WHERE id = $1 AND workspace_id = $2`, string(a.Quote), string(a.Scope.Workspace)); err != nil {
			return err
		}
		if done, err := t.replay(a, &out); err != nil || done {
			return err
		}
		run, q, err := t.begin(a)
		if err != nil {
			return err
		}
		out.Run, out.Status = run.ID, 200
		if out.Body, err = a.Encode(run, q); err != nil {
			return fmt.Errorf("encode run: %w", err)
		}
		return t.remember(a, out)
	})
	return out, err
}

// begin consumes a quote and makes its run, queued: with its money, its consents,
// its log and, where it continues another one, its first tasks.
func (t *tx) begin(a core.Admission) (core.Run, core.Quote, error) {
	q, err := t.openQuote(a)
	if err == nil {
		err = t.w.bounds.MayBegin(door{t}, q.Workspace, 1)
	}
	if err != nil {
		return core.Run{}, q, err
	}
	run := newRun(a, q, t.now)
	if err := t.make(a, run, q); err != nil {
		return run, q, err
	}
	if run, err = scanRun(t.row(`SELECT `+runColumns+` FROM runs WHERE id = $1`, string(run.ID))); err != nil {
		return run, q, err
	}
	run.Tallies, err = t.tallies(run.ID)
	return run, q, err
}

func (t *tx) make(a core.Admission, run core.Run, q core.Quote) error {
	if q.Continuation != nil {
		if err := continuation.Claim(door{t}, q); err != nil {
			return err
		}
	}
	if err := t.insertRun(run, q); err != nil {
		return err
	}
	if err := t.hold(a, run, q); err != nil {
		return err
	}
	if q.Continuation != nil {
		if err := continuation.Open(door{t}, run, q); err != nil {
			return err
		}
	}
	return t.firstEvents(run, q)
}

func (t *tx) replay(a core.Admission, out *core.Admitted) (bool, error) {
	var hash, body, run string
	err := t.row(`SELECT request_hash, status, body, coalesce(run_id, '') FROM idempotency WHERE workspace_id = $1 AND op = $2 AND key = $3`,
		string(a.Scope.Workspace), a.Op, a.Key).Scan(&hash, &out.Status, &body, &run)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if hash != a.RequestHash {
		return false, core.Refuse(core.IdempotencyConflict, "this idempotency key was used for another request; nothing was started")
	}
	out.Run, out.Body, out.Replayed = core.RunID(run), []byte(body), true
	return true, nil
}

func (t *tx) openQuote(a core.Admission) (core.Quote, error) {
	q, err := scanQuote(t.row(selectQuote, string(a.Quote), string(a.Scope.Workspace)))
	if err != nil {
		return core.Quote{}, err
	}
	if q.Group != a.GroupQuote {
		return core.Quote{}, core.Missing("quote") // a member's has no life of its own
	}
	if q.Run != "" {
		return core.Quote{}, core.Refuse(core.QuoteAlreadyAccepted, "this quote already started run %s; nothing new was started", q.Run).With("run_id", string(q.Run))
	}
	if t.now >= q.ExpiresAt {
		return core.Quote{}, core.Refuse(core.QuoteExpired, "the quote has expired; nothing was started")
	}
	if err := t.fresh(q.Quote); err != nil {
		return core.Quote{}, err
	}
	return q.Quote, t.one(`UPDATE quotes SET consumed_by = $1 WHERE id = $2 AND consumed_by IS NULL`, string(a.RunID), string(q.ID))
}

// fresh says whether what the quote froze is still on offer: the workspace's
// epoch, the benchmark's manifest and, for a connection, its revision.
func (t *tx) fresh(q core.Quote) error {
	var epoch int64
	if err := t.row(`SELECT epoch FROM workspaces WHERE id = $1`, string(q.Workspace)).Scan(&epoch); err != nil {
		return fmt.Errorf("read epoch: %w", err)
	}
	var manifest, status string
	err := t.row(`SELECT manifest_sha256, status FROM profiles WHERE id = $1`, string(q.Profile.ID)).Scan(&manifest, &status)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("read benchmark: %w", err)
	}
	stale := epoch != q.Epoch || manifest != q.Profile.ManifestSHA256 || status != "active"
	if q.Target.Kind == core.Connection && !stale {
		var revision int
		var disabled core.Micros
		if err := t.row(`SELECT revision, disabled_at FROM connections WHERE id = $1 AND workspace_id = $2`,
			string(q.Target.ConnectionID), string(q.Workspace)).Scan(&revision, &disabled); err != nil {
			return fmt.Errorf("read connection: %w", err)
		}
		stale = revision != q.Target.Revision || disabled != 0
	}
	if stale {
		return core.Refuse(core.QuoteStale, "the benchmark or the model has changed since this quote; nothing was started")
	}
	return nil
}

func newRun(a core.Admission, q core.Quote, now core.Micros) core.Run {
	r := core.Run{
		ID: a.RunID, Workspace: a.Scope.Workspace, QuoteID: q.ID, GroupID: string(a.Group), ChainRoot: a.RunID, ScopeHash: q.ScopeHash,
		Name: nameOf(a, q), Metadata: a.Metadata, State: core.Queued, Book: q.Book(a.Practice),
		Cap: q.Cap, Held: q.Hold(), Planned: q.Coverage.N, NextSeq: 1, CreatedAt: now, Tallies: core.Tallies{},
	}
	if c := q.Continuation; c != nil {
		r.SourceRun, r.ChainRoot, r.ChainPos = c.Source, c.Root(), len(c.Chain)
	}
	return r
}

// defaultName is what a run is called that nobody named.
const defaultName = "Evaluation"

func nameOf(a core.Admission, q core.Quote) string {
	switch {
	case a.Name != "":
		return a.Name
	case q.Name != "":
		return q.Name
	}
	return defaultName
}

func (t *tx) insertRun(r core.Run, q core.Quote) error {
	meta, err := json.Marshal(r.Metadata)
	if err != nil {
		return err
	}
	_, err = t.exec(`INSERT INTO runs (id, workspace_id, quote_id, source_run_id, chain_root, chain_pos, scope_hash, name, metadata, state, book, cap, held, planned, profile_id, target, created_at, group_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`,
		string(r.ID), string(r.Workspace), string(r.QuoteID), null(string(r.SourceRun)), string(r.ChainRoot), r.ChainPos, r.ScopeHash, r.Name, string(meta), string(r.State),
		string(r.Book), int64(r.Cap), int64(r.Held), r.Planned, string(q.Profile.ID), q.Target.Name(), int64(r.CreatedAt), null(r.GroupID))
	return err
}

// hold sets the run's possible charge aside and records who consented.
func (t *tx) hold(a core.Admission, r core.Run, q core.Quote) error {
	if err := t.withinCeiling(a.Scope, r.Cap); err != nil {
		return err
	}
	err := t.move(transfer{id: a.TransferID, workspace: r.Workspace, book: r.Book, from: accAvailable, to: accHeld, amount: r.Held, code: "hold", run: r.ID})
	if errors.Is(err, errShort) {
		var have usd.Micro
		if err := t.row(`SELECT balance FROM ledger_accounts WHERE id = $1`, accountID(r.Workspace, r.Book, accAvailable)).Scan(&have); err != nil {
			return err
		}
		return core.Refuse(core.InsufficientCredit, "available credit is %s and this cap needs %s; nothing was started or charged, and the quote is kept", have, r.Held).
			With("required_microusd", r.Held.Wire()).With("available_microusd", have.Wire())
	}
	if err != nil {
		return err
	}
	for _, c := range append([]core.Consent{{ID: a.ConsentID, Kind: core.ConsentStart}}, a.Consents...) {
		if _, err := t.exec(`INSERT INTO consents (id, quote_id, kind, actor, doc, at) VALUES ($1, $2, $3, $4, '{}', $5)`,
			c.ID, string(q.ID), c.Kind, a.Scope.Actor, int64(t.now)); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) firstEvents(r core.Run, q core.Quote) error {
	if err := t.event(r.ID, core.EventQueued, map[string]any{"quote_id": string(r.QuoteID), "planned": r.Planned, "cap_microusd": r.Cap.Wire()}); err != nil {
		return err
	}
	if err := t.event(r.ID, core.EventHeld, map[string]any{"held_microusd": r.Held.Wire()}); err != nil || q.Continuation == nil {
		return err
	}
	return t.event(r.ID, core.EventTasksReused, map[string]any{
		"source_run_id": string(r.SourceRun), "reused": q.Continuation.Cells.Reused, "saved_responses": q.Continuation.Cells.Saved,
	})
}

func (t *tx) remember(a core.Admission, out core.Admitted) error {
	_, err := t.exec(`INSERT INTO idempotency (workspace_id, op, key, request_hash, status, body, run_id, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		string(a.Scope.Workspace), a.Op, a.Key, a.RequestHash, out.Status, string(out.Body), null(string(out.Run)), int64(t.now), int64(t.now)+idempotencyLife)
	return err
}
