package flow

import (
	"context"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/usd"
)

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

// Desk is the person in front of the launch of one run.
type Desk = DeskFor[api.QuoteRecord, api.RunRecord]

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
	q, err := l.ask(ctx, o, o.Quote.MaxChargeMicrousd)
	if err != nil {
		return q, err
	}
	if err := l.Desk.Quoted(ctx, q); err != nil {
		return q, err
	}
	return q, orderError(q)
}

// ask asks for the quote of an order under a cap; without one it is a preview.
func (l *Launcher) ask(ctx context.Context, o Order, limit *usd.Micro) (api.QuoteRecord, error) {
	in := o.Quote
	in.MaxChargeMicrousd, in.Preview = limit, limit == nil
	return l.Quotes.Create(ctx, in)
}

// Launch finds or starts the run of an order. A saved operation that did not
// get its answer is submitted again, unchanged, before anything is asked; a run
// of the same order that is still going is returned. Whatever happens to this
// process, the same order later leads to the same run.
func (l *Launcher) Launch(ctx context.Context, o Order) (Launched, error) {
	s := &launching[api.QuoteRecord, api.RunRecord]{
		kind: l.kind(o), desk: l.Desk, journal: l.Journal, newKey: l.NewKey, now: l.Now, began: l.Began, request: o.Request,
		cap: o.Quote.MaxChargeMicrousd, separate: o.New,
	}
	got, err := s.launch(ctx)
	if err != nil {
		return Launched{}, err
	}
	return Launched{Run: got.started, Existing: got.existing, Fingerprint: s.fingerprint}, nil
}

// kind is how one run is launched.
func (l *Launcher) kind(o Order) kind[api.QuoteRecord, api.RunRecord] {
	return kind[api.QuoteRecord, api.RunRecord]{
		name: "run", get: l.Runs.Get, same: SameTerms, does: sameWork, fits: orderError, id: runID,
		quote: func(ctx context.Context, limit *usd.Micro) (api.QuoteRecord, error) { return l.ask(ctx, o, limit) },
		submit: func(ctx context.Context, quoteID, key string) (api.RunRecord, error) {
			return Submit(ctx, l.Runs, api.NewRun{QuoteID: quoteID}, key, l.Sleep)
		},
		recent: func(ctx context.Context) ([]api.RunRecord, error) {
			page, err := l.Runs.List(ctx, evalrouter.RunQuery{
				ProfileID: o.Request.ProfileID, RouteID: o.Quote.Model.RouteID, ConnectionID: o.Quote.Model.ConnectionID, Paging: evalrouter.Paging{Limit: 20},
			})
			return page.Data, err
		},
		offered: offeredRun,
		begun:   begunRun,
	}
}

func offeredRun(q api.QuoteRecord) offered { return offered{q.ID, q.MaxChargeMicrousd, q.CreatedAt} }

func begunRun(r api.RunRecord) begun {
	return begun{id: r.ID, quoteID: r.QuoteID, status: r.Status, cap: r.CapMicrousd, finishedAt: r.FinishedAt}
}

// Finish records that the end of a run was seen, as best it can.
func (l *Launcher) Finish(ctx context.Context, done Launched) error {
	return finish(ctx, l.Journal, done.Fingerprint, done.Run.ID, runID)
}
