package comparison

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/stat"
)

// Scores are the scores of a run's graded tasks.
type Scores struct {
	byTask   map[string]int
	task     []string
	score    []float64
	cluster  []string
	binary   bool
	clusters bool
}

// scored is what is read of an api.ScoreLine.
type scored struct {
	TaskID  string   `json:"task_id"`
	Score   *float64 `json:"score"`
	Cluster string   `json:"cluster"`
}

// maxLine bounds one line of a scores export.
const maxLine = 64 << 10

// ReadScores reads a scores export: one JSON object a line.
func ReadScores(r io.Reader) (*Scores, error) {
	s := &Scores{byTask: map[string]int{}, binary: true}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), maxLine)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		row, ok := quick(lines.Bytes())
		if !ok {
			if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
				return nil, fmt.Errorf("read line %d of scores: %w", n, err)
			}
		}
		if err := s.add(row); err != nil {
			return nil, fmt.Errorf("read line %d of scores: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read scores: %w", err)
	}
	return s, nil
}

func (s *Scores) add(row scored) error {
	if row.TaskID == "" {
		return errors.New("it names no task")
	}
	if row.Score == nil {
		return nil
	}
	v := *row.Score
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return errors.New("its score is no number")
	}
	if _, ok := s.byTask[row.TaskID]; ok {
		return errors.New("its task stands there twice")
	}
	s.byTask[row.TaskID] = len(s.score)
	s.task = append(s.task, row.TaskID)
	s.score = append(s.score, v)
	s.cluster = append(s.cluster, row.Cluster)
	s.binary = s.binary && (v == 0 || v == 1)
	s.clusters = s.clusters || row.Cluster != ""
	return nil
}

// Settings of the tests.
const (
	level      = 0.05
	confidence = 0.95
	seed       = 42
	// work bounds the values that all bootstraps of a comparison draw, and
	// leastResamples how far that may lower their number.
	work           = 100_000_000
	leastResamples = 1_000
)

// paired is two series on the tasks that both have a score for.
type paired struct {
	first, second []float64
	cluster       []string
	left          int
}

func pair(a, b *Scores) paired {
	// In the order of the first, so that the same files give the same resamples.
	p := paired{left: len(b.score)}
	for i, id := range a.task {
		j, ok := b.byTask[id]
		if !ok {
			p.left++
			continue
		}
		p.left--
		p.first, p.second = append(p.first, a.score[i]), append(p.second, b.score[j])
		c := a.cluster[i]
		if c == "" {
			c = "\x00" + id // a task by itself
		}
		p.cluster = append(p.cluster, c)
	}
	return p
}

// statistics tests every pair of series and holds all of them together to one
// level. Series that were graded in different ways are not tested.
func statistics(members []Member) (api.ComparedStatistics, error) {
	out := api.ComparedStatistics{Level: level, Confidence: confidence, Correction: "holm", Pairs: []api.ComparedPair{}}
	n := len(members)
	for i := range members {
		for j := i + 1; j < n; j++ {
			a, b := members[i], members[j]
			if a.Scores == nil || b.Scores == nil {
				return out, fmt.Errorf("test runs %s and %s: their scores were not read", a.Summary.RunID, b.Summary.RunID)
			}
			p, err := test(a, b, n*(n-1)/2)
			if err != nil {
				return out, fmt.Errorf("test runs %s and %s: %w", a.Summary.RunID, b.Summary.RunID, err)
			}
			p.First, p.Second = label(i), label(j)
			out.Pairs = append(out.Pairs, p)
		}
	}
	return out, correct(out.Pairs)
}

// Reasons why a pair was not tested.
const (
	NoPairedTasks = "no_paired_tasks"
	TooFewTasks   = "too_few_tasks"
	NoDifference  = "no_difference_on_any_task"
)

func test(a, b Member, pairs int) (api.ComparedPair, error) {
	out := api.ComparedPair{Method: "none", Verdict: api.VerdictNotShown}
	if !sameGraders(a.Summary, b.Summary) {
		out.Reason = GradersDiffer
		return out, nil
	}
	p := pair(a.Scores, b.Scores)
	if out.Tasks, out.LeftOut = len(p.first), p.left; out.Tasks == 0 {
		out.Reason = NoPairedTasks
		return out, nil
	}
	flips, err := stat.Compare(p.first, p.second)
	if err != nil {
		return out, err
	}
	out.FirstHigher, out.SecondHigher, out.Equal = flips.Wins, flips.Losses, flips.Ties
	clustered := a.Scores.clusters || b.Scores.clusters
	if a.Scores.binary && b.Scores.binary && !clustered {
		return out, exact(&out, p)
	}
	return out, resampled(&out, p, clustered, pairs)
}

