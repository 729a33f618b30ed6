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

// Names of consents in a saved operation.
const (
	LeftOutConsent      = "left_out"
	RetryUnknownConsent = "retry_unknown"
	DuplicatesConsent   = "duplicate_provider_charges"
	// CancelledOption is no consent of its own: it shaped the quote.
	CancelledOption = "include_cancelled"
)

// Continuer is what a resume needs of the service's runs.
type Continuer interface {
	Submitter
	Get(ctx context.Context, id string) (api.RunRecord, error)
	Continuation(ctx context.Context, id string) (api.ContinuationStatus, error)
	ContinuationQuote(ctx context.Context, id string, in api.NewContinuationQuote) (api.QuoteRecord, error)
}

// QuoteGetter reads a quote that was made before.
type QuoteGetter interface {
	Get(ctx context.Context, id string) (api.QuoteRecord, error)
}

// ResumeDesk is the person in front of a resume, or the policy that stands for
// one.
type ResumeDesk interface {
	// Quoted shows a quote. It is called for every quote, before any question.
	Quoted(ctx context.Context, q api.QuoteRecord) error
	// Cap asks for the spending cap, given a preview.
	Cap(ctx context.Context, preview api.QuoteRecord) (usd.Micro, error)
	// LeaveOut asks whether the tasks that the quote leaves out may stay out for
	// good.
	LeaveOut(ctx context.Context, q api.QuoteRecord) (bool, error)
	// Newest is told that the run was resumed before and that the newest run of
	// its chain has ended. An error ends the resume.
	Newest(ctx context.Context, asked string, newest api.RunRecord) error
	// Approve asks whether to start. anew says that an earlier yes, given with the
	// command or to another quote, does not count for this one.
	Approve(ctx context.Context, q api.QuoteRecord, anew bool) (bool, error)
	// Note tells something that needs no answer.
	Note(text string)
}

// ResumeOrder is a resume as it was asked for.
type ResumeOrder struct {
	Origin, Workspace string
	// Run is the whole id of the run.
	Run   string
	Quote api.NewContinuationQuote
	// LeftOut and Duplicates are consents that were given with the command.
	LeftOut, Duplicates bool
}

// Fingerprint is what makes two such commands the same.
func (o ResumeOrder) Fingerprint() (string, error) {
	r := Request{
		Origin: o.Origin, Workspace: o.Workspace, Kind: ResumeKind, SourceRunID: o.Run, Cap: o.Quote.MaxChargeMicrousd,
		Consents: map[string]bool{CancelledOption: o.Quote.IncludeCancelled, RetryUnknownConsent: o.Quote.RetryUnknown},
	}
	return r.Fingerprint()
}

// Resumer continues ended runs.
type Resumer struct {
	Runs    Continuer
	Quotes  QuoteGetter
	Journal *Journal
	Desk    ResumeDesk
	// NewKey makes an idempotency key that no other call makes.
	NewKey func() string
	Sleep  Sleeper
	Now    func() time.Time
}

// Preview quotes what a resume would do, and starts nothing. A run that has not
// ended is given back instead.
func (l *Resumer) Preview(ctx context.Context, o ResumeOrder) (*api.QuoteRecord, *api.RunRecord, error) {
	s := &resume{Resumer: l, order: o}
	live, err := s.source(ctx)
	if err != nil || live != nil {
		return nil, live, err
	}
	q, err := l.Runs.ContinuationQuote(ctx, s.from, o.Quote)
	if err != nil {
		return nil, nil, unsupported(err)
	}
	return &q, nil, l.Desk.Quoted(ctx, q)
}

// Resume finds or starts the continuation of a run. A saved operation that did
// not get its answer is submitted again, unchanged, before anything is asked; a
// run that goes on is returned and never quoted. Whatever happens to this
// process, the same command later leads to the same run.
func (l *Resumer) Resume(ctx context.Context, o ResumeOrder) (Launched, error) {
	fp, err := o.Fingerprint()
	if err != nil {
		return Launched{}, err
	}
	if err := l.Journal.Check(); err != nil {
		return Launched{}, err
	}
	s := &resume{Resumer: l, order: o, fingerprint: fp}
	if got, err := s.recover(ctx); err != nil || got != nil {
		return s.found(got, err)
	}
	if live, err := s.source(ctx); err != nil || live != nil {
		return s.found(live, err)
	}
	return s.fresh(ctx)
}

// resume is one call of Resume.
type resume struct {
	*Resumer
	order       ResumeOrder
	fingerprint string
	// from is the run to quote; followed says that it is another one than was
	// asked for.
	from     string
	followed bool
	// before is the quote that was accepted once and is no longer valid.
	before *api.QuoteRecord
}

func (s *resume) found(run *api.RunRecord, err error) (Launched, error) {
	if err != nil {
		return Launched{}, err
	}
	return Launched{Run: *run, Existing: true, Fingerprint: s.fingerprint}, nil
}

