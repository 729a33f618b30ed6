// Package signin is the commands about who is asking: login, logout, whoami and
// workspace. What they keep and how they get it is decided in lib/signin; here it
// is shown, asked and told.
package signin

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/profile"
	accounts "github.com/evalrouter/evalrouter/lib/signin"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/command"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

type login struct {
	*command.App
	noBrowser, keyStdin, keyring bool
	workspace                    string
}

// Login is "evalrouter login".
func Login(a *command.App) *argv.Command {
	l := &login{App: a}
	fs := argv.NewFlags("login")
	fs.Bool(&l.noBrowser, "no-browser", "show a code to approve on another device")
	fs.String(&l.workspace, "workspace", "NAME_OR_ID", "the workspace to use, if there are several")
	fs.Bool(&l.keyStdin, "key-stdin", "store an API key, read from stdin")
	fs.Bool(&l.keyring, "require-keyring", "fail where there is no keychain").Rare()
	return &argv.Command{
		Name: "login", Args: "[--no-browser | --key-stdin] [flags]", Short: "Sign in to a service",
		Long:     "By the browser of this machine, or by a code where there is none. Without\n--base-url at " + profile.Production + ". No key is ever an argument.",
		Examples: []string{"evalrouter login", "evalrouter login --no-browser", "evalrouter login --key-stdin --base-url URL"},
		Flags:    fs, Exec: l.exec,
	}
}

func (l *login) exec(ctx context.Context, args []string) error {
	if err := command.NoOperands(args); err != nil {
		return err
	}
	if l.noBrowser && l.keyStdin {
		return &argv.UsageError{Message: "--no-browser and --key-stdin are two ways to sign in; give one"}
	}
	if l.workspace != "" && l.keyStdin {
		return &argv.UsageError{Message: "a key belongs to one workspace; leave --workspace out"}
	}
	if l.keyring && (l.Vault == nil || l.Vault() == nil) {
		return &flow.Error{Code: api.InvalidConfiguration, Message: "there is no keychain: this program was built without one, or none answers here", Facts: []string{"nothing was sent or stored; without --require-keyring a private file is used"}}
	}
	if strings.EqualFold(l.origin(), profile.Local) {
		return &argv.UsageError{Message: "the service on this machine needs no sign-in; every command finds it with --base-url local", Next: "evalrouter whoami --base-url local"}
	}
	acc, err := l.Accounts()
	if err != nil {
		return err
	}
	base, err := acc.Origin(l.origin())
	if err != nil {
		return err
	}
	if before, found, err := acc.Find(base); err != nil {
		return err
	} else if found {
		l.Note("You are signed in there as %s. Signing in again replaces that.", before.Who)
	}
	got, kind, err := l.enter(ctx, acc, base)
	if err != nil && ctx.Err() != nil {
		err = &flow.Error{Code: api.WaitCancelled, Message: "stopped waiting for the sign-in", Facts: []string{"nothing was stored"}, Err: err}
	}
	if err != nil {
		return command.WithNext(err, l.LoginCommand())
	}
	w, why, err := l.choose(ctx, base, kind, got)
	if err != nil {
		if kind == accounts.Session { // nobody will use it
			err = errors.Join(err, acc.Withdraw(context.WithoutCancel(ctx), base, got))
		}
		return err
	}
	return l.keep(ctx, acc, base, kind, got, w, why)
}

// origin is where to sign in: never at the service of this machine, which needs
// no sign-in.
func (l *login) origin() string {
	for _, s := range []string{l.Global.BaseURL, l.Term.Get(profile.EnvBaseURL)} {
		if s != "" {
			return s
		}
	}
	return profile.Production
}

// enter gets a credential in the way that was asked for, or that works here.
func (l *login) enter(ctx context.Context, acc *accounts.Accounts, base string) (accounts.Tokens, string, error) {
	if l.keyStdin {
		key, err := readKey(l.Term.In)
		return accounts.Tokens{Access: key}, accounts.APIKey, err
	}
	why := l.Viewer(l.noBrowser).Silent()
	if why == "" {
		got, err := acc.Browser(ctx, base, l.open)
		return got, accounts.Session, err
	}
	if !l.noBrowser {
		l.Note("No browser is opened: %s. A code does it too.", why)
	}
	name, err := os.Hostname()
	if err != nil {
		name = "a computer"
	}
	got, err := acc.Device(ctx, base, name[:min(len(name), 64)], l.Version, told{l.App})
	return got, accounts.Session, err
}

// readKey reads one line and what may wrongly follow it.
func readKey(in io.Reader) (string, error) {
	b, err := io.ReadAll(io.LimitReader(in, 8<<10))
	key, ok := accounts.Key(string(b))
	if err != nil || !ok {
		return "", &argv.UsageError{Message: "stdin holds no API key: one line without spaces; nothing was sent or stored"}
	}
	return key, nil
}

// open opens the browser, and prints the address in any case.
func (l *login) open(address string) {
	if why := l.Viewer(false).Page(address); why != "" {
		l.Note("Open this address in the browser of this machine (%s):", why)
	} else {
		l.Note("Opened your browser. If it did not open, go there by hand:")
	}
	l.Note("  %s", address)
	l.Note("Waiting... (Ctrl+C stops waiting)")
}

// told shows a person what to do on another device.
type told struct{ *command.App }

// Code shows a code and where it is typed.
func (t told) Code(c accounts.Code) {
	if c.Again {
		t.Note("The code expired. Here is another one.")
	}
	t.Note("1. On any device open  %s", c.Address)
	t.Note("2. Check that it shows  %s", c.User)
	t.Note("3. Approve only if you just asked for this.")
	t.Note("Waiting... the code is good for %d minutes. (Ctrl+C stops waiting)", int(c.Life.Minutes()))
}

// Waits says what is missing there.
func (t told) Waits(w accounts.Waiting) {
	switch w.Stage {
	case "verify_email":
		t.Note("Waiting for the e-mail address %s to be confirmed.", w.Account)
	case "setup":
		t.Note("Waiting for the setup of the account to be finished there.")
	case "approve":
		t.Note("Waiting for the approval.")
	}
}

// keep stores the sign-in and says so.
func (l *login) keep(ctx context.Context, acc *accounts.Accounts, base, kind string, got accounts.Tokens, w api.WorkspaceRecord, why string) error {
	c, err := l.ClientAs(base, got.Access, w.ID)
	if err != nil {
		return err
	}
	who, err := c.Whoami(ctx)
	if err = errors.Join(err, c.Close()); err != nil {
		return err
	}
	a := accounts.Account{BaseURL: base, Kind: kind, Who: accounts.Named(who), WorkspaceID: w.ID, Workspace: w.Name}
	if err := acc.Keep(ctx, a, got); err != nil {
		return err
	}
	kept, _, err := acc.Find(base)
	if err != nil {
		return err
	}
	if l.Term.Get(profile.EnvAPIKey) != "" {
		l.Note("Warning  %s is set, and is used before this sign-in.", profile.EnvAPIKey)
	}
	return l.Value(who, func(p *term.Page) {
		p.Line("Signed in as %s. Workspace: %s%s.", a.Who, w.Name, why)
		p.Line("Kept in %s.", kept.Store)
		p.Next("evalrouter catalog")
	})
}
