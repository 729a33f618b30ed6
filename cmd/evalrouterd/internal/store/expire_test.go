package store_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
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

// An answer that a process had kept and brings when those of its run were dropped
// leaves what stays of every other.
func TestExpireAnswers_LateOne(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		run := d.start(1, 1000)
		in := intent(0, 100)
		d.must(d.Reserve(ctx, run, lease, []core.Intent{in}))
		d.check(d.MarkSent(ctx, run, in))
		d.check(d.MarkUnknown(ctx, core.Ended{Run: run, Idx: 0, Call: in.Call, Reserved: 100, Outcome: "lost"}))
		d.finalize(run)
		n, err := d.ExpireAnswers(ctx, d.run(run).CreatedAt)
		if d.check(err); n != 1 {
			t.Fatalf("%d runs expired", n)
		}
		r := response(run, in, 40)
		r.ExpiresAt = d.Now()
		state, err := d.Late(ctx, r)
		if d.check(err); state != core.CallLate {
			t.Errorf("the call is %s", state)
		}
		e, ok, err := d.Evidence(ctx, run, 0)
		if err != nil || !ok || e.Raw != nil || e.Call != in.Call {
			t.Errorf("evidence %+v, %v, %v", e, ok, err)
		}
		d.clean()
	})
}

// An answer whose time is over can be read from no file any more: neither from
// pages that became free nor from the log.
func TestExpireAnswers_LeavesNoBytes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "t.db")
	d := newDB(t, store.Options{Path: path}, "sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	run := d.start(40, 100_000)
	for i := range 40 {
		// Long answers lie in pages of their own, which become free; short ones
		// beside what stays.
		in, answer := intent(i, 100), []byte(strings.Repeat("needle-", []int{9, 130, 4500}[i%3]))
		d.must(d.Reserve(ctx, run, lease, []core.Intent{in}))
		d.check(d.MarkSent(ctx, run, in))
		r := response(run, in, 40)
		r.Raw, r.RawSHA256 = answer, fmt.Sprintf("%x", sha256.Sum256(answer))
		d.check(d.Respond(ctx, r))
		d.check(d.RecordGrade(ctx, core.Grade{Run: run, Idx: i, Grader: bundle.Identity{ID: "g", Version: "1", Compat: "g@1+c"}, Verdict: &bundle.Verdict{Outcome: bundle.Right, Score: 1, Rule: "r"}}))
	}
	d.finalize(run)
	on := func() (found int) {
		for _, name := range []string{path, path + "-wal"} {
			b, err := os.ReadFile(name)
			d.check(err)
			found += bytes.Count(b, []byte("needle-"))
		}
		return found
	}
	if on() == 0 {
		t.Fatal("answers are not found where they must be: the test would see nothing")
	}
	n, err := d.ExpireAnswers(ctx, d.run(run).CreatedAt)
	if d.check(err); n != 1 {
		t.Fatalf("%d runs expired", n)
	}
	if left := on(); left != 0 {
		t.Errorf("%d pieces of expired answers are still in the files", left)
	}
	d.clean()
}
