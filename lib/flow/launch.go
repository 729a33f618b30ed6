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

// JustFinished is how long after the end of a run the same command is taken
// for a slip rather than for a wish to run again.
const JustFinished = 10 * time.Minute

// Quoter makes quotes.
type Quoter interface {
	Create(ctx context.Context, in api.NewQuote) (api.QuoteRecord, error)
}

// Runs is what a launch needs of the service's runs.
type Runs interface {
	Submitter
	Get(ctx context.Context, id string) (api.RunRecord, error)
	List(ctx context.Context, in evalrouter.RunQuery) (api.Page[api.RunRecord], error)
}

// Desk is the person in front of the launch, or the policy that stands for one.
type Desk interface {
	// Quoted shows a quote. It is called for every quote, before any question.
	Quoted(ctx context.Context, q api.QuoteRecord) error
	// Cap asks for the spending cap, given a preview.
	Cap(ctx context.Context, preview api.QuoteRecord) (usd.Micro, error)
	// Approve asks whether to start. before is the quote that was approved
	// already and had to be replaced by one with other terms, nil the first time.
	Approve(ctx context.Context, q api.QuoteRecord, before *api.QuoteRecord) (bool, error)
	// Repeat asks whether to start again although the given run did the same
	// and has just ended.
	Repeat(ctx context.Context, ended api.RunRecord) (bool, error)
	// Note tells something that needs no answer.
	Note(text string)
}

// Order is one run as it was asked for.
type Order struct {
	Request Request
	// Quote is what to ask for. Without a cap the Desk is asked for one.
	Quote api.NewQuote
	// New asks for separate work even if the same was done or is being done.
	New bool
}

// Launched is the run that an order led to.
type Launched struct {
	Run api.RunRecord
	// Existing says that the run was there before: it was found, not started.
	Existing    bool
	Fingerprint string
}

// Launcher turns orders into runs.
type Launcher struct {
	Quotes  Quoter
	Runs    Runs
	Journal *Journal
	Desk    Desk
	// NewKey makes an idempotency key that no other call makes.
	NewKey func() string
	Sleep  Sleeper
	Now    func() time.Time
	// Began is when the command began; zero means the call of Launch. A run that
	// the same command started elsewhere since then is followed even if it has
	// ended meanwhile.
	Began time.Time
}

// Quote makes and shows the quote of an order, and starts nothing. Without a
// cap the quote is a preview.
func (l *Launcher) Quote(ctx context.Context, o Order) (api.QuoteRecord, error) {
	in := o.Quote
	in.Preview = in.MaxChargeMicrousd == nil
	q, err := l.Quotes.Create(ctx, in)
	if err != nil {
		return q, err
	}
	if err := l.Desk.Quoted(ctx, q); err != nil {
		return q, err
	}
	return q, orderError(q)
}

// Launch finds or starts the run of an order. A saved operation that did not
// get its answer is submitted again, unchanged, before anything is asked; a run
// of the same order that is still going is returned. Whatever happens to this
// process, the same order later leads to the same run.
func (l *Launcher) Launch(ctx context.Context, o Order) (Launched, error) {
	fp, err := o.Request.Fingerprint()
	if err != nil {
		return Launched{}, err
	}
	if err := l.Journal.Check(); err != nil {
		return Launched{}, err
	}
	s := &launch{Launcher: l, order: o, fingerprint: fp, began: l.Began}
	if s.began.IsZero() {
		s.began = l.Now()
	}
	if got, err := s.recover(ctx); err != nil || got != nil {
		return s.found(got, err)
	}
	return s.fresh(ctx)
}

// Finish records that the end of a run was seen. It is best effort: a record
// that stays "submitted" only makes a repeat ask once more.
func (l *Launcher) Finish(ctx context.Context, done Launched) error {
	h, err := l.Journal.Lock(ctx, done.Fingerprint)
	if err != nil {
		return err
	}
	defer h.Unlock()
	op, err := h.Load()
	if err != nil || op == nil || op.RunID == nil || *op.RunID != done.Run.ID || op.State == Finished {
		return err
	}
	op.State = Finished
	return h.Save(*op)
}

// launch is one call of Launch.
type launch struct {
	*Launcher
	order       Order
	fingerprint string
	began       time.Time
	// left is the quote of the saved operation that the person agreed to leave
	// behind.
	left string
}

func (s *launch) found(run *api.RunRecord, err error) (Launched, error) {
	if err != nil {
		return Launched{}, err
	}
	return Launched{Run: *run, Existing: true, Fingerprint: s.fingerprint}, nil
}

// recover deals with what the journal holds. Questions are asked without the
// lock, so that nobody waits for a person who has gone to lunch.
func (s *launch) recover(ctx context.Context) (*api.RunRecord, error) {
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
		return st.run, nil
	}
	return nil, s.askRepeat(ctx, st)
}

func (s *launch) askRepeat(ctx context.Context, st standing) error {
	again, err := s.Desk.Repeat(ctx, *st.ended)
	if err != nil {
		return err
	}
	if !again {
		return declined()
	}
	s.left = st.quoteID
	return nil
}

// standing is where an order stands by its saved operation: a run to follow, a
// run that has ended, or nothing.
type standing struct {
	run     *api.RunRecord
	ended   *api.RunRecord
	quoteID string
}

