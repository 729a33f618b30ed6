// Package comparison lays finished runs of the same tasks side by side. A
// comparison is a function of exports: of their summaries, of their tasks where
// evidence was asked for, and of their scores where statistics were. Nothing is
// graded again, and nothing is asked of a service, so that a saved comparison
// can be made again anywhere.
//
// Runs are compared only where their exports say that they are comparable: the
// same workspace, benchmark version, data, population, selection of tasks and
// output format. What may differ, models and their settings, is listed.
package comparison

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
)

// Bounds of a comparison.
const (
	MinRuns = 1
	MaxRuns = 8
)

// Member is one run's export as it was read, or that of a chain of runs.
type Member struct {
	Summary api.ExportSummary
	Source  api.ComparedSource
	// Chain is the export of a chain, nil for a run by itself; Summary is then what
	// of it a run's summary would say. Runs are the full exports of its runs, in
	// their order, where evidence was asked for.
	Chain *api.ChainExport
	Runs  []ChainMember
	// Tasks is what a full export says of its tasks, nil for a summary. Those of a
	// chain are the tasks of its newest run.
	Tasks *Tasks
	// Scores are the run's scores by task, nil where they were not read.
	Scores     *Scores
	ScoresFile *api.ComparedSource
}

// Options say how a comparison is made.
type Options struct {
	GeneratedAt time.Time
	Version     string // of the program
	GroupID     string
	// Evidence compares what tasks say; every member then has Tasks. WithoutRaw
	// takes graded tasks without their answers.
	Evidence, WithoutRaw bool
	// Statistics tests each pair; every member then has Scores.
	Statistics bool
}

// Mismatch says why runs cannot be compared. Nothing was made.
type Mismatch struct{ Message string }

// Error is the sentence.
func (m *Mismatch) Error() string { return m.Message }

func mismatch(format string, args ...any) error {
	return &Mismatch{string(plain.Line(fmt.Sprintf(format, args...)))}
}

// Make compares members in their order. It fails with a Mismatch where they are
// not comparable.
func Make(members []Member, o Options) (api.Comparison, error) {
	if err := Comparable(members); err != nil {
		return api.Comparison{}, err
	}
	out := api.Comparison{
		Schema: api.ComparisonSchema, GeneratedAt: o.GeneratedAt.UTC(), CLIVersion: o.Version, WorkspaceID: members[0].Summary.WorkspaceID,
		Benchmark: members[0].Summary.Identities, Series: []api.ComparisonSeries{}, Warnings: []api.ComparisonWarning{},
	}
	if o.GroupID != "" {
		out.GroupID = &o.GroupID
	}
	for i, m := range members {
		out.Series = append(out.Series, series(label(i), m))
	}
	out.Warnings = append(out.Warnings, differences(out.Series)...)
	out.Warnings = append(out.Warnings, chainWarnings(out.Series, o.Evidence || o.WithoutRaw)...)
	if o.Evidence || o.WithoutRaw {
		e, more, err := evidence(members, o.WithoutRaw)
		if err != nil {
			return out, err
		}
		out.Evidence = &e
		out.Warnings = append(out.Warnings, more...)
	}
	if o.Statistics {
		st, err := statistics(members)
		if err != nil {
			return out, err
		}
		out.Statistics = &st
	}
	return out, nil
}

func label(i int) string { return string(rune('A' + i)) }

// Comparable says whether runs are about the same thing, or which field of which
// run says that they are not.
func Comparable(members []Member) error {
	if len(members) < MinRuns || len(members) > MaxRuns {
		return mismatch("a comparison has %d to %d runs, not %d", MinRuns, MaxRuns, len(members))
	}
	first := members[0].Summary
	seen := map[string]bool{}
	for _, m := range members {
		s := m.Summary
		if s.Schema != api.ExportSummarySchema && s.Schema != api.ExportSchema && (m.Chain == nil || s.Schema != api.ChainExportSchema) {
			return mismatch("the export of run %s has schema %q, which this version cannot compare", s.RunID, s.Schema)
		}
		if seen[s.RunID] {
			return mismatch("run %s is named twice%s", s.RunID, map[bool]string{true: ", or by two runs of its chain"}[m.Chain != nil])
		}
		seen[s.RunID] = true
		if s.TargetKind != api.ManagedKind && s.TargetKind != api.ConnectionKind {
			return mismatch("run %s is of kind %s; only runs of one managed or connected model are compared", s.RunID, orNone(s.TargetKind))
		}
		if len(s.Profiles) != 1 {
			return mismatch("run %s has %d benchmarks; only runs of one are compared", s.RunID, len(s.Profiles))
		}
		if err := consistent(m); err != nil {
			return err
		}
		for i, f := range fields(s) {
			if f.value == "" {
				return mismatch("the export of run %s does not record its %s, so it cannot be compared", s.RunID, f.name)
			}
			if was := fields(first)[i].value; was != f.value {
				return mismatch("run %s has %s %s, run %s has %s", s.RunID, f.name, short(f.value), first.RunID, short(was))
			}
		}
	}
	return nil
}

type field struct{ name, value string }

