package rederive

import (
	"archive/zip"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/report/evidence"
	"github.com/evalrouter/evalrouter/lib/stat"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// totals is what the samples add up to.
type totals struct {
	outcomes   map[string]int
	graded     int
	sum, sumSq float64
	charged    usd.Micro
}

// graded says that a sample has a score.
func graded(s api.ExportSample) bool { return s.Status == "graded" }

func (c *checker) open(z *zip.Reader, graders func(bundle.GraderConfig) (bundle.Grader, error)) error {
	if _, err := read(z, evidence.RunFile, &c.run); err != nil {
		return err
	}
	if _, err := read(z, evidence.PricesFile, &c.prices); err != nil {
		return err
	}
	var cfg bundle.GraderConfig
	raw, err := read(z, evidence.GraderFile, &cfg)
	if err != nil {
		return err
	}
	if c.grader, err = graders(cfg); err != nil {
		return broken("%s: %v", evidence.GraderFile, err)
	}
	if len(c.run.Result.Profiles) != 1 || len(c.run.Identities.Graders) != 1 {
		return broken("%s is not of one benchmark with one grader", evidence.RunFile)
	}
	id := c.run.Identities
	c.res.RunID, c.res.Benchmark, c.res.Model = c.run.RunID, id.ProfileID, c.run.Result.Model.Name()
	sum := sha256.Sum256(raw)
	if g := id.Graders[0]; g.SHA256 != hex.EncodeToString(sum[:]) {
		c.res.problem("the grader's configuration is not the one of the run: its SHA-256 is %x", sum)
	} else if own := c.grader.Identity(); own.ID != g.ID || own.Version != g.Version {
		c.res.problem("the run was graded by %s %s, and this program has %s %s", g.ID, g.Version, own.ID, own.Version)
	}
	return nil
}

func (c *checker) samples(z *zip.Reader) error {
	c.sums.outcomes = map[string]int{}
	return each(z, func(e evidence.Task) error {
		if e.Index != c.res.Tasks {
			return broken("task %d stands in place of %d", e.Index, c.res.Tasks)
		}
		c.res.Tasks++
		c.sums.outcomes[e.Sample.Outcome]++
		c.score(e)
		return c.charge(e)
	})
}

// score grades an answer again.
func (c *checker) score(e evidence.Task) {
	s := e.Sample
	if s.Answer != nil && s.AnswerSHA256 != nil {
		if sum := sha256.Sum256([]byte(*s.Answer)); hex.EncodeToString(sum[:]) != *s.AnswerSHA256 {
			c.res.problem("task %s: the answer is not the one of its hash", s.TaskID)
		}
	}
	if !graded(s) {
		if len(s.Scores) > 0 {
			c.res.problem("task %s has a score and was not graded", s.TaskID)
		}
		return
	}
	kept, ok := s.Scores[c.run.Profiles[0].Headline.Key]
	if !ok {
		c.res.problem("task %s was graded and has no score", s.TaskID)
		return
	}
	c.sums.graded++
	c.sums.sum += kept
	c.sums.sumSq += kept * kept
	if s.Answer == nil {
		c.res.Missing++
		return
	}
	v, err := c.verdict(e)
	switch {
	case errors.Is(err, errNoReplies):
		c.res.Missing++
	case err != nil:
		c.res.problem("task %s was graded, and now: %v", s.TaskID, err)
	case string(v.Outcome) != s.Outcome || v.Score != kept:
		c.res.problem("task %s is %s with %v, and its answer comes to %s with %v", s.TaskID, s.Outcome, kept, v.Outcome, v.Score)
	default:
		c.res.Graded++
	}
}

// errNoReplies says that judges' replies are not in the bundle.
var errNoReplies = errors.New("the judges' replies are not there")

func (c *checker) verdict(e evidence.Task) (bundle.Verdict, error) {
	task := bundle.Task{ID: e.Sample.TaskID, Target: e.Key.Target, Choices: e.Key.Choices, Schema: e.Key.Schema, Group: e.Key.Group}
	answer := bundle.Answer{Text: *e.Sample.Answer, Finish: finish(e.Sample.FinishReason)}
	judged, ok := c.grader.(bundle.Judged)
	if !ok {
		return c.grader.Grade(task, answer)
	}
	var replies []bundle.Answer
	for _, j := range e.Sample.Judges {
		if j.Reply == nil && j.ReplyWithheld != nil {
			return bundle.Verdict{}, errNoReplies
		}
		if j.Reply != nil {
			replies = append(replies, bundle.Answer{Text: *j.Reply, Finish: finish(j.FinishReason)})
		}
	}
	return judged.Verdict(task, answer, replies)
}

func finish(s *string) bundle.Finish {
	if s == nil {
		return bundle.FinishUnknown
	}
	return bundle.Finish(*s)
}

// judgeCall is the kind of a call to a judge.
const judgeCall = "judge"

// charge recomputes what a task cost from the usage of its calls.
func (c *checker) charge(e evidence.Task) error {
	sum := usd.Micro(0)
	for _, call := range e.Calls {
		book := c.prices.Target
		if call.Kind == judgeCall {
			if call.Part < 0 || call.Part >= len(c.prices.Judges) {
				return broken("task %s was judged by a model without prices", e.Sample.TaskID)
			}
			book = c.prices.Judges[call.Part]
		}
		want := book.Charge(call)
		refused := book.UnbilledRefusals && (call.Kind == judgeCall || e.Sample.Outcome == string(bundle.Refused))
		if want != call.Charged && !(refused && call.Charged == 0) {
			c.res.problem("task %s: a call was charged %s, and its usage comes to %s", e.Sample.TaskID, call.Charged, want)
		}
		var err error
		if sum, err = sum.Add(call.Charged); err != nil {
			return broken("task %s: %v", e.Sample.TaskID, err)
		}
	}
	c.res.Charges += len(e.Calls)
	if sum != e.Sample.ChargeMicrousd {
		c.res.problem("task %s was charged %s, and its calls %s", e.Sample.TaskID, e.Sample.ChargeMicrousd, sum)
	}
	total, err := c.sums.charged.Add(e.Sample.ChargeMicrousd)
	if err != nil {
		return broken("add up charges: %v", err)
	}
	c.sums.charged = total
	return nil
}

// conclude holds what the samples add up to against the figures of the run.
func (c *checker) conclude() {
	sum, p, counts := c.run.Summary, c.run.Result.Profiles[0], c.sums.outcomes
	c.same("planned tasks", sum.Coverage.Planned, c.res.Tasks)
	c.same("graded tasks", sum.Coverage.Graded, c.sums.graded)
	c.same("planned tasks of the benchmark", p.Planned, c.res.Tasks)
	c.same("graded tasks of the benchmark", p.Graded, c.sums.graded)
	for _, o := range slices.Sorted(maps.Keys(union(counts, sum.Outcomes))) {
		c.same("tasks that are "+o, sum.Outcomes[o], counts[o])
		c.same("tasks that are "+o+" in the result", c.run.Result.Summary.Outcomes[o], counts[o])
	}
	for _, b := range []api.BillingSnapshot{c.run.BillingSnapshot, sum.BillingSnapshot, c.run.Result.Summary.BillingSnapshot} {
		if b.SpendMicrousd != c.sums.charged {
			c.res.problem("the run spent %s, and its tasks %s", b.SpendMicrousd, c.sums.charged)
		}
		if b.SpendMicrousd > b.CapMicrousd {
			c.res.problem("the run spent %s under a cap of %s", b.SpendMicrousd, b.CapMicrousd)
		}
	}
	if head := c.run.Profiles[0].Headline; c.sums.graded > 0 {
		c.same("the headline's denominator", head.Denominator, c.sums.graded)
		if head.Value == nil || !near(*head.Value, float64(counts["right"])/float64(c.sums.graded)) {
			c.res.problem("the headline is not %d of %d", counts["right"], c.sums.graded)
		}
	}
	for _, metrics := range [][]api.MetricRecord{c.run.Profiles[0].Metrics, p.Metrics} {
		c.metrics(metrics)
	}
	c.res.Figures = slices.Compact(slices.Sorted(slices.Values(c.res.Figures)))
}

func (c *checker) same(what string, kept, derived int) {
	if kept != derived {
		c.res.problem("%s: the run says %d, the samples make %d", what, kept, derived)
	}
}

func union(a, b map[string]int) map[string]int {
	out := maps.Clone(a)
	for k := range b {
		out[k] += 0
	}
	return out
}

// near allows for sums that were added in another order.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

func (c *checker) metrics(all []api.MetricRecord) {
	if c.sums.graded == 0 && len(all) > 0 {
		c.res.problem("nothing was graded, and there are figures")
		return
	}
	for _, m := range all {
		value, iv, ok := c.figure(m.Key)
		if !ok {
			c.res.problem("figure %s is one that this program cannot derive", m.Key)
			continue
		}
		var kept *api.Interval
		if m.Uncertainty != nil {
			kept = m.Uncertainty.Interval
		}
		switch {
		case !near(m.Value, value):
			c.res.problem("figure %s is %v, and the samples make %v", m.Key, m.Value, value)
		case (kept == nil) != (iv == nil):
			c.res.problem("figure %s has an interval in one of the run and its samples only", m.Key)
		case kept != nil && (!near(kept.Lower, iv.Lower) || !near(kept.Upper, iv.Upper) || kept.Confidence != 0.95):
			c.res.problem("figure %s has the interval %v to %v, and the samples make %v to %v", m.Key, kept.Lower, kept.Upper, iv.Lower, iv.Upper)
		case m.SampleCount == nil || *m.SampleCount != c.sums.graded:
			c.res.problem("figure %s does not count %d tasks", m.Key, c.sums.graded)
		default:
			c.res.Figures = append(c.res.Figures, words(m.Name, value, iv))
		}
	}
}

// figure derives a figure with its interval from the samples.
func (c *checker) figure(key string) (float64, *stat.Interval, bool) {
	n := c.sums.graded
	switch key {
	case "accuracy":
		iv := stat.Wilson(c.sums.outcomes["right"], n, 0.95)
		return float64(c.sums.outcomes["right"]) / float64(n), &iv, true
	case "mean_score":
		value := c.sums.sum / float64(n)
		e, err := stat.FromSums(n, c.sums.sum, c.sums.sumSq)
		if err != nil {
			return value, nil, true
		}
		iv, err := e.Interval(0.95)
		if err != nil {
			return value, nil, true
		}
		iv = iv.Within(0, 1)
		return value, &iv, true
	}
	return 0, nil, false
}

func words(name string, value float64, iv *stat.Interval) string {
	s := fmt.Sprintf("%s %.1f %%", cmp.Or(name, "figure"), 100*value)
	if iv == nil {
		return s + ", no interval"
	}
	return s + fmt.Sprintf(", 95 %% interval %.1f to %.1f", 100*iv.Lower, 100*iv.Upper)
}
