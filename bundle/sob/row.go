package sob

import (
	"fmt"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// dict is the row as SOB writes it.
func (r *Row) dict() *value.Dict {
	d := value.DictOf(
		"record_id", r.RecordID, "model_id", r.ModelID,
		"schema_complexity", r.SchemaComplexity, "question_difficulty", r.QuestionDifficulty,
		"difficulty", r.Difficulty, "weighting_basis", r.WeightingBasis,
		"difficulty_weight", r.Weight, "known_difficulty", number01(r.Known),
	)
	for m := range metricCount {
		_ = d.Set(m.String(), r.Scores[m]) // a text is always a possible key
	}
	return d
}

// AppendLine appends the line of an eval_records file, with its newline. Only
// records of images carry their missing paths.
func (e *Evaluation) AppendLine(b []byte, m Modality) ([]byte, error) {
	d := e.dict()
	if m == Image {
		paths := make([]any, len(e.MissingTruth))
		for i, p := range e.MissingTruth {
			paths[i] = p
		}
		_ = d.Set("missing_gt_paths", paths)
		_ = d.Set("missing_required_paths", e.MissingRequired)
	}
	b, err := value.Dump{}.Append(b, d)
	if err != nil {
		return nil, fmt.Errorf("write record %s: %w", value.Str(e.RecordID), err)
	}
	return append(b, '\n'), nil
}

// ReadLine reads a line of an eval_records file, so that a summary can be
// derived again from records that were scored before.
func ReadLine(line string) (Evaluation, error) {
	v, err := value.Loads(line)
	if err != nil {
		return Evaluation{}, fmt.Errorf("read record line: %w", err)
	}
	d, ok := v.(*value.Dict)
	if !ok {
		return Evaluation{}, fmt.Errorf("read record line: want an object, got %s", value.TypeName(v))
	}
	e := Evaluation{}
	e.RecordID, _ = d.Get("record_id")
	e.ModelID, _ = d.Get("model_id")
	e.SchemaComplexity, _ = d.Get("schema_complexity")
	e.QuestionDifficulty, _ = d.Get("question_difficulty")
	var errs [4]error
	e.Difficulty, errs[0] = member[string](d, "difficulty")
	e.WeightingBasis, errs[1] = member[string](d, "weighting_basis")
	e.Weight, errs[2] = member[float64](d, "difficulty_weight")
	known, err := member[float64](d, "known_difficulty")
	e.Known, errs[3] = known != 0, err
	for _, err := range errs {
		if err != nil {
			return Evaluation{}, err
		}
	}
	for m := range metricCount {
		if e.Scores[m], err = member[float64](d, m.String()); err != nil {
			return Evaluation{}, err
		}
	}
	paths, _ := d.Get("missing_gt_paths")
	list, _ := paths.([]any)
	for _, p := range list {
		e.MissingTruth = append(e.MissingTruth, value.Str(p))
	}
	paths, _ = d.Get("missing_required_paths")
	e.MissingRequired, _ = paths.([]any)
	return e, nil
}

func member[T string | float64](d *value.Dict, key string) (T, error) {
	v, ok := d.Get(key)
	out, isT := v.(T)
	if !ok || !isT {
		return out, fmt.Errorf("read record line: %w", pycompat.Raise("TypeError", "%s is of type '%s'", key, value.TypeName(v)))
	}
	return out, nil
}
