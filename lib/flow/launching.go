package flow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// JustFinished is how long after the end of a run or a group the same command is
// taken for a slip rather than for a wish to run again.
const JustFinished = 10 * time.Minute

// DeskFor is the person in front of a launch, or the policy that stands for one.
// Q is the quote, R what it starts.
type DeskFor[Q, R any] interface {
	// Quoted shows a quote. It is called for every quote, before any question.
	Quoted(ctx context.Context, q Q) error
	// Cap asks for the spending cap, given a preview.
	Cap(ctx context.Context, preview Q) (usd.Micro, error)
	// Approve asks whether to start. before is the quote that was approved
	// already and had to be replaced by one with other terms, nil the first time.
	Approve(ctx context.Context, q Q, before *Q) (bool, error)
	// Repeat asks whether to start again although the given one did the same
	// and has just ended.
	Repeat(ctx context.Context, ended R) (bool, error)
	// Note tells something that needs no answer.
	Note(text string)
}

// offered is what a launch looks at in a quote, and begun what it looks at in
// what a quote started.
type (
	offered struct {
		id        string
		cap       *usd.Micro
		createdAt time.Time
	}
	begun struct {
		id, quoteID string
		status      api.RunStatus
		cap         usd.Micro
		finishedAt  *time.Time
	}
)

// kind is what differs between launching one run and launching a group.
type kind[Q, R any] struct {
	// name is the word for an R.
	name string
	// quote asks for the order's quote; without a cap it is a preview.
	quote  func(ctx context.Context, cap *usd.Micro) (Q, error)
	submit func(ctx context.Context, quoteID, key string) (R, error)
	get    func(ctx context.Context, id string) (R, error)
	// recent lists what the service knows and may do the order's work, the newest
	// first.
	recent  func(ctx context.Context) ([]R, error)
	offered func(Q) offered
	begun   func(R) begun
	// same says that two quotes have the same terms, and does that something does
	// what a quote offers.
	same func(a, b Q) bool
	does func(Q, R) bool
	// fits refuses a quote that cannot be accepted.
	fits func(Q) error
	// id is where a saved operation keeps the id of what it started.
	id func(*api.Operation) **string
}

// launching is one launch of either kind. What was accepted is on the disk
// before it is submitted, and what is on the disk is submitted again, never
// something new.
type launching[Q, R any] struct {
	kind[Q, R]
	desk    DeskFor[Q, R]
	journal *Journal
	newKey  func() string
	now     func() time.Time
	// began is when the command began.
	began   time.Time
	request Request
	// cap is that of the order, nil where the desk is to be asked for one.
	cap *usd.Micro
	// separate asks for other work than was done or is being done.
	separate    bool
	fingerprint string
	// left is the quote of the saved operation that the person agreed to leave
	// behind.
	left string
}

// launched is what a launch led to. existing says that it was there before.
type launched[R any] struct {
	started  R
	existing bool
}

// launch finds or starts what was ordered.
func (s *launching[Q, R]) launch(ctx context.Context) (launched[R], error) {
	var err error
	if s.fingerprint, err = s.request.Fingerprint(); err != nil {
		return launched[R]{}, err
	}
	if err := s.journal.Check(); err != nil {
		return launched[R]{}, err
	}
	if s.began.IsZero() {
		s.began = s.now()
	}
	if got, err := s.recover(ctx); err != nil || got != nil {
		return found(got, err)
	}
	return s.fresh(ctx)
}

func found[R any](got *R, err error) (launched[R], error) {
	if err != nil {
		return launched[R]{}, err
	}
	return launched[R]{*got, true}, nil
}

// recover deals with what the journal holds. Questions are asked without the
// lock, so that nobody waits for a person who has gone to lunch.
func (s *launching[Q, R]) recover(ctx context.Context) (*R, error) {
	if op, err := s.journal.Peek(s.fingerprint); err != nil || op == nil {
		return nil, err
	}
	h, err := s.journal.Lock(ctx, s.fingerprint)
	if err != nil {
		return nil, err
	}
	st, err := s.look(ctx, h)
	if err := errors.Join(err, h.Unlock()); err != nil {
		return nil, err
	}
	if st.ended == nil {
		return st.alive, nil
	}
	return nil, s.askRepeat(ctx, st)
}

