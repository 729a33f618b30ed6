package apitest

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/report"
)

// freeze makes the result of a run that has ended.
func (f *Fake) freeze(r *fakeRun, at time.Time) *api.ResultRecord {
	rec := r.rec
	skipped, cancelled := rec.Outcomes["skipped_budget"], rec.Outcomes["cancelled"]
	counts := api.CoverageCounts{Planned: len(r.tasks), Attempted: r.next, Graded: rec.GradedCount, Errors: rec.ErrorCount, Cancelled: cancelled, SkippedBudget: skipped}
	bill := api.BillingSnapshot{AsOf: at, CapMicrousd: rec.CapMicrousd, SpendMicrousd: rec.SpendMicrousd, ChargedMicrousd: &rec.SpendMicrousd}
	basis := "managed_total"
	total := &rec.SpendMicrousd
	if r.quote.model.Kind == api.ConnectionKind {
		basis, total = "platform_fees_only", nil
	}
	eligible := *r.quote.bench.TaskCount
	return &api.ResultRecord{
		ID: digest("result", rec.ID)[:32], RunID: rec.ID, ManifestHash: rec.ManifestHash, Checksum: digest(rec.ID, rec.Outcomes, rec.SpendMicrousd),
		Version: 1, FinalizedAt: at, Model: rec.Model, Coverage: rec.Coverage, Retention: rec.Retention, BenchmarkNotices: []api.BenchmarkNotice{},
		Simulated: rec.Simulated, Warnings: []string{},
		Profiles: []api.ProfileResult{{
			ProfileID: r.quote.bench.ID, UnitID: r.quote.bench.ID, Name: *r.quote.bench.Name, Runner: "inspect", Status: string(rec.Status),
			UncertaintyNote: "A 95 % Wilson interval for the benchmark's tasks.", Selection: rec.Profiles[0],
			Planned: counts.Planned, Graded: counts.Graded, Errors: counts.Errors, Cancelled: cancelled, SkippedBudget: skipped, Eligible: &eligible,
			Metrics: metrics(r), HeadlineKey: new("accuracy"), Native: map[string]any{"accuracy": headlineValue(r)}, DataLicense: r.quote.bench.DataLicense,
		}},
		Summary: api.ResultSummary{
			SchemaVersion: 1, RunID: rec.ID, Name: rec.Name, ManifestHash: rec.ManifestHash, ResultVersion: 1, Status: rec.Status,
			TerminalReason: rec.TerminalReason, FinishedAt: at, Coverage: counts, BillingSnapshot: bill, Outcomes: rec.Outcomes,
		},
		Costs: api.ResultCosts{
			AsOf: at, Basis: basis, Currency: "USD", Note: "Charges of this service.",
			Profiles: []api.ProfileCost{{ProfileID: r.quote.bench.ID, ChargedMicrousd: rec.SpendMicrousd, TotalCostMicrousd: total}},
		},
	}
}

func headlineValue(r *fakeRun) any {
	if r.rec.Headline == nil {
		return nil
	}
	return r.rec.Headline.Value
}

func metrics(r *fakeRun) []api.MetricRecord {
	h := r.rec.Headline
	if h == nil {
		return []api.MetricRecord{}
	}
	return []api.MetricRecord{{
		Key: h.Key, Name: h.Name, Task: r.quote.bench.Slug, Source: "inspect", Value: h.Value, Direction: new("higher_is_better"),
		SampleCount: &h.Denominator, Uncertainty: &api.Uncertainty{Interval: h.Interval},
	}}
}

// finished reads the run of a request that asks for its result.
func (f *Fake) finished(in *request) (*fakeRun, *failure) {
	r, x := f.find(in)
	if x != nil {
		return nil, x
	}
	version, x := in.number("version", 1, 1, 1<<30)
	switch {
	case x != nil:
		return nil, x
	case r.result == nil:
		return nil, refuse(http.StatusConflict, api.RunNotFinished, "the run has not finished")
	case version != 1:
		return nil, notFound("version of the result")
	}
	return r, nil
}

func (f *Fake) getResults(in *request) (*reply, *failure) {
	r, x := f.finished(in)
	if x != nil {
		return nil, x
	}
	return ok(*r.result)
}

func (f *Fake) export(in *request) (*reply, *failure) {
	r, x := f.finished(in)
	if x != nil {
		return nil, x
	}
	format := in.URL.Query().Get("format")
	var b []byte
	kind := "application/json"
	switch format {
	case "", "json":
		format = "json"
		b, _ = json.Marshal(f.fullExport(r))
	case "summary":
		b, _ = json.Marshal(f.summary(r, api.ExportSummarySchema))
	case "scores":
		b, kind = scoresExport(r), "application/x-ndjson"
	case "csv":
		b, kind = csvExport(r), "text/csv; charset=utf-8"
	case "html", "md", "github", "junit":
		b, kind = f.report(r, format)
	default:
		return nil, invalid(api.FieldError{Path: "format", Code: "unknown"})
	}
	return &reply{body: b, header: map[string]string{
		"Content-Type": kind, "X-Result-Version": "1", "X-Content-SHA256": sha256Hex(string(b)),
		"Content-Disposition": fmt.Sprintf("attachment; filename=%q", "run-"+r.rec.ID[:8]+"."+format),
	}}, nil
}

