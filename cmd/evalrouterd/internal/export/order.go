package export

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/families"
	"github.com/evalrouter/evalrouter/bundle/inspect/dataset"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// place is where a task that came to an end stands: in the run, in the
// benchmark, and by its id.
type place struct {
	idx, pos int
	id       string
}

func byDocument(a, b place) int { return cmp.Compare(a.pos, b.pos) }

// byID is the order in which Inspect reads samples.
func byID(a, b place) int { return strings.Compare(dataset.SortKey(a.id), dataset.SortKey(b.id)) }

// sorted is opened in another order. It holds a place of each task, and reads
// the tasks a block at a time.
func (s Source) sorted(ctx context.Context, r Run, compare func(a, b place) int) (iter.Seq2[answered, error], error) {
	order := r.Quote.Order()
	var places []place
	for row, err := range s.Rows(ctx, r, 0) {
		if err != nil {
			return nil, err
		}
		if row.ended() {
			places = append(places, place{row.Idx, order.At(row.Idx), row.TaskID})
		}
	}
	slices.SortFunc(places, compare)
	return func(yield func(answered, error) bool) {
		for block := range slices.Chunk(places, ahead) {
			all, err := s.openedAt(ctx, r, block)
			for _, one := range all {
				if !yield(one, nil) {
					return
				}
			}
			if err != nil {
				yield(answered{}, err)
				return
			}
		}
	}, nil
}

// openedAt reads a block of tasks that ended, in the order of its places.
func (s Source) openedAt(ctx context.Context, r Run, block []place) ([]answered, error) {
	var at, positions []int
	for _, p := range block {
		at, positions = append(at, p.idx), append(positions, p.pos)
	}
	rows, err := s.Samples.SamplesAt(ctx, core.Scope{Workspace: r.Workspace}, r.ID, at)
	if err != nil {
		return nil, fmt.Errorf("read tasks: %w", err)
	}
	reader := s.Reader(r)
	if reader.tasks, err = s.Tasks.TasksAt(ctx, r.Quote.Profile, positions); err != nil {
		return nil, fmt.Errorf("read tasks: %w", err)
	}
	out := make([]answered, 0, len(block))
	for _, p := range block {
		row := finish(r, rows[p.idx])
		if !row.ended() {
			return nil, fmt.Errorf("read task %d: it is not there any more", p.idx)
		}
		one, err := reader.open(ctx, row)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// grader is what graded a run, for what the store does not keep.
func grader(r Run) (bundle.Grader, error) {
	var cfg bundle.GraderConfig
	if err := json.Unmarshal(r.Quote.Profile.GraderConfig, &cfg); err != nil {
		return nil, fmt.Errorf("read grader: %w", err)
	}
	g, err := families.Grader(cfg)
	if err != nil {
		return nil, fmt.Errorf("make grader: %w", err)
	}
	return g, nil
}

// extracted is the whole of what was taken for the answer. The store keeps the
// beginning of a long one; grading again gives the rest, and where the answer
// is not there any more, or another version of the grader decides otherwise,
// the beginning stands.
func extracted(g bundle.Grader, a answered) string {
	if utf8.RuneCountInString(a.Extracted) < core.MaxExtracted || a.answer.Text == nil {
		return a.Extracted
	}
	v, err := g.Grade(a.task, bundle.Answer{Text: a.text(), Finish: bundle.Finish(a.answer.Finish)})
	if err != nil || v.Outcome != a.Outcome || !strings.HasPrefix(v.Extracted, a.Extracted) {
		return a.Extracted
	}
	return v.Extracted
}
