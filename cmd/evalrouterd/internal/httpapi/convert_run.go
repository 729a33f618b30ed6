package httpapi

import (
	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/export"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/lineage"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/offer"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/optional"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/sample"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/stat"
	"github.com/evalrouter/evalrouter/lib/usd"
)

const (
	day        = core.Micros(24 * 3600 * 1_000_000)
	settled    = "settled"
	pending    = "pending"
	confidence = 0.95
)

// runStatus maps the store's state to one of the eight words that clients
// know. A run that stops by itself is on its way to its result.
func runStatus(r core.Run) api.RunStatus {
	switch {
	case r.State == core.Stopping && r.CancelRequestedAt != 0:
		return api.StatusCancelling
	case r.State == core.Stopping:
		return api.StatusFinalizing
	}
	return api.RunStatus(r.State)
}

// billingState is settled with the run's end: calls whose outcome nobody
// knows are waived, so nothing is left to reconcile.
func billingState(r core.Run) string {
	if r.State.Terminal() {
		return settled
	}
	return pending
}

func runRecord(r core.Run, q core.Quote, now core.Micros) api.RunRecord {
	cov := coverage(q.Coverage)
	t := r.Tallies
	out := api.RunRecord{
		ID: string(r.ID), Name: r.Name, ManifestHash: r.ScopeHash, Status: runStatus(r), BillingState: billingState(r), CapMicrousd: r.Cap,
		ReservedMicrousd: r.Reserved, SpendMicrousd: r.Spend(), PlannedCount: r.Planned, CompletedCount: t.Graded() + t.Errors(), ErrorCount: t.Errors(),
		Coverage: &cov, Model: offer.Model(q), Profiles: []api.ProfileSelection{selection(q)}, Metadata: r.Metadata, Retention: retention(r, now),
		CreatedAt: optional.At(r.CreatedAt), StartedAt: optional.Time(r.StartedAt), FinishedAt: optional.Time(r.EndedAt), CancelRequestedAt: optional.Time(r.CancelRequestedAt),
		RetryAt: optional.Time(r.RetryAt), WaitingReason: optional.Text(r.WaitingReason),
		QuoteID: string(r.QuoteID), GroupID: optional.Text(r.GroupID), ContinuedFromRunID: optional.Text(r.SourceRun), ContinuedByRunID: optional.Text(r.ContinuedBy), ChainIndex: r.ChainPos,
		ProcessedCount: processed(t), GradedCount: t.Graded(), Outcomes: outcomes(t), Headline: headlineOf(t, r.Planned, q), OutputFormat: new("default"), Reasoning: offer.ReasoningChoice(q.Reasoning),
		Concurrency: quoteConcurrency(q), ExternalSpendMicrousd: external(q, r.Metered, r.Absorbed), Resume: lineage.State(r, q, now), ReusedCount: lineage.Reused(q),
		Simulated: q.Simulated(),
	}
	if out.Metadata == nil {
		out.Metadata = map[string]string{}
	}
	if r.State.Terminal() {
		out.TerminalReason, out.TerminalDetail = optional.Text(r.Reason), optional.Text(r.Detail)
	}
	return out
}

func retention(r core.Run, now core.Micros) api.RunRetention {
	raw := r.CreatedAt + core.RawDays*day
	return api.RunRetention{RawEvidenceExpired: now >= raw, RawExpiresAt: optional.At(raw), SummaryExpiresAt: optional.At(r.CreatedAt + core.SummaryDays*day)}
}

// processed counts the tasks that are done with. A call whose outcome is still
// open is not.
func processed(t core.Tallies) int { return t.Total() - t[core.PendingTask] }

// outcomes keeps the labels that occurred.
func outcomes(t core.Tallies) map[string]int {
	out := map[string]int{}
	for o, n := range t {
		if n > 0 {
			out[string(o)] = n
		}
	}
	return out
}

// headlineOf is the share of right answers so far; null before the first.
func headlineOf(t core.Tallies, planned int, q core.Quote) *api.Headline {
	n := t.Graded()
	if n == 0 {
		return nil
	}
	right := t[bundle.Right]
	w := stat.Wilson(right, n, confidence)
	return &api.Headline{
		Key: sample.Headline, Name: "Accuracy", Value: float64(right) / float64(n), Denominator: n,
		Interval: interval(core.Interval{Method: "wilson", Lower: w.Lower, Upper: w.Upper}, n, planned, q),
	}
}

// interval tells what an interval is about: the tasks that were not asked, or
// with full coverage what another draw of such tasks would give.
func interval(in core.Interval, n, planned int, q core.Quote) *api.Interval {
	target := "benchmark_tasks"
	if q.Coverage.N == q.Profile.TaskCount {
		target = "tasks_like_these"
	}
	return &api.Interval{
		Method: in.Method, Target: target, Weights: "equal", Lower: sample.Finite(in.Lower), Upper: sample.Finite(in.Upper), Confidence: confidence, Approximate: true,
		SampleCount: n, EligibleCount: planned, StrataCount: 1,
	}
}

// external is what the owner's provider bills at the declared rates, beyond the
// bound of a call too: that is the owner's, though no cap could hold it. Where
// managed judges are asked as well, what was beyond a bound may be theirs, which
// the service bears, and is left out.
func external(q core.Quote, metered, absorbed usd.Micro) usd.Micro {
	if q.Hold() != 0 {
		return metered
	}
	return metered + absorbed
}

func receipt(r core.Run, q core.Quote, now core.Micros) api.RunReceipt {
	return api.RunReceipt{
		RunID: string(r.ID), BillingState: billingState(r), CapMicrousd: r.Cap, ReservedMicrousd: r.Reserved, SpendMicrousd: r.Spend(), Currency: "USD",
		CreatedAt: optional.At(r.CreatedAt), SummaryExpiresAt: optional.At(r.CreatedAt + core.SummaryDays*day),
		ReportExpired: now >= r.CreatedAt+core.SummaryDays*day, ExternalSpendMicrousd: external(q, r.Metered, r.Absorbed),
	}
}

// extractedShown bounds the extracted answer in a task list.
const extractedShown = 80

func taskRecord(r export.Run, row export.Row) api.TaskRecord {
	origin, reused := lineage.Origin(row.Sample, r.ID)
	return api.TaskRecord{
		Index: row.Idx, ProfileID: string(r.Quote.Profile.ID), TaskID: row.TaskID, Attempt: row.Attempt, Status: row.Status, Outcome: optional.Text(row.Outcome),
		ErrorCode: optional.Text(row.Code), Scores: sample.Scores(row), Extracted: optional.Text(shorten(row.Extracted)), OriginRunID: origin, Reused: reused,
		ChargeMicrousd: row.Charge, StartedAt: optional.Time(row.StartedAt), FinishedAt: optional.Time(row.EndedAt),
	}
}

func shorten(s string) string {
	if r := []rune(s); len(r) > extractedShown {
		return string(r[:extractedShown])
	}
	return s
}
