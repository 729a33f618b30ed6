// Package process turns the answers to one document into the values of its
// metrics, for each of lm-eval's output types. The values of all documents are
// then aggregated by package metric.
//
// Results come back as a dict from metric to value, in the order in which the
// reference computes them.
package process

import "github.com/evalrouter/evalrouter/bundle/pycompat/value"

// LogLikelihood is what a model says about one continuation.
type LogLikelihood struct {
	Sum    float64 // of the token log-probabilities
	Greedy bool    // every token was the likeliest
}

// results collects metrics; keys are texts, so that setting cannot fail.
type results struct{ d *value.Dict }

func collect() results { return results{value.DictOf()} }

func (r results) set(metric string, v any) {
	if err := r.d.Set(metric, v); err != nil {
		panic("process: a text cannot be a key: " + err.Error())
	}
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func integer(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