// recover deals with what the journal holds.
func (s *resume) recover(ctx context.Context) (*api.RunRecord, error) {
	if op, err := s.Journal.Peek(s.fingerprint); err != nil || op == nil {
		return nil, err
	}
	h, err := s.Journal.Lock(ctx, s.fingerprint)
	if err != nil {
		return nil, err
	}
	run, err := s.look(ctx, h)
	return run, errors.Join(err, h.Unlock())
}

// look decides about the saved operation, holding its lock. Without a run it
// may be saved over.
func (s *resume) look(ctx context.Context, h *Held) (*api.RunRecord, error) {
	op, err := h.Load()
	if err != nil || op == nil {
		return nil, err
	}
	if op.State != Accepted {
		run, err := s.Runs.Get(ctx, *op.RunID)
		switch {
		case errors.Is(err, api.NotFound):
			s.Desk.Note("the saved run " + *op.RunID + " is unknown to the service; starting afresh")
			h.Separate()
			return nil, nil
		case err != nil:
			return nil, err
		case !run.Status.Terminal():
			return &run, nil
		}
		h.Separate()
		return nil, nil
	}
	s.Desk.Note("an earlier try of this command accepted a quote and is not known to have started; submitting the same quote again")
	run, err := s.submit(ctx, h, *op)
	switch {
	case replaced(err):
		s.Desk.Note("the accepted quote is no longer valid and nothing was started; here is a new one")
		if q, err := s.Quotes.Get(ctx, op.QuoteID); err == nil {
			s.before = &q
		}
		return nil, nil
	case errors.Is(err, api.ContinuationExists):
		return nil, nil // somebody else was faster; the chain says who
	case errors.Is(err, api.NotFound):
		s.Desk.Note("the saved quote " + op.QuoteID + " is unknown to the service; starting afresh")
		h.Separate()
		return nil, nil
	}
	return run, err
}

// source settles which run is to be quoted. It gives a run that goes on, which
// is only watched.
func (s *resume) source(ctx context.Context) (*api.RunRecord, error) {
	run, err := s.Runs.Get(ctx, s.order.Run)
	if err != nil {
		return nil, err
	}
	s.from = run.ID
	if !run.Status.Terminal() {
		s.Desk.Note(fmt.Sprintf("run %s is %s; it is watched, and nothing is quoted", run.ID, run.Status))
		return &run, nil
	}
	st, err := s.Runs.Continuation(ctx, run.ID)
	if err != nil {
		return nil, unsupported(err)
	}
	if st.NewestRunID == "" || st.NewestRunID == run.ID {
		return nil, nil
	}
	newest, err := s.Runs.Get(ctx, st.NewestRunID)
	if err != nil {
		return nil, err
	}
	if !newest.Status.Terminal() {
		s.Desk.Note(fmt.Sprintf("run %s was resumed before; following the newest run of its chain, %s, under the cap and the choices it was accepted with", run.ID, newest.ID))
		return &newest, nil
	}
	s.from, s.followed = newest.ID, true
	return nil, s.Desk.Newest(ctx, run.ID, newest)
}

// unsupported says in words of its own that a service resumes nothing.
func unsupported(err error) error {
	if errors.Is(err, api.FeatureUnavailable) || errors.Is(err, api.NotFound) || errors.Is(err, api.MethodNotAllowed) {
		return &Error{Code: api.FeatureUnavailable, Message: "this service does not resume runs", Facts: []string{"nothing was quoted, started or charged"}, Err: err}
	}
	return err
}

// fresh quotes, asks and accepts. A quote that dies in between is replaced; if
// the new one has other terms the question is asked again.
func (s *resume) fresh(ctx context.Context) (Launched, error) {
	in, err := s.withCap(ctx)
	if err != nil {
		return Launched{}, err
	}
	for range 3 {
		q, err := s.Runs.ContinuationQuote(ctx, s.from, in)
		if err != nil {
			return Launched{}, unsupported(err)
		}
		if err := s.Desk.Quoted(ctx, q); err != nil {
			return Launched{}, err
		}
		if err := orderError(q); err != nil {
			return Launched{}, err
		}
		op, err := s.agreed(ctx, q)
		if err != nil {
			return Launched{}, err
		}
		got, err := s.accept(ctx, op)
		if !replaced(err) {
			return got, err
		}
		s.Desk.Note("the quote is no longer valid and nothing was started; here is a new one")
		s.before = &q
	}
	return Launched{}, refuse(api.QuoteChanged, "three quotes in a row became invalid before they could be accepted", "nothing was started or charged")
}

// withCap is the request for the quote, with a cap: that of the command, of the
// quote that was accepted before, or the person's.
func (s *resume) withCap(ctx context.Context) (api.NewContinuationQuote, error) {
	in := s.order.Quote
	switch {
	case in.MaxChargeMicrousd != nil:
		return in, nil
	case s.before != nil && s.before.MaxChargeMicrousd != nil:
		in.MaxChargeMicrousd = s.before.MaxChargeMicrousd
		return in, nil
	}
	preview, err := s.Runs.ContinuationQuote(ctx, s.from, in)
	if err != nil {
		return in, unsupported(err)
	}
	if err := s.Desk.Quoted(ctx, preview); err != nil {
		return in, err
	}
	spend, err := s.Desk.Cap(ctx, preview)
	in.MaxChargeMicrousd = &spend
	return in, err
}

