package store_test

import (
	"context"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

func said(id, digest string) core.Feedback {
	return core.Feedback{ID: id, Workspace: "w1", Actor: "key-1", Kind: "bug", Severity: "degraded", Summary: "It hangs", Details: "at once", Context: "{}", ContactOK: true, Digest: digest}
}

// What was said is kept for its workspace and the operator, a repetition names
// the first, and what became of it is read back.
func TestFeedback(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		ctx, st := context.Background(), d.Feedback()
		add := func(id, digest string) core.Feedback {
			f, err := st.Add(ctx, said(id, digest))
			d.check(err)
			return f
		}
		first, again, other := add("f1", "same"), add("f2", "same"), add("f3", "other")
		if first.DuplicateOf != "" || again.DuplicateOf != "f1" || other.DuplicateOf != "" || first.Status != "received" {
			t.Errorf("kept %+v, %+v, %+v", first, again, other)
		}
		read, err := st.Get(ctx, scope, "f2")
		d.check(err)
		if read != again {
			t.Errorf("read %+v, kept %+v", read, again)
		}
		_, err = st.Get(ctx, foreign, "f2")
		d.wants(err, core.NotFound)
		d.check(st.Mark(ctx, "f2", "resolved"))
		d.wants(st.Mark(ctx, "f9", "resolved"), core.NotFound)
		read, err = st.Get(ctx, scope, "f2")
		d.check(err)
		if read.Status != "resolved" {
			t.Errorf("marked, it is %s", read.Status)
		}
		all, err := st.All(ctx, 2)
		if err != nil || len(all) != 2 {
			t.Errorf("the operator sees %+v, %v", all, err)
		}
	})
}
