package flow

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/evalrouter/evalrouter/lib/api"
)

// twin looks for a run, or a group, that the service knows and the journal does
// not, from another machine, another command line or under another cap, that does
// what the quote offers: the same benchmark version, models, coverage and
// reasoning. One that is alive is returned; one that has just ended is asked
// about. Ages are differences between two of the service's own times.
func (s *launching[Q, R]) twin(ctx context.Context, q Q) (*R, error) {
	// Repeating an earlier run by its id asks for the same work on purpose.
	if s.separate || s.left != "" || s.request.SourceRunID != "" {
		return nil, nil
	}
	all, err := s.recent(ctx)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if !s.does(q, all[i]) {
			continue
		}
		b := s.begun(all[i])
		if !b.status.Terminal() {
			s.desk.Note(fmt.Sprintf("%s %s does the same and is %s, under its own cap of %s; following it (--new starts another)", s.name, b.id, b.status, b.cap))
			return &all[i], nil
		}
		if op, err := s.journal.Peek(s.fingerprint); err != nil {
			return nil, err
		} else if op != nil && op.QuoteID == b.quoteID && s.meanwhile(op) {
			return &all[i], nil
		}
		if b.finishedAt != nil && s.offered(q).createdAt.Sub(*b.finishedAt) <= JustFinished {
			return nil, s.askRepeat(ctx, standing[R]{ended: &all[i], quoteID: b.quoteID})
		}
	}
	return nil, nil
}

func sameWork(q api.QuoteRecord, r api.RunRecord) bool {
	return r.ContinuedFromRunID == nil && r.Coverage != nil && sameJSON(q.Plan.Coverage, *r.Coverage) && sameJSON(q.Reasoning, r.Reasoning) &&
		sameJSON(profiles(q.Plan.Profiles), profiles(r.Profiles)) && sameModel(q.Plan.Model, r.Model)
}

func sameGroupWork(q api.GroupQuoteRecord, g api.GroupRecord) bool {
	return g.SourceGroupID == nil && g.Coverage != nil && sameJSON(q.Coverage, *g.Coverage) &&
		sameJSON(profiles(q.Profiles), profiles(g.Profiles)) && slices.Equal(quotedModels(q.Members), startedModels(g.Members))
}

// quotedModels and startedModels are what a group's members ask, in an order that
// does not depend on how they were listed.
func quotedModels(members []api.GroupQuoteMember) (out []string) {
	for _, m := range members {
		out = append(out, asks(m.Model, m.Reasoning))
	}
	slices.Sort(out)
	return out
}

func startedModels(members []api.GroupMember) (out []string) {
	for _, m := range members {
		out = append(out, asks(m.Model, m.Reasoning))
	}
	slices.Sort(out)
	return out
}

func asks(m api.SelectedModel, r *api.ReasoningChoice) string {
	b, err := json.Marshal([]any{deref(m.RouteID), deref(m.ConnectionID), r})
	if err != nil {
		return "" // texts and numbers always marshal
	}
	return string(b)
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

// SameGroupTerms says so of two group quotes.
func SameGroupTerms(a, b api.GroupQuoteRecord) bool {
	b.ID, b.Status, b.ExpiresIn, b.GroupID = a.ID, a.Status, a.ExpiresIn, a.GroupID
	b.CreatedAt, b.ExpiresAt = a.CreatedAt, a.ExpiresAt
	return sameJSON(a, b)
}

func sameJSON(a, b any) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}