func scoresExport(r *fakeRun) []byte {
	var out bytes.Buffer
	for _, t := range r.tasks {
		line := api.ScoreLine{TaskID: t.TaskID, Attempt: t.Attempt, Outcome: *t.Outcome}
		if v, ok := t.Scores["accuracy"]; ok {
			line.Score = &v
		}
		b, _ := json.Marshal(line)
		out.Write(append(b, '\n'))
	}
	return out.Bytes()
}

func (f *Fake) summary(r *fakeRun, schema string) api.ExportSummary {
	p := r.rec.Profiles[0]
	grader := api.GraderRecord{ID: "exact", Version: "1", SHA256: digest("exact")}
	head := api.ExportHeadline{Key: "accuracy", Name: "Accuracy", Direction: "higher_is_better"}
	if h := r.rec.Headline; h != nil {
		head.Value, head.Denominator = &h.Value, h.Denominator
	}
	errors := map[string]int{}
	if r.rec.ErrorCount > 0 {
		errors["provider_error"] = r.rec.ErrorCount
	}
	return api.ExportSummary{
		Schema: schema, RunID: r.rec.ID, ResultVersion: 1, WorkspaceID: f.WorkspaceID, GeneratedAt: r.result.FinalizedAt, TargetKind: r.quote.model.Kind,
		Identities: api.ExportIdentities{
			ProfileID: p.ID, Slug: r.quote.bench.Slug, Version: r.quote.bench.Version, ManifestSHA256: p.ManifestSHA256, DatasetAssetsSHA256: p.DatasetAssetsSHA256,
			PopulationCount: p.PopulationCount, PopulationSHA256: digest("population", r.quote.bench.Slug, p.PopulationCount), SelectedCount: p.SelectedCount,
			TaskIDsHash: p.TaskIDsHash, SamplingAlgorithm: p.SamplingAlgorithm, Coverage: *r.rec.Coverage, OutputFormat: "default", Graders: []api.GraderRecord{grader},
		},
		Model: r.quote.model, Reasoning: r.rec.Reasoning, Summary: r.result.Summary,
		Profiles: []api.ExportProfile{{
			ProfileID: p.ID, Native: r.result.Profiles[0].Native, Headline: head, Metrics: metrics(r), Counts: r.result.Summary.Coverage, ErrorCounts: errors,
		}},
		BillingSnapshot: r.result.Summary.BillingSnapshot,
		ExportPolicy:    api.ExportPolicy{Answers: "included", RawExpiresAt: r.rec.Retention.RawExpiresAt}, Checksum: r.result.Checksum,
	}
}

func (f *Fake) fullExport(r *fakeRun) api.Export {
	e := api.Export{ExportSummary: f.summary(r, api.ExportSchema), Result: *r.result}
	for i, t := range r.tasks {
		s := api.ExportSample{
			ProfileID: t.ProfileID, TaskID: t.TaskID, Attempt: t.Attempt, Status: t.Status, Outcome: *t.Outcome, ErrorCode: t.ErrorCode, Scores: t.Scores,
			ChargeMicrousd: t.ChargeMicrousd, Grader: e.Identities.Graders[0], OriginRunID: t.OriginRunID,
		}
		if t.Status == "graded" {
			index := r.quote.indices[i]
			s.Answer, s.AnswerSHA256, s.FinishReason = t.Extracted, new(sha256Hex(*t.Extracted)), new("stop")
			s.Usage = &api.SampleUsage{InputTokens: inputTokens(index), OutputTokens: outputTokens(index)}
		}
		e.Samples = append(e.Samples, s)
	}
	return e
}

// report renders a run as the service does.
func (f *Fake) report(r *fakeRun, format string) ([]byte, string) {
	e := f.fullExport(r)
	tasks := func(yield func(report.Task, error) bool) {
		for i, s := range e.Samples {
			if !yield(report.Task{Index: i, ExportSample: s}, nil) {
				return
			}
		}
	}
	var b bytes.Buffer
	kind := "text/markdown; charset=utf-8"
	rep, err := report.From(e, nil)
	switch {
	case err != nil:
	case format == "html":
		kind, err = "text/html; charset=utf-8", report.HTML(&b, rep, tasks, 0)
	case format == "junit":
		kind, err = "application/xml; charset=utf-8", report.JUnit(&b, rep, tasks)
	case format == "github":
		err = report.GitHubSummary(&b, rep, tasks)
	default:
		err = report.Markdown(&b, rep, tasks)
	}
	if err != nil {
		panic(err) // a run of the fake always has a report
	}
	return b.Bytes(), kind
}

func csvExport(r *fakeRun) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write([]string{"profile_id", "task_id", "attempt", "status", "outcome", "error_code", "charge_microusd", "score_accuracy"})
	for _, t := range r.tasks {
		code, value := "", ""
		if t.ErrorCode != nil {
			code = *t.ErrorCode
		}
		if v, graded := t.Scores["accuracy"]; graded {
			value = strconv.FormatFloat(v, 'g', -1, 64)
		}
		w.Write([]string{t.ProfileID, t.TaskID, strconv.Itoa(t.Attempt), t.Status, *t.Outcome, code, t.ChargeMicrousd.Wire(), value})
	}
	w.Flush()
	return b.Bytes()
}
