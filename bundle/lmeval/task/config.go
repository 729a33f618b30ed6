package task

import (
	"errors"
	"fmt"
	"slices"

	"github.com/evalrouter/evalrouter/bundle/lmeval/filter"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Output types of lm-eval.
const (
	GenerateUntil = "generate_until"
	Choice        = "multiple_choice"
	Likelihood    = "loglikelihood"
	Rolling       = "loglikelihood_rolling"
)

// Config is a task as its file declares it, checked.
type Config struct {
	Name, Alias string
	Tags        []string
	OutputType  string

	// Data that the task is made for. Nothing here is ever fetched.
	DatasetPath, DatasetName                           string
	Training, Validation, Test, FewshotSplit, Evaluate string

	FewshotDelimiter, TargetDelimiter string
	Shots                             int // -1 if not declared
	Repeats                           int

	Metrics    []Metric
	Filters    []*filter.Pipeline
	Generation *value.Dict // nil if not declared
	Metadata   *value.Dict

	// Ported functions, nil if the task has none.
	ProcessDocs    *Function
	ProcessResults *Function

	text, target, choice *field
	prefix, description  *field
	fewshot              fewshot
}

// Metric is one entry of metric_list.
type Metric struct {
	Name           string
	Aggregation    string    // a name that metric.Lookup knows
	Own            *Function // aggregates instead, nil if the task names none
	HigherIsBetter bool
	Args           *value.Dict // what the metric itself takes
}

// fewshot is how examples are made; what is not declared is the task's own.
type fewshot struct {
	first                bool
	split                string
	samples              []*value.Dict
	indices              []int
	text, target, choice *field
	prefix               *field
	delimiter            string
	targetDelimiter      string
}

// Read checks a task that has been parsed already: keys and values as in the
// file, with !function entries as *Function. Whatever is wrong is joined into
// one error.
func Read(d *value.Dict) (*Config, error) {
	r := &reader{d: d, used: map[string]bool{}}
	c := &Config{
		Name: r.text("task", ""), Alias: r.text("task_alias", ""), Tags: r.texts("tag"), OutputType: r.text("output_type", GenerateUntil),
		DatasetPath: r.text("dataset_path", ""), DatasetName: r.text("dataset_name", ""),
		Training: r.text("training_split", ""), Validation: r.text("validation_split", ""), Test: r.text("test_split", ""),
		FewshotSplit:     r.text("fewshot_split", ""),
		FewshotDelimiter: r.text("fewshot_delimiter", "\n\n"), TargetDelimiter: r.text("target_delimiter", " "),
		Shots: r.integer("num_fewshot", -1), Repeats: r.integer("repeats", 1),
		Generation: r.dict("generation_kwargs"), Metadata: r.dict("metadata"),
		ProcessDocs: r.function("process_docs"), ProcessResults: r.function("process_results"),
		text: r.field("doc_to_text"), target: r.field("doc_to_target"), choice: r.field("doc_to_choice"),
		prefix: r.textField("gen_prefix"), description: r.textField("description"),
	}
	r.ignore("dataset_kwargs", "should_decontaminate", "doc_to_decontamination_query")
	if unsafe, _ := r.get("unsafe_code"); unsafe != nil && unsafe != false {
		r.fail("unsafe_code", "runs code that a model wrote, which is not done here")
	}
	r.finish(c)
	if err := errors.Join(r.errs...); err != nil {
		return nil, fmt.Errorf("read task %s: %w", c.Name, err)
	}
	return c, nil
}

// finish reads what depends on other entries.
func (r *reader) finish(c *Config) {
	if c.Name == "" {
		r.fail("task", "is missing")
	}
	if !slices.Contains([]string{GenerateUntil, Choice, Likelihood, Rolling}, c.OutputType) {
		r.fail("output_type", "is not one of lm-eval's")
	}
	if c.OutputType == Choice && c.choice == nil {
		r.fail("doc_to_choice", "is missing, and multiple_choice needs it")
	}
	if c.text == nil {
		r.fail("doc_to_text", "is missing")
	}
	if c.target == nil {
		r.fail("doc_to_target", "is missing")
	}
	if c.Evaluate = c.Test; c.Evaluate == "" {
		c.Evaluate = c.Validation
	}
	if c.Evaluate == "" {
		r.fail("test_split", "is missing, and so is validation_split")
	}
	if c.Repeats < 1 {
		r.fail("repeats", "is less than 1")
	}
	r.fewshot(c)
	r.metrics(c)
	r.filters(c)
	r.unknown()
}

// excludes reports whether the examples of a document must not be the document
// itself. Two splits that are both absent count as equal, as in lm-eval.
func (c *Config) excludes() bool { return c.fewshot.split == c.Test }

// Pool names the split that examples come from, or returns the examples
// themselves if the task lists them.
func (c *Config) Pool() (split string, samples []*value.Dict) {
	switch {
	case c.fewshot.split != "":
		return c.fewshot.split, nil
	case c.fewshot.samples != nil:
		return "", c.fewshot.samples
	}
	for _, s := range []string{c.Training, c.Validation, c.Test} {
		if s != "" {
			return s, nil
		}
	}
	return "", nil
}
