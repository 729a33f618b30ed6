package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
)

// A new account has no workspace until its setup is finished in the browser,
// which is waited for.
const (
	setupPoll = 3 * time.Second
	setupWait = 15 * time.Minute
)

// Machine names this computer and program to the person who approves a code.
type Machine struct{ Name, Version string }

// Guest is the person who signs in: shown what to do, and asked for a workspace
// where there are several.
type Guest interface {
	Desk
	// Browse has the address to open in the browser of this machine.
	Browse(address string)
	// Setup has the address where a new account is set up, "" if the service
	// names none.
	Setup(address string)
	Choose(ctx context.Context, all []api.WorkspaceRecord) (api.WorkspaceRecord, error)
}

// Entered is a sign-in that is kept.
type Entered struct {
	Account Account
	Who     api.WhoamiRecord
}

// Enter signs a person in, in a workspace, and keeps that: by the browser of
// this machine, or by a code for another one. Unless all of it succeeds nothing
// is kept, and the service is told to forget the sign-in.
func (a *Accounts) Enter(ctx context.Context, baseURL string, byCode bool, m Machine, g Guest) (out Entered, err error) {
	origin, err := a.Origin(baseURL)
	if err != nil {
		return out, err
	}
	var got Tokens
	if byCode {
		got, err = a.Device(ctx, origin, m.Name, m.Version, g)
	} else {
		got, err = a.Browser(ctx, origin, g.Browse)
	}
	if err != nil {
		return out, err
	}
	if out, err = a.settle(ctx, origin, got, g); err != nil {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), attemptLimit)
		defer cancel()
		return Entered{}, errors.Join(err, a.Withdraw(last, origin, got))
	}
	return out, nil
}

// settle finds the workspace of a sign-in and keeps both.
func (a *Accounts) settle(ctx context.Context, origin string, got Tokens, g Guest) (out Entered, err error) {
	c, err := a.as(origin, got.Access, "")
	if err != nil {
		return out, err
	}
	all, err := a.Workspaces(ctx, c, g.Setup)
	if err = errors.Join(err, c.Close()); err != nil {
		return out, err
	}
	w := all[0]
	if len(all) > 1 {
		if w, err = g.Choose(ctx, all); err != nil {
			return out, err
		}
	}
	if c, err = a.as(origin, got.Access, w.ID); err != nil {
		return out, err
	}
	out.Who, err = c.Whoami(ctx)
	if err = errors.Join(err, c.Close()); err != nil {
		return out, err
	}
	out.Account = Account{BaseURL: origin, Kind: Session, Who: Named(out.Who), WorkspaceID: w.ID, Workspace: w.Name, Store: a.vault().Name()}
	return out, a.Keep(ctx, out.Account, got)
}

// EnterKey keeps an API key, in the workspace that it belongs to, once the
// service has accepted it. Otherwise nothing is kept.
func (a *Accounts) EnterKey(ctx context.Context, baseURL, key string) (out Entered, err error) {
	key, ok := Key(key)
	if !ok {
		return out, &flow.Error{Code: api.InvalidInput, Message: "that is no API key: it is one line without spaces", Facts: []string{"nothing was sent or stored"}}
	}
	origin, err := a.Origin(baseURL)
	if err != nil {
		return out, err
	}
	c, err := a.as(origin, key, "")
	if err != nil {
		return out, err
	}
	out.Who, err = c.Whoami(ctx)
	if err = errors.Join(err, c.Close()); err != nil {
		return Entered{}, err
	}
	out.Account = Account{BaseURL: origin, Kind: APIKey, Who: Named(out.Who), Store: a.vault().Name()}
	if w := out.Who.Workspace; w != nil {
		out.Account.WorkspaceID, out.Account.Workspace = w.ID, w.Name
	}
	return out, a.Keep(ctx, out.Account, Tokens{Access: key})
}

const maxKey = 4096

// Key is an API key without the space around it, if the text can be one.
func Key(text string) (key string, ok bool) {
	key = strings.TrimSpace(text)
	return key, key != "" && len(key) <= maxKey && !strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' })
}

// Named is who somebody is, in words.
func Named(who api.WhoamiRecord) string {
	switch {
	case who.Account != nil:
		return who.Account.Email
	case who.APIKey != nil:
		return fmt.Sprintf("the key %s (%s)", who.APIKey.Name, who.APIKey.Prefix)
	}
	return strings.ReplaceAll(who.Kind, "_", " ")
}

// as is a service as whoever has a token sees it.
func (a *Accounts) as(origin, token, workspace string) (*evalrouter.Client, error) {
	return evalrouter.New(evalrouter.Config{
		BaseURL: origin, APIKey: token, WorkspaceID: workspace, AllowHTTP: a.Plain(origin), UserAgent: a.UserAgent,
		HTTPClient: &http.Client{Transport: a.Transport}, Now: a.Now, Sleep: a.Sleep,
	})
}

// Workspaces are all of a person's, once there is one: told gets the address
// where a new account is set up, and the setup is waited for.
func (a *Accounts) Workspaces(ctx context.Context, c *evalrouter.Client, told func(setup string)) ([]api.WorkspaceRecord, error) {
	until := a.Now().Add(setupWait)
	for shown := false; ; shown = true {
		var all []api.WorkspaceRecord
		for w, err := range c.Workspaces.All(ctx, evalrouter.Paging{Limit: 200}) {
			if err != nil {
				return nil, err
			}
			all = append(all, w)
		}
		if len(all) > 0 {
			return all, nil
		}
		if !shown {
			who, err := c.Whoami(ctx)
			if err != nil {
				return nil, err
			}
			setup := ""
			if who.SetupURL != nil {
				setup = *who.SetupURL
			}
			told(setup)
		}
		if !a.Now().Before(until) {
			return nil, &flow.Error{Code: api.SignInExpired, Message: "the setup was not finished in time", Facts: []string{"nothing was stored"}}
		}
		if err := a.Sleep(ctx, setupPoll); err != nil {
			return nil, err
		}
	}
}
