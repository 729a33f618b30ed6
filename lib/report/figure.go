package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/stat"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Figure is one metric in the digits that people read. They are the terminal's:
// a share in percent to one place, anything else to four.
type Figure struct {
	Key   string
	Name  plain.Safe
	Value string // "74.0 %" or "1.2500"
	// Of is the denominator in words: "74 of 100" for a share of whole tasks,
	// else "n 100".
	Of string
	// Interval is "64.6 to 81.6" in the unit of Value, "" when there is none.
	Interval   string
	Confidence string // "95 %"
	Reason     plain.Safe
	Method     plain.Safe

	// Share says that the value lies on the axis from 0 to 100 %, where Point,
	// Lower and Upper stand in percent.
	Share               bool
	Point, Lower, Upper float64
}

// Words is the figure with its denominator and interval on one line.
func (f Figure) Words() string {
	s := f.Value + ", " + f.Of
	if f.Interval == "" {
		return s + ", no interval"
	}
	return s + ", " + f.Confidence + " interval " + f.Interval
}

// figures are the metrics of a profile, its headline first.
func figures(p api.ProfileResult) []Figure {
	out := []Figure{}
	for _, m := range p.Metrics {
		f := figure(m, p)
		if p.HeadlineKey != nil && m.Key == *p.HeadlineKey {
			out = slices.Insert(out, 0, f)
		} else {
			out = append(out, f)
		}
	}
	if p.Graded == 0 {
		return nil
	}
	return out[:min(len(out), maxList)]
}

func figure(m api.MetricRecord, p api.ProfileResult) Figure {
	n := p.Graded
	if m.SampleCount != nil {
		n = *m.SampleCount
	}
	f := Figure{Key: m.Key, Name: line(m.Name), Of: "n " + Count(n), Confidence: "95 %"}
	interval := intervalOf(m, p)
	if m.Uncertainty != nil && m.Uncertainty.Reason != nil {
		f.Reason = line(*m.Uncertainty.Reason)
	}
	k := m.Value * float64(n)
	f.Share = m.Value >= 0 && m.Value <= 1
	whole := f.Share && f.Reason == "" && math.Abs(k-math.Round(k)) < 1e-6
	if whole {
		f.Of = Count(int(math.Round(k))) + " of " + Count(n)
	}
	if interval == nil && whole && n > 0 {
		w := stat.Wilson(int(math.Round(k)), n, 0.95)
		interval = &api.Interval{Method: "wilson", Lower: w.Lower, Upper: w.Upper, Confidence: 0.95}
	}
	unit, format := 1.0, "%.4f"
	f.Value = fmt.Sprintf("%.4f", m.Value)
	if f.Share {
		unit, format = 100, "%.1f"
		f.Value = fmt.Sprintf("%.1f %%", 100*m.Value)
		f.Point = clamp(100 * m.Value)
	}
	if interval != nil {
		f.Confidence = fmt.Sprintf("%g %%", 100*interval.Confidence)
		f.Interval = fmt.Sprintf(format+" to "+format, unit*interval.Lower, unit*interval.Upper)
		f.Method = method(interval.Method)
		f.Lower, f.Upper = clamp(100*interval.Lower), clamp(100*interval.Upper)
	}
	return f
}

// method is how an interval was made, as people name it.
func method(key string) plain.Safe {
	switch key {
	case "wilson":
		return "Wilson"
	case "student_t":
		return "Student's t"
	}
	return line(key)
}

func clamp(v float64) float64 { return min(max(v, 0), 100) }

func intervalOf(m api.MetricRecord, p api.ProfileResult) *api.Interval {
	if m.Uncertainty != nil && m.Uncertainty.Interval != nil {
		return m.Uncertainty.Interval
	}
	if u, ok := p.Uncertainty[m.Key]; ok {
		return u.Interval
	}
	return nil
}

// Bounds are what the share of right answers would be over every planned task.
type Bounds struct{ Missing, Wrong, Right string }

func bounds(right int, p api.ProfileResult) *Bounds {
	missing := p.Planned - p.Graded
	if missing <= 0 || p.Graded == 0 {
		return nil
	}
	share := func(k int) string { return fmt.Sprintf("%.1f %%", 100*float64(k)/float64(p.Planned)) }
	return &Bounds{Count(missing), share(right), share(right + missing)}
}

// Kind says what an outcome means for the score.
type Kind string

// Kinds of outcomes.
const (
	Passed Kind = "right"  // scored
	Missed Kind = "wrong"  // scored
	Faulty Kind = "error"  // asked, without a score
	NotRun Kind = "notrun" // never asked, or never decided
)

// Outcome is one outcome with the tasks that ended so.
type Outcome struct {
	Key   plain.Safe // as it is on the wire
	Label plain.Safe
	Kind  Kind
	N     int
	Count string
	Share string
}

type outcomeWord struct {
	key, label string
	kind       Kind
}

// outcomeWords are the outcomes in the order and the words in which people read
// them; the terminal has the same.
func outcomeWords() []outcomeWord {
	return []outcomeWord{
		{"right", "right", Passed}, {"wrong", "wrong", Missed}, {"extraction_failed", "no answer found", Missed}, {"truncated", "cut off", Missed},
		{"empty", "empty", Missed}, {"refused", "refused", Faulty}, {"provider_error", "provider error", Faulty}, {"judge_error", "judge error", Faulty},
		{"grader_error", "grader error", Faulty}, {"skipped_budget", "not run (cap)", NotRun}, {"cancelled", "cancelled", NotRun},
		{"pending", "pending", NotRun}, {"left_out", "left out", NotRun},
	}
}

// outcomes are the counts as shares of total tasks.
func outcomes(counts map[string]int, total int) (out []Outcome) {
	add := func(w outcomeWord, n int) {
		if n > 0 {
			out = append(out, Outcome{line(w.key), line(w.label), w.kind, n, Count(n), fmt.Sprintf("%.1f %%", 100*float64(n)/float64(total))})
		}
	}
	known := map[string]bool{}
	for _, w := range outcomeWords() {
		known[w.key] = true
		add(w, counts[w.key])
	}
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		if !known[k] {
			add(outcomeWord{k, k, NotRun}, counts[k])
		}
	}
	return out
}

// wordOf is how an outcome reads. One that is not known here is no success and
// no failure.
func wordOf(key string) outcomeWord {
	for _, w := range outcomeWords() {
		if w.key == key {
			return w
		}
	}
	return outcomeWord{key, key, NotRun}
}

// Count is a number with its thousands apart.
func Count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Dollars is an amount as people read it: $1,234.50, or with as many places as
// it needs.
func Dollars(m usd.Micro) string {
	s := m.String()
	start := strings.IndexByte(s, '$') + 1
	for i := strings.IndexByte(s, '.') - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
