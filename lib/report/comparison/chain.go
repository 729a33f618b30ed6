package comparison

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
)

// ChainMember is the full export of one run of a chain.
type ChainMember struct {
	Source  api.ComparedSource
	Run     string
	Version int // of the result
	Tasks   *Tasks
}

// ReadChain reads the export of a chain without its tasks, and what of it a run's
// summary would say: the newest run stands for the chain.
func ReadChain(r io.Reader) (s api.ExportSummary, c *api.ChainExport, err error) {
	if err := json.NewDecoder(r).Decode(&c); err != nil {
		return s, nil, fmt.Errorf("read chain export: %w", err)
	}
	if c == nil || c.Schema != api.ChainExportSchema || len(c.Runs) == 0 || len(c.Chain.RunIDs) != len(c.Runs) {
		return s, nil, fmt.Errorf("read chain export: it names no runs")
	}
	s = api.ExportSummary{
		Schema: c.Schema, RunID: c.Chain.NewestRunID, ResultVersion: c.Runs[len(c.Runs)-1].ResultVersion, WorkspaceID: c.WorkspaceID, GeneratedAt: c.GeneratedAt, TargetKind: c.TargetKind,
		Identities: c.Identities, Model: c.Model, Reasoning: c.Reasoning, Profiles: c.Profiles, BillingSnapshot: c.BillingSnapshot, ExportPolicy: c.ExportPolicy, Checksum: c.Checksum,
		Summary: api.ResultSummary{Status: c.Chain.Status, TerminalReason: c.TerminalReason},
	}
	return s, c, nil
}

// consistent holds the export of a chain to itself: its runs decided the tasks
// that have a score, and no others.
func consistent(m Member) error {
	c := m.Chain
	if c == nil {
		return nil
	}
	decided := 0
	for i, r := range c.Runs {
		if decided += r.DecidedCells; r.DecidedCells < 0 || r.RunID != c.Chain.RunIDs[i] {
			return mismatch("the chain of run %s does not say which runs it is of", c.Chain.NewestRunID)
		}
	}
	counts := m.Summary.Profiles[0].Counts
	if decided != c.Graded || counts.Graded != c.Graded || counts.Planned != c.Planned || c.Runs[len(c.Runs)-1].RunID != c.Chain.NewestRunID {
		return mismatch("the chain of run %s has %d graded tasks, of which its runs decided %d, and its figures are of %d", c.Chain.NewestRunID, c.Graded, decided, counts.Graded)
	}
	return nil
}

// chained says in a series of which runs it is.
func chained(out *api.ComparisonSeries, m Member) {
	c := m.Chain
	out.RunIDs, out.ErrorCounts, out.Unscored, out.Metrics = slices.Clone(c.Chain.RunIDs), c.ErrorCounts, c.Unscored, m.Summary.Profiles[0].Metrics
	out.Chain = &api.ComparedChain{Label: c.Label, Version: c.Chain.Version, Complete: c.Complete, Runs: c.Runs, Mismatches: len(c.ReuseScoreMismatch)}
	if out.ErrorCounts == nil {
		out.ErrorCounts = map[string]int{}
	}
	for _, r := range m.Runs {
		out.Members = append(out.Members, r.Source)
	}
}

// chainWarnings warns of chains whose reused answers got other scores, and says
// which were looked at by their figures alone.
func chainWarnings(all []api.ComparisonSeries, evidence bool) (out []api.ComparisonWarning) {
	var aggregate []string
	for _, s := range all {
		if s.Chain == nil {
			continue
		}
		aggregate = append(aggregate, s.Label)
		if n := s.Chain.Mismatches; n > 0 {
			out = append(out, api.ComparisonWarning{
				Code: api.ReuseScoreMismatch, Series: []string{s.Label},
				Detail: fmt.Sprintf("%d of the reused answers got another score when graded again; the first scores stand, and the chain is not complete", n),
			})
		}
	}
	if len(aggregate) > 0 && !evidence {
		out = append(out, api.ComparisonWarning{Code: AggregateOnly, Series: aggregate, Detail: "made of kept figures: no task was looked at, and none is named"})
	}
	return out
}

// scoredOutcomes are the outcomes that have a score.
func scoredOutcomes() []string {
	return []string{"right", "wrong", "extraction_failed", "truncated", "empty"}
}

// unscored counts the tasks without a score by outcome, in the order of names.
func unscored(outcomes map[string]int) (out []api.PendingReason) {
	for o, n := range outcomes {
		if n > 0 && !slices.Contains(scoredOutcomes(), o) {
			out = append(out, api.PendingReason{Code: o, Cells: n})
		}
	}
	slices.SortFunc(out, func(a, b api.PendingReason) int { return strings.Compare(a.Code, b.Code) })
	return out
}

// variant is the output format of SOB Text, by which it tells generations apart.
func variant(m Member) string {
	s := m.Summary
	of := func(x api.MetricRecord) bool { return x.Source == api.ChainFamily }
	if m.Chain == nil && !slices.ContainsFunc(s.Profiles[0].Metrics, of) {
		return ""
	}
	return s.Identities.OutputFormat
}

// decided holds the exports of a chain's runs to the chain's own: each task was
// graded in one of them, every later one took that score over, and the runs
// decided as many as the chain says.
func decided(m Member) error {
	c := m.Chain
	if len(m.Runs) != len(c.Runs) {
		return mismatch("the chain of run %s has %d runs and %d of their exports", c.Chain.NewestRunID, len(c.Runs), len(m.Runs))
	}
	first := map[string]int{}
	count := make([]int, len(m.Runs))
	for i, r := range m.Runs {
		if want := c.Runs[i]; r.Run != want.RunID || r.Version != want.ResultVersion {
			return mismatch("the export of run %s (result %d) is not of the result that its chain was made of (%d)", r.Run, r.Version, want.ResultVersion)
		}
		for id, is := range r.Tasks.marks {
			was, ok := first[id]
			if !ok {
				first[id] = i
				count[i]++
				continue
			}
			if !is.same(m.Runs[was].Tasks.marks[id]) {
				return mismatch("run %s has another score or answer for a task that run %s graded, although a chain takes scores over", r.Run, m.Runs[was].Run)
			}
		}
	}
	for i, n := range count {
		if n != c.Runs[i].DecidedCells {
			return mismatch("run %s decided %d tasks by the exports and %d by its chain", c.Runs[i].RunID, n, c.Runs[i].DecidedCells)
		}
	}
	return nil
}
