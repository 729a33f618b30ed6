package catalog_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/catalog"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// stored is a benchmark of 10,000 tasks whose readings give three at a time.
type stored struct {
	catalog.Store
	scans int
}

func (s *stored) TasksAt(_ context.Context, _ core.ProfileID, positions []int) (map[int]bundle.Task, error) {
	out := map[int]bundle.Task{}
	for _, pos := range positions[:min(3, len(positions))] {
		out[pos] = bundle.Task{ID: fmt.Sprint("t", pos)}
	}
	return out, nil
}

func (s *stored) TaskIDs(context.Context, core.ProfileID) iter.Seq2[string, error] {
	s.scans++
	return func(yield func(string, error) bool) {
		for i := range 10_000 {
			if !yield(fmt.Sprint("t", i), nil) {
				return
			}
		}
	}
}

// Ids are the same whether few tasks are read or a benchmark is gone through.
func TestTaskIDs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		step, offset int
		n, scans     int
	}{
		{name: "none"},
		{name: "one", step: 1, offset: 9_999, n: 1},
		{name: "a few", step: 7, n: 100},
		{name: "as many as are read one by one", step: 5, n: 2000},
		{name: "more", step: 4, offset: 3, n: 2001, scans: 1},
		{name: "all", step: 1, n: 10_000, scans: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &stored{}
			c := catalog.New(s, nil, nil)
			var at []int
			var want []string
			for i := range tt.n {
				at = append(at, tt.offset+i*tt.step)
				want = append(want, fmt.Sprint("t", tt.offset+i*tt.step))
			}
			var got []string
			for id, err := range c.TaskIDs(context.Background(), core.Profile{ID: "p", TaskCount: 10_000}, at) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, id)
			}
			if !slices.Equal(got, want) || s.scans != tt.scans {
				t.Errorf("%d ids, want %d; %d scans, want %d", len(got), len(want), s.scans, tt.scans)
			}
		})
	}
}

func TestTaskIDs_MissingPositionIsAnError(t *testing.T) {
	t.Parallel()
	at := make([]int, 2001)
	for i := range at {
		at[i] = 9_000 + i
	}
	var last error
	for _, err := range catalog.New(&stored{}, nil, nil).TaskIDs(context.Background(), core.Profile{ID: "p"}, at) {
		last = err
	}
	if last == nil {
		t.Error("a position beyond the benchmark was named")
	}
}
