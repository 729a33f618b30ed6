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
// the tasks one by one.
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
		for _, p := range places {
			out, err := s.openedAt(ctx, r, p)
			if !yield(out, err) || err != nil {
				return
			}
		}
	}, nil
}

func (s Source) openedAt(ctx context.Context, r Run, p place) (answered, error) {
	for row, err := range s.Rows(ctx, r, p.idx) {
		if err == nil && !row.ended() {
			err = fmt.Errorf("read task %d: it is not there any more", p.idx)
		}
		if err != nil {
			return answered{}, err
		}
		return s.open(ctx, r, row, p.pos)
	}
	return answered{}, fmt.Errorf("read task %d: it is not there any more", p.idx)
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
