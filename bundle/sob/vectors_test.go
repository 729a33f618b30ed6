package sob_test

import (
	"bufio"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
	"github.com/evalrouter/evalrouter/bundle/sob"
)

// vector is a golden case, read as Python values so that 1 and 1.0 differ.
type vector struct {
	name                    string
	input, params, expected any
}

func (v vector) text(path ...string) string { return at(v.input, path...).(string) }

// json parses the JSON text in a field of the input.
func (v vector) json(t *testing.T, key string) any {
	t.Helper()
	return loads(t, v.text(key))
}

// at walks into objects.
func at(v any, path ...string) any {
	for _, key := range path {
		v, _ = v.(*value.Dict).Get(key)
	}
	return v
}

func loads(t testing.TB, text string) any {
	t.Helper()
	v, err := value.Loads(text)
	if err != nil {
		t.Fatalf("read %q: %v", text, err)
	}
	return v
}

func sharedDir(t testing.TB, parts ...string) string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "shared")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the shared folder is not at hand (../shared): " + filepath.Join(parts...) + " is not replayed")
	}
	return filepath.Join(append([]string{dir}, parts...)...)
}

func readCases(t *testing.T, path string) []vector {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []vector
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<26)
	for s.Scan() {
		v := loads(t, s.Text())
		name, _ := at(v, "case").(string)
		out = append(out, vector{name, at(v, "input"), at(v, "params"), at(v, "expected")})
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// result is what a replay gives: a value, or an error that stands for $raises.
type result struct {
	value any
	err   error
}

// replay runs every case of a shared file and compares values exactly: types,
// key order and the last bit of floats, by their Python reprs.
func replay(t *testing.T, file string, want int, f func(t *testing.T, v vector) result) {
	t.Helper()
	t.Parallel()
	cases := readCases(t, sharedDir(t, "vectors", file+".jsonl"))
	if len(cases) != want {
		t.Fatalf("%s has %d cases, want %d", file, len(cases), want)
	}
	failed := 0
	for _, v := range cases {
		got := f(t, v)
		if d := cmp.Diff(expectation(v.expected), outcome(got)); d != "" {
			failed++
			if failed <= 10 {
				t.Errorf("%s case %s (-want +got):\n%s\ninput: %s", file, v.name, d, clip(value.Repr(v.input)))
			}
		}
	}
	t.Logf("figure a: %s: %d cases, %d equal", file, len(cases), len(cases)-failed)
}

func clip(s string) string { return s[:min(len(s), 600)] }

func expectation(v any) string {
	if d, ok := v.(*value.Dict); ok {
		if class, ok := d.Get("$raises"); ok {
			return "raises " + class.(string)
		}
	}
	return value.Repr(floats(v))
}

func outcome(r result) string {
	if r.err != nil {
		return "raises " + pycompat.Class(r.err)
	}
	return value.Repr(r.value)
}

// floats replaces {"$float": "nan"} and the like by the float.
func floats(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = floats(v[i])
		}
		return out
	case *value.Dict:
		if name, ok := v.Get("$float"); ok {
			return map[any]float64{"nan": math.NaN(), "inf": math.Inf(1), "-inf": math.Inf(-1)}[name]
		}
		out := &value.Dict{}
		for key, item := range v.All() {
			_ = out.Set(key, floats(item))
		}
		return out
	}
	return v
}

func list[T any](items []T) []any {
	out := make([]any, len(items))
	for i := range items {
		out[i] = items[i]
	}
	return out
}

func modality(v vector) sob.Modality { return sob.Modality(at(v.params, "modality").(string)) }

func TestVectors_ExtractJSON(t *testing.T) {
	replay(t, "sob_extract_json", 72, func(t *testing.T, v vector) result {
		got := sob.Extract(v.text("text"), sob.Rescue)
		dump, err := value.Dump{Unicode: true}.Dumps(got.Value)
		return result{value.DictOf("kind", sob.TypeOf(got.Value), "value_json", dump), err}
	})
}

func TestVectors_CanonicalJSON(t *testing.T) {
	replay(t, "sob_canonical_json", 79, func(t *testing.T, v vector) result {
		s, err := value.Dump{Unicode: true, Compact: true, SortKeys: true}.Dumps(v.json(t, "json"))
		return result{s, err}
	})
}

func TestVectors_CoverageGate(t *testing.T) {
	replay(t, "sob_coverage_gate", 36, func(t *testing.T, v vector) result {
		return result{value: sob.CoverageGate(modality(v), at(v.input, "structure_coverage").(float64))}
	})
}