// fields are what runs must share, in the order in which a difference is told.
func fields(s api.ExportSummary) []field {
	id := s.Identities
	return []field{
		{"workspace", s.WorkspaceID},
		{"benchmark version", id.ProfileID},
		{"benchmark manifest", id.ManifestSHA256},
		{"dataset", id.DatasetAssetsSHA256},
		{"task population", id.PopulationSHA256},
		{"number of tasks in the population", count(id.PopulationCount)},
		{"task selection", id.TaskIDsHash},
		{"number of selected tasks", count(id.SelectedCount)},
		{"output format", id.OutputFormat},
	}
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// short keeps the beginning of a hash, which is enough to see that two differ.
func short(s string) string {
	if len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" {
		return s[:12]
	}
	return s
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// Reasons why a series is partial. The run's terminal reason stands beside them.
const (
	NotCompleted    = "not_completed"
	FewerGraded     = "graded_fewer_than_planned"
	ChainIncomplete = "chain_not_complete"
)

func series(label string, m Member) api.ComparisonSeries {
	s, p := m.Summary, m.Summary.Profiles[0]
	out := api.ComparisonSeries{
		Label: label, RunIDs: []string{s.RunID}, Status: string(s.Summary.Status), PartialReasons: []string{}, Model: model(s), Coverage: p.Counts, ErrorCounts: p.ErrorCounts, Native: p.Native,
		Headline: p.Headline, BillingState: "settled", Source: m.Source, Scores: m.ScoresFile, ResultChecksum: s.Checksum, RawAnswers: s.ExportPolicy.Answers,
	}
	if out.ErrorCounts == nil {
		out.ErrorCounts = map[string]int{}
	}
	out.Unscored, out.Model.Variant = unscored(s.Summary.Outcomes), variant(m)
	if m.Chain != nil {
		chained(&out, m)
	}
	if s.Summary.Status != api.StatusCompleted {
		out.PartialReasons = append(out.PartialReasons, NotCompleted)
		if r := s.Summary.TerminalReason; r != nil && *r != "" && *r != string(api.StatusCompleted) {
			out.PartialReasons = append(out.PartialReasons, *r)
		}
	}
	if p.Counts.Graded < p.Counts.Planned {
		out.PartialReasons = append(out.PartialReasons, FewerGraded)
	}
	if out.Chain != nil && !out.Chain.Complete && (out.Chain.Mismatches > 0 || len(out.PartialReasons) == 0) {
		out.PartialReasons = append(out.PartialReasons, ChainIncomplete)
	}
	out.Partial = len(out.PartialReasons) > 0
	if s.BillingSnapshot.Pending {
		out.BillingState = "pending"
		return out
	}
	switch b := s.BillingSnapshot; {
	case b.ChargedMicrousd != nil:
		out.ChargeMicrousd = b.ChargedMicrousd
	case s.TargetKind == api.ManagedKind:
		out.ChargeMicrousd = &b.SpendMicrousd
	}
	return out
}

func model(s api.ExportSummary) api.ComparedModel {
	m := s.Model
	out := api.ComparedModel{
		Kind: m.Kind, RouteID: m.RouteID, ConnectionID: m.ConnectionID, ModelID: m.ModelID, Name: m.DisplayName, Revision: m.Revision, Protocol: m.Protocol,
		Limits: m.Limits, Generation: map[string]any{}, Routing: m.Routing, Reasoning: s.Reasoning, Simulated: m.Simulated,
	}
	if out.Name == "" {
		out.Name = m.ModelID
	}
	for k, v := range m.Generation {
		if k != "reasoning" { // it has its own member
			out.Generation[k] = v
		}
	}
	return out
}

// Codes of warnings.
const (
	TransportDiffers  = "transport_differs"
	LimitsDiffer      = "limits_differ"
	GenerationDiffers = "generation_differs"
	RoutingDiffers    = "routing_differs"
	ReasoningDiffers  = "reasoning_differs"
	UnsettledBilling  = "unsettled_billing"
	AggregateOnly     = "aggregate_only"
	GradersDiffer     = "grader_versions_differ"
	TaskSetsDiffer    = "task_sets_differ"
)

// differences lists the settings in which series differ, and charges that are
// not settled.
func differences(all []api.ComparisonSeries) []api.ComparisonWarning {
	var out []api.ComparisonWarning
	for _, w := range []struct {
		code, what string
		value      func(api.ComparedModel) any
	}{
		{TransportDiffers, "transport", func(m api.ComparedModel) any { return m.Kind + " " + m.Protocol }},
		{LimitsDiffer, "limits", func(m api.ComparedModel) any { return m.Limits }},
		{GenerationDiffers, "generation settings", func(m api.ComparedModel) any { return m.Generation }},
		{RoutingDiffers, "routing settings", func(m api.ComparedModel) any { return m.Routing }},
		{ReasoningDiffers, "reasoning settings", func(m api.ComparedModel) any { return m.Reasoning }},
	} {
		var labels, values []string
		same := true
		for _, s := range all {
			v := text(w.value(s.Model))
			labels, values = append(labels, s.Label), append(values, s.Label+" "+v)
			same = same && v == text(w.value(all[0].Model))
		}
		if !same {
			out = append(out, api.ComparisonWarning{Code: w.code, Series: labels, Detail: w.what + ": " + strings.Join(values, "; ")})
		}
	}
	var open []string
	for _, s := range all {
		if s.BillingState != "settled" {
			open = append(open, s.Label)
		}
	}
	if len(open) > 0 {
		out = append(out, api.ComparisonWarning{Code: UnsettledBilling, Series: open, Detail: "charges that are not settled are left out"})
	}
	return out
}

// text is a setting as JSON, whose keys are in order.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "unreadable"
	}
	if t := string(b); t != "null" && t != "{}" {
		return t
	}
	return "none"
}