func (s *launching[Q, R]) askRepeat(ctx context.Context, st standing[R]) error {
	again, err := s.desk.Repeat(ctx, *st.ended)
	if err != nil {
		return err
	}
	if !again {
		return declined()
	}
	s.left = st.quoteID
	return nil
}

// standing is where an order stands by its saved operation: something to follow,
// something that has ended, or nothing.
type standing[R any] struct {
	alive, ended *R
	quoteID      string
}

// look decides about the saved operation, holding its lock. After a standing
// with neither the record may be saved over: look has moved to a new generation
// if the old one must stay.
func (s *launching[Q, R]) look(ctx context.Context, h *Held) (st standing[R], err error) {
	op, err := h.Load()
	if err != nil || op == nil {
		return st, err
	}
	switch {
	case op.QuoteID == s.left:
		h.Separate()
		return st, nil
	case op.State == Accepted && (!s.separate || op.Options[NewOption]):
		return s.resubmit(ctx, h, *op)
	case s.separate:
		h.Separate()
		return st, nil
	}
	id := *s.id(op)
	if id == nil {
		return st, s.journal.corrupt(s.journal.path(h.fingerprint, h.generation), errors.New("it names no "+s.name))
	}
	got, err := s.get(ctx, *id)
	switch {
	case errors.Is(err, api.NotFound):
		s.desk.Note("the saved " + s.name + " " + *id + " is unknown to the service; starting afresh")
		h.Separate()
		return st, nil
	case err != nil:
		return st, err
	case !s.begun(got).status.Terminal() || s.meanwhile(op):
		return standing[R]{alive: &got}, nil
	case op.State == Finished && s.now().Sub(op.UpdatedAt) > JustFinished:
		h.Separate()
		return st, nil
	}
	return standing[R]{ended: &got, quoteID: op.QuoteID}, nil
}

// resubmit sends what an earlier process accepted and may have sent.
func (s *launching[Q, R]) resubmit(ctx context.Context, h *Held, op api.Operation) (st standing[R], err error) {
	s.desk.Note("an earlier try of this command accepted a quote and is not known to have started; submitting the same quote again")
	got, err := s.send(ctx, h, op)
	switch {
	case replaced(err):
		return st, nil
	case errors.Is(err, api.NotFound):
		// The service has lost its memory, or is another one at the same
		// address. The old record stays, for whoever wants to look.
		s.desk.Note("the saved quote " + op.QuoteID + " is unknown to the service; starting afresh")
		h.Separate()
		return st, nil
	}
	return standing[R]{alive: got}, err
}

// meanwhile says that an operation was accepted after this command began: by
// the same command in another process, at the same time. Both asked for one
// thing, so both get it.
func (s *launching[Q, R]) meanwhile(op *api.Operation) bool {
	return !s.separate && op.CreatedAt.After(s.began)
}

// fresh quotes, asks and accepts. A quote that dies in between is replaced; if
// the new one has other terms the question is asked again.
func (s *launching[Q, R]) fresh(ctx context.Context) (launched[R], error) {
	limit, err := s.limit(ctx)
	if err != nil {
		return launched[R]{}, err
	}
	var before *Q
	for range 3 {
		q, err := s.quote(ctx, limit)
		if err != nil {
			return launched[R]{}, err
		}
		if got, err := s.agree(ctx, q, before); err != nil || got != nil {
			return found(got, err)
		}
		got, err := s.accept(ctx, q)
		if !replaced(err) {
			return got, err
		}
		s.desk.Note("the quote is no longer valid and nothing was started; here is a new one")
		before = &q
	}
	return launched[R]{}, refuse(api.QuoteChanged, "three quotes in a row became invalid before they could be accepted", "nothing was started or charged")
}

