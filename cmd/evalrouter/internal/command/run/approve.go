package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/approval"
	"github.com/evalrouter/evalrouter/lib/flow"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

type approveCmd struct {
	*command.App
	revoke bool
}

// Approve is "evalrouter approve": a person's yes to a quote that a program asked
// for, so that the program may start that one run.
func Approve(a *command.App) *argv.Command {
	c := &approveCmd{App: a}
	fs := argv.NewFlags("approve")
	fs.Bool(&c.revoke, "revoke", "take an approval back")
	return &argv.Command{
		Name: "approve", Args: "QUOTE", Short: "Let an agent start the run of one quote",
		Long: "Shows the quote and asks. It needs a terminal: no flag and no text answers it.\nThe approval is for this quote, its cap and its time, and is kept in the state\ndirectory. It does not stop a program that can write there or type as you.",
		Examples: []string{
			"evalrouter approve 5d0c2f18-9a41-4c0e-8f2b-6c1a7be1d4f9",
			"evalrouter approve 5d0c2f18-9a41-4c0e-8f2b-6c1a7be1d4f9 --revoke",
		},
		Flags: fs, Exec: c.exec,
	}
}

func (c *approveCmd) exec(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return &argv.UsageError{Message: "name one quote; nothing was approved", Next: "evalrouter approve --help"}
	}
	id, err := c.OneQuote(args[0])
	if err != nil {
		return err
	}
	book, err := c.book()
	if err != nil {
		return err
	}
	if c.revoke {
		return c.takeBack(book, id)
	}
	if !c.Attended() {
		return command.WithNext(&flow.Error{
			Code: api.UnattendedRefused, Message: "an approval is a person's, and there is no terminal to ask at",
			Facts: []string{"nothing was approved, started or charged"},
		}, "evalrouter approve "+id)
	}
	client, err := c.Client(ctx)
	if err != nil {
		return err
	}
	q, err := client.Quotes.Get(ctx, id)
	if err != nil {
		return err
	}
	return c.ask(ctx, book, q)
}

// ask shows the quote and writes the yes down.
func (c *approveCmd) ask(ctx context.Context, book *approval.Book, q api.QuoteRecord) error {
	p := c.Term.ErrPage()
	showQuote(p, q)
	if err := errors.Join(p.Failure(), book.Fits(q)); err != nil {
		return err
	}
	yes, err := c.Term.Confirm(ctx, fmt.Sprintf("Let an agent start this run with a %s cap?", command.Money(*q.MaxChargeMicrousd)), "Approve", "Cancel", "approve")
	if err != nil {
		return err
	}
	if !yes {
		return &flow.Error{Code: api.ConfirmationDeclined, Message: "not approved", Facts: []string{"nothing was approved, started or charged"}}
	}
	a, err := book.Approve(q)
	if err != nil {
		return err
	}
	return c.Value(a, func(p *term.Page) {
		p.Line("Approved quote %s under a cap of %s, until %s. Nothing has started.", q.ID, command.Money(a.CapMicrousd), a.ExpiresAt.Local().Format("15:04"))
		p.Next("evalrouter approve " + q.ID + " --revoke")
	})
}

func (c *approveCmd) takeBack(book *approval.Book, id string) error {
	there, err := book.Revoke(id)
	if err != nil {
		return err
	}
	return c.Value(struct {
		QuoteID string `json:"quote_id"`
		Revoked bool   `json:"revoked"`
	}{id, there}, func(p *term.Page) {
		if !there {
			p.Line("Quote %s was not approved here.", id)
			return
		}
		p.Line("Quote %s is no longer approved. A run that was started already goes on: evalrouter status", id)
	})
}

// book is this user's approvals for the service and workspace in use.
func (c *approveCmd) book() (*approval.Book, error) {
	p, err := c.Profile()
	if err != nil {
		return nil, err
	}
	dir, err := p.Dirs.State.Path()
	if err != nil {
		return nil, err
	}
	return &approval.Book{Dir: dir, BaseURL: p.BaseURL.Value, WorkspaceID: p.Workspace.Value, Disk: flow.OS{}, Now: c.Now}, nil
}