// sameGraders holds two runs to the graders that their exports name. A run that
// names none cannot be known to have been graded alike.
func sameGraders(a, b api.ExportSummary) bool {
	x, y := a.Identities.Graders, b.Identities.Graders
	if len(x) == 0 || len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i] != y[i] {
			return false
		}
	}
	return true
}

// exact is McNemar's test, of tasks that are right or wrong.
func exact(out *api.ComparedPair, p paired) error {
	counts := stat.Pairs{First: out.FirstHigher, Second: out.SecondHigher}
	for i, v := range p.first {
		switch {
		case v == 1 && p.second[i] == 1:
			counts.Both++
		case v == 0 && p.second[i] == 0:
			counts.Neither++
		}
	}
	d, err := counts.Difference()
	if err != nil {
		return err
	}
	iv, err := counts.Interval(confidence)
	if err != nil {
		return err
	}
	pv, err := stat.McNemar(counts.First, counts.Second)
	if err != nil {
		return err
	}
	out.Method, out.Difference, out.P = "mcnemar_exact", &d, &pv
	out.Interval = interval("newcombe_paired", iv, out.Tasks)
	return nil
}

// resampled is the paired bootstrap, of whole clusters where the benchmark
// declares them.
func resampled(out *api.ComparedPair, p paired, clustered bool, pairs int) error {
	diff, err := stat.Differences(p.first, p.second)
	if err != nil {
		return err
	}
	var sum float64
	for _, d := range diff {
		sum += d
	}
	mean := sum / float64(len(diff))
	out.Difference = &mean
	boot := stat.Bootstrap{Seed: seed, Resamples: min(stat.DefaultResamples, max(leastResamples, work/(len(diff)*pairs)))}
	var r stat.Resampled
	out.Method = "paired_bootstrap"
	if clustered {
		out.Method = "clustered_bootstrap"
		r, err = boot.ClusteredMean(diff, p.cluster, confidence)
	} else {
		r, err = boot.Mean(diff, confidence)
	}
	switch {
	case errors.Is(err, stat.TooFew):
		out.Method, out.Reason = "none", TooFewTasks
		return nil
	case errors.Is(err, stat.NoSpread) && out.FirstHigher+out.SecondHigher == 0:
		out.Method, out.Reason = "none", NoDifference
		return nil
	case errors.Is(err, stat.NoSpread):
		// Every task, or cluster, differs by the same amount: resamples cannot
		// say how sure that is.
		out.Method, out.Reason = "none", TooFewTasks
		return nil
	case err != nil:
		return err
	}
	out.P, out.Resamples = &r.P, r.Resamples
	out.Interval = interval("percentile_bootstrap", r.Interval, out.Tasks)
	out.Interval.Resamples, out.Interval.Seed = ptr(r.Resamples), ptr(int64(seed))
	if clustered {
		out.Clusters, out.Interval.ClusterCount = r.Units, ptr(r.Units)
	}
	return nil
}

func ptr[T any](v T) *T { return &v }

func interval(method string, iv stat.Interval, n int) *api.Interval {
	return &api.Interval{
		Method: method, Target: "difference", Weights: "equal", Lower: iv.Lower, Upper: iv.Upper, Confidence: confidence, Approximate: true,
		SampleCount: n, EligibleCount: n, StrataCount: 1,
	}
}

// correct adjusts the p-values of all pairs that were tested, and decides.
func correct(pairs []api.ComparedPair) error {
	var at []int
	var p []float64
	for i := range pairs {
		if pairs[i].P != nil {
			at, p = append(at, i), append(p, *pairs[i].P)
		}
	}
	adjusted, err := stat.Holm(p)
	if err != nil {
		return err
	}
	for k, i := range at {
		c := &pairs[i]
		c.PHolm = &adjusted[k]
		switch {
		case adjusted[k] >= level:
			c.NeededTasks = needed(*c, len(at))
		case *c.Difference > 0:
			c.Verdict = api.VerdictBetter
		case *c.Difference < 0:
			c.Verdict = api.VerdictWorse
		}
	}
	return nil
}

// needed is about how many paired tasks would show the difference that was
// found, if models disagree as often as here. It is for tasks that are right or
// wrong only.
func needed(c api.ComparedPair, tests int) *int {
	if c.Method != "mcnemar_exact" || *c.Difference == 0 {
		return nil
	}
	plan := stat.Plan{Confidence: 1 - level/float64(tests), Power: stat.PlanPower, Discordance: float64(c.FirstHigher+c.SecondHigher) / float64(c.Tasks)}
	n, err := plan.Tasks(math.Abs(*c.Difference))
	if err != nil || n <= c.Tasks {
		return nil
	}
	return &n
}
