package task

import (
	"fmt"
	"slices"

	"github.com/evalrouter/evalrouter/bundle/lmeval/filter"
	"github.com/evalrouter/evalrouter/bundle/lmeval/metric"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// reader hands out the entries of a mapping and collects what is wrong.
type reader struct {
	d    *value.Dict
	at   string // prefix of keys in messages
	used map[string]bool
	errs []error
}

func (r *reader) fail(key, format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("%s%s %s", r.at, key, fmt.Sprintf(format, args...)))
}

// get returns an entry; null is the same as absent.
func (r *reader) get(key string) (any, bool) {
	r.used[key] = true
	v, _ := r.d.Get(key)
	return v, v != nil
}

func (r *reader) ignore(keys ...string) {
	for _, k := range keys {
		r.used[k] = true
	}
}

// unknown reports every entry that nobody asked for.
func (r *reader) unknown() {
	for k := range r.d.All() {
		if s, ok := k.(string); !ok || !r.used[s] {
			r.fail(value.Str(k), "is not supported")
		}
	}
}

func (r *reader) text(key, absent string) string {
	v, ok := r.get(key)
	if !ok {
		return absent
	}
	s, ok := v.(string)
	if !ok {
		r.fail(key, "is not text")
	}
	return s
}

// texts reads a list of texts, or one text.
func (r *reader) texts(key string) []string {
	v, ok := r.get(key)
	if !ok {
		return nil
	}
	if s, ok := v.(string); ok {
		return []string{s}
	}
	list, _ := v.([]any)
	var out []string
	for _, item := range list {
		s, ok := item.(string)
		if !ok {
			list = nil
			break
		}
		out = append(out, s)
	}
	if list == nil {
		r.fail(key, "is neither text nor a list of texts")
	}
	return out
}

func (r *reader) integer(key string, absent int) int {
	v, ok := r.get(key)
	if !ok {
		return absent
	}
	n, ok := v.(int64)
	if !ok || n < 0 || n > 1<<30 {
		r.fail(key, "is not a count")
		return absent
	}
	return int(n)
}

func (r *reader) dict(key string) *value.Dict {
	v, ok := r.get(key)
	if !ok {
		return nil
	}
	d, ok := v.(*value.Dict)
	if !ok {
		r.fail(key, "is not a mapping")
	}
	return d
}

func (r *reader) field(key string) *field {
	v, _ := r.get(key)
	f, err := newField(v)
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("%s%s: %w", r.at, key, err))
	}
	return f
}

// textField reads a field that can only be text; empty is absent.
func (r *reader) textField(key string) *field {
	v, ok := r.get(key)
	if s, text := v.(string); ok && !text {
		r.fail(key, "is not text")
		return nil
	} else if s == "" {
		return nil
	}
	return r.field(key)
}

func (r *reader) function(key string) *Function {
	v, ok := r.get(key)
	if !ok {
		return nil
	}
	f, ok := v.(*Function)
	if !ok || key == "process_docs" && f.Doc == nil || key == "process_results" && f.Results == nil {
		r.fail(key, "is not a function for that")
		return nil
	}
	return f
}

// dicts reads a list of mappings.
func (r *reader) dicts(key string) []*value.Dict {
	v, ok := r.get(key)
	if !ok {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		r.fail(key, "is not a list")
	}
	out := []*value.Dict{}
	for i, item := range list {
		d, ok := item.(*value.Dict)
		if !ok {
			r.fail(key, "has an entry %d that is no mapping", i)
			continue
		}
		out = append(out, d)
	}
	return out
}

// nested reads a mapping of its own.
func (r *reader) nested(d *value.Dict, at string) *reader {
	return &reader{d: d, at: r.at + at + ".", used: map[string]bool{}}
}

func (r *reader) fewshot(c *Config) {
	d := r.dict("fewshot_config")
	if d == nil {
		d = value.DictOf()
	}
	n := r.nested(d, "fewshot_config")
	f := fewshot{
		split: n.text("split", c.FewshotSplit), samples: n.dicts("samples"),
		text: n.field("doc_to_text"), target: n.field("doc_to_target"), choice: n.field("doc_to_choice"), prefix: n.textField("gen_prefix"),
		delimiter: n.text("fewshot_delimiter", c.FewshotDelimiter), targetDelimiter: n.text("target_delimiter", c.TargetDelimiter),
	}
	switch n.text("sampler", "default") {
	case "default":
	case "first_n":
		f.first = true
	default:
		n.fail("sampler", "is neither default nor first_n")
	}
	if v, ok := n.get("fewshot_indices"); ok {
		list, _ := v.([]any)
		f.indices = []int{}
		for _, item := range list {
			i, ok := item.(int64)
			if !ok || i < 0 || i > 1<<30 {
				n.fail("fewshot_indices", "is not a list of positions")
				break
			}
			f.indices = append(f.indices, int(i))
		}
	}
	for own, of := range map[**field]*field{&f.text: c.text, &f.target: c.target, &f.choice: c.choice, &f.prefix: c.prefix} {
		if *own == nil {
			*own = of
		}
	}
	n.unknown()
	c.fewshot = f
	r.errs = append(r.errs, n.errs...)
}

