// Package vectortest replays golden cases of the Inspect and lm-eval families: the shared
// vectors where they are at hand, and the committed corpora in testdata.
package vectortest

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Case is one line of a corpus. Its values are those of package value, with
// {"$float": "nan"} turned into the float.
type Case struct {
	Name     string
	Input    *value.Dict
	Params   *value.Dict
	Expected any
}

// Raises is the exception class that the case expects, "" for none.
func (c Case) Raises() string {
	d, ok := c.Expected.(*value.Dict)
	if !ok {
		return ""
	}
	class, _ := d.Get("$raises")
	s, _ := class.(string)
	return s
}

// Files is the number of cases of each vector file of the two families.
func Files() map[string]int {
	return map[string]int{
		"inspect_answer": 334, "inspect_answer_chars": 18, "inspect_bootstrap": 87, "inspect_choice": 194, "inspect_ci": 76,
		"inspect_eval_results": 30, "inspect_f1_exact": 142, "inspect_grouped_aggregate_frequency": 242, "inspect_includes": 238,
		"inspect_krippendorff": 54, "inspect_match": 1670, "inspect_math_candidates": 30, "inspect_mc_parse_answers": 258,
		"inspect_mc_prompt": 105, "inspect_metrics": 95, "inspect_model_graded_grade": 23, "inspect_normalize_number": 119,
		"inspect_pattern": 378, "inspect_perplexity": 15, "inspect_read_fields": 21, "inspect_reducer_fields": 14,
		"inspect_reducers": 390, "inspect_shuffle_choices": 16, "inspect_stderr_clustered": 26, "inspect_str_to_float": 208,
		"inspect_t_quantile": 88, "inspect_unicode_number": 202, "inspect_value_to_float": 120, "e2e_gsm8k_inspect": 8,
		"e2e_gsm8k_lmeval": 16, "hfevaluate_pass_at_k": 83, "hfevaluate_squad": 37, "lmeval_acc_all": 12,
		"lmeval_agg_f1_mcc": 204, "lmeval_agg_scalar": 212, "lmeval_agg_weighted": 48, "lmeval_bleu_chrf_ter": 93,
		"lmeval_bootstrap_stderr": 45, "lmeval_boxed": 34, "lmeval_brier_softmax": 15,
		"lmeval_construct_requests": 60, "lmeval_doc_to": 168, "lmeval_drop": 151, "lmeval_encode_pair": 5,
		"lmeval_exact_match": 256, "lmeval_fewshot_context": 170, "lmeval_filter_multi_choice_regex": 344,
		"lmeval_filter_pipeline": 290, "lmeval_filter_regex": 640, "lmeval_filter_simple": 160,
		"lmeval_gen_kwargs_cli": 13, "lmeval_group_agg": 20, "lmeval_group_tree": 14, "lmeval_hashes": 9,
		"lmeval_hellaswag_preprocess": 11, "lmeval_hendrycks_math": 248, "lmeval_ifeval_instruction": 1086,
		"lmeval_jinja": 67, "lmeval_limit_iter": 27, "lmeval_message_utils": 58, "lmeval_minerva_math": 88,
		"lmeval_parse_logprobs": 25, "lmeval_process_generate_until": 181, "lmeval_process_loglikelihood": 11,
		"lmeval_process_multiple_choice": 90, "lmeval_rolling_windows": 49, "lmeval_sampler": 78,
		"lmeval_stop_sequences": 105, "lmeval_task_aggregation": 20, "lmeval_truthfulqa_mc2": 12,
	}
}

// Replay runs f on every case of the shared vector file and of the package's
// own testdata/NAME.jsonl, if it has one. Without the shared folder the
// former is skipped and says so.
func Replay(t *testing.T, name string, f func(t *testing.T, c Case)) {
	t.Helper()
	own := filepath.Join("testdata", name+".jsonl")
	if _, err := os.Stat(own); err == nil {
		t.Run("committed", func(t *testing.T) {
			if run(t, own, f) == 0 {
				t.Error("the committed corpus has no cases")
			}
		})
	}
	t.Run("shared", func(t *testing.T) {
		want, known := Files()[name]
		if !known {
			t.Fatalf("vector file %s is not in the list of the family", name)
		}
		got := run(t, Shared(t, "vectors", name+".jsonl"), f)
		if got != want {
			t.Errorf("%s has %d cases, want %d", name, got, want)
		}
		t.Logf("figure a: %s: %d cases", name, got)
	})
}

