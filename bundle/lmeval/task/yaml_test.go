package task_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/evalrouter/evalrouter/bundle/lmeval/ported"
	"github.com/evalrouter/evalrouter/bundle/lmeval/task"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

func TestLoad(t *testing.T) {
	t.Parallel()
	c, err := task.Load(os.DirFS("testdata/tasks"), "sums.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "sums" || c.Shots != 1 || c.Evaluate != "test" || len(c.Tags) != 2 || len(c.Filters) != 2 || len(c.Metrics) != 1 {
		t.Errorf("the task is %+v", c)
	}
	if got, want := value.Repr(c.Generation), "{'until': ['Question:'], 'do_sample': False, 'temperature': 0.0}"; got != want {
		t.Errorf("generation_kwargs = %s, want %s", got, want)
	}
	for i, want := range []any{"1,234", "$7"} {
		got, err := c.Filters[i].Apply([]any{"so #### 1,234 or $7"}, nil)
		if err != nil || got != want {
			t.Errorf("filter %s = %v, %v; want %v", c.Filters[i].Name, got, err, want)
		}
	}
	m, err := task.ExactMatch(c.Metrics[0].Args)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.Score([]string{"$1,234"}, []string{"1234"}); err != nil || got != 1 {
		t.Errorf("exact_match = %v, %v", got, err)
	}
	shot, doc := value.DictOf("question", "1+1?", "answer", "2"), value.DictOf("question", "2+2?", "answer", "4")
	b, err := task.NewBuilder(c, doc, []*value.Dict{shot}, task.Options{Shots: -1})
	if err != nil {
		t.Fatal(err)
	}
	p, err := b.Build(doc)
	if want := "Question: 1+1?\nAnswer: 2\n\nQuestion: 2+2?\nAnswer:"; err != nil || task.Text(p.Contexts[0]) != want {
		t.Errorf("prompt = %q, %v; want %q", task.Text(p.Contexts[0]), err, want)
	}
}

// Python code is refused unless the very function is handed in.
func TestLoad_Functions(t *testing.T) {
	t.Parallel()
	fsys := os.DirFS("testdata/tasks")
	if _, err := task.Load(fsys, "drop/drop.yaml", nil); !errors.Is(err, task.ErrFunction) {
		t.Errorf("Load without functions = %v, want unsupported_function", err)
	}
	functions := map[string]*task.Function{}
	for _, name := range []string{"drop/utils.process_docs", "drop/utils.process_results"} {
		functions[name] = ported.Functions()[name]
	}
	c, err := task.Load(fsys, "drop/drop.yaml", functions)
	if err != nil || c.ProcessDocs != functions["drop/utils.process_docs"] || c.ProcessResults != functions["drop/utils.process_results"] {
		t.Errorf("Load = %+v, %v", c, err)
	}
}

const minimal = "task: t\ntest_split: test\ndoc_to_text: q\ndoc_to_target: a\n"

