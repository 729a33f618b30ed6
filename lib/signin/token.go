package signin

import (
	"context"
	"errors"
	"time"

	"golang.org/x/oauth2"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
)

// early is how long before its end a token is no longer used, so that it does
// not end on the way.
const early = 30 * time.Second

// good says that a credential can be sent for a while.
func (a *Accounts) good(c credential) bool {
	return c.Kind == APIKey || c.ExpiresAt != nil && a.Now().Add(early).Before(*c.ExpiresAt)
}

// Token is a good token for an origin. An access token that is about to end is
// replaced, by one process for all: whoever gets the lock looks first whether
// another one has done it. When the service is out of reach a token that is
// still good is given instead.
func (a *Accounts) Token(ctx context.Context, baseURL string) (string, error) {
	return a.Another(ctx, baseURL, "")
}

// Another is Token, but never the token that the service has just refused: a
// clock that was set back believes in a token for too long.
func (a *Accounts) Another(ctx context.Context, baseURL, refused string) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c, ok := a.last[baseURL]; ok && a.usable(c, refused) {
		return c.AccessToken, nil
	}
	c, _, err := a.find(baseURL)
	if err == nil && !a.usable(c, refused) {
		err = a.locked(ctx, func() error {
			c, err = a.renew(ctx, baseURL, refused)
			return err
		})
	}
	if err != nil {
		return "", err
	}
	if a.last == nil {
		a.last = map[string]credential{}
	}
	a.last[baseURL] = c
	return c.AccessToken, nil
}

// usable says that a credential is good and was not refused. Of a stored key
// there is no other.
func (a *Accounts) usable(c credential, refused string) bool {
	return a.good(c) && (refused == "" || c.Kind == APIKey || c.AccessToken != refused)
}

func (a *Accounts) forget(baseURL string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.last, baseURL)
}

// find is the credential of an origin among all of them.
func (a *Accounts) find(baseURL string) (credential, []credential, error) {
	all, err := a.credentials()
	if err != nil {
		return credential{}, nil, err
	}
	for _, c := range all {
		if sameOrigin(c.BaseURL, baseURL) {
			return c, all, nil
		}
	}
	acc, found, err := a.Find(baseURL)
	if err != nil || !found {
		return credential{}, nil, errors.Join(SignedOut(baseURL), err)
	}
	return credential{}, nil, &flow.Error{
		Code: api.SignedOut, Message: "the credential for " + baseURL + " was put into " + acc.Store + ", and is not found now in " + a.vault().Name(),
		Facts: []string{"nothing was sent, started or charged"},
	}
}

// renew reads again what is kept and replaces it if it still must be. The
// caller holds the lock. Nothing is removed when the service says that the
// sign-in has ended: only signing out removes.
func (a *Accounts) renew(ctx context.Context, baseURL, refused string) (credential, error) {
	c, all, err := a.find(baseURL)
	if err != nil || a.usable(c, refused) {
		return c, err
	}
	t, err := a.refresh(ctx, c)
	var told *flow.Error
	switch {
	case errors.As(err, &told) && told.Code == api.SessionExpired:
		return c, err
	case err != nil && refused == "" && c.ExpiresAt != nil && a.Now().Before(*c.ExpiresAt):
		return c, nil
	case err != nil:
		return c, err
	}
	for i := range all {
		if sameOrigin(all[i].BaseURL, baseURL) {
			all[i].AccessToken, all[i].RefreshToken, all[i].ExpiresAt = t.Access, t.Refresh, &t.ExpiresAt
			c = all[i]
		}
	}
	return c, a.saveCredentials(all)
}

func (a *Accounts) refresh(ctx context.Context, c credential) (Tokens, error) {
	ctx, done := a.attempt(ctx)
	defer done()
	conf, err := a.conf(c.BaseURL)
	if err != nil {
		return Tokens{}, err
	}
	tok, err := conf.TokenSource(ctx, &oauth2.Token{RefreshToken: c.RefreshToken}).Token()
	if err != nil {
		return Tokens{}, a.said(c.BaseURL, err)
	}
	return a.tokens(tok)
}