// agreed asks everything that the quote needs an answer to, and gives the
// operation that was agreed to.
func (s *resume) agreed(ctx context.Context, q api.QuoteRecord) (api.Operation, error) {
	op := api.Operation{
		Kind: ResumeKind, BaseURL: s.order.Origin, WorkspaceID: s.order.Workspace, QuoteID: q.ID, IdempotencyKey: s.NewKey(),
		SourceID: &s.from, State: Accepted, Options: map[string]bool{},
	}
	if q.MaxChargeMicrousd != nil {
		op.MaxChargeMicrousd = *q.MaxChargeMicrousd
	}
	if s.order.Quote.IncludeCancelled {
		op.Options[CancelledOption] = true
	}
	if err := s.consents(ctx, q, op.Options); err != nil {
		return op, err
	}
	if s.before != nil && SameTerms(*s.before, q) && !s.followed {
		return op, nil
	}
	yes, err := s.Desk.Approve(ctx, q, s.followed || s.before != nil)
	if err != nil {
		return op, err
	}
	if !yes {
		return op, declined()
	}
	return op, nil
}

// consents are those that the plan of a quote needs. A service that allows no
// further attempt of a task offers none, and then none is consented to.
func (s *resume) consents(ctx context.Context, q api.QuoteRecord, out map[string]bool) error {
	p := q.Continuation
	if p == nil {
		return nil
	}
	if u := p.UnknownRetry; u.Selected && u.Cells > 0 {
		out[RetryUnknownConsent] = true
		if u.ProviderMayBillAgain && !s.order.Duplicates {
			return refuse(api.DuplicateCharges, fmt.Sprintf("your own provider may bill %d tasks twice", u.Cells), "--accept-duplicate-provider-charges agrees to that", "nothing was started or charged")
		}
		if u.ProviderMayBillAgain {
			out[DuplicatesConsent] = true
		}
	}
	if p.LeftOut.Cells == 0 || !p.LeftOut.AcknowledgementRequired {
		return nil
	}
	out[LeftOutConsent] = true
	if s.order.LeftOut || s.before != nil && s.before.Continuation != nil && sameJSON(s.before.Continuation.LeftOut, p.LeftOut) {
		return nil
	}
	yes, err := s.Desk.LeaveOut(ctx, q)
	if err == nil && !yes {
		err = declined()
	}
	return err
}

// accept writes the operation down and submits it.
func (s *resume) accept(ctx context.Context, op api.Operation) (Launched, error) {
	h, err := s.Journal.Lock(ctx, s.fingerprint)
	if err != nil {
		return Launched{}, err
	}
	defer h.Unlock()
	if other, err := s.look(ctx, h); err != nil || other != nil { // another process was faster
		return s.found(other, err)
	}
	if err := h.Save(op); err != nil {
		return Launched{}, err
	}
	run, err := s.submit(ctx, h, op)
	if id := detail(err, "run_id"); id != "" && errors.Is(err, api.ContinuationExists) {
		s.Desk.Note("the run was resumed by somebody else meanwhile; following run " + id)
		other, err := s.Runs.Get(ctx, id)
		return s.found(&other, err)
	}
	if err != nil {
		return Launched{}, err
	}
	return Launched{Run: *run, Fingerprint: s.fingerprint}, nil
}

// submit sends a saved operation and records the answer. The body is made of the
// record alone, so that a later process sends the same bytes.
func (s *resume) submit(ctx context.Context, h *Held, op api.Operation) (*api.RunRecord, error) {
	in := api.NewRun{QuoteID: op.QuoteID}
	if a := (api.Acknowledgements{LeftOut: op.Options[LeftOutConsent], RetryUnknown: op.Options[RetryUnknownConsent], DuplicateProviderCharges: op.Options[DuplicatesConsent]}); a != (api.Acknowledgements{}) {
		in.Acknowledgements = &a
	}
	run, err := Submit(ctx, s.Runs, in, op.IdempotencyKey, s.Sleep)
	if id := detail(err, "run_id"); id != "" && errors.Is(err, api.QuoteAlreadyAccepted) {
		s.Desk.Note("the quote was accepted under another key already; following its run")
		run, err = s.Runs.Get(ctx, id)
	}
	if nothingStarted(err) || nothingResumed(err) {
		return nil, errors.Join(err, h.Forget())
	}
	if err != nil {
		return nil, err
	}
	op.State, op.RunID = Submitted, &run.ID
	if err := h.Save(op); err != nil {
		s.Desk.Note(fmt.Sprintf("run %s started, but its record could not be updated: %s", run.ID, err))
	}
	return &run, nil
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

var _ Continuer = (*evalrouter.Runs)(nil)
