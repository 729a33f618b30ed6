package store_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/audit"
)

// Each rule of the audit finds the damage it is there for. Damage is done
// with the database's own constraints off, as a fault of the code or of a
// disk would do it.
func TestAudit_FindsDamage(t *testing.T) {
	t.Parallel()
	for i, tt := range []struct{ rule, damage string }{
		{"cap.exceeded", `UPDATE runs SET cap = 10`},
		{"ledger.sum", `UPDATE ledger_accounts SET balance = balance + 1 WHERE kind = 'spent'`},
		{"ledger.negative", `UPDATE ledger_accounts SET balance = -1 WHERE kind = 'held'`},
		{"ledger.balance", `UPDATE transfers SET amount = amount + 1 WHERE code = 'charge'`},
		{"ledger.held", `UPDATE runs SET held = held + 1 WHERE hold_released = 0`},
		{"run.reserved", `UPDATE runs SET reserved = reserved + 1 WHERE hold_released = 0`},
		{"run.spend", `UPDATE runs SET metered = metered + 1`},
		{"run.charged", `UPDATE runs SET charged = charged - 1 WHERE charged > 0`},
		{"run.waived", `UPDATE runs SET waived = waived + 1`},
		{"run.hold", `UPDATE runs SET hold_released = 0`},
		{"run.open", `UPDATE samples SET state = 'answered' WHERE state = 'graded'`},
		{"run.outcomes", `UPDATE tallies SET n = n + 1`},
		{"run.tallies", `UPDATE samples SET outcome = 'wrong' WHERE outcome = 'right'`},
		{"run.result", `DELETE FROM results`},
		{"call.over", `UPDATE calls SET spent = reserved + 1 WHERE state = 'responded'`},
		{"call.charge", `UPDATE calls SET spent = 1 WHERE state = 'unknown'`},
		{"sample.attempts", `UPDATE samples SET attempt = attempt + 1`},
		{"sample.live", `UPDATE samples SET state = 'in_call' WHERE state = 'unresolved'`},
		{"sample.answered_once", `INSERT INTO calls SELECT id || 'x', run, idx, kind, part, attempt + 1, state, live, worker, fence, lease_until, reserved, 0, 0, request_hash,
			usage_doc, finish, provider_request_id, outcome, message, consent_id, created_at, sent_at, ended_at, nonce FROM calls WHERE state = 'responded'`},
		{"sample.unconsented", `INSERT INTO calls SELECT id || 'x', run, idx, kind, part, attempt + 1, 'rejected', 0, worker, fence, lease_until, reserved, 0, 0, request_hash,
			usage_doc, finish, provider_request_id, outcome, message, consent_id, created_at, sent_at, ended_at, nonce FROM calls WHERE state = 'unknown'`},
		{"sample.evidence", `DELETE FROM calls WHERE state = 'responded'`},
		{"sample.charge", `UPDATE samples SET charge = charge + 1 WHERE state = 'graded'`},
		{"sample.pledge", `UPDATE samples SET pledged = 1 WHERE state = 'graded'`},
		{"sample.pledge", `UPDATE samples SET pledged = -1 WHERE state = 'judging'`},
		{"run.reserved", `UPDATE samples SET pledged = pledged - 1 WHERE state = 'judging'`},
		{"run.open", `UPDATE samples SET state = 'judging' WHERE state = 'unresolved'`},
		{"sample.judging", `UPDATE samples SET state = 'judging' WHERE state = 'in_call'`},
		{"sample.label", `UPDATE samples SET outcome = 'right' WHERE state = 'judging'`},
		{"sample.judges", `DELETE FROM calls WHERE kind = 'judge' AND part = 1`},
		{"sample.judges", `UPDATE calls SET kind = 'judge', part = 5, nonce = 'x' WHERE kind = 'target' AND part = 0 AND attempt = 1 AND state = 'responded'`},
		{"sample.judges", `UPDATE calls SET state = 'rejected' WHERE kind = 'judge' AND part = 0`},
		{"call.judge", `UPDATE calls SET nonce = '' WHERE kind = 'judge'`},
		{"call.judge", `UPDATE calls SET state = 'unknown' WHERE kind = 'target' AND state = 'responded'`},
		{"sample.charge", `UPDATE calls SET spent = spent + 1 WHERE kind = 'judge' AND part = 0`},
		{"sample.answered_once", `INSERT INTO calls SELECT id || 'x', run, idx, kind, part, attempt + 1, state, live, worker, fence, lease_until, reserved, 0, 0, request_hash,
			usage_doc, finish, provider_request_id, outcome, message, consent_id, created_at, sent_at, ended_at, nonce FROM calls WHERE kind = 'judge' AND state = 'responded'`},
		{"sample.parts", `UPDATE calls SET state = 'rejected' WHERE kind = 'target' AND part = 1`},
		{"sample.parts", `UPDATE calls SET part = 5 WHERE kind = 'target' AND part = 1`},
		{"call.part", `UPDATE calls SET part = 5 WHERE kind = 'target' AND part = 1`},
		{"call.part", `UPDATE calls SET state = 'unknown' WHERE kind = 'target' AND state = 'responded' AND part = 0`},
		{"events.gap", `DELETE FROM events WHERE seq = 2`},
		{"run.cap", `UPDATE quotes SET cap = cap + 1`},
		{"run.absorbed", `UPDATE runs SET absorbed = absorbed + 1`},
		{"run.holds", `UPDATE transfers SET amount = amount - 1 WHERE code = 'release'`},
		{"run.consent", `DELETE FROM consents`},
		{"run.recoverable", `DELETE FROM idempotency`},
		{"group.cap", `UPDATE groups_ SET cap = cap + 1`},
		{"group.members", `DELETE FROM group_members WHERE pos = 1`},
		{"group.members", `UPDATE runs SET group_id = NULL`},
		{"group.members", `UPDATE group_quotes SET consumed_by = NULL`},
		{"group.quote", `UPDATE group_quotes SET consumed_by = 'x'`},
		{"group.log", `DELETE FROM group_log WHERE seq = 2`},
		{"sample.range", `UPDATE runs SET planned = 1`},
		{"sample.label", `UPDATE samples SET outcome = '' WHERE state = 'graded'`},
		{"sample.label", `UPDATE samples SET state = 'unresolved', code = 'x' WHERE state = 'graded'`},
		{"sample.label", `UPDATE samples SET score = 2 WHERE state = 'graded'`},
		{"call.sent", `UPDATE calls SET sent_at = 0`},
		{"run.restored", `UPDATE runs SET restored_at = 1`},
		{"call.turn", `UPDATE runs SET fence = fence + 1`},
		{"call.evidence", `DELETE FROM blobs`},
		{"blob.changed", `UPDATE blobs SET data = x'00'`},
		{"blob.expired", `UPDATE blobs SET codec = 'expired', data = NULL; UPDATE runs SET state = 'stopping' WHERE state = 'partial'`},
		{"blob.kept", `UPDATE runs SET raw_expired = 1 WHERE state = 'partial'`},
		{"result.changed", `UPDATE results SET doc = replace(doc, '"right":1', '"right":2')`},
		{"result.run", `UPDATE runs SET waived = waived + 1`},
		{"source.bytes", `UPDATE benchmark_sources SET received = received - 1 WHERE status = 'completed'`},
		{"source.bytes", `UPDATE benchmark_sources SET status = 'archived' WHERE status = 'completed'`},
		{"source.chunks", `UPDATE benchmark_source_chunks SET start = start + 1 WHERE start > 0`},
		{"benchmark.profile", `UPDATE profiles SET workspace_id = 'w2' WHERE workspace_id = 'w1'`},
		{"benchmark.profile", `UPDATE private_benchmarks SET archived_at = 1`},
		{"benchmark.tasks", `DELETE FROM tasks WHERE profile_id LIKE 'byob%' AND pos = 0`},
		{"benchmark.record", `DELETE FROM private_benchmarks`},
		{"quote.consumed", `UPDATE quotes SET consumed_by = NULL`},
	} {
		t.Run(fmt.Sprintf("%d %s", i, tt.rule), func(t *testing.T) {
			t.Parallel()
			d := newSQLite(t)
			d.finishedAndLive()
			d.finds(tt.rule, tt.damage)
		})
	}
}

