package store_test

import (
	"context"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// A grade is only ever written beside a recorded answer, and only once: not for
// a task that was never asked, is being asked, has an unknown outcome or is
// graded already.
func TestRecordGrade_OnlyAnswered(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, run := context.Background(), d.start(4, 1000)
		graded := d.ask(run, 0, 100, 50)
		open, lost := intent(1, 100), intent(2, 100)
		d.must(d.Reserve(ctx, run, lease, []core.Intent{open, lost}))
		d.check(d.MarkSent(ctx, run, open))
		d.check(d.MarkSent(ctx, run, lost))
		d.check(d.MarkUnknown(ctx, core.Ended{Run: run, Idx: 2, Call: lost.Call, Reserved: 100, Outcome: "timeout"}))
		before := d.run(run).Tallies
		for name, idx := range map[string]int{"graded": graded.Idx, "in flight": 1, "unknown": 2, "never asked": 3} {
			for _, v := range []*bundle.Verdict{{Outcome: bundle.Wrong, Rule: "again"}, nil} {
				err := d.RecordGrade(ctx, core.Grade{Run: run, Idx: idx, Grader: bundle.Identity{ID: "g", Version: "2", Compat: "g@2"}, Verdict: v})
				if err == nil {
					t.Errorf("a task that is %s was graded", name)
				}
			}
		}
		after := d.run(run).Tallies
		for o, n := range before {
			if after[o] != n {
				t.Errorf("%s went from %d to %d", o, n, after[o])
			}
		}
	})
}