func TestVectors_FlattenLeafPaths(t *testing.T) {
	replay(t, "sob_flatten_leaf_paths", 36, func(t *testing.T, v vector) result {
		paths, values := sob.FlattenLeaves(v.json(t, "json"))
		out := []any{}
		for i := range paths {
			out = append(out, []any{paths[i], values[i]})
		}
		return result{value: out}
	})
}

// The package keeps present paths without their indices, so the expected paths
// are brought to that form before they are compared.
func TestVectors_FlattenPresentPaths(t *testing.T) {
	t.Parallel()
	cases := readCases(t, sharedDir(t, "vectors", "sob_flatten_present_paths.jsonl"))
	if len(cases) != 36 {
		t.Fatalf("%d cases, want 36", len(cases))
	}
	t.Logf("figure a: sob_flatten_present_paths: %d cases", len(cases))
	for _, v := range cases {
		want := map[string]struct{}{}
		for _, p := range v.expected.([]any) {
			want[sob.Wildcard(p.(string))] = struct{}{}
		}
		if d := cmp.Diff(want, sob.PresentPaths(v.json(t, "json"))); d != "" {
			t.Errorf("case %s (-want +got):\n%s", v.name, d)
		}
	}
}

func TestVectors_IsTypeMatch(t *testing.T) {
	replay(t, "sob_is_type_match", 98, func(t *testing.T, v vector) result {
		x := v.json(t, "value_json")
		return result{value: value.DictOf("name", sob.TypeOf(x), "match", sob.IsType(x, v.text("expected_type")))}
	})
}

func TestVectors_LeafValueEM(t *testing.T) {
	replay(t, "sob_leaf_value_em", 500, func(t *testing.T, v vector) result {
		return result{value: sob.ValueEM(v.json(t, "gt_json"), v.json(t, "pred_json"))}
	})
}

func TestVectors_MeanTokenF1(t *testing.T) {
	replay(t, "sob_mean_token_f1", 500, func(t *testing.T, v vector) result {
		return result{value: sob.MeanTokenF1(v.json(t, "gt_json"), v.json(t, "pred_json"))}
	})
}

func TestVectors_PathMetrics(t *testing.T) {
	replay(t, "sob_path_metrics", 500, func(t *testing.T, v vector) result {
		recall, coverage := sob.PathMetrics(v.json(t, "gt_json"), v.json(t, "pred_json"))
		return result{value: value.DictOf("path_recall", recall, "structure_coverage", coverage)}
	})
}

func TestVectors_NormalizeTokens(t *testing.T) {
	replay(t, "sob_normalize_tokens", 73, func(t *testing.T, v vector) result {
		return result{value: list(sob.Tokens(v.json(t, "value_json")))}
	})
}

func TestVectors_TokenF1(t *testing.T) {
	replay(t, "sob_token_f1", 360, func(t *testing.T, v vector) result {
		return result{value: sob.TokenF1(v.json(t, "gt_json"), v.json(t, "pred_json"))}
	})
}

func TestVectors_RequiredPaths(t *testing.T) {
	replay(t, "sob_required_paths", 50, func(t *testing.T, v vector) result {
		paths, err := sob.RequiredPaths(v.json(t, "schema_json"))
		return result{list(paths), err}
	})
}

func TestVectors_RequiredKeyRecall(t *testing.T) {
	replay(t, "sob_required_key_recall", 260, func(t *testing.T, v vector) result {
		recall, missing := sob.Recall(v.json(t, "candidate_json"), v.json(t, "schema_json"))
		return result{value: []any{recall, list(missing)}}
	})
}

func TestVectors_SchemaTypeForPath(t *testing.T) {
	replay(t, "sob_schema_type_for_path", 220, func(t *testing.T, v vector) result {
		name, err := sob.TypeAt(v.json(t, "schema_json"), v.text("path"))
		if name == "" {
			return result{nil, err}
		}
		return result{name, err}
	})
}

func TestVectors_TypePrecision(t *testing.T) {
	replay(t, "sob_type_precision", 320, func(t *testing.T, v vector) result {
		p, err := sob.TypePrecision(v.json(t, "candidate_json"), v.json(t, "schema_json"))
		return result{p, err}
	})
}

