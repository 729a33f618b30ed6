package export

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/reasoning"
	"github.com/evalrouter/evalrouter/bundle/sob"
)

// maxNative bounds the records that a native summary is made of: its intervals
// resample every one of them a thousand times.
const maxNative = 10_000

// Native is the figures of a benchmark's own family beside ours, by the names
// that the family's files use, nil where our figures are the family's. SOB has
// ten metrics of a record, five categories and their intervals; records are
// taken in the benchmark's order, because the intervals depend on it. Tasks
// carry no difficulty, so there is no weighted summary.
func (s Source) Native(ctx context.Context, r Run) (map[string]any, error) {
	var cfg bundle.GraderConfig
	if err := json.Unmarshal(r.Quote.Profile.GraderConfig, &cfg); err != nil || cfg.Kind != sob.KindText || r.RawExpired || r.Planned > maxNative {
		return nil, nil // the grader was made from the same bytes before
	}
	g, err := sob.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("make grader: %w", err)
	}
	type placed struct {
		pos int
		row sob.Row
	}
	var all []placed
	for a, err := range s.opened(ctx, r) {
		if err != nil {
			return nil, err
		}
		if a.Score == nil || a.answer.Text == nil {
			continue
		}
		e, err := g.Evaluate(a.task, bundle.Answer{Text: reasoning.Visible(*a.answer.Text).Text, Finish: bundle.Finish(a.answer.Finish)}, sob.Labels{RecordID: a.TaskID})
		if err != nil {
			continue // graded before all the same, and told as an error there
		}
		all = append(all, placed{a.pos, e.Row})
	}
	slices.SortFunc(all, func(a, b placed) int { return a.pos - b.pos })
	rows := make([]sob.Row, len(all))
	for i := range all {
		rows[i] = all[i].row
	}
	return sobFigures(sob.Summarize(rows, false, sob.DefaultBootstrap())), nil
}

func sobFigures(s sob.Summary) map[string]any {
	metrics, categories := map[string]any{}, map[string]any{}
	if s.N > 0 {
		for i, m := range sob.Summarized() {
			metrics[m.String()] = sobFigure(s.Metrics[i], "metric_name", m.Title())
		}
		for i, c := range sob.Categories() {
			categories[c.Title] = sobFigure(s.Categories[i], "", "")
		}
	}
	return map[string]any{"family": "sob", "n": s.N, "metrics": metrics, "categories": categories}
}

func sobFigure(f sob.Figure, key, title string) map[string]any {
	out := map[string]any{"mean": f.Mean, "ci95_low": f.Low, "ci95_high": f.High}
	if key != "" {
		out[key] = title
	}
	return out
}
