package flow

import (
	"context"
	"errors"
	"fmt"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// ResumeDeskFor is the person in front of a resume, or the policy that stands
// for one. Q is the quote, R what it starts.
type ResumeDeskFor[Q, R any] interface {
	// Quoted shows a quote. It is called for every quote, before any question.
	Quoted(ctx context.Context, q Q) error
	// Cap asks for the spending cap, given a preview.
	Cap(ctx context.Context, preview Q) (usd.Micro, error)
	// LeaveOut asks whether the tasks that the quote leaves out may stay out for
	// good.
	LeaveOut(ctx context.Context, q Q) (bool, error)
	// Newest is told that what was asked for was resumed before and that the
	// newest of its chain has ended. An error ends the resume.
	Newest(ctx context.Context, asked string, newest R) error
	// Approve asks whether to start. anew says that an earlier yes, given with the
	// command or to another quote, does not count for this one.
	Approve(ctx context.Context, q Q, anew bool) (bool, error)
	// Note tells something that needs no answer.
	Note(text string)
}

// continuing is what differs between resuming a run and resuming a group.
type continuing[Q, R any] struct {
	// name is the word for an R.
	name string
	get  func(ctx context.Context, id string) (R, error)
	// newest is the newest of the chain that an R belongs to, itself if nothing
	// goes on with it.
	newest func(ctx context.Context, r R) (R, error)
	quote  func(ctx context.Context, from string, in api.NewContinuationQuote) (Q, error)
	// kept reads a quote that was made before.
	kept    func(ctx context.Context, id string) (Q, error)
	submit  func(ctx context.Context, quoteID string, a *api.Acknowledgements, key string) (R, error)
	offered func(Q) offered
	begun   func(R) begun
	// plans are what a quote does with the tasks of each run that it goes on with.
	plans func(Q) []*api.ContinuationPlan
	// unquotable says that nothing of an R that goes on can be resumed yet.
	unquotable func(R) bool
	// same says that two quotes have the same terms.
	same func(a, b Q) bool
	// fits refuses a quote that cannot be accepted.
	fits func(Q) error
	// id is where a saved operation keeps the id of what it started.
	id func(*api.Operation) **string
}

// resuming is one resume of either kind. As with a launch, what was accepted is
// on the disk before it is submitted, and what is on the disk is submitted again,
// never something new.
type resuming[Q, R any] struct {
	continuing[Q, R]
	desk    ResumeDeskFor[Q, R]
	journal *Journal
	newKey  func() string
	order   ResumeOrder
	// source is the id that was asked for.
	source      string
	fingerprint string
	// from is what is quoted; followed says that it is not what was asked for.
	from     string
	followed bool
	// before is the quote that was accepted once and is no longer valid.
	before *Q
}

// preview quotes and starts nothing. What goes on and cannot be quoted is given
// back instead.
func (s *resuming[Q, R]) preview(ctx context.Context) (*Q, *R, error) {
	live, err := s.head(ctx)
	if err != nil || live != nil {
		return nil, live, err
	}
	q, err := s.quoted(ctx, s.order.Quote)
	if err != nil {
		return nil, nil, err
	}
	return &q, nil, nil
}

// resume finds or starts the continuation.
func (s *resuming[Q, R]) resume(ctx context.Context) (launched[R], error) {
	var err error
	if s.fingerprint, err = s.order.Fingerprint(); err != nil {
		return launched[R]{}, err
	}
	if err := s.journal.Check(); err != nil {
		return launched[R]{}, err
	}
	if got, err := s.recover(ctx); err != nil || got != nil {
		return found(got, err)
	}
	if live, err := s.head(ctx); err != nil || live != nil {
		return found(live, err)
	}
	return s.fresh(ctx)
}

// recover deals with what the journal holds.
func (s *resuming[Q, R]) recover(ctx context.Context) (*R, error) {
	if op, err := s.journal.Peek(s.fingerprint); err != nil || op == nil {
		return nil, err
	}
	h, err := s.journal.Lock(ctx, s.fingerprint)
	if err != nil {
		return nil, err
	}
	got, err := s.look(ctx, h)
	return got, errors.Join(err, h.Unlock())
}

// look decides about the saved operation, holding its lock. When it finds nothing
// the operation may be saved over.
func (s *resuming[Q, R]) look(ctx context.Context, h *Held) (*R, error) {
	op, err := h.Load()
	if err != nil || op == nil {
		return nil, err
	}
	if op.State != Accepted {
		return s.submitted(ctx, h, op)
	}
	s.desk.Note("an earlier try of this command accepted a quote and is not known to have started; submitting the same quote again")
	got, err := s.send(ctx, h, *op)
	switch {
	case s.replaced(err):
		s.again(err)
		if q, err := s.kept(ctx, op.QuoteID); err == nil {
			s.before = &q
		}
		return nil, nil
	case errors.Is(err, api.ContinuationExists):
		return nil, nil // somebody else was faster; the chain says who
	case errors.Is(err, api.NotFound):
		s.desk.Note("the saved quote " + op.QuoteID + " is unknown to the service; starting afresh")
		h.Separate()
		return nil, nil
	}
	return got, err
}

// submitted is what a saved operation started, as long as it goes on. Its record
// stays beside the next one.
func (s *resuming[Q, R]) submitted(ctx context.Context, h *Held, op *api.Operation) (*R, error) {
	id := *s.id(op)
	if id == nil {
		return nil, s.journal.corrupt(s.journal.path(h.fingerprint, h.generation), errors.New("it names no "+s.name))
	}
	got, err := s.get(ctx, *id)
	switch {
	case errors.Is(err, api.NotFound):
		s.desk.Note("the saved " + s.name + " " + *id + " is unknown to the service; starting afresh")
	case err != nil:
		return nil, err
	case !s.begun(got).status.Terminal():
		return &got, nil
	}
	h.Separate()
	return nil, nil
}

// head settles what is to be quoted: the newest of the chain. It gives what goes
// on and is only watched.
func (s *resuming[Q, R]) head(ctx context.Context) (*R, error) {
	got, err := s.get(ctx, s.source)
	if err != nil {
		return nil, err
	}
	b := s.begun(got)
	s.from = b.id
	if !b.status.Terminal() && s.unquotable(got) {
		s.desk.Note(fmt.Sprintf("%s %s is %s; it is watched, and nothing is quoted", s.name, b.id, b.status))
		return &got, nil
	}
	newest, err := s.newest(ctx, got)
	if err != nil {
		return nil, err
	}
	n := s.begun(newest)
	if n.id == b.id {
		return nil, nil
	}
	if !n.status.Terminal() {
		s.desk.Note(fmt.Sprintf("%s %s was resumed before; following the newest %s of its chain, %s, under the cap and the choices it was accepted with", s.name, b.id, s.name, n.id))
		return &newest, nil
	}
	s.from, s.followed = n.id, true
	return nil, s.desk.Newest(ctx, b.id, newest)
}

// unsupported says in words of its own that a service resumes nothing.
func unsupported(err error, what string) error {
	if errors.Is(err, api.FeatureUnavailable) || errors.Is(err, api.NotFound) || errors.Is(err, api.MethodNotAllowed) {
		return &Error{Code: api.FeatureUnavailable, Message: "this service does not resume " + what, Facts: []string{"nothing was quoted, started or charged"}, Err: err}
	}
	return err
}

// quoted asks for a quote and shows it.
func (s *resuming[Q, R]) quoted(ctx context.Context, in api.NewContinuationQuote) (Q, error) {
	q, err := s.quote(ctx, s.from, in)
	if err != nil {
		return q, unsupported(err, s.name+"s")
	}
	return q, s.desk.Quoted(ctx, q)
}

// fresh quotes, asks and accepts. A quote that dies in between is replaced; if
// the new one has other terms the question is asked again.
func (s *resuming[Q, R]) fresh(ctx context.Context) (launched[R], error) {
	in, err := s.withCap(ctx)
	if err != nil {
		return launched[R]{}, err
	}
	for range 3 {
		q, err := s.quoted(ctx, in)
		if err != nil {
			return launched[R]{}, err
		}
		if err := s.fits(q); err != nil {
			return launched[R]{}, err
		}
		op, err := s.agreed(ctx, q)
		if err != nil {
			return launched[R]{}, err
		}
		got, err := s.accept(ctx, op)
		if !s.replaced(err) {
			return got, err
		}
		s.again(err)
		s.before = &q
	}
	return launched[R]{}, refuse(api.QuoteChanged, "three quotes in a row became invalid before they could be accepted", "nothing was started or charged")
}

// replaced says that a quote was refused that another one may stand in for: it
// died, or one of the runs that it would go on with was resumed by itself.
func (s *resuming[Q, R]) replaced(err error) bool {
	return replaced(err) || errors.Is(err, api.ContinuationExists) && detail(err, s.name+"_id") == "" && detail(err, "run_id") != ""
}

// again says why there is another quote.
func (s *resuming[Q, R]) again(err error) {
	if id := detail(err, "run_id"); id != "" && errors.Is(err, api.ContinuationExists) {
		s.desk.Note("one of its runs was resumed by run " + id + " meanwhile and nothing was started; here is a new quote")
		return
	}
	s.desk.Note("the accepted quote is no longer valid and nothing was started; here is a new one")
}

// withCap is the request for the quote, with a cap: that of the command, of the
// quote that was accepted before, or the person's.
func (s *resuming[Q, R]) withCap(ctx context.Context) (api.NewContinuationQuote, error) {
	in := s.order.Quote
	if in.MaxChargeMicrousd != nil {
		return in, nil
	}
	if s.before != nil {
		if in.MaxChargeMicrousd = s.offered(*s.before).cap; in.MaxChargeMicrousd != nil {
			return in, nil
		}
	}
	preview, err := s.quoted(ctx, in)
	if err != nil {
		return in, err
	}
	spend, err := s.desk.Cap(ctx, preview)
	in.MaxChargeMicrousd = &spend
	return in, err
}

// agreed asks everything that the quote needs an answer to, and gives the
// operation that was agreed to.
func (s *resuming[Q, R]) agreed(ctx context.Context, q Q) (api.Operation, error) {
	o := s.offered(q)
	op := api.Operation{
		Kind: ResumeKind, BaseURL: s.order.Origin, WorkspaceID: s.order.Workspace, QuoteID: o.id, IdempotencyKey: s.newKey(),
		SourceID: &s.from, State: Accepted, Options: map[string]bool{},
	}
	if o.cap != nil {
		op.MaxChargeMicrousd = *o.cap
	}
	if s.order.Quote.IncludeCancelled {
		op.Options[CancelledOption] = true
	}
	if err := s.consents(ctx, q, op.Options); err != nil {
		return op, err
	}
	if s.before != nil && s.same(*s.before, q) && !s.followed {
		return op, nil
	}
	yes, err := s.desk.Approve(ctx, q, s.followed || s.before != nil)
	if err != nil {
		return op, err
	}
	if !yes {
		return op, declined()
	}
	return op, nil
}

// consents are those that the plans of a quote need. A service that allows no
// further attempt of a task offers none, and then none is consented to.
func (s *resuming[Q, R]) consents(ctx context.Context, q Q, out map[string]bool) error {
	retried, again := 0, 0
	for _, p := range s.plans(q) {
		if p == nil || !p.UnknownRetry.Selected {
			continue
		}
		retried += p.UnknownRetry.Cells
		if p.UnknownRetry.ProviderMayBillAgain {
			again += p.UnknownRetry.Cells
		}
	}
	if retried > 0 {
		out[RetryUnknownConsent] = true
	}
	if again > 0 {
		if !s.order.Duplicates {
			return refuse(api.DuplicateCharges, fmt.Sprintf("your own provider may bill %d tasks twice", again), "--accept-duplicate-provider-charges agrees to that", "nothing was started or charged")
		}
		out[DuplicatesConsent] = true
	}
	leaves := s.leaves(q)
	if len(leaves) == 0 {
		return nil
	}
	out[LeftOutConsent] = true
	if s.order.LeftOut || s.before != nil && sameJSON(s.leaves(*s.before), leaves) {
		return nil
	}
	yes, err := s.desk.LeaveOut(ctx, q)
	if err == nil && !yes {
		err = declined()
	}
	return err
}

// leaves is what a quote leaves out for good and somebody must agree to, by run.
func (s *resuming[Q, R]) leaves(q Q) map[string]api.ContinuationLeftOut {
	out := map[string]api.ContinuationLeftOut{}
	for _, p := range s.plans(q) {
		if p != nil && p.LeftOut.Cells > 0 && p.LeftOut.AcknowledgementRequired {
			out[p.SourceRunID] = p.LeftOut
		}
	}
	return out
}

// accept writes the operation down and submits it.
func (s *resuming[Q, R]) accept(ctx context.Context, op api.Operation) (launched[R], error) {
	h, err := s.journal.Lock(ctx, s.fingerprint)
	if err != nil {
		return launched[R]{}, err
	}
	defer h.Unlock()
	if other, err := s.look(ctx, h); err != nil || other != nil { // another process was faster
		return found(other, err)
	}
	if err := h.Save(op); err != nil {
		return launched[R]{}, err
	}
	got, err := s.send(ctx, h, op)
	if id := detail(err, s.name+"_id"); id != "" && errors.Is(err, api.ContinuationExists) {
		s.desk.Note("the " + s.name + " was resumed by somebody else meanwhile; following " + s.name + " " + id)
		other, err := s.get(ctx, id)
		return found(&other, err)
	}
	if err != nil {
		return launched[R]{}, err
	}
	return launched[R]{started: *got}, nil
}

// send submits a saved operation and records the answer. The body is made of the
// record alone, so that a later process sends the same bytes.
func (s *resuming[Q, R]) send(ctx context.Context, h *Held, op api.Operation) (*R, error) {
	var consents *api.Acknowledgements
	if a := (api.Acknowledgements{LeftOut: op.Options[LeftOutConsent], RetryUnknown: op.Options[RetryUnknownConsent], DuplicateProviderCharges: op.Options[DuplicatesConsent]}); a != (api.Acknowledgements{}) {
		consents = &a
	}
	got, err := s.submit(ctx, op.QuoteID, consents, op.IdempotencyKey)
	if id := detail(err, s.name+"_id"); id != "" && errors.Is(err, api.QuoteAlreadyAccepted) {
		s.desk.Note("the quote was accepted under another key already; following its " + s.name)
		got, err = s.get(ctx, id)
	}
	if nothingStarted(err) || nothingResumed(err) {
		return nil, errors.Join(err, h.Forget())
	}
	if err != nil {
		return nil, err
	}
	id := s.begun(got).id
	op.State, *s.id(&op) = Submitted, &id
	if err := h.Save(op); err != nil {
		s.desk.Note(fmt.Sprintf("%s %s started, but its record could not be updated: %s", s.name, id, err))
	}
	return &got, nil
}

// nothingResumed lists the answers that prove that a continuation quote started
// nothing: the service looks for the key first.
func nothingResumed(err error) bool {
	for _, c := range []api.Code{
		api.ContinuationExists, api.EvidenceExpired, api.EvidenceIncompatible, api.LeftOutUnacknowledged, api.DuplicateCharges,
		api.ResumeUnsupported, api.NothingToResume,
	} {
		if errors.Is(err, c) {
			return true
		}
	}
	return false
}
