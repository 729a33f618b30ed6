package task

import (
	"fmt"

	"github.com/evalrouter/evalrouter/bundle/lmeval/group"
	"github.com/evalrouter/evalrouter/bundle/lmeval/process"
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Score gives the metrics of one document. results are what a filter left, one
// for each request: a text for generate_until, a pair [log-likelihood, greedy]
// for each continuation, a log-likelihood for loglikelihood_rolling. Only
// metrics that the task declares are in the result.
func (c *Config) Score(doc *value.Dict, q Question, results []any) (*value.Dict, error) {
	if len(results) == 0 {
		return nil, pycompat.Raise("IndexError", "there is no result to score")
	}
	all, err := c.score(doc, q, results)
	if err != nil {
		return nil, fmt.Errorf("score a document of %s: %w", c.Name, err)
	}
	out := value.DictOf()
	for _, m := range c.Metrics {
		v, ok := all.Get(m.Name)
		if !ok {
			return nil, fmt.Errorf("score a document of %s: metric %s was not computed", c.Name, m.Name)
		}
		if err := out.Set(m.Name, v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c *Config) score(doc *value.Dict, q Question, results []any) (*value.Dict, error) {
	if c.ProcessResults != nil {
		return c.ProcessResults.Results(doc, results)
	}
	switch c.OutputType {
	case Choice:
		answers, err := pairs(results)
		if err != nil {
			return nil, err
		}
		var names []string
		for _, m := range c.Metrics {
			names = append(names, m.Name)
		}
		m, err := process.NewMultipleChoice(names)
		if err != nil {
			return nil, err
		}
		gold := q.Target
		if _, several := q.Text.(int64); several {
			gold = q.Text
		}
		return m.Results(q.Choices, gold, answers)
	case Likelihood:
		answers, err := pairs(results[:1])
		if err != nil {
			return nil, err
		}
		return process.Likelihood(answers[0]), nil
	case Rolling:
		sum, ok := value.Float(results[0])
		text, isText := q.Target.(string)
		if !ok || !isText {
			return nil, pycompat.Raise("TypeError", "a result of type %s for a target of type %s", value.TypeName(results[0]), value.TypeName(q.Target))
		}
		return process.Rolling(text, sum), nil
	}
	var g process.Generate
	for _, m := range c.Metrics {
		exact, err := ExactMatch(m.Args)
		if err != nil {
			return nil, err
		}
		g.Metrics = append(g.Metrics, process.Generated{Name: m.Name, Exact: exact})
	}
	return g.Results(results[0], q.Target, q.Choices)
}

// pairs reads [log-likelihood, greedy] pairs.
func pairs(results []any) ([]process.LogLikelihood, error) {
	out := make([]process.LogLikelihood, len(results))
	for i, r := range results {
		pair, _ := r.([]any)
		if len(pair) != 2 {
			return nil, pycompat.Raise("ValueError", "result %d is no pair", i)
		}
		sum, ok1 := value.Float(pair[0])
		greedy, ok2 := pair[1].(bool)
		if !ok1 || !ok2 {
			return nil, pycompat.Raise("TypeError", "result %d is no log-likelihood with a flag", i)
		}
		out[i] = process.LogLikelihood{Sum: sum, Greedy: greedy}
	}
	return out, nil
}

// Aggregate aggregates what Score gave for the documents under one filter.
func (c *Config) Aggregate(filter string, scores []*value.Dict, iters int) (*value.Dict, error) {
	var series []group.Series
	for _, m := range c.Metrics {
		s := group.Series{Metric: m.Name, Filter: filter, Aggregation: m.Aggregation}
		if m.Own != nil {
			s.Value = m.Own.Aggregate
		}
		for i, d := range scores {
			v, ok := d.Get(m.Name)
			if !ok {
				return nil, fmt.Errorf("aggregate %s: document %d has no %s", c.Name, i, m.Name)
			}
			s.Items = append(s.Items, v)
		}
		series = append(series, s)
	}
	return group.Aggregate(series, iters)
}
