package command

import (
	"fmt"
	"runtime"
	"strings"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/profile"
	"github.com/evalrouter/evalrouter/lib/signin"
)

// Accounts are this user's sign-ins.
func (a *App) Accounts() (*signin.Accounts, error) {
	if a.accounts == nil {
		dir, err := profile.DirsOf(a.Term.Env, a.Term.Home).Config.Path()
		if err != nil {
			return nil, err
		}
		a.accounts = &signin.Accounts{
			Dir: dir, Vault: a.Vault, Transport: a.patience(evalrouter.NewTransport()), AllowHTTP: a.Global.AllowHTTP,
			UserAgent: a.userAgent(), Now: a.Now, Sleep: a.Sleep,
		}
	}
	return a.accounts, nil
}

// ClientAs is a service as somebody sees it who is not the caller yet.
func (a *App) ClientAs(baseURL, token, workspace string) (*evalrouter.Client, error) {
	acc, err := a.Accounts()
	if err != nil {
		return nil, err
	}
	cfg := a.config(&profile.Profile{BaseURL: profile.Setting{Value: baseURL}, AllowHTTP: acc.Plain(baseURL)})
	cfg.APIKey, cfg.WorkspaceID = token, workspace
	return evalrouter.New(cfg)
}

func (a *App) userAgent() string {
	return fmt.Sprintf("evalrouter/%s (%s/%s)", a.Version, runtime.GOOS, runtime.GOARCH)
}

// saved reads what a sign-in left; nil where there is no place for it.
func (a *App) saved() func(string) (*profile.Saved, error) {
	accounts, err := a.Accounts()
	if err != nil {
		return nil
	}
	return accounts.Saved
}

// signedOut refuses before anything is sent, with what helps here: a script is
// told of the variables, a person of the sign-in.
func (a *App) signedOut(p *profile.Profile) error {
	err := signin.SignedOut(p.BaseURL.Value)
	if a.Term.Get("CI") != "" {
		return WithNext(fmt.Errorf("%w; give EVALROUTER_API_KEY and EVALROUTER_WORKSPACE_ID as secrets of this job", err), "evalrouter help env")
	}
	return WithNext(err, a.LoginCommand())
}

// LoginCommand is the way to sign in where this command would have gone.
func (a *App) LoginCommand() string {
	line, plainly := "evalrouter login", a.Global.AllowHTTP
	if p, err := a.Profile(); err == nil && !p.Local && p.BaseURL.Value != profile.Production {
		line += " --base-url " + ShellWord(p.BaseURL.Value)
		plainly = plainly || strings.HasPrefix(p.BaseURL.Value, "http:")
	}
	if plainly {
		line += " --allow-http"
	}
	return line
}
