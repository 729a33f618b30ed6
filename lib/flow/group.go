package flow

import (
	"context"
	"fmt"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// Groups is what the launch of a group needs of the service.
type Groups interface {
	Quote(ctx context.Context, in api.NewGroupQuote) (api.GroupQuoteRecord, error)
	Submit(ctx context.Context, in api.NewGroup, key evalrouter.IdempotencyKey) (api.GroupRecord, error)
	Get(ctx context.Context, id string) (api.GroupRecord, error)
	List(ctx context.Context, in evalrouter.GroupQuery) (api.Page[api.GroupRecord], error)
}

// GroupDesk is the person in front of the launch of a group.
type GroupDesk = DeskFor[api.GroupQuoteRecord, api.GroupRecord]

// GroupOrder is one group as it was asked for.
type GroupOrder struct {
	Request Request
	// Quote is what to ask for. Without a cap the desk is asked for one.
	Quote api.NewGroupQuote
	// New asks for separate work even if the same was done or is being done.
	New bool
}

// LaunchedGroup is the group that an order led to.
type LaunchedGroup struct {
	Group api.GroupRecord
	// Existing says that the group was there before: it was found, not started.
	Existing    bool
	Fingerprint string
}

// GroupLauncher turns orders of groups into groups, as a Launcher does orders
// of runs into runs.
type GroupLauncher struct {
	Groups  Groups
	Journal *Journal
	Desk    GroupDesk
	// NewKey makes an idempotency key that no other call makes.
	NewKey func() string
	Sleep  Sleeper
	Now    func() time.Time
	// Began is when the command began; zero means the call of Launch.
	Began time.Time
}

// Quote makes and shows the quote of an order, and starts nothing. Without a
// cap the quote is a preview.
func (l *GroupLauncher) Quote(ctx context.Context, o GroupOrder) (api.GroupQuoteRecord, error) {
	q, err := l.ask(ctx, o, o.Quote.MaxChargeMicrousd)
	if err != nil {
		return q, err
	}
	return q, l.Desk.Quoted(ctx, q)
}

func (l *GroupLauncher) ask(ctx context.Context, o GroupOrder, limit *usd.Micro) (api.GroupQuoteRecord, error) {
	in := o.Quote
	in.MaxChargeMicrousd, in.Preview = limit, limit == nil
	return l.Groups.Quote(ctx, in)
}

// Launch finds or starts the group of an order, as Launcher.Launch does a run.
func (l *GroupLauncher) Launch(ctx context.Context, o GroupOrder) (LaunchedGroup, error) {
	s := &launching[api.GroupQuoteRecord, api.GroupRecord]{
		kind: l.kind(o), desk: l.Desk, journal: l.Journal, newKey: l.NewKey, now: l.Now, began: l.Began, request: o.Request,
		cap: o.Quote.MaxChargeMicrousd, separate: o.New,
	}
	got, err := s.launch(ctx)
	if err != nil {
		return LaunchedGroup{}, err
	}
	return LaunchedGroup{Group: got.started, Existing: got.existing, Fingerprint: s.fingerprint}, nil
}

// recentGroups is how many groups are looked through for one that does the same.
const recentGroups = 50

// kind is how a group is launched.
func (l *GroupLauncher) kind(o GroupOrder) kind[api.GroupQuoteRecord, api.GroupRecord] {
	return kind[api.GroupQuoteRecord, api.GroupRecord]{
		name: "group", get: l.Groups.Get, same: SameGroupTerms, does: sameGroupWork, fits: func(api.GroupQuoteRecord) error { return nil }, id: groupID,
		quote: func(ctx context.Context, limit *usd.Micro) (api.GroupQuoteRecord, error) { return l.ask(ctx, o, limit) },
		submit: func(ctx context.Context, quoteID, key string) (api.GroupRecord, error) {
			return submitGroup(ctx, l.Groups, api.NewGroup{GroupQuoteID: quoteID}, key, l.Sleep)
		},
		recent: func(ctx context.Context) ([]api.GroupRecord, error) {
			page, err := l.Groups.List(ctx, evalrouter.GroupQuery{Paging: evalrouter.Paging{Limit: recentGroups}})
			return page.Data, err
		},
		offered: offeredGroup, begun: begunGroup,
	}
}

func offeredGroup(q api.GroupQuoteRecord) offered {
	return offered{q.ID, q.MaxChargeMicrousd, q.CreatedAt}
}

func begunGroup(g api.GroupRecord) begun {
	return begun{id: g.ID, quoteID: g.GroupQuoteID, status: g.Status, cap: g.CapMicrousd, finishedAt: g.FinishedAt}
}

// GroupSubmitter starts the runs of an accepted group quote.
type GroupSubmitter interface {
	Submit(ctx context.Context, in api.NewGroup, key evalrouter.IdempotencyKey) (api.GroupRecord, error)
}

// submitGroup sends the same group quote and key until the service has answered,
// as Submit does for a run.
func submitGroup(ctx context.Context, groups GroupSubmitter, in api.NewGroup, key string, sleep Sleeper) (api.GroupRecord, error) {
	return patiently(ctx, key, sleep, func() (api.GroupRecord, error) { return groups.Submit(ctx, in, evalrouter.IdempotencyKey(key)) })
}

// Finish records that the end of a group was seen, as best it can.
func (l *GroupLauncher) Finish(ctx context.Context, done LaunchedGroup) error {
	return finish(ctx, l.Journal, done.Fingerprint, done.Group.ID, groupID)
}

// Group finds the group that a beginning of an id means, among those that the
// service found for it.
func Group(typed string, found []api.GroupRecord) (*api.GroupRecord, error) {
	switch len(found) {
	case 1:
		return &found[0], nil
	case 0:
		return nil, refuse(api.RunUnknown, "no group begins with "+Typed(typed))
	}
	e := refuse(api.AmbiguousID, fmt.Sprintf("%s fits %d groups", Typed(typed), len(found)))
	for _, g := range found {
		e.Closest = append(e.Closest, g.ID)
	}
	return nil, e
}

// CheckGroupID says whether a typed text can be a group id or the beginning of
// one.
func CheckGroupID(typed string) error {
	if err := CheckRunID(typed); err != nil {
		return refuse(api.RunUnknown, Typed(typed)+" is not a group id", "a group id is a UUID, or at least its first 4 characters")
	}
	return nil
}
