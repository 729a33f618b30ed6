package engine

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// A look gives the places that taking would give, in order, and takes none.
func TestQueue_Peek(t *testing.T) {
	t.Parallel()
	redo := []core.Redo{{Idx: 1, Attempt: 2}, {Idx: 4, Attempt: 1}}
	for _, tt := range []struct {
		name        string
		redo        []core.Redo
		next, total int
		n           int
		want        []int
	}{
		{"nothing", nil, 0, 0, 3, nil},
		{"none of them", redo, 5, 9, 0, nil},
		{"new ones", nil, 5, 9, 3, []int{5, 6, 7}},
		{"fewer than asked for", nil, 7, 9, 3, []int{7, 8}},
		{"planned again first", redo, 5, 9, 3, []int{1, 4, 5}},
		{"planned again alone", redo, 9, 9, 3, []int{1, 4}},
		{"one of those", redo, 5, 9, 1, []int{1}},
		{"a run that has fewer places than were begun", redo, 10, 9, 3, []int{1, 4}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			q := newQueue(core.Progress{Redo: slices.Clone(tt.redo), Next: tt.next}, tt.total)
			var got []int
			for r := range q.peek(tt.n) {
				got = append(got, r.Idx)
				if i := len(got) - 1; i < len(tt.redo) && r != tt.redo[i] {
					t.Errorf("place %d is %+v, want %+v", i, r, tt.redo[i])
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
			for range q.peek(tt.n) {
				break // whoever has seen enough may stop
			}
			if left := q.left(); left != len(tt.redo)+max(tt.total-tt.next, 0) {
				t.Errorf("%d are left", left)
			}
		})
	}
}
