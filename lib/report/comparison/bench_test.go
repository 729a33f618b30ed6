package comparison_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/evalrouter/evalrouter/lib/report/comparison"
)

// Two runs of 100,000 tasks, from the bytes of their scores to the figures.
// Right and wrong is McNemar's test; fractions are the bootstrap, once of tasks
// and once of clusters of ten.
func BenchmarkStatistics_HundredThousandTasks(b *testing.B) {
	const n = 100_000
	for _, bb := range []struct {
		name    string
		score   func(*rand.Rand) float64
		cluster int
	}{
		{"exact", func(r *rand.Rand) float64 { return float64(r.IntN(2)) }, 0},
		{"bootstrap", func(r *rand.Rand) float64 { return float64(r.IntN(11)) / 10 }, 0},
		{"clustered", func(r *rand.Rand) float64 { return float64(r.IntN(11)) / 10 }, 10},
	} {
		b.Run(bb.name, func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, 2))
			var files [2][]byte
			for k := range files {
				var out bytes.Buffer
				for i := range n {
					cluster := ""
					if bb.cluster > 0 {
						cluster = fmt.Sprint("c", i/bb.cluster)
					}
					out.WriteString(line(i, bb.score(random), cluster))
				}
				files[k] = out.Bytes()
			}
			for b.Loop() {
				var members []comparison.Member
				for k, f := range files {
					s, err := comparison.ReadScores(bytes.NewReader(f))
					if err != nil {
						b.Fatal(err)
					}
					members = append(members, run(fmt.Sprint("r", k), func(m *comparison.Member) { m.Scores = s }))
				}
				c, err := comparison.Make(members, comparison.Options{Statistics: true})
				if err != nil || c.Statistics.Pairs[0].Tasks != n {
					b.Fatal(err)
				}
			}
		})
	}
}
