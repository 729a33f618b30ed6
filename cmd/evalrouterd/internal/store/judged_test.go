package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/traces"
)

// What a judge said is kept once of a trace for each revision, also where the
// same is brought again after half of it was kept, and goes with its trace.
func TestTraces_Judged(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, st := context.Background(), d.agents()
		var come []core.Arrival
		for i := range 60 { // more than one transaction
			come = append(come, arrival(fmt.Sprint("t", i), talk(1)...))
		}
		d.write(st, come...)
		all, err := st.List(ctx, scope, traces.Filter{}, nil, 100)
		d.check(err)
		e := core.Evaluator{ID: "e1", Workspace: "w1", Name: "polite", Rule: core.RuleJudge, Config: json.RawMessage(`{"prompt":"x"}`), Severity: "error", Revision: 1}
		d.check(st.AddEvaluator(ctx, e))
		said := func(revision int, ids ...core.TraceID) (out []core.Judged) {
			for i, id := range ids {
				j := core.Judged{Trace: id, Evaluator: "e1", Revision: revision, Label: "pass", Why: "fine", Run: "r1", Cost: 7}
				if i == 0 {
					j.Label, j.Why = "fail", "rude"
					j.Found = &core.Occurrence{Hit: core.Hit{Title: "it failed", Detail: j.Why}, Fingerprint: "f1", Trace: id}
				}
				out = append(out, j)
			}
			return out
		}
		keep := func(what []core.Judged, want core.JudgedFate) {
			t.Helper()
			if got, err := st.KeepJudged(ctx, scope, e, what, uuid.NewString); got != want || err != nil {
				t.Errorf("%+v, %v, want %+v", got, err, want)
			}
		}
		var ids []core.TraceID
		for _, r := range all {
			ids = append(ids, r.ID)
		}
		keep(said(1, ids[:20]...), core.JudgedFate{Kept: 20, Findings: 1}) // and then it died
		everything := said(1, ids...)
		everything = append(everything, core.Judged{Trace: "gone", Evaluator: "e1", Revision: 1, Label: "pass"})
		keep(everything, core.JudgedFate{Kept: 40, Before: 20, Gone: 1})
		keep(everything, core.JudgedFate{Before: 60, Gone: 1})
		keep(said(2, ids[1], ids[0]), core.JudgedFate{Kept: 2}) // the finding is known, and seen in one trace more
		if by, err := st.JudgedBy(ctx, scope, "e1", 2, ids); err != nil || len(by) != 2 || !by[ids[0]] || !by[ids[1]] {
			t.Errorf("%v, %v", by, err)
		}
		if by, err := st.JudgedBy(ctx, foreign, "e1", 2, ids); err != nil || len(by) != 0 {
			t.Errorf("another workspace sees %v, %v", by, err)
		}
		found, err := st.FindingList(ctx, scope, traces.FindingFilter{Evaluator: "e1"}, nil, 10)
		d.check(err)
		if len(found) != 1 || found[0].Seen != 2 || found[0].Detail != "rude" {
			t.Errorf("%+v", found)
		}
		list, err := st.Evaluations(ctx, scope, ids[0], nil, 10)
		d.check(err)
		first := list[0].ID // of the same time, and of ids that are in no order here
		slices.SortFunc(list, func(a, b core.Judged) int { return a.Revision - b.Revision })
		if len(list) != 2 || list[0].Label != "fail" || list[0].Why != "rude" || list[0].Cost != 7 || list[0].Run != "r1" || list[0].Revision != 1 || list[1].Label != "pass" {
			t.Fatalf("%+v", list)
		}
		rest, err := st.Evaluations(ctx, scope, ids[0], &core.Place{At: list[0].At, ID: first}, 10)
		if d.check(err); len(rest) != 1 || rest[0].ID == first {
			t.Errorf("the page behind the first: %+v", rest)
		}
		_, err = st.Evaluations(ctx, foreign, ids[0], nil, 10)
		d.wants(err, core.NotFound)
		d.check(st.Delete(ctx, scope, ids[0], false))
		var left int
		d.check(d.raw.QueryRow(`SELECT count(*) FROM trace_evaluations`).Scan(&left))
		if left != 60 {
			t.Errorf("%d evaluations, and one trace of two has gone", left)
		}
		var seen []core.TraceID
		d.check(st.EachOf(ctx, scope, ids[1:3], func(tr core.Trace, spans []core.Span) error {
			if seen = append(seen, tr.ID); len(spans) != 3 {
				t.Errorf("%d steps", len(spans))
			}
			return nil
		}))
		if fmt.Sprint(seen) != fmt.Sprint(ids[1:3]) {
			t.Errorf("%v", seen)
		}
		d.wants(st.EachOf(ctx, foreign, ids[1:2], func(core.Trace, []core.Span) error { return nil }), core.NotFound)
		d.clean()
	})
}
