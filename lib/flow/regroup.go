package flow

import (
	"context"
	"strings"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"
)

// GroupContinuer is what the resume of a group needs of the service's groups.
type GroupContinuer interface {
	GroupSubmitter
	Get(ctx context.Context, id string) (api.GroupRecord, error)
	GetQuote(ctx context.Context, id string) (api.GroupQuoteRecord, error)
	ContinuationQuote(ctx context.Context, id string, in api.NewContinuationQuote) (api.GroupQuoteRecord, error)
}

// GroupResumeDesk is the person in front of the resume of a group. Its quotes
// name every member: those with a plan are gone on with, the others stand aside
// with the reason.
type GroupResumeDesk = ResumeDeskFor[api.GroupQuoteRecord, api.GroupRecord]

// GroupResumer continues groups, as a Resumer does runs: one quote for every
// member that has something left, under one cap.
type GroupResumer struct {
	Groups  GroupContinuer
	Journal *Journal
	Desk    GroupResumeDesk
	// NewKey makes an idempotency key that no other call makes.
	NewKey func() string
	Sleep  Sleeper
}

// Preview quotes what a resume would do, and starts nothing. A group that goes on
// and of which nothing can be resumed yet is given back instead.
func (l *GroupResumer) Preview(ctx context.Context, o ResumeOrder) (*api.GroupQuoteRecord, *api.GroupRecord, error) {
	return l.resuming(o).preview(ctx)
}

// Resume finds or starts the continuation of a group. What Resumer.Resume says
// about repeats holds here too. A group whose members go on in part is quoted for
// those that have ended.
func (l *GroupResumer) Resume(ctx context.Context, o ResumeOrder) (LaunchedGroup, error) {
	s := l.resuming(o)
	got, err := s.resume(ctx)
	if err != nil {
		return LaunchedGroup{}, err
	}
	return LaunchedGroup{Group: got.started, Existing: got.existing, Fingerprint: s.fingerprint}, nil
}

// Finish records that the end of a group was seen, as best it can.
func (l *GroupResumer) Finish(ctx context.Context, done LaunchedGroup) error {
	return finish(ctx, l.Journal, done.Fingerprint, done.Group.ID, groupID)
}

func (l *GroupResumer) resuming(o ResumeOrder) *resuming[api.GroupQuoteRecord, api.GroupRecord] {
	return &resuming[api.GroupQuoteRecord, api.GroupRecord]{
		continuing: continuing[api.GroupQuoteRecord, api.GroupRecord]{
			name: "group", get: l.Groups.Get, newest: l.newest, quote: l.Groups.ContinuationQuote, kept: l.Groups.GetQuote, same: SameGroupTerms, id: groupID,
			submit: func(ctx context.Context, quoteID string, a *api.Acknowledgements, key string) (api.GroupRecord, error) {
				return submitGroup(ctx, l.Groups, api.NewGroup{GroupQuoteID: quoteID, Acknowledgements: a}, key, l.Sleep)
			},
			fits:    func(api.GroupQuoteRecord) error { return nil },
			offered: offeredGroup, begun: begunGroup, plans: groupPlans, unquotable: unquotable,
		},
		desk: l.Desk, journal: l.Journal, newKey: l.NewKey, order: o, source: o.Group,
	}
}

// newest walks to the newest group of a chain. No chain has a group twice, so a
// service that says so is not followed around.
func (l *GroupResumer) newest(ctx context.Context, g api.GroupRecord) (api.GroupRecord, error) {
	seen := map[string]bool{g.ID: true}
	for g.ContinuedByGroupID != nil && !seen[*g.ContinuedByGroupID] {
		next, err := l.Groups.Get(ctx, *g.ContinuedByGroupID)
		if err != nil {
			return g, err
		}
		seen[next.ID] = true
		g = next
	}
	return g, nil
}

// groupPlans are the plans of the members that a quote goes on with.
func groupPlans(q api.GroupQuoteRecord) (out []*api.ContinuationPlan) {
	for _, m := range q.Members {
		if m.Eligible {
			out = append(out, m.Continuation)
		}
	}
	return out
}

// GroupLeftOut is what a quote leaves out for good, of all members that it goes on
// with.
func GroupLeftOut(q api.GroupQuoteRecord) (all api.ContinuationLeftOut) {
	for _, p := range groupPlans(q) {
		if p != nil {
			all.Cells += p.LeftOut.Cells
			all.Reasons = added(all.Reasons, p.LeftOut.Reasons)
		}
	}
	return all
}

// added is a list of reasons with others counted in.
func added(to, more []api.LeftOutReason) []api.LeftOutReason {
next:
	for _, r := range more {
		for i := range to {
			if to[i].Code == r.Code {
				to[i].Cells += r.Cells
				continue next
			}
		}
		to = append(to, r)
	}
	return to
}

// Aside is in words why a quote does not go on with a member. A reason that this
// version does not know stands as the service sent it.
func Aside(code string) string {
	switch api.Code(code) {
	case "cancelled":
		return "what is left of it was stopped by a person or the time limit"
	case api.NothingToResume:
		return "nothing is left to run"
	case api.RunNotFinished:
		return "it goes on and is only watched"
	case api.EvidenceExpired:
		return "its recorded answers have expired"
	case api.EvidenceIncompatible:
		return "what it asked has changed since"
	}
	return strings.ReplaceAll(string(plain.Line(code)), "_", " ")
}

// unquotable says that no member of a group has ended and may have something
// left. A run that was resumed by itself may have it in a later run.
func unquotable(g api.GroupRecord) bool {
	for _, m := range g.Members {
		if m.Status.Terminal() && (m.Resume.Status != "unavailable" || deref(m.Resume.ReasonCode) == string(api.ContinuationExists)) {
			return false
		}
	}
	return true
}

var _ GroupContinuer = (*evalrouter.Groups)(nil)