// ownAggregation is the aggregation of a metric that does not name one, "" for
// a metric that is not supported.
func ownAggregation(name string) string {
	switch name {
	case "acc", "acc_norm", "acc_bytes", "acc_mutual_info", "exact_match", "em", "likelihood",
		"prompt_level_strict_acc", "prompt_level_loose_acc":
		return "mean"
	case "perplexity", "bleu", "chrf", "ter", "f1", "bits_per_byte", "brier_score", "acc_all":
		return name
	case "word_perplexity", "byte_perplexity":
		return "weighted_perplexity"
	case "mcc":
		return "matthews_corrcoef"
	}
	return ""
}

// metricsOf are the metrics that an output type can have; the first of them
// are those of a task that declares none.
func metricsOf(output string) (all []string, own int) {
	switch output {
	case Choice:
		return []string{"acc", "acc_norm", "acc_bytes", "acc_mutual_info", "f1", "mcc", "exact_match", "brier_score", "likelihood"}, 2
	case Likelihood:
		return []string{"perplexity", "acc"}, 2
	case Rolling:
		return []string{"word_perplexity", "byte_perplexity", "bits_per_byte"}, 3
	}
	return []string{"exact_match", "bleu", "chrf", "ter"}, 1
}

func (r *reader) metrics(c *Config) {
	entries := r.dicts("metric_list")
	all, own := metricsOf(c.OutputType)
	if entries == nil {
		for _, name := range all[:own] {
			c.Metrics = append(c.Metrics, Metric{Name: name, Aggregation: ownAggregation(name), HigherIsBetter: !lowerIsBetter(name), Args: value.DictOf()})
		}
		return
	}
	for i, d := range entries {
		n := r.nested(d, fmt.Sprintf("metric_list[%d]", i))
		m := Metric{Name: n.text("metric", "")}
		if f, ok := n.get("aggregation"); ok {
			m.Own, _ = f.(*Function)
		}
		if m.Own == nil {
			m.Aggregation = n.text("aggregation", ownAggregation(m.Name))
		} else if m.Own.Aggregate == nil {
			n.fail("aggregation", "%s does not aggregate", m.Own.Name)
		}
		if m.Aggregation == "" {
			m.Aggregation = "mean"
		}
		m.HigherIsBetter = !lowerIsBetter(m.Name)
		if v, ok := n.get("higher_is_better"); ok {
			b, ok := v.(bool)
			if !ok {
				n.fail("higher_is_better", "is neither true nor false")
			}
			m.HigherIsBetter = b
		}
		if v, ok := n.get("hf_evaluate"); ok && v != false {
			n.fail("hf_evaluate", "asks for code that is fetched, which is not done here")
		}
		if !slices.Contains(all, m.Name) && c.ProcessResults == nil {
			n.fail("metric", "%s is not supported for %s", m.Name, c.OutputType)
		}
		if _, ok := metric.Lookup(m.Aggregation); !ok {
			n.fail("aggregation", "%s is not supported", m.Aggregation)
		}
		m.Args = n.metricArgs(m.Name)
		n.unknown()
		r.errs = append(r.errs, n.errs...)
		c.Metrics = append(c.Metrics, m)
	}
}

func lowerIsBetter(name string) bool {
	return slices.Contains([]string{"perplexity", "word_perplexity", "byte_perplexity", "bits_per_byte", "brier_score", "ter"}, name)
}

// metricArgs collects the arguments of exact_match; no other metric has any.
func (r *reader) metricArgs(name string) *value.Dict {
	out := value.DictOf()
	if name != "exact_match" {
		return out
	}
	for _, key := range []string{"ignore_case", "ignore_punctuation", "ignore_numbers", "regexes_to_ignore"} {
		if v, ok := r.get(key); ok {
			if err := out.Set(key, v); err != nil {
				r.errs = append(r.errs, err)
			}
		}
	}
	if _, err := ExactMatch(out); err != nil {
		r.errs = append(r.errs, fmt.Errorf("%s%w", r.at, err))
	}
	return out
}

func (r *reader) filters(c *Config) {
	entries := r.dicts("filter_list")
	if entries == nil {
		c.Filters = []*filter.Pipeline{filter.Default()}
		return
	}
	for i, d := range entries {
		n := r.nested(d, fmt.Sprintf("filter_list[%d]", i))
		name := n.text("name", "")
		if name == "" {
			n.fail("name", "is missing")
		}
		var steps []filter.Step
		for _, s := range n.dicts("filter") {
			args := s.Copy()
			args.Delete("function")
			f, _ := s.Get("function")
			function, ok := f.(string)
			if !ok {
				n.fail("filter", "has a step without a function")
			}
			steps = append(steps, filter.Step{Function: function, Args: args})
		}
		p, err := filter.New(name, steps)
		if err != nil {
			n.errs = append(n.errs, err)
		}
		n.unknown()
		r.errs = append(r.errs, n.errs...)
		c.Filters = append(c.Filters, p)
	}
}
