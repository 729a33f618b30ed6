package engine

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// reusedPage is how many reused grades are read at once.
const reusedPage = 500

// replayReused grades every answer again whose grade a continuation took over,
// and keeps where the score is another one. The grade that was taken over
// stands: the run that graded a task decides it. But a chain in which a grader
// contradicts itself is not called complete.
func (r *runner) replayReused(ctx context.Context) error {
	if r.row.SourceRun == "" || r.e.o.Reuse == nil || r.judged != nil {
		return nil
	}
	for from := 0; ; {
		page, err := r.e.o.Reuse.Reused(ctx, r.id, from, reusedPage)
		if err != nil {
			return fmt.Errorf("read reused grades: %w", err)
		}
		for _, was := range page {
			if err := r.replay(ctx, was); err != nil {
				return err
			}
			from = was.Idx + 1
		}
		if len(page) < reusedPage {
			return nil
		}
	}
}

func (r *runner) replay(ctx context.Context, was core.Reused) error {
	a, ok, err := r.recorded(ctx, was.Idx)
	if err != nil || !ok {
		return err // an answer that expired meanwhile was good when it was taken over
	}
	m := core.Mismatch{Idx: was.Idx, Original: was.Score}
	if a.none == "" {
		if v := r.verdict(was.Idx, a).Verdict; v != nil {
			if math.Float64bits(v.Score) == math.Float64bits(was.Score) {
				return nil
			}
			m.Replayed = &v.Score
		}
	}
	err = r.persist("mismatch", func(ctx context.Context) error { return r.e.o.Reuse.RecordMismatch(ctx, r.id, m) })
	if errors.Is(err, core.ErrMoved) {
		return nil // seen before
	}
	return err
}
