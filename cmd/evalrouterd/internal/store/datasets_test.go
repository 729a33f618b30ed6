package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	sets "github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/datasets"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/datasets"
)

var reviewer = core.Scope{Workspace: "w1", Actor: "key-9"}

// curated is a dataset of w1 that asks for so many reviewers.
func (d *db) curated(id core.DatasetID, reviewers int) *datasets.Store {
	d.t.Helper()
	st := d.Datasets(sets.VersionDigest)
	d.check(st.Add(context.Background(), core.Dataset{ID: id, Workspace: "w1", Name: "n-" + string(id), Reviewers: reviewers, Actor: "key-1"}))
	return st
}

func newItem(id, input, expected string) core.NewItem {
	c := core.ItemContent{Input: json.RawMessage(fmt.Sprintf("%q", input)), Expected: json.RawMessage(fmt.Sprintf("%q", expected))}
	return core.NewItem{ID: core.ItemID(id), ItemContent: c, Digest: sets.ItemDigest(c)}
}

func (d *db) approve(st *datasets.Store, id core.DatasetID, items ...core.ItemID) {
	d.t.Helper()
	for _, x := range items {
		d.check(st.Review(context.Background(), reviewer, id, core.Verdict{Item: x, Approved: true}))
	}
}

func (d *db) reviewOf(st *datasets.Store, id core.DatasetID, x core.ItemID) string {
	d.t.Helper()
	got, err := st.Item(context.Background(), scope, id, x)
	d.check(err)
	return got.Review
}

// A review is of what was read: whoever edits an item voids it, and an edit
// back brings it back.
func TestDatasets_TDS07_AReviewIsOfADigest(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, st := context.Background(), d.curated("d1", 2)
		d.check(st.AddItems(ctx, scope, "d1", []core.NewItem{newItem("i1", "a", "1"), newItem("i2", "b", "2")}))
		d.wants(st.Review(ctx, scope, "d1", core.Verdict{Item: "i1", Approved: true}), core.SelfReview)
		d.wants(st.Review(ctx, reviewer, "d1", core.Verdict{Item: "i1", Digest: "old", Approved: true}), core.ItemChanged)
		d.approve(st, "d1", "i1", "i1") // one person counts once
		if got := d.reviewOf(st, "d1", "i1"); got != core.ReviewPending {
			t.Errorf("one of two reviewers: %s", got)
		}
		third := core.Scope{Workspace: "w1", Actor: "key-8"}
		d.check(st.Review(ctx, third, "d1", core.Verdict{Item: "i1", Approved: true, Note: "good"}))
		x, err := st.Item(ctx, scope, "d1", "i1")
		d.check(err)
		if x.Review != core.ReviewApproved || strings.Join(x.ReviewedBy, " ") != "key-8 key-9" && strings.Join(x.ReviewedBy, " ") != "key-9 key-8" || x.Author != "key-1" {
			t.Errorf("%+v", x)
		}
		other := newItem("", "a", "one")
		d.check(st.Edit(ctx, scope, "d1", "i1", other.Digest, other.ItemContent))
		if got := d.reviewOf(st, "d1", "i1"); got != core.ReviewPending {
			t.Errorf("after an edit: %s", got)
		}
		before := newItem("", "a", "1")
		d.check(st.Edit(ctx, scope, "d1", "i1", before.Digest, before.ItemContent))
		if x, err := st.Item(ctx, scope, "d1", "i1"); err != nil || x.Review != core.ReviewApproved || x.Revision != 3 {
			t.Errorf("edited back: %+v, %v", x, err)
		}
		d.check(st.Review(ctx, third, "d1", core.Verdict{Item: "i1"}))
		if got := d.reviewOf(st, "d1", "i1"); got != core.ReviewRejected {
			t.Errorf("one who changed his mind: %s", got)
		}
		d.wants(st.AddItems(ctx, scope, "d1", []core.NewItem{newItem("i3", "c", "3"), newItem("i4", "b", "2")}), core.DuplicateItem)
		twin := newItem("", "b", "2")
		d.wants(st.Edit(ctx, scope, "d1", "i1", twin.Digest, twin.ItemContent), core.DuplicateItem)
		all, err := st.Items(ctx, scope, "d1", "", nil, 10)
		d.check(err)
		if len(all) != 2 || all[0].ID != "i1" || all[1].ID != "i2" {
			t.Errorf("all or none: %+v", all)
		}
		if rest, err := st.Items(ctx, scope, "d1", core.ReviewPending, &core.Place{At: all[0].CreatedAt, ID: "i1"}, 10); err != nil || len(rest) != 1 || rest[0].ID != "i2" {
			t.Errorf("%+v, %v", rest, err)
		}
	})
}