// agree shows a quote and asks for the yes, unless the terms are those that were
// agreed to before. It gives what does the same already.
func (s *launching[Q, R]) agree(ctx context.Context, q Q, before *Q) (*R, error) {
	same := before != nil && s.same(*before, q)
	if !same {
		if err := s.desk.Quoted(ctx, q); err != nil {
			return nil, err
		}
	}
	if err := s.fits(q); err != nil {
		return nil, err
	}
	if before == nil {
		if got, err := s.twin(ctx, q); err != nil || got != nil {
			return got, err
		}
	}
	if same {
		return nil, nil
	}
	yes, err := s.desk.Approve(ctx, q, before)
	if err == nil && !yes {
		err = declined()
	}
	return nil, err
}

// limit is the cap: that of the command, or the person's.
func (s *launching[Q, R]) limit(ctx context.Context) (*usd.Micro, error) {
	if s.cap != nil {
		return s.cap, nil
	}
	preview, err := s.quote(ctx, nil)
	if err != nil {
		return nil, err
	}
	if err := s.desk.Quoted(ctx, preview); err != nil {
		return nil, err
	}
	spend, err := s.desk.Cap(ctx, preview)
	return &spend, err
}

// accept writes the operation down and submits it.
func (s *launching[Q, R]) accept(ctx context.Context, q Q) (launched[R], error) {
	h, err := s.journal.Lock(ctx, s.fingerprint)
	if err != nil {
		return launched[R]{}, err
	}
	defer h.Unlock()
	st, err := s.look(ctx, h) // another process may have been faster
	switch {
	case err != nil:
		return launched[R]{}, err
	case st.alive != nil:
		return found(st.alive, nil)
	case st.ended != nil:
		return found(st.ended, nil)
	}
	o := s.offered(q)
	op := api.Operation{
		Kind: s.request.Kind, BaseURL: s.request.Origin, WorkspaceID: s.request.Workspace,
		QuoteID: o.id, IdempotencyKey: s.newKey(), Options: map[string]bool{}, State: Accepted,
	}
	if o.cap != nil {
		op.MaxChargeMicrousd = *o.cap
	}
	if s.separate {
		op.Options[NewOption] = true
	}
	if id := s.request.SourceRunID; id != "" {
		op.SourceID = &id
	}
	if err := h.Save(op); err != nil {
		return launched[R]{}, err
	}
	got, err := s.send(ctx, h, op)
	if err != nil {
		return launched[R]{}, err
	}
	return launched[R]{started: *got}, nil
}

// send submits a saved operation and records the answer.
func (s *launching[Q, R]) send(ctx context.Context, h *Held, op api.Operation) (*R, error) {
	got, err := s.submit(ctx, op.QuoteID, op.IdempotencyKey)
	if id := detail(err, s.name+"_id"); id != "" && errors.Is(err, api.QuoteAlreadyAccepted) {
		s.desk.Note("the quote was accepted under another key already; following its " + s.name)
		got, err = s.get(ctx, id)
	}
	if nothingStarted(err) {
		return nil, errors.Join(err, h.Forget())
	}
	if err != nil {
		return nil, err
	}
	id := s.begun(got).id
	op.State, *s.id(&op) = Submitted, &id
	if err := h.Save(op); err != nil {
		// It exists and the accepted record leads to it, so this is no reason to
		// report a failure.
		s.desk.Note(fmt.Sprintf("%s %s started, but its record could not be updated: %s", s.name, id, err))
	}
	return &got, nil
}

// finish records that the end of what an operation started was seen. It is best
// effort: a record that stays "submitted" only makes a repeat ask once more.
func finish(ctx context.Context, j *Journal, fingerprint, id string, at func(*api.Operation) **string) error {
	h, err := j.Lock(ctx, fingerprint)
	if err != nil {
		return err
	}
	defer h.Unlock()
	op, err := h.Load()
	if err != nil || op == nil || *at(op) == nil || **at(op) != id || op.State == Finished {
		return err
	}
	op.State = Finished
	return h.Save(*op)
}

func runID(op *api.Operation) **string   { return &op.RunID }
func groupID(op *api.Operation) **string { return &op.GroupID }

func declined() *Error {
	return refuse(api.ConfirmationDeclined, "not started", "nothing was started or charged")
}
