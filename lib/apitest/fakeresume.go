package apitest

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
)

// continuation is what a quote of the fake goes on with.
type continuation struct {
	source *fakeRun
	plan   api.ContinuationPlan
}

// ExpireQuotes ends the life of every open quote.
func (f *Fake) ExpireQuotes() {
	f.mu.Lock()
	defer f.mu.Unlock()
	past := f.now().Add(-time.Second)
	for _, q := range f.quotes {
		if q.rec.RunID == nil {
			q.rec.ExpiresAt = past
		}
	}
	for _, g := range f.groups {
		if g.id == "" {
			g.quote.ExpiresAt = past
		}
	}
}

// RunID is the id of a run by its place, from the first.
func (f *Fake) RunID(place int) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.runs[place].rec.ID
}

// ShapePlans lays a JSON object over the plan of every later continuation, so
// that a test can say what another service would.
func (f *Fake) ShapePlans(over string) error {
	var plan api.ContinuationPlan
	if err := json.Unmarshal([]byte(over), &plan); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.planShape = over
	return nil
}

func (f *Fake) chainOf(r *fakeRun) (ids []string, newest *fakeRun) {
	first := r
	for first.quote.again != nil {
		first = first.quote.again.source
	}
	for newest = first; ; {
		ids = append(ids, newest.rec.ID)
		next := newest.after
		if next == nil {
			return ids, newest
		}
		newest = next
	}
}

func (f *Fake) getContinuation(in *request) (*reply, *failure) {
	r, x := f.find(in)
	if x != nil {
		return nil, x
	}
	_, newest := f.chainOf(r)
	until := newest.rec.Retention.RawExpiresAt
	return ok(api.ContinuationStatus{
		Supported: true, NewestRunID: newest.rec.ID, NewestStatus: newest.rec.Status, EvidenceExpiresAt: &until,
		NewestResumable: newest.rec.Status.Terminal() && newest.next < len(newest.tasks),
	})
}

func (f *Fake) getChain(in *request) (*reply, *failure) {
	r, x := f.find(in)
	if x != nil {
		return nil, x
	}
	ids, newest := f.chainOf(r)
	reason := "family"
	return ok(api.ChainRecord{
		RootRunID: ids[0], NewestRunID: newest.rec.ID, RunIDs: ids, Version: digest("chain", ids, newest.rec.Status), ReasonCode: &reason,
		Complete: newest.rec.Status == api.StatusCompleted, Status: newest.rec.Status,
	})
}

func (f *Fake) createContinuationQuote(in *request) (*reply, *failure) {
	r, x := f.find(in)
	if x != nil {
		return nil, x
	}
	var n api.NewContinuationQuote
	if x := in.decode(&n); x != nil {
		return nil, x
	}
	q, x := f.continuation(r, n)
	if x != nil {
		return nil, x
	}
	if !q.rec.Preview {
		f.quotes[q.rec.ID] = q
	}
	return ok(q.rec)
}

// continuation quotes what is left of a run. Nobody can accept the quote yet.
func (f *Fake) continuation(r *fakeRun, n api.NewContinuationQuote) (*fakeQuote, *failure) {
	if x := f.continuable(r); x != nil {
		return nil, x
	}
	m := api.ModelRef{Kind: r.quote.model.Kind}
	if m.Kind == api.ConnectionKind {
		m.ConnectionID = *r.quote.model.ConnectionID
	} else {
		m.RouteID = *r.quote.model.RouteID
	}
	cover := r.quote.rec.Plan.Coverage
	q, x := f.quote(api.NewQuote{
		Selection: api.Selection{ProfileIDs: []string{r.quote.bench.ID}}, Model: m, Coverage: &cover, MaxChargeMicrousd: n.MaxChargeMicrousd,
		Reasoning: r.quote.rec.Reasoning, OutputFormat: r.quote.rec.OutputFormat, Preview: n.MaxChargeMicrousd == nil,
	})
	if x != nil {
		return nil, x
	}
	q.again = &continuation{source: r, plan: f.plan(r, n)}
	q.rec.Continuation = &q.again.plan
	return q, limited(q.again.plan)
}

func (f *Fake) continuable(r *fakeRun) *failure {
	_, newest := f.chainOf(r)
	switch {
	case !r.rec.Status.Terminal():
		return refuse(http.StatusConflict, api.RunNotFinished, "the run has not ended; nothing was quoted")
	case r.after != nil:
		return refuse(http.StatusConflict, api.ContinuationExists, "the run was resumed already").with("run_id", newest.rec.ID).with("status", newest.rec.Status)
	case r.next == len(r.tasks):
		return refuse(http.StatusConflict, api.NothingToResume, "every task is decided; nothing was quoted")
	}
	return nil
}

