package run

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/usd"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

const suggestedCap = 5 * usd.Dollar

// desk answers a launch's questions from the flags, and asks the person only
// for what the flags leave open and only if there is one.
type desk struct {
	*command.App
	yes      bool
	attended bool
	// again is the command line that repeats the run as separate work.
	again string
}

var _ flow.Desk = (*desk)(nil)

// Quoted shows the quote to people; JSON readers get the final record.
func (d *desk) Quoted(_ context.Context, q api.QuoteRecord) error {
	d.RememberQuote(q)
	p := d.Term.ErrPage()
	showQuote(p, q)
	return p.Failure()
}

// Cap asks for the cap, suggesting $5 or what one task needs.
func (d *desk) Cap(ctx context.Context, preview api.QuoteRecord) (usd.Micro, error) {
	if !d.attended {
		return 0, &flow.Error{Code: api.UnattendedRefused, Message: "there is no terminal to ask for the spending cap", Facts: []string{"nothing was started or charged"}}
	}
	suggested := suggestedCap
	if m := preview.MinimumCapMicrousd; m != nil && *m > suggested {
		suggested = *m
		d.App.Note("One task needs a cap of at least %s, more than the usual %s.", command.Money(*m), command.Money(suggestedCap))
	}
	for range 5 {
		line, err := d.Term.Ask(ctx, fmt.Sprintf("Spending cap in USD, hard [%s]: ", strings.TrimPrefix(suggested.String(), "$")))
		if err != nil {
			return 0, err
		}
		if strings.TrimSpace(line) == "" {
			return suggested, nil
		}
		m, err := usd.Parse(strings.TrimSpace(line))
		switch {
		case err != nil:
			d.App.Note("That is %s.", err)
		case m == 0:
			d.App.Note("A cap of nothing starts nothing.")
		case preview.MinimumCapMicrousd != nil && m < *preview.MinimumCapMicrousd:
			d.App.Note("One task needs a cap of at least %s.", command.Money(*preview.MinimumCapMicrousd))
		default:
			return m, nil
		}
	}
	return 0, term.ErrDeclined
}

// Approve asks the one question that spends. --yes answers it, but not for a
// quote that turned out other than the one that was reviewed.
func (d *desk) Approve(ctx context.Context, q api.QuoteRecord, before *api.QuoteRecord) (bool, error) {
	if before != nil {
		showChange(d.Term.ErrPage(), *before, q)
	}
	return d.approve(ctx, fmt.Sprintf("Start run with a %s cap?", command.Money(*q.MaxChargeMicrousd)), "Start run", before != nil)
}

func (d *desk) approve(ctx context.Context, question, yes string, changed bool) (bool, error) {
	if changed && !d.attended {
		return false, &flow.Error{
			Code: api.QuoteChanged, Message: "the quote expired and the new one has other terms",
			Facts: []string{"both stand above; nothing was started or charged"},
		}
	}
	if d.yes && !changed {
		return true, nil
	}
	if !d.attended {
		return false, &flow.Error{Code: api.UnattendedRefused, Message: "there is no terminal to ask for the start", Facts: []string{"nothing was started or charged"}}
	}
	ok, err := d.Term.Confirm(ctx, question, yes, "Cancel", "start")
	if errors.Is(err, term.ErrDeclined) {
		return false, nil
	}
	return ok, err
}

// Repeat asks whether the same work is wanted again.
func (d *desk) Repeat(ctx context.Context, ended api.RunRecord) (bool, error) {
	if !d.attended {
		return false, command.WithNext(&flow.Error{
			Code: api.RepeatNeedsNew, RunID: ended.ID,
			Message: fmt.Sprintf("run %s did the same and has ended (%s)", ended.ID, ended.Status),
			Facts:   []string{"nothing was started or charged; --new starts it again as separate work"},
		}, "evalrouter results "+ended.ID, d.again)
	}
	d.App.Note("Run %s did the same and has just ended (%s).", ended.ID, ended.Status)
	ok, err := d.Term.Confirm(ctx, "Run it again as separate work?", "Run again", "Cancel", "again")
	if errors.Is(err, term.ErrDeclined) {
		return false, nil
	}
	return ok, err
}

// Note tells on stderr.
func (d *desk) Note(text string) { d.App.Note("%s", text) }
