package signin

import (
	"context"
	"iter"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/profile"
	accounts "github.com/evalrouter/evalrouter/lib/signin"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/table"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

// Logout is "evalrouter logout".
func Logout(a *command.App) *argv.Command {
	return &argv.Command{
		Name: "logout", Short: "Sign out, here and at the service",
		Long:     "A stored API key is removed here and stays good elsewhere. Runs go on.",
		Examples: []string{"evalrouter logout", "evalrouter logout --json"},
		Exec: func(ctx context.Context, args []string) error {
			if err := command.NoOperands(args); err != nil {
				return err
			}
			return leave(ctx, a)
		},
	}
}

func leave(ctx context.Context, a *command.App) error {
	acc, err := a.Accounts()
	if err != nil {
		return err
	}
	at := a.Global.BaseURL
	if at == "" {
		at = a.Term.Get(profile.EnvBaseURL)
	}
	was, found, err := acc.Find(at)
	if err != nil {
		return err
	}
	if !found {
		return a.Value(api.OKResponse{OK: true}, func(p *term.Page) { p.Line("Nobody was signed in.") })
	}
	// A service that cannot be asked for a reason of this machine's is no outage:
	// the token stays until it can be told.
	if _, err := acc.Origin(was.BaseURL); err != nil {
		return command.WithNext(err, "evalrouter logout --allow-http")
	}
	_, unheard, err := acc.Leave(ctx, was.BaseURL)
	if err != nil {
		return err
	}
	if unheard != nil {
		a.Note("Signed out here. The service could not be told: until it is, it would still know the token, of which no copy is left on this machine.")
		return unheard
	}
	return a.Value(api.OKResponse{OK: true}, func(p *term.Page) {
		p.Line("Signed out: %s at %s.", was.Who, was.BaseURL)
		if a.Term.Get(profile.EnvAPIKey) != "" {
			p.Line("%s is still set, and is used.", profile.EnvAPIKey)
		}
	})
}

// Whoami is "evalrouter whoami".
func Whoami(a *command.App) *argv.Command {
	return &argv.Command{
		Name: "whoami", Short: "Show who is asking, and in which workspace",
		Examples: []string{"evalrouter whoami", "evalrouter whoami --json"},
		Exec: func(ctx context.Context, args []string) error {
			if err := command.NoOperands(args); err != nil {
				return err
			}
			c, err := a.Client(ctx)
			if err != nil {
				return err
			}
			who, err := c.Whoami(ctx)
			if err != nil {
				return err
			}
			p, err := a.Profile()
			if err != nil {
				return err
			}
			return a.Value(who, func(page *term.Page) { show(page, a, p, c.BaseURL(), who) })
		},
	}
}

func show(page *term.Page, a *command.App, p *profile.Profile, at string, who api.WhoamiRecord) {
	page.Line("Signed in as  %s", accounts.Named(who))
	page.Line("Service       %s", at)
	switch {
	case who.Workspace != nil:
		page.Line("Workspace     %s, %s", who.Workspace.Name, who.Workspace.Role)
	case who.SetupRequired && who.SetupURL != nil:
		page.Line("Workspace     none yet; finish the setup at %s", *who.SetupURL)
	default:
		page.Line("Workspace     none chosen")
	}
	from := p.Credential.From
	if acc, err := a.Accounts(); err == nil && from == profile.FromLogin {
		if kept, found, err := acc.Find(p.BaseURL.Value); err == nil && found {
			from = kept.Store
		}
	}
	page.Line("Credential    %s, from %s", p.Credential.Value, from)
	if who.Workspace == nil {
		page.Next("evalrouter workspace list")
	}
}

// Workspace is "evalrouter workspace".
func Workspace(a *command.App) *argv.Command {
	return &argv.Command{
		Name: "workspace", Args: "COMMAND", Short: "List your workspaces, and choose one",
		Examples: []string{"evalrouter workspace list", "evalrouter workspace use Fake"},
		Sub:      []*argv.Command{workspaceList(a), workspaceUse(a)},
	}
}

func workspaceList(a *command.App) *argv.Command {
	l := &command.ListFlags{}
	fs := argv.NewFlags("list")
	l.Declare(fs)
	return &argv.Command{
		Name: "list", Short: "List your workspaces", Flags: fs, Examples: []string{"evalrouter workspace list", "evalrouter workspace list --json"},
		Exec: func(ctx context.Context, args []string) error {
			if err := command.NoOperands(args); err != nil {
				return err
			}
			c, err := a.Client(ctx)
			if err != nil {
				return err
			}
			p, err := a.Profile()
			if err != nil {
				return err
			}
			page, err := command.Fetch(l, command.Source[api.WorkspaceRecord]{
				Page: func(at evalrouter.Paging) (api.Page[api.WorkspaceRecord], error) { return c.Workspaces.List(ctx, at) },
				All:  func(at evalrouter.Paging) iter.Seq2[api.WorkspaceRecord, error] { return c.Workspaces.All(ctx, at) },
			})
			if err != nil {
				return err
			}
			return command.PrintList(a, l, columns(p.Workspace.Value), page, command.Hints{Empty: "You have no workspace.", Next: "evalrouter workspace use NAME"})
		},
	}
}

func columns(current string) []table.Column[api.WorkspaceRecord] {
	type rec = api.WorkspaceRecord
	return []table.Column[rec]{
		{Name: "workspace", Whole: true, Text: func(w rec) string { return w.Name }},
		{Name: "role", Text: func(w rec) string { return w.Role }},
		{Name: "used", Text: func(w rec) string { return map[bool]string{true: "yes"}[w.ID == current] }},
		{Name: "status", Drop: 1, Text: func(w rec) string { return w.Status }},
		{Name: "slug", Wide: true, Text: func(w rec) string { return w.Slug }},
		{Name: "id", Wide: true, Whole: true, Text: func(w rec) string { return w.ID }},
	}
}

func workspaceUse(a *command.App) *argv.Command {
	return &argv.Command{
		Name: "use", Args: "NAME_OR_ID", Short: "Use a workspace from now on",
		Examples: []string{"evalrouter workspace use Fake", "evalrouter workspace use Fake --json"},
		Exec: func(ctx context.Context, args []string) error {
			if len(args) != 1 {
				return &argv.UsageError{Message: "name one workspace", Next: "evalrouter workspace list"}
			}
			p, err := a.Profile()
			if err != nil {
				return err
			}
			c, err := a.Client(ctx)
			if err != nil {
				return err
			}
			if p.Credential.From != profile.FromLogin {
				return &argv.UsageError{Message: "a workspace is chosen for a sign-in, and none is used here (" + p.Credential.From + "); " + profile.EnvWorkspace + " or --workspace-id names one for a key", Next: "evalrouter options"}
			}
			all, err := gather(ctx, c)
			if err != nil {
				return err
			}
			w, err := named(all, args[0], "evalrouter workspace use ")
			if err != nil {
				return err
			}
			acc, err := a.Accounts()
			if err != nil {
				return err
			}
			if err := acc.Choose(ctx, p.BaseURL.Value, w.ID, w.Name); err != nil {
				return err
			}
			return a.Value(w, func(page *term.Page) {
				page.Line("Using %s from now on.", w.Name)
				page.Next("evalrouter whoami")
			})
		},
	}
}
