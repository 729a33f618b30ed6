package httpapi

import (
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/lineage"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/offer"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/optional"
	"github.com/evalrouter/evalrouter/lib/api"
)

func quoteRecord(q core.QuoteState, now core.Micros) api.QuoteRecord {
	status := "open"
	switch {
	case q.Run != "":
		status = "accepted"
	case now >= q.ExpiresAt:
		status = "expired"
	}
	r := api.QuoteRecord{
		ID: string(q.ID), PriceVersion: offer.PriceVersion(q.Target), CreatedAt: optional.At(q.CreatedAt), ExpiresAt: optional.At(q.ExpiresAt), Plan: quotePlan(q.Quote),
		Retention: api.RetentionPolicy{RawDays: core.RawDays, SummaryDays: core.SummaryDays, StartsAt: "run_created_at"},
		Status:    status, RunID: optional.Text(q.Run), OutputFormat: new("default"), Reasoning: offer.ReasoningChoice(q.Reasoning), Concurrency: quoteConcurrency(q.Quote),
		Compatibility: api.Compatibility{OK: true, Reasons: []api.Reason{}}, Preview: q.Preview, Continuation: lineage.Plan(q.Quote), ExpiresIn: max(0, int64(q.ExpiresAt-now)/1_000_000),
	}
	if q.Cap > 0 {
		r.MaxChargeMicrousd = new(q.Cap)
	}
	if q.Target.Priced || len(q.Judges) > 0 {
		r.MinimumCapMicrousd = new(q.MinCap)
	}
	if q.Target.Metered() {
		r.ExternalCharges = new(externalCharges(q.Target))
	}
	return r
}

func externalCharges(t core.Target) string {
	if t.Priced {
		return "The provider bills you directly. The cap counts its reported usage at your declared rates."
	}
	return "The provider bills you directly, and the cap cannot bound it: no rates are declared."
}

func quotePlan(q core.Quote) api.QuotePlan {
	return api.QuotePlan{
		SchemaVersion: 1, Model: offer.Model(q), Coverage: coverage(q.Coverage), Profiles: []api.ProfileSelection{selection(q)}, Pricing: offer.Pricing(q.Target),
		SelectionSource: map[string]any{"kind": "profiles", "profile_ids": []string{string(q.Profile.ID)}}, TotalTasks: q.Coverage.N, Warnings: warnings(q.Warnings),
	}
}

func warnings(w []string) []string {
	if w == nil {
		return []string{}
	}
	return w
}

// coverage shows what is evaluated. The seed stands beside full coverage too:
// it decides the order.
func coverage(c core.Coverage) api.Coverage {
	out := api.Coverage{Mode: api.Sample, SampleCount: new(c.N), Seed: new(c.Seed)}
	if c.Full {
		out.Mode, out.SampleCount = api.Full, nil
	}
	return out
}

func selection(q core.Quote) api.ProfileSelection {
	return api.ProfileSelection{
		Judge: judgeSelection(q),
		ID:    string(q.Profile.ID), ManifestSHA256: q.Profile.ManifestSHA256, DatasetAssetsSHA256: q.Profile.DatasetSHA256,
		SamplingAlgorithm: core.OrderAlgorithm, TaskIDsHash: q.TaskIDsHash, PopulationCount: q.Profile.TaskCount, SelectedCount: q.Coverage.N, AttemptsPerTask: 1,
	}
}

// judgeSelection shows who grades. The record has room for one model; the
// protocol holds the whole panel.
func judgeSelection(q core.Quote) *api.JudgeSelection {
	if len(q.Judges) == 0 {
		return nil
	}
	panel := make([]api.SelectedModel, len(q.Judges))
	for i, j := range q.Judges {
		panel[i] = offer.TargetModel(j.Target, j.MaxOutputTokens)
	}
	return &api.JudgeSelection{Model: panel[0], Protocol: map[string]any{
		"grader": q.Profile.Grader.ID, "version": q.Profile.Grader.Version, "judges": panel, "vote": "most frequent grade, the first given on a tie",
		"max_output_tokens": q.Judges[0].MaxOutputTokens,
	}}
}

func quoteConcurrency(q core.Quote) api.QuoteConcurrency {
	reasons := warnings(q.LimitReasons)
	return api.QuoteConcurrency{
		Requested: api.Concurrency{Max: q.Concurrency.Max, N: q.Concurrency.N}, RunCeiling: q.Limit, Reasons: reasons,
		Profiles: []api.ProfileConcurrency{{ProfileID: string(q.Profile.ID), Ceiling: q.Limit, Reasons: reasons}},
	}
}
