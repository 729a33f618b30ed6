package audit

// kept are the invariants of what workspaces keep beside runs: datasets, traces
// with what was found in them, and keys.
var kept = []check{
	{"dataset.latest", `SELECT d.id, 'its versions are not 1 to ' || d.latest FROM datasets d WHERE d.latest <> (SELECT count(*) FROM dataset_versions v WHERE v.dataset_id = d.id)
		OR d.latest <> coalesce((SELECT max(v.version) FROM dataset_versions v WHERE v.dataset_id = d.id), 0)`},
	{"dataset.items", `SELECT v.dataset_id || '/' || v.version, 'it has not the ' || v.items || ' items that it says' FROM dataset_versions v
		WHERE v.items <> (SELECT count(*) FROM dataset_version_items w WHERE w.dataset_id = v.dataset_id AND w.version = v.version)
		OR v.items <> (SELECT coalesce(max(w.pos) + 1, 0) FROM dataset_version_items w WHERE w.dataset_id = v.dataset_id AND w.version = v.version)`},
	{"dataset.sealed", `SELECT w.dataset_id || '/' || w.version || '/' || w.pos, 'it is not what its item was in that revision' FROM dataset_version_items w
		WHERE NOT EXISTS (SELECT 1 FROM dataset_revisions r JOIN dataset_items i ON i.id = r.item_id
			WHERE r.item_id = w.item_id AND r.revision = w.revision AND r.digest = w.digest AND i.dataset_id = w.dataset_id)`},
	{"dataset.revision", `SELECT i.id, 'it does not stand as its last revision' FROM dataset_items i WHERE i.revision <> (SELECT count(*) FROM dataset_revisions r WHERE r.item_id = i.id)
		OR NOT EXISTS (SELECT 1 FROM dataset_revisions r WHERE r.item_id = i.id AND r.revision = i.revision AND r.digest = i.digest)`},
	// A policy that asks for more holds for reviews that come, so that one approval
	// is all that an approved item must have.
	{"dataset.review", `SELECT i.id, i.review || ' is not what its reviews come to' FROM dataset_items i WHERE CASE
		WHEN EXISTS (SELECT 1 FROM dataset_reviews v WHERE v.item_id = i.id AND v.digest = i.digest AND v.verdict = 'rejected') THEN i.review = 'rejected'
		WHEN i.review = 'approved' THEN EXISTS (SELECT 1 FROM dataset_reviews v WHERE v.item_id = i.id AND v.digest = i.digest AND v.verdict = 'approved')
		ELSE i.review = 'pending' END = (1 = 0)`},
	{"finding.workspace", `SELECT f.id, 'its evaluator is not of its workspace' FROM trace_findings f
		WHERE NOT EXISTS (SELECT 1 FROM trace_evaluators e WHERE e.id = f.evaluator_id AND e.workspace_id = f.workspace_id)`},
	{"finding.seen", `SELECT f.id, 'seen ' || f.seen || ' times, and more traces show it' FROM trace_findings f
		WHERE f.seen < (SELECT count(*) FROM trace_occurrences o WHERE o.finding_id = f.id)`},
	{"trace.findings", `SELECT t.id, 'its ' || t.findings || ' findings are not those that name it' FROM traces t
		WHERE t.findings <> (SELECT count(*) FROM trace_occurrences o WHERE o.trace_id = t.id)`},
	{"trace.connection", `SELECT t.id, 'its connection is not of its workspace' FROM traces t
		WHERE NOT EXISTS (SELECT 1 FROM trace_connections c WHERE c.id = t.connection_id AND c.workspace_id = t.workspace_id)`},
	{"connection.traces", `SELECT c.id, 'it says ' || c.traces || ' traces and has more' FROM trace_connections c WHERE c.traces < (SELECT count(*) FROM traces t WHERE t.connection_id = c.id AND t.spans > 0)`},
	{"connection.key", `SELECT k.id, 'it brings traces to no connection of its workspace that takes any' FROM api_keys k WHERE k.connection_id <> ''
		AND NOT EXISTS (SELECT 1 FROM trace_connections c WHERE c.id = k.connection_id AND c.workspace_id = k.workspace_id AND (c.disabled_at = 0 OR k.revoked_at <> 0))`},
	{"key.ceiling", `SELECT k.id, 'its runs may cost more than its ceiling of ' || k.ceiling FROM api_keys k WHERE k.id = k.lineage AND k.ceiling > 0 AND k.ceiling <
		coalesce((SELECT sum(CASE WHEN r.hold_released = 1 THEN r.charged + r.metered ELSE r.cap END) FROM api_keys o
			JOIN consents c ON c.actor = o.id AND c.kind = 'start' JOIN runs r ON r.quote_id = c.quote_id WHERE o.lineage = k.lineage), 0)`},
	{"key.lineage", `SELECT k.id, 'it has not the workspace and the ceiling of the key that it descends from' FROM api_keys k
		WHERE NOT EXISTS (SELECT 1 FROM api_keys f WHERE f.id = k.lineage AND f.workspace_id = k.workspace_id AND f.ceiling = k.ceiling)`},
}