// look decides about the saved operation, holding its lock. After a standing
// with neither run the record may be saved over: look has moved to a new
// generation if the old one must stay.
func (s *launch) look(ctx context.Context, h *Held) (standing, error) {
	op, err := h.Load()
	if err != nil || op == nil {
		return standing{}, err
	}
	switch {
	case op.QuoteID == s.left:
		h.Separate()
		return standing{}, nil
	case op.State == Accepted && (!s.order.New || op.Options[NewOption]):
		s.Desk.Note("an earlier try of this command accepted a quote and is not known to have started; submitting the same quote again")
		run, err := s.submit(ctx, h, *op)
		switch {
		case replaced(err):
			return standing{}, nil
		case errors.Is(err, api.NotFound):
			// The service has lost its memory, or is another one at the same
			// address. The old record stays, for whoever wants to look.
			s.Desk.Note("the saved quote " + op.QuoteID + " is unknown to the service; starting afresh")
			h.Separate()
			return standing{}, nil
		}
		return standing{run: run}, err
	case s.order.New:
		h.Separate()
		return standing{}, nil
	}
	run, err := s.Runs.Get(ctx, *op.RunID)
	switch {
	case errors.Is(err, api.NotFound):
		s.Desk.Note("the saved run " + *op.RunID + " is unknown to the service; starting afresh")
		h.Separate()
		return standing{}, nil
	case err != nil:
		return standing{}, err
	case !run.Status.Terminal() || s.meanwhile(op):
		return standing{run: &run}, nil
	case op.State == Finished && s.Now().Sub(op.UpdatedAt) > JustFinished:
		h.Separate()
		return standing{}, nil
	}
	return standing{ended: &run, quoteID: op.QuoteID}, nil
}

// meanwhile says that an operation was accepted after this command began: by
// the same command in another process, at the same time. Both asked for one
// run, so both get it.
func (s *launch) meanwhile(op *api.Operation) bool {
	return !s.order.New && op.CreatedAt.After(s.began)
}

// fresh quotes, asks and accepts. A quote that dies in between is replaced; if
// the new one has other terms the question is asked again.
func (s *launch) fresh(ctx context.Context) (Launched, error) {
	in, err := s.withCap(ctx)
	if err != nil {
		return Launched{}, err
	}
	var before *api.QuoteRecord
	for range 3 {
		q, err := s.Quotes.Create(ctx, in)
		if err != nil {
			return Launched{}, err
		}
		same := before != nil && SameTerms(*before, q)
		if !same {
			if err := s.Desk.Quoted(ctx, q); err != nil {
				return Launched{}, err
			}
		}
		if err := orderError(q); err != nil {
			return Launched{}, err
		}
		if before == nil {
			if run, err := s.twin(ctx, q); err != nil || run != nil {
				return s.found(run, err)
			}
		}
		if !same {
			yes, err := s.Desk.Approve(ctx, q, before)
			if err != nil {
				return Launched{}, err
			}
			if !yes {
				return Launched{}, declined()
			}
		}
		got, err := s.accept(ctx, q)
		if !replaced(err) {
			return got, err
		}
		s.Desk.Note("the quote is no longer valid and nothing was started; here is a new one")
		before = &q
	}
	return Launched{}, refuse(api.QuoteChanged, "three quotes in a row became invalid before they could be accepted", "nothing was started or charged")
}

// withCap is the request for the quote, with a cap.
func (s *launch) withCap(ctx context.Context) (api.NewQuote, error) {
	in := s.order.Quote
	if in.MaxChargeMicrousd != nil {
		return in, nil
	}
	in.Preview = true
	preview, err := s.Quotes.Create(ctx, in)
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
func (s *launch) accept(ctx context.Context, q api.QuoteRecord) (Launched, error) {
	h, err := s.Journal.Lock(ctx, s.fingerprint)
	if err != nil {
		return Launched{}, err
	}
	defer h.Unlock()
	st, err := s.look(ctx, h) // another process may have been faster
	switch {
	case err != nil:
		return Launched{}, err
	case st.run != nil:
		return s.found(st.run, nil)
	case st.ended != nil:
		return s.found(st.ended, nil)
	}
	op := api.Operation{
		Kind: RunKind, BaseURL: s.order.Request.Origin, WorkspaceID: s.order.Request.Workspace,
		QuoteID: q.ID, IdempotencyKey: s.NewKey(), Options: map[string]bool{}, State: Accepted,
	}
	if q.MaxChargeMicrousd != nil {
		op.MaxChargeMicrousd = *q.MaxChargeMicrousd
	}
	if s.order.New {
		op.Options[NewOption] = true
	}
	if id := s.order.Request.SourceRunID; id != "" {
		op.SourceID = &id
	}
	if err := h.Save(op); err != nil {
		return Launched{}, err
	}
	run, err := s.submit(ctx, h, op)
	if err != nil {
		return Launched{}, err
	}
	return Launched{Run: *run, Fingerprint: s.fingerprint}, nil
}

// submit sends a saved operation and records the answer.
func (s *launch) submit(ctx context.Context, h *Held, op api.Operation) (*api.RunRecord, error) {
	run, err := Submit(ctx, s.Runs, api.NewRun{QuoteID: op.QuoteID}, op.IdempotencyKey, s.Sleep)
	if id := detail(err, "run_id"); id != "" && errors.Is(err, api.QuoteAlreadyAccepted) {
		s.Desk.Note("the quote was accepted under another key already; following its run")
		run, err = s.Runs.Get(ctx, id)
	}
	if nothingStarted(err) {
		return nil, errors.Join(err, h.Forget())
	}
	if err != nil {
		return nil, err
	}
	op.State, op.RunID = Submitted, &run.ID
	if err := h.Save(op); err != nil {
		// The run exists and the accepted record leads to it, so this is no
		// reason to report a failure.
		s.Desk.Note(fmt.Sprintf("run %s started, but its record could not be updated: %s", run.ID, err))
	}
	return &run, nil
}

func declined() *Error {
	return refuse(api.ConfirmationDeclined, "not started", "nothing was started or charged")
}
