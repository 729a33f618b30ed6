// Package change sets a run against the one before it: the last completed run of
// the same benchmark version and the same model.
//
// Where both asked the same tasks, the tasks are compared in pairs, which shows
// smaller differences than two separate shares do. Where the samples differ,
// that is said, and the interval is the one for independent samples. Nothing is
// called better or worse that its interval does not show.
package change

import (
	"context"
	"fmt"
	"math"
	"strings"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/stat"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// Reader is what is read of a service.
type Reader interface {
	List(ctx context.Context, in evalrouter.RunQuery) (api.Page[api.RunRecord], error)
	Tasks(ctx context.Context, id string, in evalrouter.TaskQuery) (api.Page[api.TaskRecord], error)
	Results(ctx context.Context, id string, version int) (api.ResultRecord, error)
}

// Change is a run set against the one before it.
type Change struct {
	Before    api.RunRecord `json:"-"`
	RunID     string        `json:"run_id"`
	Metric    string        `json:"metric"`
	Value     float64       `json:"value"` // of the run before
	Graded    int           `json:"graded"`
	SameTasks bool          `json:"same_tasks"`
	// Difference is this run less the one before, as a share, not in points.
	Difference float64   `json:"difference"`
	Interval   *Interval `json:"interval"`
	// Gained and Lost count the tasks that only this run, or only the one
	// before, has right; P is McNemar's exact test of them. Absent unless the
	// tasks were compared in pairs.
	Gained  *int     `json:"gained,omitempty"`
	Lost    *int     `json:"lost,omitempty"`
	P       *float64 `json:"p,omitempty"`
	Verdict string   `json:"verdict"` // better, worse or not shown

	// Metrics are all figures that both runs have, where all were asked for.
	Metrics []Metric `json:"metrics,omitempty"`
}

// Interval is a 95 % interval.
type Interval struct {
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
}

// Metric is one figure of both runs.
type Metric struct {
	Name   string  `json:"name"`
	Before float64 `json:"before"`
	Now    float64 `json:"now"`
}

// Verdicts of a change.
const (
	Better   = "better"
	Worse    = "worse"
	NotShown = "not shown"
)

const confidence = 0.95

// maxPairs bounds the tasks that are read for a comparison.
const maxPairs = 5000

// Find reads the run before r and compares. It is nil when there is none, or
// when one of the two has no figure to compare.
func Find(ctx context.Context, runs Reader, r api.RunRecord) (*Change, error) {
	if r.Headline == nil || r.Headline.Denominator == 0 || len(r.Profiles) != 1 || r.Model.Selected == nil {
		return nil, nil
	}
	before, err := previous(ctx, runs, r)
	if err != nil || before == nil {
		return nil, err
	}
	c := &Change{
		Before: *before, RunID: before.ID, Metric: r.Headline.Name, Value: before.Headline.Value, Graded: before.Headline.Denominator,
		Difference: r.Headline.Value - before.Headline.Value, Verdict: NotShown,
		SameTasks: sameTasks(r.Profiles[0], before.Profiles[0]),
	}
	paired := false
	if c.SameTasks && r.PlannedCount <= maxPairs {
		if paired, err = c.pair(ctx, runs, r, *before); err != nil {
			return nil, err
		}
	}
	if !paired && !c.SameTasks {
		c.independent(*r.Headline, *before.Headline)
	}
	return c, nil
}

// previous is the newest completed run before r of the same benchmark version
// and the same route or connection.
func previous(ctx context.Context, runs Reader, r api.RunRecord) (*api.RunRecord, error) {
	q := evalrouter.RunQuery{ProfileID: r.Profiles[0].ID, Status: api.StatusCompleted, CreatedBefore: r.CreatedAt, Paging: evalrouter.Paging{Limit: 10}}
	m := r.Model.Selected
	switch {
	case m.ConnectionID != nil:
		q.ConnectionID = *m.ConnectionID
	case m.RouteID != nil:
		q.RouteID = *m.RouteID
	default:
		return nil, nil
	}
	page, err := runs.List(ctx, q)
	if err != nil {
		return nil, err
	}
	for i := range page.Data {
		b := &page.Data[i]
		earlier := b.ID != r.ID && !b.CreatedAt.After(r.CreatedAt)
		if earlier && b.Status == api.StatusCompleted && b.Headline != nil && b.Headline.Denominator > 0 && b.Headline.Key == r.Headline.Key && len(b.Profiles) == 1 {
			return b, nil
		}
	}
	return nil, nil
}

func sameTasks(a, b api.ProfileSelection) bool {
	return a.TaskIDsHash != "" && a.TaskIDsHash == b.TaskIDsHash && a.ManifestSHA256 == b.ManifestSHA256
}

// pair compares task by task. It says no when a score is not simply right or
// wrong.
func (c *Change) pair(ctx context.Context, runs Reader, now, before api.RunRecord) (bool, error) {
	first, ok, err := scores(ctx, runs, now)
	if err != nil || !ok {
		return false, err
	}
	second, ok, err := scores(ctx, runs, before)
	if err != nil || !ok {
		return false, err
	}
	var p stat.Pairs
	for task, a := range first {
		b, both := second[task]
		switch {
		case !both:
		case a && b:
			p.Both++
		case a:
			p.First++
		case b:
			p.Second++
		default:
			p.Neither++
		}
	}
	i, err := p.Interval(confidence)
	if err != nil {
		return false, nil // no task in common
	}
	value, err := stat.McNemar(p.First, p.Second)
	if err != nil {
		return false, nil
	}
	c.Gained, c.Lost, c.P = &p.First, &p.Second, &value
	c.Interval = &Interval{i.Lower, i.Upper}
	if d, err := p.Difference(); err == nil {
		c.Difference = d
	}
	if value < 1-confidence {
		c.Verdict = map[bool]string{true: Better, false: Worse}[p.First > p.Second]
	}
	return true, nil
}

// scores are the graded tasks of a run, right or not.
func scores(ctx context.Context, runs Reader, r api.RunRecord) (map[string]bool, bool, error) {
	out, cursor := map[string]bool{}, ""
	for {
		page, err := runs.Tasks(ctx, r.ID, evalrouter.TaskQuery{Paging: evalrouter.Paging{Cursor: cursor, Limit: 200}})
		if err != nil {
			return nil, false, err
		}
		for _, t := range page.Data {
			s, graded := t.Scores[r.Headline.Key]
			if !graded {
				continue
			}
			if s != 0 && s != 1 {
				return nil, false, nil
			}
			out[fmt.Sprintf("%s/%d", t.TaskID, t.Attempt)] = s == 1
		}
		if page.NextCursor == nil || len(page.Data) == 0 {
			return out, true, nil
		}
		cursor = *page.NextCursor
	}
}

// independent compares two shares of different tasks.
func (c *Change) independent(now, before api.Headline) {
	k1, ok1 := whole(now)
	k2, ok2 := whole(before)
	if !ok1 || !ok2 {
		return
	}
	i := stat.Newcombe(k1, now.Denominator, k2, before.Denominator, confidence)
	c.Interval = &Interval{i.Lower, i.Upper}
	switch {
	case i.Lower > 0:
		c.Verdict = Better
	case i.Upper < 0:
		c.Verdict = Worse
	}
}

// whole is the count of right answers, where the figure is a share of whole
// tasks.
func whole(h api.Headline) (int, bool) {
	k := h.Value * float64(h.Denominator)
	return int(math.Round(k)), math.Abs(k-math.Round(k)) < 1e-6 && h.Value >= 0 && h.Value <= 1
}

// All adds every figure that both results have.
func (c *Change) All(ctx context.Context, runs Reader, now api.ResultRecord) error {
	before, err := runs.Results(ctx, c.RunID, 0)
	if err != nil {
		return err
	}
	old := map[string]float64{}
	for _, p := range before.Profiles {
		for _, m := range p.Metrics {
			old[m.Key] = m.Value
		}
	}
	for _, p := range now.Profiles {
		for _, m := range p.Metrics {
			if v, ok := old[m.Key]; ok {
				c.Metrics = append(c.Metrics, Metric{Name: m.Name, Before: v, Now: m.Value})
			}
		}
	}
	return nil
}

// Show prints the change below a result.
func Show(p *term.Page, c *Change) {
	if c == nil {
		return
	}
	tasks := "the same tasks"
	if !c.SameTasks {
		tasks = "other tasks"
	}
	mark := ""
	if c.Before.Simulated {
		mark = "   simulated"
	}
	p.Line("Before   %s%s   (run %s, %s, %s)", command.Rate(c.Value, c.Graded, c.Before.Headline.Interval), mark, command.Short(c.RunID), c.Before.CreatedAt.Local().Format("2 Jan"), tasks)
	parts := []string{fmt.Sprintf("%+.1f points", clean(100*c.Difference))}
	if c.Interval != nil {
		parts = append(parts, fmt.Sprintf("95 %% interval %+.1f to %+.1f", clean(100*c.Interval.Lower), clean(100*c.Interval.Upper)))
	} else {
		parts = append(parts, "no interval")
	}
	if c.Gained != nil && c.Lost != nil && c.P != nil {
		parts = append(parts, fmt.Sprintf("%s gained, %s lost", command.Thousands(*c.Gained), command.Thousands(*c.Lost)), "p "+pText(*c.P))
	}
	p.Line("Change   %s", strings.Join(append(parts, c.Verdict), "   "))
	for _, m := range c.Metrics {
		p.Line("         %s: %.4g before, %.4g now", m.Name, m.Before, m.Now)
	}
}

// clean keeps a rounded nothing from being shown with a minus.
func clean(x float64) float64 {
	if math.Abs(x) < 0.05 {
		return 0
	}
	return x
}

func pText(p float64) string {
	if p < 0.0001 {
		return "below 0.0001"
	}
	return fmt.Sprintf("%.2g", p)
}
