package export_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/export"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/history"
)

// stingy gives at most so many tasks at once, those with the least positions, as
// a store of large tasks does. It counts what it was asked for.
type stingy struct {
	most  int
	asked *[]int
}

func (s stingy) TasksAt(_ context.Context, _ core.Profile, positions []int) (map[int]bundle.Task, error) {
	*s.asked = append(*s.asked, len(positions))
	sorted := slices.Sorted(slices.Values(positions))
	return numbered{}.TasksAt(context.Background(), core.Profile{}, sorted[:min(s.most, len(sorted))])
}

// said has two replies about every third task.
type said struct{ asked *[]int }

func (s said) Replies(_ context.Context, _ core.Scope, _ core.RunID, from, to int) (out []core.Reply, err error) {
	*s.asked = append(*s.asked, to-from)
	for idx := from; idx < to; idx++ {
		for part := range 2 {
			if idx%3 == 0 {
				out = append(out, core.Reply{Idx: idx, Part: part, State: core.CallResponded, Raw: fmt.Append(nil, "r", idx, ".", part)})
			}
		}
	}
	return out, nil
}

func (s said) Parts(ctx context.Context, sc core.Scope, run core.RunID, from, to int) ([]core.Reply, error) {
	return s.Replies(ctx, sc, run, from, to)
}

// A reader who goes through a run reads it in blocks, a reader of one task that
// one alone, and both read what belongs to each task.
func TestReader(t *testing.T) {
	t.Parallel()
	const planned = 200
	r := runOf(planned, core.Completed, core.ReasonCompleted)
	r.Quote.Profile.TaskCount = planned
	r.Quote.Judges = make([]core.Judge, 2)
	for i := range r.Quote.Judges {
		r.Quote.Judges[i].Target.Protocol = "plain"
	}
	for _, c := range []struct {
		name   string
		most   int
		places []int
		asked  []int // for tasks; nil where only the result is looked at
		blocks []int // of replies
	}{
		{name: "one", most: 64, places: []int{7}, asked: []int{1}, blocks: []int{1}},
		{name: "all in order", most: 64, places: upTo(planned), asked: []int{1, 64, 64, 64, 7}, blocks: []int{1, 64, 64, 64, 7}},
		{name: "large tasks", most: 3, places: upTo(planned), blocks: []int{1, 64, 64, 64, 7}},
		{name: "with holes", most: 64, places: []int{0, 3, 9, 80, 81, 199}, asked: []int{1, 64, 64, 1}, blocks: []int{1, 64, 64, 1}},
		{name: "back again", most: 64, places: []int{5, 6, 7, 5, 6, 0}},
		{name: "one twice", most: 64, places: []int{3, 3, 4, 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var asked, blocks []int
			src := source(nil)
			src.Tasks, src.Replies = stingy{c.most, &asked}, said{&blocks}
			d := src.Reader(r)
			for _, at := range c.places {
				task, err := d.Task(t.Context(), at)
				if want := fmt.Sprintf("t%d", r.Quote.Order().At(at)); err != nil || task.ID != want {
					t.Errorf("task %d is %q, want %q: %v", at, task.ID, want, err)
				}
				judges, err := d.Judges(t.Context(), export.Row{SampleRow: history.SampleRow{Sample: core.Sample{Idx: at, State: core.SampleGraded}}})
				if err != nil || len(judges) != 2*btoi(at%3 == 0) {
					t.Fatalf("task %d has %d replies: %v", at, len(judges), err)
				}
				for part, j := range judges {
					if want := fmt.Sprint("r", at, ".", part); *j.Text != want {
						t.Errorf("task %d, judge %d said %q, want %q", at, part, *j.Text, want)
					}
				}
			}
			if d := cmp.Diff(c.asked, asked); c.asked != nil && d != "" {
				t.Errorf("tasks (-want +got):\n%s", d)
			}
			if d := cmp.Diff(c.blocks, blocks); c.blocks != nil && d != "" {
				t.Errorf("replies (-want +got):\n%s", d)
			}
		})
	}
}

func upTo(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

func btoi(v bool) int {
	if v {
		return 1
	}
	return 0
}
