package sob

import (
	"fmt"

	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// JSON is the eval_summary file, with its last newline.
func (r *Report) JSON() ([]byte, error) {
	b, err := value.Dump{Indent: 2}.Append(nil, r.dict())
	if err != nil {
		return nil, fmt.Errorf("write the summary of %s: %w", r.Source, err)
	}
	return append(b, '\n'), nil
}

func (r *Report) dict() *value.Dict {
	models := make([]any, len(r.Models))
	for i, m := range r.Models {
		models[i] = m
	}
	d := value.DictOf(
		"response_file", r.Source,
		"num_records", int64(r.Plain.N),
		"model_ids", models,
		"data_quality", value.DictOf(
			"json_parse_fail_count", int64(r.Quality.ParseFailed),
			"json_non_structured_root_count", int64(r.Quality.NotStructured),
			"invalid_schema_input_count", int64(r.Quality.InvalidSchema),
			"unknown_difficulty_count", int64(r.Quality.UnknownDifficulty),
			"malformed_jsonl_line_count", int64(r.Quality.MalformedLines)),
		"summary", value.DictOf("overall", r.Plain.dict(), "overall_weighted", r.Weighted.dict()),
	)
	errors := &value.Dict{}
	for _, list := range []struct {
		name  string
		paths []PathCount
	}{{"top_missing_gt_paths", r.TopMissingTruth}, {"top_missing_required_paths", r.TopMissingRequired}} {
		if len(list.paths) > 0 {
			_ = errors.Set(list.name, pathCounts(list.paths)) // a text is always a possible key
		}
	}
	if errors.Len() > 0 {
		_ = d.Set("error_analysis", errors)
	}
	return d
}

func pathCounts(list []PathCount) []any {
	out := make([]any, len(list))
	for i, p := range list {
		out[i] = value.DictOf("path", p.Path, "count", int64(p.Count))
	}
	return out
}

func (s *Summary) dict() *value.Dict {
	metrics, categories := &value.Dict{}, &value.Dict{}
	for i, m := range Summarized() {
		d := s.Metrics[i].dict()
		_ = d.Set("metric_name", m.Title())
		_ = metrics.Set(m.String(), d)
	}
	for i, c := range Categories() {
		d := s.Categories[i].dict()
		components := make([]any, len(c.Metrics))
		for j, m := range c.Metrics {
			components[j] = m.String()
		}
		_ = d.Set("category_name", c.Title)
		_ = d.Set("components", components)
		_ = categories.Set(c.Title, d)
	}
	out := value.DictOf("n", int64(s.N), "metrics", metrics, "category_scores", categories)
	if s.Weighted {
		_ = out.Set("weighting", "schema_complexity")
		_ = out.Set("weight_field_priority", []any{"schema_complexity", "difficulty"})
		_ = out.Set("difficulty_weights", value.DictOf("easy", 1.0, "medium", 2.0, "hard", 3.0))
	}
	return out
}

func (f Figure) dict() *value.Dict {
	return value.DictOf("mean", f.Mean, "ci95_low", f.Low, "ci95_high", f.High)
}