// Several reviewers are several people: who holds two keys is asked once, and does
// not review with the other key what they wrote with the first.
func TestDatasets_TDS07_PeopleAreCounted(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, st := context.Background(), d.curated("d1", 2)
		d.check(st.AddItems(ctx, core.Scope{Workspace: "w1", Actor: "key-1", Person: "ada"}, "d1", []core.NewItem{newItem("i1", "a", "1")}))
		d.wants(st.Review(ctx, core.Scope{Workspace: "w1", Actor: "key-2", Person: "ada"}, "d1", core.Verdict{Item: "i1", Approved: true}), core.SelfReview)
		for _, key := range []string{"key-3", "key-4"} {
			d.check(st.Review(ctx, core.Scope{Workspace: "w1", Actor: key, Person: "bob"}, "d1", core.Verdict{Item: "i1", Approved: true}))
		}
		if got := d.reviewOf(st, "d1", "i1"); got != core.ReviewPending {
			t.Errorf("two keys of one person: %s", got)
		}
		d.check(st.Review(ctx, core.Scope{Workspace: "w1", Actor: "key-4", Person: "eve"}, "d1", core.Verdict{Item: "i1", Approved: true}))
		if x, err := st.Item(ctx, scope, "d1", "i1"); err != nil || x.Review != core.ReviewApproved || len(x.ReviewedBy) != 2 || x.Author != "ada" {
			t.Errorf("two people: %+v, %v", x, err)
		}
	})
}

// What was retracted by mistake can be sealed again, as a version of its own.
func TestDatasets_TDS08_ARetractedVersionBlocksNothing(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, st := context.Background(), d.curated("d1", 1)
		d.check(st.AddItems(ctx, scope, "d1", []core.NewItem{newItem("i1", "a", "1")}))
		d.approve(st, "d1", "i1")
		one, err := st.Seal(ctx, scope, "d1", "")
		d.check(err)
		_, err = st.Seal(ctx, scope, "d1", "")
		d.wants(err, core.NothingChanged)
		d.check(st.Retract(ctx, scope, "d1", 1, "by mistake"))
		two, err := st.Seal(ctx, scope, "d1", "again")
		d.check(err)
		if two.Version != 2 || two.SHA256 != one.SHA256 || two.Added+two.Changed+two.Removed != 0 {
			t.Errorf("%+v", two)
		}
		_, err = st.Seal(ctx, scope, "d1", "")
		d.wants(err, core.NothingChanged)
		if v, err := st.Version(ctx, scope, "d1", 0); err != nil || v.Version != 2 || v.RetractedAt != 0 {
			t.Errorf("%+v, %v", v, err)
		}
	})
}

// A version is what was approved when it was sealed, whatever happens later;
// the database itself keeps it so. T17: its digest depends on content alone.
func TestDatasets_TDS08_AVersionNeverChanges(t *testing.T) {
	t.Parallel()
	digests := make(chan string, 8)
	t.Run("each", func(t *testing.T) {
		onEach(t, func(t *testing.T, d *db) {
			ctx, st := context.Background(), d.curated("d1", 1)
			_, err := st.Seal(ctx, scope, "d1", "")
			d.wants(err, core.NothingApproved)
			d.check(st.AddItems(ctx, scope, "d1", []core.NewItem{newItem("i1", "a", "1"), newItem("i2", "b", "2"), newItem("i3", "c", "3")}))
			d.approve(st, "d1", "i1", "i2")
			v, err := st.Seal(ctx, scope, "d1", "first")
			d.check(err)
			if v.Version != 1 || v.Items != 2 || v.LeftOut != 1 || v.Added != 2 || v.Note != "first" || v.Actor != "key-1" {
				t.Errorf("%+v", v)
			}
			digests <- v.SHA256
			_, err = st.Seal(ctx, scope, "d1", "")
			d.wants(err, core.NothingChanged)
			read := func(st *datasets.Store) (out []string) {
				for x, err := range st.Sealed(ctx, v) {
					d.check(err)
					out = append(out, fmt.Sprint(x.ID, string(x.Input), string(x.Expected), x.Revision, x.Digest))
				}
				return out
			}
			sealed := read(st)
			next := newItem("", "a", "one")
			d.check(st.Edit(ctx, scope, "d1", "i1", next.Digest, next.ItemContent))
			d.check(st.Withdraw(ctx, scope, "d1", "i2"))
			d.approve(st, "d1", "i1", "i3")
			v2, err := st.Seal(ctx, scope, "d1", "")
			d.check(err)
			if v2.Version != 2 || v2.Items != 2 || v2.Changed != 1 || v2.Added != 1 || v2.Removed != 1 {
				t.Errorf("%+v", v2)
			}
			added, changed, removed, err := st.Difference(ctx, scope, "d1", 1, 2)
			if got := fmt.Sprint(added, changed, removed, err); got != "[i3] [i1] [i2] <nil>" {
				t.Error(got)
			}
			for _, q := range []string{
				`UPDATE dataset_versions SET sha256 = 'x'`, `DELETE FROM dataset_versions`, `UPDATE dataset_version_items SET digest = 'x'`, `DELETE FROM dataset_version_items`,
				`UPDATE dataset_revisions SET input = '1'`, `DELETE FROM dataset_revisions`,
			} {
				if _, err := d.raw.Exec(q); err == nil || !strings.Contains(err.Error(), "never changed") {
					t.Errorf("%s: %v", q, err)
				}
			}
			fresh := d.open().Datasets(sets.VersionDigest) // after a restart
			if diff := cmp.Diff(sealed, read(fresh)); diff != "" || len(sealed) != 2 {
				t.Errorf("%v, now\n%s", sealed, diff)
			}
			if again, err := fresh.Version(ctx, scope, "d1", 1); err != nil || again != v {
				t.Errorf("%+v, %v", again, err)
			}
			d.check(st.Retract(ctx, scope, "d1", 1, "wrong"))
			d.check(st.Retract(ctx, scope, "d1", 1, "again"))
			list, err := st.Versions(ctx, scope, "d1", 0, 10)
			if d.check(err); len(list) != 2 || list[0].Version != 2 || list[1].RetractedAt == 0 || list[1].Reason != "wrong" {
				t.Errorf("%+v", list)
			}
			// The same content in another order, under other ids and in another dataset.
			d.curated("d2", 1)
			d.check(st.AddItems(ctx, scope, "d2", []core.NewItem{newItem("j9", "b", "2"), newItem("j1", "a", "1")}))
			d.approve(st, "d2", "j9", "j1")
			twin, err := st.Seal(ctx, scope, "d2", "another note")
			d.check(err)
			digests <- twin.SHA256
		})
	})
	close(digests)
	seen := map[string]bool{}
	for x := range digests {
		seen[x] = true
	}
	if len(seen) != 1 {
		t.Errorf("the same items have the digests %v", seen)
	}
}

