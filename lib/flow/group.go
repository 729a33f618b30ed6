package flow

import (
	"context"
	"errors"
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
}

// GroupDesk is the person in front of a group's launch, or the policy that
// stands for one. Its questions are those of a Desk.
type GroupDesk interface {
	Quoted(ctx context.Context, q api.GroupQuoteRecord) error
	Cap(ctx context.Context, preview api.GroupQuoteRecord) (usd.Micro, error)
	Approve(ctx context.Context, q api.GroupQuoteRecord, before *api.GroupQuoteRecord) (bool, error)
	Repeat(ctx context.Context, ended api.GroupRecord) (bool, error)
	Note(text string)
}

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

// GroupLauncher turns orders of groups into groups. It keeps to the same rule
// as a Launcher: what was accepted is on the disk before it is submitted, and
// what is on the disk is submitted again, never something new. It knows the
// groups of its own journal, not those that other machines started.
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
	in := o.Quote
	in.Preview = in.MaxChargeMicrousd == nil
	q, err := l.Groups.Quote(ctx, in)
	if err != nil {
		return q, err
	}
	return q, l.Desk.Quoted(ctx, q)
}

// Launch finds or starts the group of an order, as Launcher.Launch does a run.
func (l *GroupLauncher) Launch(ctx context.Context, o GroupOrder) (LaunchedGroup, error) {
	fp, err := o.Request.Fingerprint()
	if err != nil {
		return LaunchedGroup{}, err
	}
	if err := l.Journal.Check(); err != nil {
		return LaunchedGroup{}, err
	}
	s := &groupLaunch{GroupLauncher: l, order: o, fingerprint: fp, began: l.Began}
	if s.began.IsZero() {
		s.began = l.Now()
	}
	if got, err := s.recover(ctx); err != nil || got != nil {
		return s.found(got, err)
	}
	return s.fresh(ctx)
}

// Finish records that the end of a group was seen, as best it can.
func (l *GroupLauncher) Finish(ctx context.Context, done LaunchedGroup) error {
	h, err := l.Journal.Lock(ctx, done.Fingerprint)
	if err != nil {
		return err
	}
	defer h.Unlock()
	op, err := h.Load()
	if err != nil || op == nil || op.GroupID == nil || *op.GroupID != done.Group.ID || op.State == Finished {
		return err
	}
	op.State = Finished
	return h.Save(*op)
}

// groupLaunch is one call of Launch.
type groupLaunch struct {
	*GroupLauncher
	order       GroupOrder
	fingerprint string
	began       time.Time
	// left is the quote of the saved operation that the person agreed to leave
	// behind.
	left string
}

func (s *groupLaunch) found(g *api.GroupRecord, err error) (LaunchedGroup, error) {
	if err != nil {
		return LaunchedGroup{}, err
	}
	return LaunchedGroup{Group: *g, Existing: true, Fingerprint: s.fingerprint}, nil
}

// groupStanding is where an order stands by its saved operation: a group to
// follow, a group that has ended, or nothing.
type groupStanding struct {
	group, ended *api.GroupRecord
	quoteID      string
}

// recover deals with what the journal holds. Questions are asked without the
// lock.
func (s *groupLaunch) recover(ctx context.Context) (*api.GroupRecord, error) {
	if op, err := s.Journal.Peek(s.fingerprint); err != nil || op == nil {
		return nil, err
	}
	h, err := s.Journal.Lock(ctx, s.fingerprint)
	if err != nil {
		return nil, err
	}
	st, err := s.look(ctx, h)
	if err := errors.Join(err, h.Unlock()); err != nil {
		return nil, err
	}
	if st.ended == nil {
		return st.group, nil
	}
	again, err := s.Desk.Repeat(ctx, *st.ended)
	if err != nil {
		return nil, err
	}
	if !again {
		return nil, declined()
	}
	s.left = st.quoteID
	return nil, nil
}

// look decides about the saved operation, holding its lock. After a standing
// with neither group the record may be saved over.
func (s *groupLaunch) look(ctx context.Context, h *Held) (groupStanding, error) {
	op, err := h.Load()
	if err != nil || op == nil {
		return groupStanding{}, err
	}
	switch {
	case op.QuoteID == s.left:
		h.Separate()
		return groupStanding{}, nil
	case op.State == Accepted && (!s.order.New || op.Options[NewOption]):
		s.Desk.Note("an earlier try of this command accepted a quote and is not known to have started; submitting the same quote again")
		g, err := s.submit(ctx, h, *op)
		switch {
		case replaced(err):
			return groupStanding{}, nil
		case errors.Is(err, api.NotFound):
			s.Desk.Note("the saved quote " + op.QuoteID + " is unknown to the service; starting afresh")
			h.Separate()
			return groupStanding{}, nil
		}
		return groupStanding{group: g}, err
	case s.order.New:
		h.Separate()
		return groupStanding{}, nil
	case op.GroupID == nil:
		return groupStanding{}, s.Journal.corrupt(s.Journal.path(h.fingerprint, h.generation), errors.New("it names no group"))
	}
	g, err := s.Groups.Get(ctx, *op.GroupID)
	switch {
	case errors.Is(err, api.NotFound):
		s.Desk.Note("the saved group " + *op.GroupID + " is unknown to the service; starting afresh")
		h.Separate()
		return groupStanding{}, nil
	case err != nil:
		return groupStanding{}, err
	case !g.Status.Terminal() || !s.order.New && op.CreatedAt.After(s.began):
		return groupStanding{group: &g}, nil
	case op.State == Finished && s.Now().Sub(op.UpdatedAt) > JustFinished:
		h.Separate()
		return groupStanding{}, nil
	}
	return groupStanding{ended: &g, quoteID: op.QuoteID}, nil
}