// finds says that the audit finds nothing now, and a rule broken after damage that
// the database itself would have refused.
func (d *db) finds(rule, damage string) {
	d.t.Helper()
	d.clean()
	for _, q := range []string{"PRAGMA foreign_keys = 0", "PRAGMA ignore_check_constraints = 1", damage} {
		if _, err := d.raw.Exec(q); err != nil {
			d.t.Fatalf("%s: %v", q, err)
		}
	}
	found := d.audit()
	if !slices.ContainsFunc(found, func(f audit.Finding) bool { return f.Rule == rule }) {
		d.t.Errorf("not found; the audit says %v", found)
	}
}

// finishedAndLive leaves one run that ended, with a graded and an unresolved
// task, one with a call in flight, one with a graded task and one that waits
// for its judges, and one with a task of two parts.
func (d *db) finishedAndLive() {
	d.t.Helper()
	ctx := context.Background()
	d.brought()
	d.told(d.together(3))
	run := d.start(2, 1000)
	d.ask(run, 0, 100, 40)
	in := intent(1, 100)
	d.must(d.Reserve(ctx, run, lease, []core.Intent{in}))
	d.check(d.MarkSent(ctx, run, in))
	d.check(d.MarkUnknown(ctx, core.Ended{Run: run, Idx: 1, Call: in.Call, Reserved: 100}))
	if state := d.finalize(run); state != core.Partial {
		d.t.Fatalf("ended as %s", state)
	}
	live := d.start(3, 1000)
	in = intent(0, 100)
	d.must(d.Reserve(ctx, live, lease, []core.Intent{in}))
	d.check(d.MarkSent(ctx, live, in))
	judged := d.startJudged(2, 1000)
	d.answered(judged, 0)
	d.check(d.Respond(ctx, reply(judged, d.asked(judged, 0, 0, 1), true)))
	d.check(d.Respond(ctx, reply(judged, d.asked(judged, 0, 1, 1), false)))
	d.check(d.RecordGrade(ctx, core.Grade{Run: judged, Idx: 0, Grader: grader, Verdict: &bundle.Verdict{Outcome: bundle.Right, Score: 1, Rule: "r"}}))
	d.answered(judged, 1)
	parts := d.start(1, 1000)
	d.answered(parts, 0)
	last := partAnswer(parts, d.askedPart(parts, 0, 1, 1), false)
	last.Grade = &core.Grade{Run: parts, Idx: 0, Grader: grader, Verdict: &bundle.Verdict{Outcome: bundle.Right, Score: 1, Rule: "r"}}
	d.check(d.Respond(ctx, last))
}
