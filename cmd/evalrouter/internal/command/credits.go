package command

import (
	"context"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// Credits shows the workspace's money.
func Credits(a *App) *argv.Command {
	return &argv.Command{
		Name: "credits", Short: "Show what the workspace can spend",
		Long:     "Held is what running evaluations may still spend. There is no way to pay here.",
		Examples: []string{"evalrouter credits", "evalrouter credits --json"},
		Exec: func(ctx context.Context, args []string) error {
			if err := NoOperands(args); err != nil {
				return err
			}
			client, err := a.Client(ctx)
			if err != nil {
				return err
			}
			c, err := client.Credits.Get(ctx)
			if err != nil {
				return err
			}
			return a.Value(c, func(p *term.Page) {
				p.Line("Workspace  %s", c.WorkspaceID)
				p.Line("Balance    %s", Money(c.BalanceMicrousd))
				p.Line("Held       %s by running evaluations", Money(c.HeldMicrousd))
				p.Line("Available  %s", Money(c.AvailableMicrousd))
				if c.Practice != nil {
					p.Line("Practice   %s available of %s, for simulated practice routes only; not real money", Money(c.Practice.AvailableMicrousd), Money(c.Practice.BalanceMicrousd))
				}
				if c.BillingURL != nil {
					p.Line("Add credit at %s", *c.BillingURL)
				} else {
					p.Line("Credit is added by the operator of the service: evalrouterd credits grant")
				}
			})
		},
	}
}