// What an item took from a trace stays when the trace has gone.
func TestDatasets_ItemsOutliveTheirTraces(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, agents, st := context.Background(), d.agents(), d.curated("d1", 1)
		d.write(agents, arrival("a", talk(2)...))
		tr := d.only(agents)
		x := newItem("i1", "a", "1")
		x.Source = &core.ItemSource{TraceID: tr.ID, SourceTraceID: "a", TraceRevision: 1, SpanID: "m0"}
		d.check(st.AddItems(ctx, scope, "d1", []core.NewItem{x}))
		d.wants(agents.Delete(ctx, scope, tr.ID, false), core.TraceHeld)
		d.approve(st, "d1", "i1")
		v, err := st.Seal(ctx, scope, "d1", "")
		d.check(err)
		d.time.Add(31 * 24 * 3600 * 1_000_000)
		if n, err := agents.Expire(ctx); n != 1 || err != nil {
			t.Errorf("expired %d, %v", n, err)
		}
		for s, err := range st.Sealed(ctx, v) {
			d.check(err)
			if s.Source == nil || s.Source.TraceID != tr.ID || string(s.Input) != `"a"` {
				t.Errorf("%+v", s)
			}
		}
		d.check(st.Withdraw(ctx, scope, "d1", "i1"))
		_, err = st.Item(ctx, scope, "d1", "i1")
		d.wants(err, core.NotFound)
	})
}

func TestDatasets_OfAnotherWorkspaceAreMissing(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, st := context.Background(), d.curated("d1", 1)
		d.check(st.AddItems(ctx, scope, "d1", []core.NewItem{newItem("i1", "a", "1")}))
		d.approve(st, "d1", "i1")
		d.must(st.Seal(ctx, scope, "d1", ""))
		for name, err := range map[string]error{
			"dataset": failing(st.Dataset(ctx, foreign, "d1")), "items": failing(st.Items(ctx, foreign, "d1", "", nil, 1)), "item": failing(st.Item(ctx, foreign, "d1", "i1")),
			"add": st.AddItems(ctx, foreign, "d1", nil), "edit": st.Edit(ctx, foreign, "d1", "i1", "x", core.ItemContent{}), "withdraw": st.Withdraw(ctx, foreign, "d1", "i1"),
			"review": st.Review(ctx, foreign, "d1", core.Verdict{Item: "i1"}), "seal": failing(st.Seal(ctx, foreign, "d1", "")), "version": failing(st.Version(ctx, foreign, "d1", 1)),
			"versions": failing(st.Versions(ctx, foreign, "d1", 0, 1)), "retract": st.Retract(ctx, foreign, "d1", 1, "x"), "archive": st.Archive(ctx, foreign, "d1"),
			"change": st.Change(ctx, foreign, "d1", func(*core.Dataset) error { return nil }),
		} {
			if !isMissing(err) {
				t.Errorf("%s: %v", name, err)
			}
		}
		d.wants(st.Add(ctx, core.Dataset{ID: "d3", Workspace: "w1", Name: "n-d1", Reviewers: 1}), core.NameTaken)
		d.check(st.Add(ctx, core.Dataset{ID: "d4", Workspace: "w2", Name: "n-d1", Reviewers: 1}))
		d.check(st.Archive(ctx, scope, "d1"))
		d.wants(st.AddItems(ctx, scope, "d1", []core.NewItem{newItem("i2", "b", "2")}), core.DatasetArchived)
		d.must(st.Version(ctx, scope, "d1", 0))
	})
}

func failing[T any](_ T, err error) error { return err }

func isMissing(err error) bool {
	return fmt.Sprint(err) != "" && strings.Contains(fmt.Sprint(err), "there is no such")
}