// The package keeps no index, only that there was one: the expected indices are
// brought to that form.
func TestVectors_SplitPath(t *testing.T) {
	t.Parallel()
	cases := readCases(t, sharedDir(t, "vectors", "sob_split_path.jsonl"))
	if len(cases) != 61 {
		t.Fatalf("%d cases, want 61", len(cases))
	}
	t.Logf("figure a: sob_split_path: %d cases", len(cases))
	for _, v := range cases {
		parts, err := sob.Split(v.text("path"))
		if raises := expectation(v.expected); strings.HasPrefix(raises, "raises ") {
			if got := outcome(result{nil, err}); got != raises {
				t.Errorf("%q: got %s, want %s", v.text("path"), got, raises)
			}
			continue
		}
		var want []string
		for _, p := range at(v.expected, "parts").([]any) {
			if key, ok := p.(string); ok {
				want = append(want, key)
			} else {
				want = append(want, "[]")
			}
		}
		if err != nil || !slices.Equal(parts, want) {
			t.Errorf("%q: got %q, %v; want %q", v.text("path"), parts, err, want)
		}
		if got, want := sob.Wildcard(v.text("path")), at(v.expected, "wildcard"); got != want {
			t.Errorf("%q: wildcard %q, want %q", v.text("path"), got, want)
		}
	}
}

func TestVectors_IsValidSchema(t *testing.T) {
	replay(t, "sob_is_valid_schema", 50, func(t *testing.T, v vector) result {
		return result{value: sob.NewContract(v.json(t, "schema_json")).Valid()}
	})
}

func TestVectors_PercentileBounds(t *testing.T) {
	replay(t, "sob_percentile_bounds", 12, func(t *testing.T, v vector) result {
		var sorted []float64
		for _, x := range at(v.input, "sorted_values").([]any) {
			sorted = append(sorted, x.(float64))
		}
		low, high := sob.Bounds(sorted)
		return result{value: []any{low, high}}
	})
}

func TestVectors_SchemaTransforms(t *testing.T) {
	replay(t, "sob_schema_transforms", 50, func(t *testing.T, v vector) result {
		schema := v.json(t, "schema_json")
		before := value.Repr(schema)
		strict, err1 := value.Dump{}.Dumps(sob.StrictSchema(schema))
		gemini, err2 := value.Dump{}.Dumps(sob.GeminiSchema(schema))
		if err1 != nil || err2 != nil || value.Repr(schema) != before {
			t.Errorf("case %s: %v, %v, or the argument changed", v.name, err1, err2)
		}
		return result{value: value.DictOf("strict", strict, "gemini", gemini)}
	})
}

func TestVectors_BuildUserMessage(t *testing.T) {
	replay(t, "sob_build_user_message", 48, func(t *testing.T, v vector) result {
		messages, err := sob.Prompt(v.text("context"), v.text("question"), v.json(t, "json_schema"))
		if err != nil {
			return result{err: err}
		}
		return result{value: value.DictOf(string(messages[0].Role), messages[0].Text, string(messages[1].Role), messages[1].Text)}
	})
}

func TestVectors_BuildEvalRecord(t *testing.T) {
	replay(t, "sob_build_eval_record", 5, func(t *testing.T, v vector) result {
		record, err := sob.BuildRecord(at(v.input, "source_record").(*value.Dict), at(v.params, "candidate"),
			sob.Origin{ModelID: at(v.params, "model_id").(string), InputTokens: 1, OutputTokens: 2, Seconds: 0.25})
		if err != nil {
			return result{err: err}
		}
		text, err := value.Dump{}.Dumps(record)
		return result{text, err}
	})
}

// evaluated is an evaluation as the vectors write it.
func evaluated(t *testing.T, e sob.Evaluation, err error) result {
	t.Helper()
	if err != nil {
		return result{err: err}
	}
	line, err := e.AppendLine(nil, sob.Image)
	if err != nil {
		t.Fatal(err)
	}
	row := loads(t, string(line)).(*value.Dict)
	out := value.DictOf("row", row)
	for _, key := range []string{"missing_gt_paths", "missing_required_paths"} {
		_ = out.Set(key, at(row, key))
	}
	row.Delete("missing_gt_paths")
	row.Delete("missing_required_paths")
	return result{value: out}
}

func TestVectors_EvaluateRecord(t *testing.T) {
	replay(t, "sob_evaluate_record", 345, func(t *testing.T, v vector) result {
		e, err := sob.EvaluateRecord(v.json(t, "record_json"), modality(v))
		return evaluated(t, e, err)
	})
}