// fresh quotes, asks and accepts. A quote that dies in between is replaced; if
// the new one has other terms the question is asked again.
func (s *groupLaunch) fresh(ctx context.Context) (LaunchedGroup, error) {
	in, err := s.withCap(ctx)
	if err != nil {
		return LaunchedGroup{}, err
	}
	var before *api.GroupQuoteRecord
	for range 3 {
		q, err := s.Groups.Quote(ctx, in)
		if err != nil {
			return LaunchedGroup{}, err
		}
		if before == nil || !sameGroupTerms(*before, q) {
			if err := s.Desk.Quoted(ctx, q); err != nil {
				return LaunchedGroup{}, err
			}
			yes, err := s.Desk.Approve(ctx, q, before)
			if err != nil {
				return LaunchedGroup{}, err
			}
			if !yes {
				return LaunchedGroup{}, declined()
			}
		}
		got, err := s.accept(ctx, q)
		if !replaced(err) {
			return got, err
		}
		s.Desk.Note("the quote is no longer valid and nothing was started; here is a new one")
		before = &q
	}
	return LaunchedGroup{}, refuse(api.QuoteChanged, "three quotes in a row became invalid before they could be accepted", "nothing was started or charged")
}

// sameGroupTerms says that a quote offers exactly what another did.
func sameGroupTerms(a, b api.GroupQuoteRecord) bool {
	b.ID, b.Status, b.ExpiresIn, b.GroupID = a.ID, a.Status, a.ExpiresIn, a.GroupID
	b.CreatedAt, b.ExpiresAt = a.CreatedAt, a.ExpiresAt
	return sameJSON(a, b)
}

// withCap is the request for the quote, with a cap.
func (s *groupLaunch) withCap(ctx context.Context) (api.NewGroupQuote, error) {
	in := s.order.Quote
	if in.MaxChargeMicrousd != nil {
		return in, nil
	}
	in.Preview = true
	preview, err := s.Groups.Quote(ctx, in)
	if err != nil {
		return in, err
	}
	if err := s.Desk.Quoted(ctx, preview); err != nil {
		return in, err
	}
	spend, err := s.Desk.Cap(ctx, preview)
	if err != nil {
		return in, err
	}
	in.Preview, in.MaxChargeMicrousd = false, &spend
	return in, nil
}

// accept writes the operation down and submits it.
func (s *groupLaunch) accept(ctx context.Context, q api.GroupQuoteRecord) (LaunchedGroup, error) {
	h, err := s.Journal.Lock(ctx, s.fingerprint)
	if err != nil {
		return LaunchedGroup{}, err
	}
	defer h.Unlock()
	st, err := s.look(ctx, h) // another process may have been faster
	switch {
	case err != nil:
		return LaunchedGroup{}, err
	case st.group != nil:
		return s.found(st.group, nil)
	case st.ended != nil:
		return s.found(st.ended, nil)
	}
	op := api.Operation{
		Kind: GroupKind, BaseURL: s.order.Request.Origin, WorkspaceID: s.order.Request.Workspace,
		QuoteID: q.ID, IdempotencyKey: s.NewKey(), Options: map[string]bool{}, State: Accepted,
	}
	if q.MaxChargeMicrousd != nil {
		op.MaxChargeMicrousd = *q.MaxChargeMicrousd
	}
	if s.order.New {
		op.Options[NewOption] = true
	}
	if err := h.Save(op); err != nil {
		return LaunchedGroup{}, err
	}
	g, err := s.submit(ctx, h, op)
	if err != nil {
		return LaunchedGroup{}, err
	}
	return LaunchedGroup{Group: *g, Fingerprint: s.fingerprint}, nil
}

// submit sends a saved operation and records the answer.
func (s *groupLaunch) submit(ctx context.Context, h *Held, op api.Operation) (*api.GroupRecord, error) {
	g, err := patiently(ctx, op.IdempotencyKey, s.Sleep, func() (api.GroupRecord, error) {
		return s.Groups.Submit(ctx, api.NewGroup{GroupQuoteID: op.QuoteID}, evalrouter.IdempotencyKey(op.IdempotencyKey))
	})
	if id := detail(err, "group_id"); id != "" && errors.Is(err, api.QuoteAlreadyAccepted) {
		s.Desk.Note("the quote was accepted under another key already; following its group")
		g, err = s.Groups.Get(ctx, id)
	}
	if nothingStarted(err) {
		return nil, errors.Join(err, h.Forget())
	}
	if err != nil {
		return nil, err
	}
	op.State, op.GroupID = Submitted, &g.ID
	if err := h.Save(op); err != nil {
		// The group exists and the accepted record leads to it.
		s.Desk.Note(fmt.Sprintf("group %s started, but its record could not be updated: %s", g.ID, err))
	}
	return &g, nil
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
