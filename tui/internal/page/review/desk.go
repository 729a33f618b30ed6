package review

import (
	"context"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
)

type (
	// quoted is a quote to show.
	quoted struct {
		quote api.QuoteRecord
		at    time.Time
	}
	// asked is the question that spends.
	asked struct {
		quote  api.QuoteRecord
		before *api.QuoteRecord
		at     time.Time
		answer func(bool)
	}
	// repeated asks whether to do again what has just ended.
	repeated struct {
		run    api.RunRecord
		answer func(bool)
	}
	noted struct{ text string }
	// ended is what the launch led to.
	ended struct {
		out flow.Launched
		err error
	}
)

// desk brings the questions of a launch to the screen and waits for the answer
// of the person. The end of ctx, when the screen is left, is no consent.
type desk struct {
	emit func(kit.Msg)
	now  func() time.Time
	cap  usd.Micro
}

var _ flow.Desk = desk{}

// Quoted shows the quote.
func (d desk) Quoted(_ context.Context, q api.QuoteRecord) error {
	d.emit(quoted{q, d.now()})
	return nil
}

// Cap is what was chosen before.
func (d desk) Cap(context.Context, api.QuoteRecord) (usd.Micro, error) { return d.cap, nil }

// Approve asks for the two Enters.
func (d desk) Approve(ctx context.Context, q api.QuoteRecord, before *api.QuoteRecord) (bool, error) {
	return d.ask(ctx, func(answer func(bool)) kit.Msg { return asked{q, before, d.now(), answer} })
}

// Repeat asks whether to start again.
func (d desk) Repeat(ctx context.Context, run api.RunRecord) (bool, error) {
	return d.ask(ctx, func(answer func(bool)) kit.Msg { return repeated{run, answer} })
}

// Note tells.
func (d desk) Note(text string) { d.emit(noted{text}) }

func (d desk) ask(ctx context.Context, question func(answer func(bool)) kit.Msg) (bool, error) {
	answers := make(chan bool, 1)
	d.emit(question(func(yes bool) {
		select {
		case answers <- yes:
		default: // answered already
		}
	}))
	select {
	case yes := <-answers:
		return yes, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}
