package account

import (
	"context"
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// movements is how many of the last movements of money stand on the page.
const movements = 50

// Billing is a workspace's money: what there is, what runs hold, and what moved
// last. Credit is bought in the browser only.
func Billing(r Reader) (kit.Screen, []kit.Effect) {
	return page{
		place: "Billing", what: "credit", note: "No payment is ever taken in the terminal",
		load: func(ctx context.Context) (content, error) {
			c, err := r.Credits(ctx)
			if err != nil {
				return content{}, err
			}
			entries, err := r.Ledger(ctx, movements)
			if err != nil {
				return content{}, err
			}
			return content{lines: func(w int) []kit.Line { return billingLines(c, entries, w) }, url: show.Text(c.BillingURL)}, nil
		},
	}.read()
}

func billingLines(c api.CreditsRecord, entries []api.LedgerEntry, w int) []kit.Line {
	out := show.Pairs(w,
		[2]string{"Balance", show.Money(c.BalanceMicrousd) + "   read " + c.AsOf.Local().Format("15:04:05")},
		[2]string{"Held", show.Money(c.HeldMicrousd) + "   set aside for runs that go on"},
		[2]string{"Free", show.Money(c.AvailableMicrousd) + "   for new runs"},
	)
	if p := c.Practice; p != nil {
		out = append(out, show.Pairs(w, [2]string{"Practice", fmt.Sprintf("%s free, %s held   play money, for practice routes only", show.Money(p.AvailableMicrousd), show.Money(p.HeldMicrousd))})...)
	}
	out = append(out, kit.Line{}, kit.Line{Text: " Last movements", Role: kit.Strong})
	if len(entries) == 0 {
		return append(out, kit.Line{Text: "   none yet"})
	}
	out = append(out, kit.Line{Text: show.F("   %-12s  %11s  %11s  %s", "when", "amount", "balance", "what")})
	for _, e := range entries {
		out = append(out, kit.Line{Text: movement(e)})
	}
	return out
}

func movement(e api.LedgerEntry) plain.Safe {
	what := e.Kind
	if e.RunID != nil {
		what += " " + show.Short(*e.RunID)
	}
	words := []string{what}
	if e.Note != "" {
		words = append(words, e.Note)
	}
	return show.F("   %-12s  %11s  %11s  %s", e.CreatedAt.Local().Format("2 Jan 15:04"), show.Money(e.AmountMicrousd), show.Money(e.BalanceAfterMicrousd), strings.Join(words, " · "))
}
