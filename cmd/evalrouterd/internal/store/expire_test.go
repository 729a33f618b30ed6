package store_test

import (
	"context"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Answers go when their run's time is over, run by run; what was scored, paid
// and hashed stays, and the audit finds nothing.
func TestExpireAnswers(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		old := d.start(2, 1000)
		first := d.ask(old, 0, 100, 40)
		d.ask(old, 1, 100, 40)
		d.finalize(old)
		began := d.run(old).CreatedAt
		d.time.Add(1000)
		young := d.start(1, 1000)
		d.ask(young, 0, 100, 40)
		d.finalize(young)
		live := d.start(2, 1000)
		d.ask(live, 0, 100, 40)

		n, err := d.ExpireAnswers(ctx, began-1)
		if d.check(err); n != 0 {
			t.Errorf("%d runs expired before their time", n)
		}
		n, err = d.ExpireAnswers(ctx, began)
		if d.check(err); n != 1 {
			t.Errorf("%d runs expired, want 1", n)
		}
		for run, want := range map[core.RunID]bool{old: false, young: true, live: true} {
			for row, err := range d.Samples(ctx, scope, run, 0) {
				d.check(err)
				if (row.Raw != nil) != want || row.SHA256 != rawSHA256 || row.Score == nil || row.UsageDoc == "" {
					t.Errorf("run %s, task %d: kept %v, want %v; hash %q, score %v", run, row.Idx, row.Raw != nil, want, row.SHA256, row.Score)
				}
			}
		}
		if e, ok, err := d.Evidence(ctx, old, 0); err != nil || !ok || e.Raw != nil || e.Call != first.Call {
			t.Errorf("evidence %+v, %v, %v", e, ok, err)
		}
		n, err = d.ExpireAnswers(ctx, d.run(live).CreatedAt)
		if d.check(err); n != 1 {
			t.Errorf("%d runs expired, want the young one alone: the other has not ended", n)
		}
		n, err = d.ExpireAnswers(ctx, d.run(live).CreatedAt)
		if d.check(err); n != 0 {
			t.Errorf("%d runs expired twice", n)
		}
		d.clean()
	})
}
