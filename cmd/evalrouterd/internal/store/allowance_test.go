package store_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/allowance"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// TestAdmit_TheLastPlace lets two begin at once, of two processes where the
// database has several, when a workspace may have one run more.
func TestAdmit_TheLastPlace(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		const most = 8
		stores := []*store.Store{d.Store, d.Store}
		if strings.HasSuffix(t.Name(), "postgres") { // SQLite has one process
			stores[1] = d.open()
		}
		for _, s := range stores {
			s.Bound(allowance.Bounds{ActiveRuns: most})
		}
		for range most - 1 {
			q := d.quote(3, usd.Dollar/100)
			d.must(d.Admit(context.Background(), admission(q, "k-"+string(q.ID))))
		}
		for round := range 5 {
			var wg sync.WaitGroup
			outs, errs := make([]core.Admitted, len(stores)), make([]error, len(stores))
			for i, s := range stores {
				q := d.quote(3, usd.Dollar/100)
				wg.Go(func() {
					outs[i], errs[i] = s.Admit(context.Background(), admission(q, fmt.Sprint("last-", round, "-", i)))
				})
			}
			wg.Wait()
			if (errs[0] == nil) == (errs[1] == nil) {
				t.Fatalf("round %d: of two for one place %v and %v", round, errs[0], errs[1])
			}
			for i, err := range errs {
				if err == nil {
					d.check(d.Start(context.Background(), outs[i].Run))
					d.end(outs[i].Run, core.CancelledByUser)
				} else if !refused(err, core.TooManyRuns) {
					t.Errorf("round %d: %v", round, err)
				}
			}
		}
		d.clean()
	})
}

// Those of a group come at once: the refusal counts what was there before, not
// what it rolls back, and says how many would come.
func TestGroup_TellsOfRoomAsItWas(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx := context.Background()
		d.Bound(allowance.Bounds{ActiveRuns: 4, OpenQuotes: 6})
		single := d.quote(3, usd.Dollar/100)
		d.must(d.Admit(ctx, admission(single, "k-"+string(single.ID))))
		q := d.groupQuote(4, 100)
		before := d.counts()
		_, err := d.Groups().AdmitGroup(ctx, groupAdmission(q, "k"))
		if !refused(err, core.TooManyRuns) || !strings.Contains(err.Error(), "has 1 runs going on and may have 4, and this would start 4 more") {
			t.Errorf("the group is told %v", err)
		}
		more := q
		more.ID = "another"
		if err := d.Groups().PutQuote(ctx, more); !refused(err, core.TooManyQuotes) || !strings.Contains(err.Error(), "has 4 quotes open and may have 6, and this would open 4 more") {
			t.Errorf("the quote is told %v", err)
		}
		if now := d.counts(); now != before {
			t.Errorf("before %s, after %s", before, now)
		}
		d.Bound(allowance.Bounds{ActiveRuns: 5})
		d.must(d.Groups().AdmitGroup(ctx, groupAdmission(q, "k")))
		d.clean()
	})
}
