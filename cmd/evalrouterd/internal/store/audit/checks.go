package audit

// checks recompute every promise from calls, samples and transfers, and trust
// no total that was kept. Each finds nothing in a healthy store.
var checks = []check{
	{"cap.exceeded", `SELECT id, 'spend and reservation exceed the cap' FROM runs WHERE charged + metered + reserved > cap`},
	{"ledger.sum", `SELECT workspace_id || '/' || book, 'balances sum to ' || sum(balance) FROM ledger_accounts GROUP BY workspace_id, book HAVING sum(balance) <> 0`},
	{"ledger.negative", `SELECT id, 'balance is ' || balance FROM ledger_accounts WHERE allow_negative = 0 AND balance < 0`},
	{"ledger.balance", `SELECT a.id, 'balance ' || a.balance || ' is not what its transfers give' FROM ledger_accounts a WHERE a.balance <>
		coalesce((SELECT sum(t.amount) FROM transfers t WHERE t.credit = a.id), 0) - coalesce((SELECT sum(t.amount) FROM transfers t WHERE t.debit = a.id), 0)`},
	{"ledger.held", `SELECT a.id, 'held ' || a.balance || ' is not what unreleased runs hold' FROM ledger_accounts a WHERE a.kind = 'held' AND a.balance <>
		coalesce((SELECT sum(r.held - r.charged) FROM runs r WHERE r.workspace_id = a.workspace_id AND r.book = a.book AND r.hold_released = 0), 0)`},
	{"run.reserved", `SELECT r.id, 'reserved ' || r.reserved || ' is not the sum of its live calls and pledges' FROM runs r WHERE r.reserved <>
		coalesce((SELECT sum(c.reserved) FROM calls c WHERE c.run = r.num AND c.state IN ('intent', 'sent')), 0)
		+ coalesce((SELECT sum(s.pledged) FROM samples s WHERE s.run = r.num), 0)`},
	{"run.spend", `SELECT r.id, 'spend ' || (r.charged + r.metered) || ' is not the sum of its calls' FROM runs r WHERE r.charged + r.metered <>
		coalesce((SELECT sum(c.spent) FROM calls c WHERE c.run = r.num), 0)`},
	{"run.charged", `SELECT r.id, 'charged ' || r.charged || ' is not the sum of its charge transfers' FROM runs r WHERE r.charged <>
		coalesce((SELECT sum(t.amount) FROM transfers t WHERE t.run_id = r.id AND t.code = 'charge'), 0)`},
	{"run.waived", `SELECT r.id, 'waived ' || r.waived || ' is not the reservations of its unknown calls' FROM runs r WHERE r.waived <>
		coalesce((SELECT sum(c.reserved) FROM calls c WHERE c.run = r.num AND c.state IN ('unknown', 'late')), 0)`},
	{"run.hold", `SELECT id, 'a run has released its hold exactly when it has ended' FROM runs WHERE hold_released <> CASE WHEN state IN ('completed', 'partial', 'failed', 'cancelled') THEN 1 ELSE 0 END`},
	{"run.open", `SELECT DISTINCT r.id, 'an ended run has open tasks' FROM samples s JOIN runs r ON r.num = s.run
		WHERE s.state IN ('in_call', 'judging', 'answered') AND r.state IN ('completed', 'partial', 'failed', 'cancelled')`},
	{"run.outcomes", `SELECT r.id, 'outcomes do not add up to planned' FROM runs r WHERE r.state IN ('completed', 'partial', 'failed', 'cancelled') AND r.planned <>
		coalesce((SELECT sum(t.n) FROM tallies t WHERE t.run_id = r.id), 0)`},
	{"run.tallies", `SELECT t.run_id || '/' || t.outcome, 'counted ' || t.n || ' times' FROM tallies t WHERE t.outcome NOT IN ('skipped_budget', 'cancelled', 'pending', 'left_out') AND t.n <>
		(SELECT count(*) FROM samples s JOIN runs r ON r.num = s.run WHERE r.id = t.run_id AND s.outcome = t.outcome)`},
	{"run.result", `SELECT r.id, 'an ended run has no result' FROM runs r WHERE r.state IN ('completed', 'partial', 'failed', 'cancelled')
		AND NOT EXISTS (SELECT 1 FROM results x WHERE x.run_id = r.id)`},
	{"call.over", `SELECT id, 'charged ' || spent || ' of a reservation of ' || reserved FROM calls WHERE spent > reserved`},
	{"call.charge", `SELECT id, 'an unanswered call was charged' FROM calls WHERE spent <> 0 AND state <> 'responded'`},
	{"sample.attempts", `SELECT (SELECT id FROM runs WHERE num = s.run) || '/' || s.idx, 'attempt ' || s.attempt || ' is not its last call' FROM samples s WHERE s.attempt <>
		coalesce((SELECT max(c.attempt) FROM calls c WHERE c.run = s.run AND c.idx = s.idx AND c.kind = 'target' AND c.part = 0), 0)`},
	{"sample.live", `SELECT (SELECT id FROM runs WHERE num = s.run) || '/' || s.idx, 'in call without a live call' FROM samples s WHERE s.state = 'in_call'
		AND NOT EXISTS (SELECT 1 FROM calls c WHERE c.run = s.run AND c.idx = s.idx AND c.state IN ('intent', 'sent'))`},
	{"sample.answered_once", `SELECT (SELECT id FROM runs WHERE num = run) || '/' || idx, 'answered ' || count(*) || ' times' FROM calls WHERE state = 'responded' GROUP BY run, idx, kind, part HAVING count(*) > 1`},
	{"sample.unconsented", `SELECT (SELECT id FROM runs WHERE num = c.run) || '/' || c.idx, 'asked again after an unknown outcome' FROM calls c JOIN calls d
		ON d.run = c.run AND d.idx = c.idx AND d.kind = c.kind AND d.part = c.part AND d.attempt > c.attempt
		WHERE c.state IN ('unknown', 'late', 'responded') AND d.consent_id IS NULL`},
	{"sample.evidence", `SELECT (SELECT id FROM runs WHERE num = s.run) || '/' || s.idx, 'graded without a recorded answer' FROM samples s WHERE s.state = 'graded' AND s.origin = 'new'
		AND NOT EXISTS (SELECT 1 FROM calls c WHERE c.run = s.run AND c.idx = s.idx AND c.kind = 'target' AND c.state IN ('responded', 'late'))`},
	{"sample.pledge", `SELECT (SELECT id FROM runs WHERE num = s.run) || '/' || s.idx, s.state || ' with ' || s.pledged || ' set aside for later calls' FROM samples s
		WHERE s.pledged < 0 OR s.pledged > 0 AND s.state NOT IN ('in_call', 'judging')`},
	{"sample.judging", `SELECT (SELECT id FROM runs WHERE num = s.run) || '/' || s.idx, 'judging without an answer' FROM samples s WHERE s.state = 'judging'
		AND NOT EXISTS (SELECT 1 FROM calls c WHERE c.run = s.run AND c.idx = s.idx AND c.kind = 'target' AND c.state IN ('responded', 'late'))`},
	{"call.judge", `SELECT c.id, 'a judge was asked about no answer, or without a fence' FROM calls c WHERE c.kind = 'judge' AND (c.nonce = '' OR
		NOT EXISTS (SELECT 1 FROM calls d WHERE d.run = c.run AND d.idx = c.idx AND d.kind = 'target' AND d.state IN ('responded', 'late')))`},
	{"call.part", `SELECT c.id, 'part ' || c.part || ' was asked before the one before it was answered' FROM calls c WHERE c.kind = 'target' AND c.part > 0
		AND NOT EXISTS (SELECT 1 FROM calls d WHERE d.run = c.run AND d.idx = c.idx AND d.kind = 'target' AND d.part = c.part - 1 AND d.state = 'responded')`},
	{"sample.parts", `SELECT (SELECT id FROM runs WHERE num = s.run) || '/' || s.idx, 'answered without an answer to every part' FROM samples s WHERE s.state IN ('answered', 'graded') AND s.origin = 'new'
		AND EXISTS (SELECT 1 FROM calls c WHERE c.run = s.run AND c.idx = s.idx AND c.kind = 'target' AND c.part > 0)
		AND (SELECT count(*) FROM calls c WHERE c.run = s.run AND c.idx = s.idx AND c.kind = 'target' AND c.state = 'responded') <>
		(SELECT max(c.part) + 1 FROM calls c WHERE c.run = s.run AND c.idx = s.idx AND c.kind = 'target')`},
	{"sample.charge", `SELECT (SELECT id FROM runs WHERE num = s.run) || '/' || s.idx, 'charge ' || s.charge || ' is not the sum of its calls' FROM samples s WHERE s.charge <>
		coalesce((SELECT sum(c.spent) FROM calls c WHERE c.run = s.run AND c.idx = s.idx), 0)`},
	{"events.gap", `SELECT r.id, 'the log has gaps' FROM runs r WHERE r.next_seq - 1 <> (SELECT count(*) FROM events e WHERE e.run = r.num)
		OR r.next_seq - 1 <> coalesce((SELECT max(e.seq) FROM events e WHERE e.run = r.num), 0)`},
	{"source.bytes", `SELECT s.id, 'received ' || s.received || ' is not what its chunks hold' FROM benchmark_sources s WHERE
		coalesce((SELECT sum(length(c.data)) FROM benchmark_source_chunks c WHERE c.source_id = s.id), 0) <> CASE WHEN s.status IN ('pending', 'completed') THEN s.received ELSE 0 END`},
	{"source.chunks", `SELECT c.source_id, 'the chunk at ' || c.start || ' does not begin where another ends' FROM benchmark_source_chunks c WHERE c.start > 0
		AND NOT EXISTS (SELECT 1 FROM benchmark_source_chunks b WHERE b.source_id = c.source_id AND b.start + length(b.data) = c.start)`},
	{"benchmark.profile", `SELECT b.profile_id, 'it is not the benchmark of its workspace that it says' FROM private_benchmarks b WHERE NOT EXISTS (SELECT 1 FROM profiles p
		WHERE p.id = b.profile_id AND p.workspace_id = b.workspace_id AND p.manifest_sha256 = b.manifest_sha256 AND p.task_count = b.task_count
		AND p.status = CASE WHEN b.archived_at = 0 THEN 'active' ELSE 'retired' END)`},
	{"benchmark.tasks", `SELECT b.profile_id, 'it has not as many tasks as it says' FROM private_benchmarks b WHERE b.task_count <> (SELECT count(*) FROM tasks t WHERE t.profile_id = b.profile_id)`},
	{"benchmark.record", `SELECT p.id, 'a workspace''s own benchmark can be run and has no record' FROM profiles p WHERE p.workspace_id <> '' AND p.status NOT IN ('staging', 'candidate')
		AND NOT EXISTS (SELECT 1 FROM private_benchmarks b WHERE b.profile_id = p.id)`},
	{"run.cap", `SELECT r.id, 'its cap is not its quote''s' FROM runs r JOIN quotes q ON q.id = r.quote_id WHERE r.cap <> q.cap`},
	{"run.absorbed", `SELECT r.id, 'absorbed ' || r.absorbed || ' is not the sum of its calls' FROM runs r WHERE r.absorbed <>
		coalesce((SELECT sum(c.absorbed) FROM calls c WHERE c.run = r.num), 0)`},
	{"run.holds", `SELECT r.id, 'its hold and release transfers do not match' FROM runs r WHERE r.held <>
		coalesce((SELECT sum(t.amount) FROM transfers t WHERE t.run_id = r.id AND t.code = 'hold'), 0)
		OR CASE WHEN r.hold_released = 1 THEN r.held - r.charged ELSE 0 END <>
		coalesce((SELECT sum(t.amount) FROM transfers t WHERE t.run_id = r.id AND t.code = 'release'), 0)`},
	{"run.consent", `SELECT r.id, 'nobody consented to its start' FROM runs r WHERE NOT EXISTS (SELECT 1 FROM consents c WHERE c.quote_id = r.quote_id AND c.kind = 'start')`},
	{"run.recoverable", `SELECT r.id, 'its submission is not recorded' FROM runs r WHERE NOT EXISTS (SELECT 1 FROM idempotency i
		WHERE (i.run_id = r.id OR i.run_id = r.group_id) AND i.workspace_id = r.workspace_id)`},
	{"group.cap", `SELECT g.id, 'its cap of ' || g.cap || ' is not the sum of the caps of its members' FROM groups_ g WHERE g.cap <>
		coalesce((SELECT sum(r.cap) FROM group_members m JOIN runs r ON r.id = m.run_id WHERE m.group_id = g.id), 0)`},
	{"group.members", `SELECT g.id, 'its members are not the runs of its quote' FROM groups_ g WHERE (SELECT count(*) FROM group_members m WHERE m.group_id = g.id) NOT BETWEEN CASE WHEN g.source_group_id IS NULL THEN 2 ELSE 1 END AND 8
		OR (SELECT count(*) FROM group_members m JOIN runs r ON r.id = m.run_id AND r.group_id = g.id AND r.workspace_id = g.workspace_id WHERE m.group_id = g.id)
		<> (SELECT count(*) FROM runs r WHERE r.group_id = g.id)
		OR (SELECT count(*) FROM group_members m WHERE m.group_id = g.id) <> (SELECT count(*) FROM runs r WHERE r.group_id = g.id)
		OR NOT EXISTS (SELECT 1 FROM group_quotes q WHERE q.id = g.quote_id AND q.consumed_by = g.id)`},
	{"group.quote", `SELECT q.id, 'consumed, and its group is not there' FROM group_quotes q WHERE q.consumed_by IS NOT NULL AND NOT EXISTS (SELECT 1 FROM groups_ g WHERE g.id = q.consumed_by)`},
	{"group.log", `SELECT g.id, 'its log has gaps' FROM groups_ g WHERE g.next_seq - 1 <> (SELECT count(*) FROM group_log l WHERE l.group_id = g.id)
		OR g.next_seq - 1 <> coalesce((SELECT max(l.seq) FROM group_log l WHERE l.group_id = g.id), 0)`},
	{"sample.range", `SELECT (SELECT id FROM runs WHERE num = s.run) || '/' || s.idx, 'beyond the tasks of its run' FROM samples s JOIN runs r ON r.num = s.run WHERE s.idx < 0 OR s.idx >= r.planned`},
	{"sample.label", `SELECT (SELECT id FROM runs WHERE num = s.run) || '/' || s.idx, s.state || ' with outcome ' || s.outcome FROM samples s WHERE CASE
		WHEN s.state = 'graded' THEN s.outcome IN ('right', 'wrong', 'extraction_failed', 'truncated', 'empty') AND s.score >= 0 AND s.score <= 1 AND s.grader <> ''
		WHEN s.state = 'refused' THEN s.outcome = 'refused' AND s.score IS NULL
		WHEN s.state IN ('failed', 'unresolved') THEN s.outcome IN ('provider_error', 'grader_error', 'judge_error') AND s.score IS NULL AND s.code <> ''
		WHEN s.state IN ('planned', 'in_call', 'judging', 'answered') THEN s.outcome = '' AND s.score IS NULL
		ELSE 1 = 1 END = (1 = 0)`},
	{"call.sent", `SELECT id, 'answered or lost without having been sent' FROM calls WHERE state IN ('responded', 'unknown', 'late') AND sent_at = 0`},
	{"run.restored", `SELECT id, 'goes on although the database was restored' FROM runs WHERE restored_at <> 0 AND state IN ('queued', 'running')`},
	{"call.turn", `SELECT c.id, 'live under an earlier turn at its run' FROM calls c JOIN runs r ON r.num = c.run WHERE c.state IN ('intent', 'sent') AND c.fence <> r.fence`},
	{"call.evidence", `SELECT c.id, 'its answer is not kept' FROM calls c WHERE c.state IN ('responded', 'late') AND NOT EXISTS (SELECT 1 FROM blobs b WHERE b.call_id = c.id)`},
	{"blob.expired", `SELECT b.call_id, 'its answer was dropped before its time' FROM blobs b JOIN calls c ON c.id = b.call_id JOIN runs r ON r.num = c.run
		WHERE b.data IS NULL AND r.state IN ('queued', 'running', 'stopping', 'finalizing')`},
	{"blob.kept", `SELECT b.call_id, 'its answer is still there after those of its run were dropped' FROM runs r JOIN calls c ON c.run = r.num JOIN blobs b ON b.call_id = c.id
		WHERE r.raw_expired = 1 AND b.codec <> 'expired'`},
	{"quote.consumed", `SELECT r.id, 'its quote does not name it' FROM runs r JOIN quotes q ON q.id = r.quote_id WHERE q.consumed_by IS NULL OR q.consumed_by <> r.id`},
}
