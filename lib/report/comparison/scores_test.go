package comparison_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/report/comparison"
	"github.com/evalrouter/evalrouter/lib/stat"
)

func scored(t testing.TB, id, text string) comparison.Member {
	t.Helper()
	s, err := comparison.ReadScores(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return run(id, func(m *comparison.Member) { m.Scores = s })
}

func line(task int, score float64, cluster string) string {
	return fmt.Sprintf(`{"task_id":"t%05d","attempt":1,"score":%v,"outcome":"x","cluster":%q}`+"\n", task, score, cluster)
}

// table is runs whose tasks come in groups: of how many tasks, and which runs
// have them right.
func table(t testing.TB, groups map[string]int, order ...string) []comparison.Member {
	t.Helper()
	texts, at := make([]strings.Builder, len(order[0])), 0
	for _, who := range order {
		for range groups[who] {
			for i := range texts {
				texts[i].WriteString(line(at, float64(who[i]-'0'), ""))
			}
			at++
		}
	}
	var out []comparison.Member
	for i := range texts {
		out = append(out, scored(t, fmt.Sprint("run", i), texts[i].String()))
	}
	return out
}

// The three models of the transcript in the conventions: 87, 74 and 68 of 100
// right. The exact p-values are those of the binomial: 2·P(X ≤ 4) of 21,
// 2·P(X ≤ 6) of 31 and 2·P(X ≤ 9) of 24, and Holm takes them times 2, 3 and 1.
func TestStatistics_Transcript(t *testing.T) {
	t.Parallel()
	c := made(t, comparison.Options{Statistics: true}, table(t, map[string]int{"100": 12, "101": 5, "110": 13, "010": 2, "001": 4, "011": 2, "111": 57, "000": 5},
		"100", "101", "110", "010", "001", "011", "111", "000")...)
	if c.Statistics.Correction != "holm" || c.Statistics.Level != 0.05 || len(c.Statistics.Pairs) != 3 {
		t.Fatalf("statistics are %+v", c.Statistics)
	}
	for i, want := range []struct {
		first, second        string
		left, right          int
		gap, low, high, p, h float64
		verdict              string
	}{
		{"A", "B", 17, 4, 0.13, 0.041, 0.220, 0.0072, 0.0144, "better"},
		{"A", "C", 25, 6, 0.19, 0.084, 0.293, 0.0009, 0.0026, "better"},
		{"B", "C", 15, 9, 0.06, -0.037, 0.156, 0.3075, 0.3075, "not shown"},
	} {
		p := c.Statistics.Pairs[i]
		near := func(got, want, within float64) bool { return math.Abs(got-want) <= within }
		if p.First != want.first || p.Second != want.second || p.Tasks != 100 || p.LeftOut != 0 || p.FirstHigher != want.left || p.SecondHigher != want.right || p.Method != "mcnemar_exact" ||
			p.Verdict != want.verdict || !near(*p.Difference, want.gap, 1e-12) || !near(p.Interval.Lower, want.low, 0.0005) || !near(p.Interval.Upper, want.high, 0.0005) ||
			!near(*p.P, want.p, 0.00005) || !near(*p.PHolm, want.h, 0.00005) {
			t.Errorf("pair %d is %+v, interval %+v, p %v and %v", i, p, p.Interval, *p.P, *p.PHolm)
		}
	}
	if n := c.Statistics.Pairs[2].NeededTasks; n == nil || *n < 400 || *n > 800 {
		t.Errorf("needed are %v", n)
	}
	if c.Statistics.Pairs[0].NeededTasks != nil {
		t.Errorf("what is shown needs %d more", *c.Statistics.Pairs[0].NeededTasks)
	}
}

// exactP is 2·P(X ≤ min) of a fair binomial by adding up its terms.
func exactP(first, second int) float64 {
	n, sum, term := first+second, 0.0, math.Ldexp(1, -(first+second))
	for k := 0; k <= min(first, second); k++ {
		sum += term
		term *= float64(n-k) / float64(k+1)
	}
	return min(1, 2*sum)
}

// Whatever the scores: a pair swapped is the same pair, its figures add up, the
// p-value is the binomial's, and Holm never makes one smaller.
func TestStatistics_Properties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		groups := map[string]int{}
		for _, who := range []string{"00", "01", "10", "11"} {
			groups[who] = rapid.IntRange(0, 40).Draw(rt, who)
		}
		groups["11"]++
		ab := table(t, groups, "00", "01", "10", "11")
		swapped := map[string]int{"00": groups["00"], "01": groups["10"], "10": groups["01"], "11": groups["11"]}
		x := made(t, comparison.Options{Statistics: true}, ab...).Statistics.Pairs[0]
		y := made(t, comparison.Options{Statistics: true}, table(t, swapped, "00", "01", "10", "11")...).Statistics.Pairs[0]
		if x.FirstHigher != groups["10"] || x.SecondHigher != groups["01"] || x.FirstHigher+x.SecondHigher+x.Equal != x.Tasks {
			rt.Fatalf("%v gives %+v", groups, x)
		}
		if math.Abs(*x.P-exactP(groups["10"], groups["01"])) > 1e-12 || *x.PHolm < *x.P {
			rt.Fatalf("p is %v, the binomial's is %v", *x.P, exactP(groups["10"], groups["01"]))
		}
		if *x.P != *y.P || *x.Difference != -*y.Difference || math.Abs(x.Interval.Lower+y.Interval.Upper) > 1e-12 {
			rt.Fatalf("swapped: %+v and %+v", x, y)
		}
		opposite := map[string]string{"better": "worse", "worse": "better", "not shown": "not shown"}
		if y.Verdict != opposite[x.Verdict] || (x.Verdict == "better") != (*x.PHolm < 0.05 && *x.Difference > 0) {
			rt.Fatalf("verdicts are %s and %s at %v", x.Verdict, y.Verdict, *x.PHolm)
		}
	})
}

