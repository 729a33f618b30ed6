package inspect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/inspect"
	"github.com/evalrouter/evalrouter/bundle/inspect/metric"
	"github.com/evalrouter/evalrouter/bundle/inspect/score"
)

func BenchmarkGrade(b *testing.B) {
	long := strings.Repeat("Each of the 12 boxes holds 4 pens, so there are 48 pens in all. ", 9)
	for _, c := range []struct{ name, kind, options, text, target string }{
		{"match", inspect.Match, ``, long + "It is Paris.", "Paris"},
		{"number", inspect.Match, `{"numeric": true}`, long + "The answer is $1,234.50.", "1234.5"},
		{"includes", inspect.Includes, ``, long + "It is Paris.", "paris"},
		{"answer", inspect.Answer, ``, long + "\nANSWER: B", "B"},
		{"choice", inspect.Choice, ``, long + "\nANSWER: B", "B"},
		{"exact", inspect.Exact, ``, "The Eiffel Tower.", "Eiffel Tower"},
		{"f1", inspect.F1, ``, "The Eiffel Tower.", "Eiffel Tower"},
		{"math_string", inspect.MathString, ``, long + `so \boxed{12}`, "12"},
	} {
		b.Run(c.name, func(b *testing.B) {
			g := grader(b, c.kind, c.options)
			t := bundle.Task{ID: "t", Target: []string{c.target}, Choices: []string{"x", "y", "z"}}
			b.ReportAllocs()
			for b.Loop() {
				if v, err := g.Grade(t, bundle.Answer{Text: c.text, Finish: bundle.FinishStop}); err != nil || v.Outcome != bundle.Right {
					b.Fatal(v, err)
				}
			}
		})
	}
}

// BenchmarkResults sums up a million grades.
func BenchmarkResults(b *testing.B) {
	samples := make([]metric.Sample, 1_000_000)
	for i := range samples {
		v := score.Incorrect
		if i%3 == 0 {
			v = score.Correct
		}
		samples[i] = metric.Sample{ID: fmt.Sprint("sample-", i), Score: score.Score{Value: v}}
	}
	p := metric.Plan{Scorer: "match", Metrics: []metric.Metric{metric.Accuracy{}, metric.Stderr{}}}
	for b.Loop() {
		if _, _, err := p.Results(samples); err != nil {
			b.Fatal(err)
		}
	}
}
