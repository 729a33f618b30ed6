package sob

import (
	"fmt"
	"slices"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Labels say what a record is. They are Python values, because a row repeats
// them as the record had them.
type Labels struct {
	RecordID any
	ModelID  any
	// SchemaComplexity and QuestionDifficulty are "unknown" where the record
	// has nothing, or something that counts as false.
	SchemaComplexity   any
	QuestionDifficulty any
}

// Case is one answer to score.
type Case struct {
	Labels
	Contract *Contract
	// Answer is the parsed answer. Anything but an object or an array counts
	// as an answer that could not be read.
	Answer any
	Truth  any
}

// Row is the scored record, the line of SOB's eval_records file.
type Row struct {
	Labels
	// Difficulty is easy, medium, hard or unknown, and WeightingBasis the field
	// it came from: schema_complexity, difficulty or unknown.
	Difficulty     string
	WeightingBasis string
	Weight         float64 // 1, 2, 3, or 0 when unknown
	Known          bool    // the difficulty is known
	Scores         [metricCount]float64
}

// Evaluation is a row and what the answer lacks.
type Evaluation struct {
	Row
	// MissingTruth are the paths of the ground truth that the answer lacks, sorted.
	MissingTruth []string
	// MissingRequired are the required paths that the answer lacks. They are
	// texts unless the schema is not valid.
	MissingRequired []any
}

// Evaluate scores an answer. The error is what the reference raises on it; the
// record then has no score.
func Evaluate(c Case, m Modality) (Evaluation, error) {
	row, err := label(c.Labels)
	if err != nil {
		return Evaluation{}, err
	}
	out := Evaluation{Row: row}
	answer, parsed := c.Answer, structured(c.Answer)
	if !parsed {
		answer = nil
	}
	s := &out.Scores
	s[ParseSuccess] = number01(parsed)
	s[RootStructured] = number01(parsed)
	s[SchemaValid] = number01(c.Contract.valid)
	if parsed && c.Contract.valid {
		meets, err := c.Contract.compiled.Validate(answer)
		if err != nil {
			return Evaluation{}, fmt.Errorf("validate the answer: %w", err)
		}
		s[Compliance] = number01(meets)
	}
	truth, given := flatten(c.Truth), &leaves{}
	if parsed {
		given = flatten(answer)
	}
	if max(truth.size, given.size) > maxPaths {
		return Evaluation{}, ErrSize
	}
	if err := out.measure(c, m, answer, truth, given); err != nil {
		return Evaluation{}, err
	}
	if out.Scores[Perfect], err = perfect(answer, c.Truth); err != nil {
		return Evaluation{}, err
	}
	for i := range truth.list {
		if _, ok := given.get(truth.list[i].path); !ok {
			out.MissingTruth = append(out.MissingTruth, truth.list[i].path)
		}
	}
	slices.Sort(out.MissingTruth)
	return out, nil
}

// measure fills in the metrics of structure and values. answer is nil when it
// could not be read.
func (e *Evaluation) measure(c Case, m Modality, answer any, truth, given *leaves) error {
	s := &e.Scores
	overlap := truth.overlap(given)
	coverage := f1(overlap, len(given.list), len(truth.list))
	types := 0.0
	if answer != nil && c.Contract.valid {
		var err error
		if types, err = typePrecision(given, c.Contract.schema); err != nil {
			return fmt.Errorf("look up the declared types: %w", err)
		}
		s[RequiredKeyRecall], e.MissingRequired = c.Contract.recall(answer)
	} else {
		if c.Contract.rawErr != nil {
			return fmt.Errorf("list the required paths: %w", c.Contract.rawErr)
		}
		e.MissingRequired = c.Contract.raw
	}
	gate := s[Compliance]
	values := coverageGate(m, coverage)
	s[ValueAccuracy] = exactMatch(truth, given) * gate * values
	s[Faithfulness] = meanTokenF1(truth, given) * gate * values
	s[PathRecall] = ratio(overlap, len(truth.list)) * gate
	s[StructureCoverage] = coverage * gate
	s[TypeSafety] = types * gate
	return nil
}

// label resolves the difficulty: the first of the two fields that names one.
func label(l Labels) (Row, error) {
	row := Row{Labels: l, Difficulty: "unknown", WeightingBasis: "unknown"}
	for _, f := range []struct {
		name  string
		value any
	}{{"schema_complexity", l.SchemaComplexity}, {"difficulty", l.QuestionDifficulty}} {
		switch v := f.value.(type) {
		case string:
			if weight, ok := weightOf(v); ok {
				row.Difficulty, row.WeightingBasis, row.Weight, row.Known = v, f.name, weight, true
				return row, nil
			}
		case []any, *value.Dict:
			return Row{}, pycompat.Raise("TypeError", "unhashable type: '%s'", value.TypeName(v))
		}
	}
	return row, nil
}

// perfect compares the canonical texts, in which 1 and 1.0 differ.
func perfect(answer, truth any) (float64, error) {
	canonical := value.Dump{Unicode: true, Compact: true, SortKeys: true}
	a, err := canonical.Append(nil, answer)
	if err != nil {
		return 0, fmt.Errorf("write the answer: %w", err)
	}
	b, err := canonical.Append(nil, truth)
	if err != nil {
		return 0, fmt.Errorf("write the ground truth: %w", err)
	}
	return number01(string(a) == string(b)), nil
}

func number01(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