// Fractional scores are resampled, whole clusters at a time where tasks have
// them: the same figures as package stat gives for the same lists.
func TestStatistics_Bootstrap(t *testing.T) {
	t.Parallel()
	var a, b, ca, cb strings.Builder
	var diff []float64
	var clusters []string
	for i := range 60 {
		x, y := float64(i%7)/6, float64(i%5)/5
		cluster := fmt.Sprint("c", i/3)
		a.WriteString(line(i, x, ""))
		b.WriteString(line(i, y, ""))
		ca.WriteString(line(i, x, cluster))
		cb.WriteString(line(i, y, cluster))
		diff, clusters = append(diff, x-y), append(clusters, cluster)
	}
	boot := stat.Bootstrap{Seed: 42}
	plain, err := boot.Mean(diff, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	clustered, err := boot.ClusteredMean(diff, clusters, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, method string
		members      []comparison.Member
		want         stat.Resampled
		clusters     int
	}{
		{"independent", "paired_bootstrap", []comparison.Member{scored(t, "a", a.String()), scored(t, "b", b.String())}, plain, 0},
		{"clustered", "clustered_bootstrap", []comparison.Member{scored(t, "a", ca.String()), scored(t, "b", cb.String())}, clustered, 20},
	} {
		p := made(t, comparison.Options{Statistics: true}, tt.members...).Statistics.Pairs[0]
		if p.Method != tt.method || *p.P != tt.want.P || p.Interval.Lower != tt.want.Interval.Lower || p.Interval.Upper != tt.want.Interval.Upper ||
			math.Abs(*p.Difference-tt.want.Mean) > 1e-12 || p.Resamples != 10_000 || p.Clusters != tt.clusters {
			t.Errorf("%s: %+v with %+v, want %+v", tt.name, p, p.Interval, tt.want)
		}
	}
}

// Where evidence carries no test there is a reason and no figure.
func TestStatistics_NotTested(t *testing.T) {
	t.Parallel()
	two := line(1, 1, "") + line(2, 0, "")
	ungraded := `{"task_id":"t00001","attempt":1,"score":null,"outcome":"provider_error","cluster":""}` + "\n"
	half := line(1, 0.5, "") + line(2, 0.5, "")
	for _, tt := range []struct {
		name, a, b, reason string
		tasks, left        int
		grader             string
	}{
		{"other graders", two, two, "grader_versions_differ", 0, 0, "2"},
		{"nothing in common", line(1, 1, ""), line(2, 1, ""), "no_paired_tasks", 0, 2, "1"},
		{"not graded", two, ungraded + line(2, 0, ""), "", 1, 1, "1"},
		{"equal fractions", half, half, "no_difference_on_any_task", 2, 0, "1"},
		{"one fraction", line(1, 0.5, ""), line(1, 0.25, ""), "too_few_tasks", 1, 0, "1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := scored(t, "b", tt.b)
			b.Summary.Identities.Graders = []api.GraderRecord{{ID: "g", Version: tt.grader, SHA256: hash}}
			p := made(t, comparison.Options{Statistics: true}, scored(t, "a", tt.a), b).Statistics.Pairs[0]
			if p.Reason != tt.reason || p.Tasks != tt.tasks || p.LeftOut != tt.left || p.Verdict != "not shown" || (p.P == nil) != (tt.reason != "") {
				t.Errorf("pair is %+v", p)
			}
		})
	}
}

func TestReadScores_Refuses(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]string{
		"no JSON": "x\n", "no task": `{"score":1}`, "twice": line(1, 1, "") + line(1, 1, ""), "no number": `{"task_id":"t","score":1e999}`, "long": `{"task_id":"` + strings.Repeat("x", 70_000) + `"}`,
	} {
		if _, err := comparison.ReadScores(strings.NewReader(bad)); err == nil {
			t.Errorf("%s: was read", name)
		}
	}
}

// Eight runs make 28 pairs, all held to one level together.
func TestStatistics_HolmAcrossAGroup(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	var members []comparison.Member
	for k := range 8 {
		var text bytes.Buffer
		for i := range 200 {
			right := 0.0
			if random.Float64() < 0.4+0.05*float64(k) {
				right = 1
			}
			text.WriteString(line(i, right, ""))
		}
		members = append(members, scored(t, fmt.Sprint("r", k), text.String()))
	}
	pairs := made(t, comparison.Options{Statistics: true}, members...).Statistics.Pairs
	var p []float64
	alone := 0
	for _, x := range pairs {
		p = append(p, exactP(x.FirstHigher, x.SecondHigher))
	}
	want, err := stat.Holm(p)
	if err != nil || len(pairs) != 28 {
		t.Fatal(len(pairs), err)
	}
	for i, x := range pairs {
		if math.Abs(*x.PHolm-want[i]) > 1e-9 {
			t.Errorf("pair %d: %v, want %v", i, *x.PHolm, want[i])
		}
		if (x.Verdict == api.VerdictNotShown) != (*x.PHolm >= 0.05) {
			t.Errorf("pair %d is %s at %v", i, x.Verdict, *x.PHolm)
		}
		if *x.P < 0.05 && *x.PHolm >= 0.05 {
			alone++
		}
	}
	if alone == 0 {
		t.Error("no pair is shown alone and not among the others: the test cannot tell the two apart")
	}
}
