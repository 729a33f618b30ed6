package flow

import (
	"context"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
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

// ResumeDesk is the person in front of the resume of a run.
type ResumeDesk = ResumeDeskFor[api.QuoteRecord, api.RunRecord]

// ResumeOrder is a resume as it was asked for.
type ResumeOrder struct {
	Origin, Workspace string
	// Run is the whole id of the run, or Group that of the group.
	Run, Group string
	Quote      api.NewContinuationQuote
	// LeftOut and Duplicates are consents that were given with the command.
	LeftOut, Duplicates bool
}

// Fingerprint is what makes two such commands the same.
func (o ResumeOrder) Fingerprint() (string, error) {
	r := Request{
		Origin: o.Origin, Workspace: o.Workspace, Kind: ResumeKind, SourceRunID: o.Run, SourceGroupID: o.Group, Cap: o.Quote.MaxChargeMicrousd,
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
}

// Preview quotes what a resume would do, and starts nothing. A run that has not
// ended is given back instead.
func (l *Resumer) Preview(ctx context.Context, o ResumeOrder) (*api.QuoteRecord, *api.RunRecord, error) {
	return l.resuming(o).preview(ctx)
}

// Resume finds or starts the continuation of a run. A saved operation that did
// not get its answer is submitted again, unchanged, before anything is asked; a
// run that goes on is returned and never quoted. Whatever happens to this
// process, the same command later leads to the same run.
func (l *Resumer) Resume(ctx context.Context, o ResumeOrder) (Launched, error) {
	s := l.resuming(o)
	got, err := s.resume(ctx)
	if err != nil {
		return Launched{}, err
	}
	return Launched{Run: got.started, Existing: got.existing, Fingerprint: s.fingerprint}, nil
}

func (l *Resumer) resuming(o ResumeOrder) *resuming[api.QuoteRecord, api.RunRecord] {
	return &resuming[api.QuoteRecord, api.RunRecord]{
		continuing: continuing[api.QuoteRecord, api.RunRecord]{
			name: "run", get: l.Runs.Get, newest: l.newest, quote: l.Runs.ContinuationQuote, kept: l.Quotes.Get, same: SameTerms, fits: orderError, id: runID,
			submit: func(ctx context.Context, quoteID string, a *api.Acknowledgements, key string) (api.RunRecord, error) {
				return Submit(ctx, l.Runs, api.NewRun{QuoteID: quoteID, Acknowledgements: a}, key, l.Sleep)
			},
			offered: offeredRun, begun: begunRun,
			plans:      func(q api.QuoteRecord) []*api.ContinuationPlan { return []*api.ContinuationPlan{q.Continuation} },
			unquotable: func(api.RunRecord) bool { return true },
		},
		desk: l.Desk, journal: l.Journal, newKey: l.NewKey, order: o, source: o.Run,
	}
}

// newest is the newest run of a run's chain.
func (l *Resumer) newest(ctx context.Context, run api.RunRecord) (api.RunRecord, error) {
	st, err := l.Runs.Continuation(ctx, run.ID)
	if err != nil {
		return run, unsupported(err, "runs")
	}
	if st.NewestRunID == "" || st.NewestRunID == run.ID {
		return run, nil
	}
	return l.Runs.Get(ctx, st.NewestRunID)
}

var _ Continuer = (*evalrouter.Runs)(nil)
