package sob

import (
	"fmt"

	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Origin says how an answer came about, for BuildRecord.
type Origin struct {
	ModelID      string
	InputTokens  int64
	OutputTokens int64
	// Seconds is the mean time of a record of the run.
	Seconds float64
	// Schema replaces the schema of the source if it is not nil: answers made
	// under a stricter schema are scored against that one.
	Schema any
}

// BuildRecord makes the response record of a source record and an answer. The
// fields of the source that no other block takes go into the metadata, where
// they overwrite what was computed under their name. A schema or ground truth
// that is a text is parsed; an error is what that raises.
func BuildRecord(source *value.Dict, answer any, o Origin) (*value.Dict, error) {
	difficulty := any("unknown")
	for _, key := range []string{"schema_complexity", "question_difficulty"} {
		if v, _ := source.Get(key); value.Truth(v) {
			difficulty = v
		}
	}
	id, _ := source.Get("record_id")
	metadata := value.DictOf("record_id", id, "difficulty", difficulty, "model_id", o.ModelID)
	for key, v := range source.All() {
		if passes(key) {
			if err := metadata.Set(key, v); err != nil {
				return nil, err
			}
		}
	}
	schema := o.Schema
	if schema == nil {
		var err error
		if schema, err = parseText(source, "json_schema"); err != nil {
			return nil, err
		}
	}
	truth, err := parseText(source, "ground_truth")
	if err != nil {
		return nil, err
	}
	return value.DictOf(
		"metadata", metadata,
		"input", value.DictOf("context", getOr(source, "context", ""), "question", getOr(source, "question", ""), "json_schema", schema),
		"output", value.DictOf("candidate_response", answer, "ground_truth", truth),
		"eval_info", value.DictOf("input_tokens", o.InputTokens, "output_tokens", o.OutputTokens, "avg_time_per_record", o.Seconds),
	), nil
}

// passes reports whether a field of the source goes into the metadata.
func passes(key any) bool {
	switch key {
	case any("context"), any("question"), any("json_schema"), any("ground_truth"), any("validated_output"),
		any("candidate_response"), any("input_context_length"), any("difficulty_weight"), any("record_id"), any("question_difficulty"):
		return false
	}
	return true
}

func parseText(d *value.Dict, key string) (any, error) {
	v, _ := d.Get(key)
	text, ok := v.(string)
	if !ok {
		return v, nil
	}
	parsed, err := value.Loads(text)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	return parsed, nil
}

func getOr(d *value.Dict, key string, absent any) any {
	if v, ok := d.Get(key); ok {
		return v
	}
	return absent
}

// ReadRecord takes a response record apart. What is missing becomes what the
// reference puts in its place; a block that is no object is an error.
func ReadRecord(record any) (Case, error) {
	blocks := [3]*value.Dict{}
	d, ok := record.(*value.Dict)
	if !ok {
		return Case{}, noGet(record)
	}
	for i, key := range []string{"metadata", "input", "output"} {
		v := getOr(d, key, &value.Dict{})
		if blocks[i], ok = v.(*value.Dict); !ok {
			return Case{}, fmt.Errorf("read %s: %w", key, noGet(v))
		}
	}
	metadata, input, output := blocks[0], blocks[1], blocks[2]
	schema, _ := input.Get("json_schema")
	c := Case{Contract: NewContract(schema)}
	c.RecordID = getOr(metadata, "record_id", "")
	c.ModelID = getOr(metadata, "model_id", "unknown")
	c.SchemaComplexity = trueOr(metadata, "schema_complexity")
	c.QuestionDifficulty = trueOr(metadata, "difficulty")
	c.Answer, _ = output.Get("candidate_response")
	c.Truth, _ = output.Get("ground_truth")
	return c, nil
}

func trueOr(d *value.Dict, key string) any {
	if v, _ := d.Get(key); value.Truth(v) {
		return v
	}
	return "unknown"
}

// EvaluateRecord scores a response record.
func EvaluateRecord(record any, m Modality) (Evaluation, error) {
	c, err := ReadRecord(record)
	if err != nil {
		return Evaluation{}, err
	}
	return Evaluate(c, m)
}