// plan reuses what was decided and runs the rest, except where ShapePlans says
// otherwise.
func (f *Fake) plan(r *fakeRun, n api.NewContinuationQuote) api.ContinuationPlan {
	ids, _ := f.chainOf(r)
	p := api.ContinuationPlan{
		SourceRunID: r.rec.ID, RootRunID: ids[0], ChainIndex: len(ids), ChainRunIDs: ids, PlannedCells: len(r.tasks), ReusedCells: r.next, RerunCells: len(r.tasks) - r.next,
		LeftOut: api.ContinuationLeftOut{Reasons: []api.LeftOutReason{}}, Pending: api.ContinuationPending{Reasons: []api.PendingReason{}},
		UnknownRetry:     api.ContinuationRetry{Selected: n.RetryUnknown, Max: n.RetryUnknownMax},
		IncludeCancelled: n.IncludeCancelled, EvidenceExpiresAt: r.rec.Retention.RawExpiresAt,
		Compatibility: api.ContinuationCompatibility{OK: true, RuntimeSHA256: digest("runtime"), EvaluationSHA256: digest("evaluation"), Reasons: []string{}},
	}
	if f.planShape != "" {
		json.Unmarshal([]byte(f.planShape), &p) // read once before
	}
	p.UnknownRetry.Selected = n.RetryUnknown && p.UnknownRetry.Cells > 0
	return p
}

func limited(p api.ContinuationPlan) *failure {
	if u := p.UnknownRetry; u.Selected && u.Max != nil && u.Cells > *u.Max {
		return refuse(http.StatusUnprocessableEntity, api.RetryUnknownLimit, "more tasks have an unknown outcome than may be asked again").with("cells", u.Cells).with("max", *u.Max)
	}
	return nil
}

// agreed says whether a submission holds the consents that its quote needs.
func agreed(q *fakeQuote, a *api.Acknowledgements) *failure {
	if q.again == nil {
		return nil
	}
	if a == nil {
		a = &api.Acknowledgements{}
	}
	p := q.again.plan
	switch {
	case q.again.source.after != nil:
		return refuse(http.StatusConflict, api.ContinuationExists, "the run was resumed already").with("run_id", q.again.source.after.rec.ID)
	case p.LeftOut.AcknowledgementRequired && !a.LeftOut:
		return refuse(http.StatusUnprocessableEntity, api.LeftOutUnacknowledged, "tasks would be left out for good; nothing was started")
	case p.UnknownRetry.Selected && !a.RetryUnknown:
		return invalid(api.FieldError{Path: "acknowledgements.retry_unknown", Code: "required"})
	case p.UnknownRetry.Selected && p.UnknownRetry.ProviderMayBillAgain && !a.DuplicateProviderCharges:
		return refuse(http.StatusUnprocessableEntity, api.DuplicateCharges, "your provider may bill twice; nothing was started")
	}
	return nil
}

// takeOver gives a new run what its source has decided.
func (r *fakeRun) takeOver(c *continuation) {
	src := c.source
	src.after = r
	src.rec.ContinuedByRunID, r.rec.ContinuedFromRunID = &r.rec.ID, &src.rec.ID
	r.rec.ChainIndex, r.next = len(c.plan.ChainRunIDs), src.next
	r.rec.GradedCount, r.rec.ErrorCount, r.rec.ReusedCount = src.rec.GradedCount, src.rec.ErrorCount, src.rec.GradedCount
	r.rec.CompletedCount, r.rec.ProcessedCount = src.next, src.next
	for i := range src.next {
		id := r.tasks[i].OriginRunID
		r.tasks[i] = src.tasks[i]
		r.tasks[i].Reused, r.tasks[i].ChargeMicrousd = true, 0
		if r.tasks[i].OriginRunID == "" {
			r.tasks[i].OriginRunID = id
		}
		r.rec.Outcomes[*r.tasks[i].Outcome]++
		r.rec.Outcomes["pending"]--
	}
	if r.rec.Outcomes["pending"] <= 0 {
		delete(r.rec.Outcomes, "pending")
	}
}

func resumeState(r *fakeRun) api.ResumeState {
	if r.next == len(r.tasks) {
		return api.ResumeState{Status: "unavailable", ReasonCode: new("nothing_to_resume")}
	}
	return api.ResumeState{Status: "available"}
}
