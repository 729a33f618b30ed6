package store_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// A wait is ended by its reason and its target, in its workspace alone, and only
// of runs that go on.
func TestWaits_End(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		waits, other, stopped := d.start(2, 1000), d.start(2, 1000), d.start(2, 1000)
		for _, id := range []core.RunID{waits, stopped} {
			d.check(d.Park(ctx, id, d.Now()+1_000_000_000, "endpoint_unreachable"))
		}
		d.check(d.Park(ctx, other, d.Now()+1_000_000_000, "rate_limited"))
		d.check(d.RequestCancel(ctx, scope, stopped))
		var target string
		d.check(d.raw.QueryRow(`SELECT target FROM runs WHERE id = $1`, string(waits)).Scan(&target))
		for _, tt := range []struct {
			name   string
			scope  core.Scope
			target string
			want   []core.RunID
		}{
			{"another workspace", core.Scope{Workspace: "elsewhere"}, target, nil},
			{"another target", scope, target + "x", nil},
			{"this one", scope, target, []core.RunID{waits}},
			{"once more", scope, target, nil},
		} {
			got, err := d.Waits().End(ctx, tt.scope, tt.target, "endpoint_unreachable")
			d.check(err)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
		}
		if r := d.run(waits); r.RetryAt != 0 || r.WaitingReason != "" {
			t.Errorf("the run waits until %d for %q", r.RetryAt, r.WaitingReason)
		}
		if r := d.run(other); r.RetryAt == 0 || r.WaitingReason != "rate_limited" {
			t.Errorf("another wait is over: %d, %q", r.RetryAt, r.WaitingReason)
		}
	})
}