// Shared is a path inside the shared folder. It skips the test where the
// folder is absent.
func Shared(t testing.TB, parts ...string) string {
	t.Helper()
	root := repository(t)
	shared := filepath.Join(root, "..", "shared")
	if _, err := os.Stat(filepath.Join(shared, parts[0])); err != nil {
		t.Skipf("shared data is not at hand (../shared/%s)", parts[0])
	}
	return filepath.Join(append([]string{shared}, parts...)...)
}

// repository is the folder of go.work.
func repository(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Skip("no go.work above the package: ../shared cannot be found")
		}
		dir = parent
	}
}

func run(t *testing.T, path string, f func(t *testing.T, c Case)) int {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range bytes.Lines(data) {
		v, err := value.Loads(string(bytes.TrimSpace(line)))
		if err != nil {
			t.Fatalf("read line %d: %v", n+1, err)
		}
		d, ok := floats(v).(*value.Dict)
		if !ok {
			t.Fatalf("line %d is no object", n+1)
		}
		n++
		c := Case{Name: Str(d, "case"), Input: Dict(d, "input"), Params: Dict(d, "params")}
		c.Expected, _ = d.Get("expected")
		t.Run(c.Name, func(t *testing.T) { f(t, c) })
	}
	return n
}

// floats turns {"$float": ...} into floats, everywhere in v.
func floats(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = floats(v[i])
		}
	case *value.Dict:
		if word, ok := v.Get("$float"); ok {
			return map[any]float64{"nan": math.NaN(), "inf": math.Inf(1), "-inf": math.Inf(-1)}[word]
		}
		for key, item := range v.All() {
			if err := v.Set(key, floats(item)); err != nil {
				panic("vectortest: a key of a dict cannot be set again: " + err.Error())
			}
		}
	}
	return v
}

// Str is a member that is text, "" if it is not.
func Str(d *value.Dict, key string) string {
	v, _ := d.Get(key)
	s, _ := v.(string)
	return s
}

// Flag is a member that is true or false.
func Flag(d *value.Dict, key string) bool {
	v, _ := d.Get(key)
	b, _ := v.(bool)
	return b
}

// Int is a member that is an integer.
func Int(d *value.Dict, key string) int {
	v, _ := d.Get(key)
	n, _ := v.(int64)
	return int(n)
}

// Dict is a member that is an object, an empty one if it is not.
func Dict(d *value.Dict, key string) *value.Dict {
	v, _ := d.Get(key)
	if m, ok := v.(*value.Dict); ok {
		return m
	}
	return value.DictOf()
}

// List is a member that is an array, nil if it is not.
func List(d *value.Dict, key string) []any {
	v, _ := d.Get(key)
	l, _ := v.([]any)
	return l
}

// Texts is a member that is an array of texts, or one text.
func Texts(d *value.Dict, key string) []string {
	v, _ := d.Get(key)
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		out := make([]string, len(v))
		for i, item := range v {
			out[i] = fmt.Sprint(item)
		}
		return out
	}
	return nil
}

// Float is a number of an expectation.
func Float(t *testing.T, v any) float64 {
	t.Helper()
	f, ok := value.Float(v)
	if !ok {
		t.Fatalf("want a number in the vector, got %s", value.Repr(v))
	}
	return f
}

// Close fails the test unless got is want to 1e-12 relative, or both are NaN.
func Close(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.IsNaN(want) && math.IsNaN(got) || got == want {
		return
	}
	if d := math.Abs(got - want); !(d <= 1e-12*math.Max(math.Abs(want), 1e-300)) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// Exact fails the test unless got and want are the same bits, or both NaN.
func Exact(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
		t.Errorf("%s = %v, want exactly %v", what, got, want)
	}
}

// Raised checks err against the exception that c expects. It returns true when
// there is nothing more to compare.
func Raised(t *testing.T, c Case, err error) bool {
	t.Helper()
	want := c.Raises()
	if got := pycompat.Class(err); got != want || err != nil && got == "" {
		t.Errorf("raised %q (%v), want %q", got, err, want)
		return true
	}
	return want != ""
}

// Same reports whether two values are equal and of the same types throughout;
// integers and floats are told apart.
func Same(a, b any) bool { return value.Repr(a) == value.Repr(b) }

// Wrap puts an expectation into an object, for the member functions above.
func Wrap(expected any) *value.Dict { return value.DictOf("expected", expected) }

// Show writes an expectation for a failure message.
func Show(expected any) string { return value.Repr(expected) }
