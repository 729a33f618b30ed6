package audit

// chains are the invariants of continuations. A run without a source is held by
// none of them.
var chains = []check{
	{"chain.order", `SELECT r.id, 'it does not stand behind the run that it continues' FROM runs r JOIN runs p ON p.id = r.source_run_id
		WHERE r.chain_root <> p.chain_root OR r.chain_pos <> p.chain_pos + 1 OR r.workspace_id <> p.workspace_id OR r.planned <> p.planned OR r.scope_hash <> p.scope_hash`},
	{"chain.first", `SELECT r.id, 'its source is not there, or it begins a chain and is not its root' FROM runs r
		WHERE r.source_run_id IS NULL AND (r.chain_root <> r.id OR r.chain_pos <> 0) OR r.source_run_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM runs p WHERE p.id = r.source_run_id)`},
	{"chain.ended", `SELECT r.id, 'it continues a run that has not ended' FROM runs r JOIN runs p ON p.id = r.source_run_id WHERE p.state NOT IN ('completed', 'partial', 'failed', 'cancelled')`},
	{"chain.origin", `SELECT (SELECT id FROM runs WHERE num = s.run) || '/' || s.idx, s.origin || ' in a run that continues none' FROM samples s JOIN runs r ON r.num = s.run
		WHERE r.source_run_id IS NULL AND (s.origin <> 'new' OR s.source_run IS NOT NULL)`},
	{"chain.reused", `SELECT r.id || '/' || s.idx, 'reused with another grade than it was given' FROM samples s JOIN runs r ON r.num = s.run JOIN runs p ON p.id = r.source_run_id
		WHERE s.origin = 'reused' AND NOT EXISTS (SELECT 1 FROM samples o WHERE o.run = p.num AND o.idx = s.idx AND o.state = 'graded' AND o.outcome = s.outcome AND o.score = s.score
			AND o.task_id = s.task_id AND o.grader = s.grader AND o.grader_compat = s.grader_compat)`},
	{"chain.regraded", `SELECT r.id || '/' || o.idx, 'graded in a run of the chain and not taken over' FROM runs r JOIN runs p ON p.id = r.source_run_id JOIN samples o ON o.run = p.num AND o.state = 'graded'
		LEFT JOIN samples s ON s.run = r.num AND s.idx = o.idx WHERE coalesce(s.origin, '') <> 'reused'`},
	{"chain.free", `SELECT (SELECT id FROM runs WHERE num = s.run) || '/' || s.idx, s.origin || ', and called or charged again' FROM samples s WHERE s.origin IN ('reused', 'saved_response')
		AND (s.charge <> 0 OR s.attempt <> 0 OR EXISTS (SELECT 1 FROM calls c WHERE c.run = s.run AND c.idx = s.idx))`},
	{"chain.evidence", `SELECT r.id || '/' || s.idx, 'rests on no recorded answer of its chain' FROM samples s JOIN runs r ON r.num = s.run WHERE s.origin IN ('reused', 'saved_response')
		AND NOT EXISTS (SELECT 1 FROM runs o JOIN calls c ON c.run = o.num AND c.idx = s.idx JOIN blobs b ON b.call_id = c.id
			WHERE o.num = s.source_run AND o.chain_root = r.chain_root AND o.chain_pos < r.chain_pos AND c.id = s.source_call_id AND c.kind = 'target' AND c.state IN ('responded', 'late'))`},
	{"chain.paid_once", `SELECT r.id || '/' || c.idx, 'asked again although its answer was recorded' FROM runs r JOIN calls c ON c.run = r.num AND c.kind = 'target' AND c.part = 0
		JOIN runs o ON o.chain_root = r.chain_root AND o.chain_pos < r.chain_pos JOIN calls d ON d.run = o.num AND d.idx = c.idx AND d.kind = 'target' AND d.part = 0 AND d.state = 'responded'
		JOIN samples x ON x.run = o.num AND x.idx = d.idx WHERE r.source_run_id IS NOT NULL AND x.state NOT IN ('cancelled', 'pending', 'planned', 'unresolved')`},
	{"chain.unconsented", `SELECT r.id || '/' || c.idx, 'asked again after an unknown outcome, and nobody agreed to it' FROM runs r JOIN calls c ON c.run = r.num AND c.kind = 'target'
		JOIN runs o ON o.chain_root = r.chain_root AND o.chain_pos < r.chain_pos JOIN calls d ON d.run = o.num AND d.idx = c.idx AND d.kind = 'target'
		JOIN samples x ON x.run = o.num AND x.idx = d.idx AND (d.state IN ('unknown', 'late') OR d.state = 'responded' AND x.state IN ('cancelled', 'pending'))
		JOIN samples s ON s.run = r.num AND s.idx = c.idx WHERE r.source_run_id IS NOT NULL
		AND (s.origin <> 'unknown_retry' OR NOT EXISTS (SELECT 1 FROM consents a WHERE a.quote_id = r.quote_id AND a.kind = 'retry_unknown'))`},
	{"chain.left_out", `SELECT r.id || '/' || s.idx, 'left out, and nobody acknowledged it' FROM samples s JOIN runs r ON r.num = s.run WHERE s.state = 'left_out'
		AND NOT EXISTS (SELECT 1 FROM consents a WHERE a.quote_id = r.quote_id AND a.kind = 'left_out')`},
	{"chain.excluded", `SELECT r.id || '/' || o.idx, 'left out for good, and taken up again' FROM runs r JOIN runs p ON p.id = r.source_run_id JOIN samples o ON o.run = p.num AND o.state IN ('left_out', 'refused')
		LEFT JOIN samples s ON s.run = r.num AND s.idx = o.idx WHERE coalesce(s.state, '') <> 'left_out'`},
	{"chain.group", `SELECT g.id, 'it goes on with a group of which it has no member' FROM groups_ g WHERE g.source_group_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM groups_ p WHERE p.id = g.source_group_id AND p.workspace_id = g.workspace_id)
		OR EXISTS (SELECT 1 FROM runs r WHERE r.group_id = g.id AND g.source_group_id IS NOT NULL AND r.source_run_id IS NULL)`},
	{"chain.mismatch", `SELECT (SELECT id FROM runs WHERE num = m.run) || '/' || m.idx, 'a mismatch of a task that was not reused' FROM reuse_mismatches m
		WHERE NOT EXISTS (SELECT 1 FROM samples s WHERE s.run = m.run AND s.idx = m.idx AND s.origin = 'reused' AND s.score = m.original)`},
}
