package flow

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
)

// twin looks for a run that the service knows and the journal does not, from
// another machine or another command line, that does what the quote offers:
// the same benchmark version, model, coverage and reasoning. One that is alive
// is returned; one that has just ended is asked about. Ages are differences
// between two of the service's own times.
func (s *launch) twin(ctx context.Context, q api.QuoteRecord) (*api.RunRecord, error) {
	// Repeating an earlier run by its id asks for the same work on purpose.
	if s.order.New || s.left != "" || s.order.Request.SourceRunID != "" {
		return nil, nil
	}
	page, err := s.Runs.List(ctx, evalrouter.RunQuery{
		ProfileID: s.order.Request.ProfileID,
		RouteID:   s.order.Quote.Model.RouteID, ConnectionID: s.order.Quote.Model.ConnectionID,
		Paging: evalrouter.Paging{Limit: 20},
	})
	if err != nil {
		return nil, err
	}
	for i := range page.Data {
		r := &page.Data[i]
		if r.ContinuedFromRunID != nil || !sameWork(q, *r) {
			continue
		}
		if !r.Status.Terminal() {
			s.Desk.Note(fmt.Sprintf("run %s does the same and is %s, under its own cap of %s; following it (--new starts another)", r.ID, r.Status, r.CapMicrousd))
			return r, nil
		}
		if op, err := s.Journal.Peek(s.fingerprint); err != nil {
			return nil, err
		} else if op != nil && op.QuoteID == r.QuoteID && s.meanwhile(op) {
			return r, nil
		}
		if r.FinishedAt != nil && q.CreatedAt.Sub(*r.FinishedAt) <= JustFinished {
			return nil, s.askRepeat(ctx, standing{ended: r, quoteID: r.QuoteID})
		}
	}
	return nil, nil
}

func sameWork(q api.QuoteRecord, r api.RunRecord) bool {
	return r.Coverage != nil && sameJSON(q.Plan.Coverage, *r.Coverage) && sameJSON(q.Reasoning, r.Reasoning) &&
		sameJSON(profiles(q.Plan.Profiles), profiles(r.Profiles)) && sameModel(q.Plan.Model, r.Model)
}

func profiles(in []api.ProfileSelection) (ids []string) {
	for _, p := range in {
		ids = append(ids, p.ID)
	}
	return ids
}

func sameModel(a, b api.Model) bool {
	if a.Selected == nil || b.Selected == nil {
		return false
	}
	return deref(a.Selected.RouteID) == deref(b.Selected.RouteID) && deref(a.Selected.ConnectionID) == deref(b.Selected.ConnectionID)
}

// SameTerms says that a quote offers exactly what another did: the same work at
// the same rates under the same cap, with the same warnings. Only identity and
// dates may differ.
func SameTerms(a, b api.QuoteRecord) bool {
	b.ID, b.Status, b.ExpiresIn, b.RunID = a.ID, a.Status, a.ExpiresIn, a.RunID
	b.CreatedAt, b.ExpiresAt = a.CreatedAt, a.ExpiresAt
	return sameJSON(a, b)
}

func sameJSON(a, b any) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}