func TestVectors_PipelineTextToRow(t *testing.T) {
	replay(t, "sob_pipeline_text_to_row", 108, func(t *testing.T, v vector) result {
		answer := sob.Extract(v.text("response_text"), sob.Rescue)
		record, err := sob.BuildRecord(at(v.input, "source_record").(*value.Dict), answer.Value,
			sob.Origin{ModelID: at(v.params, "model_id").(string)})
		if err != nil {
			return result{err: err}
		}
		e, err := sob.EvaluateRecord(record, modality(v))
		return evaluated(t, e, err)
	})
}

func TestVectors_SummarizeRows(t *testing.T) {
	replay(t, "sob_summarize_rows", 18, func(t *testing.T, v vector) result {
		var scored []sob.Evaluation
		for _, r := range at(v.input, "rows").([]any) {
			e := sob.Evaluation{Row: sob.Row{Labels: sob.Labels{ModelID: "m"}}}
			e.Weight = at(r, "difficulty_weight").(float64)
			for _, m := range sob.Summarized() {
				e.Scores[m] = at(r, m.String()).(float64)
			}
			scored = append(scored, e)
		}
		b := sob.Bootstrap{Samples: int(at(v.params, "bootstrap_samples").(int64)), Seed: at(v.params, "seed").(int64)}
		part := "overall"
		if at(v.params, "weighted").(bool) {
			part = "overall_weighted"
		}
		return result{value: at(reportDict(t, "x", sob.Text, scored, 0, b), "summary", part)}
	})
}

// reportDict derives a report and reads its JSON back.
func reportDict(t *testing.T, source string, m sob.Modality, scored []sob.Evaluation, malformed int, b sob.Bootstrap) any {
	t.Helper()
	report, err := sob.Derive(source, m, scored, malformed, b)
	if err != nil {
		t.Fatal(err)
	}
	text, err := report.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return loads(t, string(text))
}

func TestVectors_FileEval(t *testing.T) {
	replay(t, "sob_file_eval", 9, func(t *testing.T, v vector) result {
		scored, malformed, err := evaluateAll(v.text("jsonl"), modality(v))
		if err != nil {
			return result{err: err} // the reference ends at the first
		}
		source := "responses.jsonl"
		if d, ok := v.expected.(*value.Dict); ok {
			if s, ok := d.Get("response_file"); ok {
				source = s.(string)
			}
		}
		b := sob.Bootstrap{Samples: int(at(v.params, "bootstrap_samples").(int64)), Seed: at(v.params, "seed").(int64)}
		return result{value: reportDict(t, source, modality(v), scored, malformed, b)}
	})
}

// evaluateAll scores a response file and returns the first error that is not a
// malformed line.
func evaluateAll(text string, m sob.Modality) (scored []sob.Evaluation, malformed int, first error) {
	for e, err := range sob.EvaluateLines(strings.NewReader(text), m) {
		switch {
		case err == nil:
			scored = append(scored, e)
		case isMalformed(err):
			malformed++
		case first == nil:
			first = err
		}
	}
	return scored, malformed, first
}

func TestVectors_LeaderboardRow(t *testing.T) {
	replay(t, "sob_leaderboard_row", 24, func(t *testing.T, v vector) result {
		s, ok := sob.Rank(means(at(v.input, "text")), means(at(v.input, "image")), means(at(v.input, "audio")))
		if !ok {
			return result{}
		}
		out := value.DictOf("overall_adj", s.Adjusted, "overall_raw", s.Raw, "coverage", s.Coverage)
		var parts []any
		for _, m := range s.Modalities {
			parts = append(parts, string(m))
		}
		_ = out.Set("modalities", parts)
		for i, name := range []string{"value_accuracy", "faithfulness", "json_pass", "path_recall", "structure_cov", "type_safety", "perfect"} {
			var x any
			if f, ok := s.Means[sob.Ranked()[i]]; ok {
				x = f
			}
			_ = out.Set(name, x)
		}
		return result{value: out}
	})
}

func means(v any) sob.Means {
	d, ok := v.(*value.Dict)
	if !ok {
		return nil
	}
	out := sob.Means{}
	for _, m := range sob.Ranked() {
		if x, ok := d.Get(m.String()); ok {
			out[m] = x.(float64)
		}
	}
	return out
}

func isMalformed(err error) bool { return errors.Is(err, sob.ErrMalformed) }
