package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/catalog"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// stored is a benchmark of 10,000 large tasks, of which one reading gives
// three at most and not in order.
type stored struct{ catalog.Store }

func (stored) TasksAt(_ context.Context, _ core.ProfileID, positions []int) (map[int]bundle.Task, error) {
	out := map[int]bundle.Task{}
	for _, pos := range positions[:min(3, len(positions))] {
		if pos >= 10_000 {
			return nil, errors.New("there is no such position")
		}
		out[pos] = bundle.Task{ID: fmt.Sprint("t", pos)}
	}
	return out, nil
}

// However many tasks one reading gives, every id comes once and in order.
func TestTaskIDs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		at   []int
		bad  bool
	}{
		{name: "none"},
		{name: "one", at: []int{9_999}},
		{name: "as many as one reading gives", at: []int{1, 5, 7}},
		{name: "more", at: []int{0, 1, 2, 3, 500, 9_000, 9_999}},
		{name: "one too far", at: []int{0, 1, 2, 10_000}, bad: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got, want []string
			for _, pos := range tt.at {
				want = append(want, fmt.Sprint("t", pos))
			}
			var last error
			for id, err := range catalog.New(stored{}, nil, nil).TaskIDs(context.Background(), core.Profile{ID: "p"}, tt.at) {
				if last = err; err == nil {
					got = append(got, id)
				}
			}
			if tt.bad != (last != nil) || (!tt.bad && !slices.Equal(got, want)) {
				t.Errorf("got %v and %v, want %v", got, last, want)
			}
		})
	}
}