func TestLoad_Refuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"unknown key", minimal + "doc_to_txt: x\n", "doc_to_txt"},
		{"missing name", "test_split: test\ndoc_to_text: q\ndoc_to_target: a\n", "task is missing"},
		{"missing split", "task: t\ndoc_to_text: q\ndoc_to_target: a\n", "test_split"},
		{"unknown output type", minimal + "output_type: chat\n", "output_type"},
		{"choices missing", minimal + "output_type: multiple_choice\n", "doc_to_choice"},
		{"template", strings.Replace(minimal, "doc_to_text: q", "doc_to_text: '{% macro m() %}'", 1), "doc_to_text"},
		{"filter", minimal + "filter_list: [{name: f, filter: [{function: shell}]}]\n", "shell"},
		{"filter after take_first", minimal + "filter_list: [{name: f, filter: [{function: take_first}, {function: lowercase}]}]\n", "take_first"},
		{"metric", minimal + "metric_list: [{metric: rouge}]\n", "rouge"},
		{"metric argument", minimal + "metric_list: [{metric: exact_match, ignore_spaces: true}]\n", "ignore_spaces"},
		{"aggregation", minimal + "metric_list: [{metric: exact_match, aggregation: best}]\n", "best"},
		{"fetched metric", minimal + "metric_list: [{metric: exact_match, hf_evaluate: true}]\n", "hf_evaluate"},
		{"unsafe code", minimal + "unsafe_code: true\n", "unsafe_code"},
		{"sampler", minimal + "fewshot_config: {sampler: balanced}\n", "sampler"},
		{"key of few-shot", minimal + "fewshot_config: {smpler: x}\n", "smpler"},
		{"equal keys", minimal + "task: u\n", "twice"},
		{"two documents", minimal + "---\ntask: u\n", "more than one document"},
		{"no mapping", "- 1\n", "no mapping"},
		{"empty", "", "EOF"},
		{"anchor", minimal + "tag: &x y\n", "anchors"},
		{"merge key", minimal + "metadata: {<<: {a: 1}}\n", "<<"},
		{"octal", minimal + "num_fewshot: 010\n", "quote it"},
		{"sexagesimal", minimal + "num_fewshot: 1:30\n", "quote it"},
		{"date", minimal + "metadata: {version: 2024-01-01}\n", "quote it"},
		{"tag", minimal + "tag: !!binary eA==\n", "!!binary"},
		{"include of itself", minimal + "include: t.yaml\n", "includes itself"},
		{"include that is not there", minimal + "include: other.yaml\n", "other.yaml"},
		{"deep nesting", minimal + "metadata: {a: " + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "}\n", "nested too deeply"},
		{"too large", minimal + "# " + strings.Repeat("x", 1<<20), "larger"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fsys := fstest.MapFS{"t.yaml": {Data: []byte(tt.text)}}
			if _, err := task.Load(fsys, "t.yaml", nil); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Load = %v, want an error about %q", err, tt.want)
			}
		})
	}
}

// Plain scalars mean what PyYAML takes them for.
func TestParse_Scalars(t *testing.T) {
	t.Parallel()
	text := "a: yes\nb: off\nc: 1e3\nd: 1.5\ne: -7\nf: ~\ng: 'yes'\nh: x y\ni: 1.0e+3\nj: |\n  two\n  lines\nk: no\nl: 0\n"
	got, err := task.Parse(fstest.MapFS{"t.yaml": {Data: []byte(text)}}, "t.yaml", nil)
	want := `{'a': True, 'b': False, 'c': '1e3', 'd': 1.5, 'e': -7, 'f': None, 'g': 'yes', 'h': 'x y', 'i': 1000.0, 'j': 'two\nlines\n', 'k': False, 'l': 0}`
	if err != nil || value.Repr(got) != want {
		t.Errorf("Parse = %s, %v\nwant %s", value.Repr(got), err, want)
	}
}

// The first included file hides the ones after it, and the file itself all.
func TestParse_Includes(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{
		"d/t.yaml": {Data: []byte("include: [x.yaml, ../y.yaml]\na: 1\n")},
		"d/x.yaml": {Data: []byte("a: 2\nb: 2\n")},
		"y.yaml":   {Data: []byte("a: 3\nb: 3\nc: 3\n")},
	}
	got, err := task.Parse(fsys, "d/t.yaml", nil)
	if want := value.DictOf("a", int64(1), "b", int64(2), "c", int64(3)); err != nil || !value.Equal(got, want) {
		t.Errorf("Parse = %s, %v", value.Repr(got), err)
	}
}

// No file makes the reader panic, and a file that loads builds prompts without
// panicking.
func FuzzLoad(f *testing.F) {
	for _, name := range []string{"sums_base.yaml", "sums.yaml", "drop/drop.yaml"} {
		b, err := os.ReadFile("testdata/tasks/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Add(minimal)
	f.Add(minimal + "output_type: multiple_choice\ndoc_to_choice: ['{{x}}']\nfewshot_config: {samples: [{q: 1, a: 2}], fewshot_indices: [0]}\nnum_fewshot: 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := task.Load(fstest.MapFS{"t.yaml": {Data: []byte(text)}}, "t.yaml", nil)
		if err != nil {
			return
		}
		doc := value.DictOf("q", "what?", "a", int64(0), "question", "x", "answer", "y", "x", []any{"a", "b"})
		_, pool := c.Pool()
		b, err := task.NewBuilder(c, doc, append(pool, doc), task.Options{Shots: -1})
		if err != nil {
			return
		}
		if p, err := b.Build(doc); err == nil && len(p.Contexts) == 0 && p.Choices == nil {
			t.Error("a prompt without contexts")
		}
	})
}
