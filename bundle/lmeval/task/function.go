package task

import (
	"fmt"

	"github.com/evalrouter/evalrouter/bundle/lmeval/metric"
	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Function is a ported Python function of a public task. Only the member that
// fits its place is set.
type Function struct {
	// Name is how the file that names it would: folder/module.function.
	Name string
	// Doc maps one document, for process_docs.
	Doc func(*value.Dict) (*value.Dict, error)
	// Results gives the metrics of one document, for process_results. results
	// are what the filters left: a text, or pairs [log-likelihood, greedy].
	Results func(doc *value.Dict, results []any) (*value.Dict, error)
	// Aggregate makes one figure of a metric's values, for an aggregation. It
	// has no standard error.
	Aggregate func(items []any) (float64, error)
}

// ExactMatch builds the metric from the arguments of a metric_list entry.
func ExactMatch(args *value.Dict) (metric.ExactMatch, error) {
	var m metric.ExactMatch
	flags := map[string]*bool{"ignore_case": &m.IgnoreCase, "ignore_punctuation": &m.IgnorePunctuation, "ignore_numbers": &m.IgnoreNumbers}
	for k, v := range args.All() {
		name := value.Str(k)
		if flag, ok := flags[name]; ok {
			if *flag, ok = v.(bool); !ok {
				return m, fmt.Errorf("%s is neither true nor false", name)
			}
			continue
		}
		list, ok := v.([]any)
		if name != "regexes_to_ignore" || !ok {
			return m, fmt.Errorf("%s is no argument of exact_match", name)
		}
		m.Ignore = []*re.Regexp{}
		for _, item := range list {
			s, ok := item.(string)
			if !ok {
				return m, fmt.Errorf("%s holds something that is no text", name)
			}
			r, err := re.Compile(s, 0)
			if err != nil {
				return m, fmt.Errorf("%s: %w", name, err)
			}
			m.Ignore = append(m.Ignore, r)
		}
	}
	return m, nil
}
