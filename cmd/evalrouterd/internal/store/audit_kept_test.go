package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/uuid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/traces"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// keeps leaves a dataset with a version and an item that was rejected, a finding
// in two traces of a connection with its key, and a run of a key with a ceiling.
func (d *db) keeps() {
	d.t.Helper()
	ctx, agents, sets := context.Background(), d.agents(), d.curated("d1", 1)
	d.write(agents, arrival("a", talk(1)...), arrival("b", talk(1)...))
	all, err := agents.List(ctx, scope, traces.Filter{}, nil, 10)
	d.check(err)
	e := core.Evaluator{ID: "e1", Workspace: "w1", Name: "tools", Rule: "tool_error", Config: json.RawMessage(`{}`), Severity: "warning", Revision: 1}
	d.check(agents.AddEvaluator(ctx, e))
	var hits []core.Occurrence
	for _, tr := range all {
		hits = append(hits, core.Occurrence{Hit: core.Hit{Span: "t", Signature: "s", Title: "it failed"}, Fingerprint: "f1", Trace: tr.ID})
	}
	d.must(agents.Found(ctx, scope, e, hits, uuid.NewString))
	d.check(sets.AddItems(ctx, scope, "d1", []core.NewItem{newItem("i1", "a", "1"), newItem("i2", "b", "2"), newItem("i3", "c", "3")}))
	d.approve(sets, "d1", "i1")
	d.check(sets.Review(ctx, reviewer, "d1", core.Verdict{Item: "i2"}))
	d.must(sets.Seal(ctx, scope, "d1", ""))
	keys := d.Access()
	d.check(keys.AddKey(ctx, core.APIKey{ID: "key-c", Workspace: "w1", Name: "ci", Prefix: "erk_c", MAC: []byte("c"), Scopes: []string{"eval:write"}, Ceiling: 5000}, by("u")))
	d.must(keys.RotateKey(ctx, "w1", "key-c", core.APIKey{ID: "key-d", Prefix: "erk_d", MAC: []byte("d")}, 60, by("u2")))
	a := admission(d.quote(3, usd.Micro(4000)), "ceiling")
	a.Scope = core.Scope{Workspace: "w1", Actor: "key-d", Ceiling: 5000, Lineage: "key-c"}
	d.must(d.Admit(ctx, a))
}

// Each rule about what is kept beside runs finds the damage that it is for.
func TestAudit_FindsDamageBesideRuns(t *testing.T) {
	t.Parallel()
	for i, tt := range []struct{ rule, damage string }{
		{"dataset.latest", `UPDATE datasets SET latest = 2`},
		{"dataset.latest", `UPDATE datasets SET latest = 0`},
		{"dataset.items", `DROP TRIGGER dataset_versions_no_update; UPDATE dataset_versions SET items = 2`},
		{"dataset.items", `DROP TRIGGER dataset_version_items_no_delete; DELETE FROM dataset_version_items`},
		{"dataset.items", `DROP TRIGGER dataset_version_items_no_update; UPDATE dataset_version_items SET pos = 1`},
		{"dataset.sealed", `DROP TRIGGER dataset_version_items_no_update; UPDATE dataset_version_items SET digest = 'x'`},
		{"dataset.sealed", `UPDATE dataset_items SET dataset_id = 'd2' WHERE id = 'i1'`},
		{"dataset.revision", `DROP TRIGGER dataset_revisions_no_delete; DELETE FROM dataset_revisions WHERE item_id = 'i3'`},
		{"dataset.revision", `UPDATE dataset_items SET digest = 'x' WHERE id = 'i3'`},
		{"dataset.review", `UPDATE dataset_items SET review = 'approved' WHERE id = 'i3'`},
		{"dataset.review", `UPDATE dataset_items SET review = 'rejected' WHERE id = 'i3'`},
		{"dataset.review", `UPDATE dataset_items SET review = 'approved' WHERE id = 'i2'`},
		{"dataset.review", `DELETE FROM dataset_reviews WHERE item_id = 'i1'`},
		{"finding.workspace", `UPDATE trace_evaluators SET workspace_id = 'w2'`},
		{"finding.seen", `UPDATE trace_findings SET seen = 1`},
		{"trace.findings", `UPDATE traces SET findings = 0`},
		{"trace.findings", `DELETE FROM trace_occurrences`},
		{"trace.connection", `UPDATE traces SET workspace_id = 'w2'`},
		{"connection.traces", `UPDATE trace_connections SET traces = 1`},
		{"connection.key", `UPDATE trace_connections SET disabled_at = 1`},
		{"connection.key", `UPDATE api_keys SET workspace_id = 'w2' WHERE connection_id <> ''`},
		{"key.ceiling", `UPDATE api_keys SET ceiling = 3999 WHERE ceiling > 0`},
		{"key.lineage", `UPDATE api_keys SET ceiling = 6000 WHERE id = 'key-d'`},
		{"key.lineage", `UPDATE api_keys SET lineage = 'gone' WHERE id = 'key-d'`},
	} {
		t.Run(fmt.Sprintf("%d %s", i, tt.rule), func(t *testing.T) {
			t.Parallel()
			d := newSQLite(t)
			d.keeps()
			d.finds(tt.rule, tt.damage)
		})
	}
}

// The same rules hold on both databases.
func TestAudit_CleanBesideRuns(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		d.keeps()
		d.clean()
	})
}
