package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/plain"
)

// ClientID names this program to the service. It is no secret.
const ClientID = "evalrouter-cli"

// attemptLimit bounds one request, and is shorter than others wait for a lock.
const attemptLimit = 20 * time.Second

// Tokens are what a sign-in gives.
type Tokens struct {
	Access, Refresh string
	ExpiresAt       time.Time
	Account         api.AccountRecord
}

// offer is what a service says about signing in.
type offer struct {
	Device       bool    `json:"device"`
	Browser      bool    `json:"browser"`
	AuthorizeURL *string `json:"authorize_url"`
	WebOrigin    string  `json:"web_origin"`
}

// client sends forms. Redirects are answers that are not understood.
func (a *Accounts) client() *http.Client {
	return &http.Client{
		Transport:     agent{a.Transport, a.UserAgent},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// agent says which program is asking.
type agent struct {
	next http.RoundTripper
	name string
}

func (t agent) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("User-Agent", t.name)
	return t.next.RoundTrip(req)
}

// attempt is the context of one request.
func (a *Accounts) attempt(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithTimeout(ctx, attemptLimit)
	return context.WithValue(ctx, oauth2.HTTPClient, a.client()), cancel
}

// conf is where the forms of a service go.
func (a *Accounts) conf(baseURL string) (*oauth2.Config, error) {
	origin, err := a.Origin(baseURL)
	if err != nil {
		return nil, err
	}
	return &oauth2.Config{ClientID: ClientID, Endpoint: oauth2.Endpoint{
		TokenURL: origin + "/v1/auth/token", DeviceAuthURL: origin + "/v1/auth/device", AuthStyle: oauth2.AuthStyleInParams,
	}}, nil
}

// offered asks how to sign in.
func (a *Accounts) offered(ctx context.Context, baseURL string) (o offer, err error) {
	origin, err := a.Origin(baseURL)
	if err != nil {
		return o, err
	}
	ctx, done := a.attempt(ctx)
	defer done()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, origin+"/v1/auth/config", nil)
	if err != nil {
		return o, err
	}
	res, err := a.client().Do(req)
	if err != nil {
		return o, a.said(baseURL, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK || json.NewDecoder(http.MaxBytesReader(nil, res.Body, maxFile)).Decode(&o) != nil {
		return o, &flow.Error{Code: api.InvalidResponse, Message: fmt.Sprintf("%s does not say how to sign in (HTTP %d)", origin, res.StatusCode), Facts: []string{"nothing was stored"}}
	}
	return o, nil
}

// ours says that a page belongs to the service: to its own origin, or to the
// one that it names for people, and is not readable on the way.
func (a *Accounts) ours(baseURL string, o offer, page string) bool {
	u, err := url.Parse(page)
	if err != nil || u.User != nil || u.Fragment != "" {
		return false
	}
	at, err := evalrouter.Origin(u.Scheme+"://"+u.Host, a.Plain(baseURL))
	return err == nil && (sameOrigin(at, baseURL) || sameOrigin(at, o.WebOrigin))
}

func notOurs() error {
	return &flow.Error{Code: api.InvalidResponse, Message: "the service names a page of somebody else to sign in at", Facts: []string{"it is not shown, and nothing was stored"}}
}

func notOffered(what string) error {
	return &flow.Error{Code: api.FeatureUnavailable, Message: "this service does not sign people in " + what, Facts: []string{"nothing was stored"}}
}

// tokens checks an answer. How long the token is good counts from now by this
// machine's clock, so that a wrong clock does no harm.
func (a *Accounts) tokens(tok *oauth2.Token) (t Tokens, err error) {
	bad := &flow.Error{Code: api.InvalidResponse, Message: "the service answered a sign-in with something that cannot be used", Facts: []string{"nothing was stored"}}
	for _, s := range []string{tok.AccessToken, tok.RefreshToken} {
		if s == "" || len(s) > 4096 || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return t, bad
		}
	}
	if tok.ExpiresIn <= 0 || !strings.EqualFold(tok.Type(), "Bearer") {
		return t, bad
	}
	t = Tokens{Access: tok.AccessToken, Refresh: tok.RefreshToken, ExpiresAt: a.Now().Add(time.Duration(tok.ExpiresIn) * time.Second).UTC()}
	b, err := json.Marshal(tok.Extra("account"))
	if err != nil || json.Unmarshal(b, &t.Account) != nil {
		return t, bad
	}
	return t, nil
}

// stage is what an answer says beside its code.
type stage struct {
	Code    string  `json:"error"`
	Stage   string  `json:"stage"`
	Account *string `json:"account"`
}

// refusal is the error of the standards in an error, if it is one.
func refusal(err error) (stage, bool) {
	var r *oauth2.RetrieveError
	if !errors.As(err, &r) {
		return stage{}, false
	}
	s := stage{Code: r.ErrorCode}
	_ = json.Unmarshal(r.Body, &s) // only what is said beside the code
	return s, s.Code != ""
}

// said puts an error of a sign-in into words. The answer's own words are not
// repeated but for its code.
func (a *Accounts) said(baseURL string, err error) error {
	nothing := []string{"nothing was stored"}
	s, told := refusal(err)
	var r *oauth2.RetrieveError
	switch {
	case told && s.Code == "invalid_grant":
		return &flow.Error{Code: api.SessionExpired, Message: "the sign-in at " + baseURL + " has ended", Facts: []string{"nothing was started or charged"}}
	case told && s.Code == "access_denied":
		return &flow.Error{Code: api.SignInRefused, Message: "the sign-in was refused in the browser", Facts: nothing}
	case told && s.Code == "expired_token":
		return &flow.Error{Code: api.SignInExpired, Message: "nobody approved the sign-in in time", Facts: nothing}
	case told && s.Code == "temporarily_unavailable":
		return &flow.Error{Code: api.RateLimited, Message: "too many sign-ins were begun here; wait a minute", Facts: nothing}
	case errors.As(err, &r) && (r.Response.StatusCode == http.StatusTooManyRequests || r.Response.StatusCode >= 500):
		return &flow.Error{Code: api.Unavailable, Message: fmt.Sprintf("%s cannot sign anybody in for now (HTTP %d)", baseURL, r.Response.StatusCode), Facts: nothing}
	case told:
		return &flow.Error{Code: api.SignInRefused, Message: "the service refused the sign-in: " + string(plain.Line(s.Code)), Facts: nothing}
	case errors.As(err, &r):
		return &flow.Error{Code: api.HTTPError, Message: fmt.Sprintf("%s answered a sign-in with status %d", baseURL, r.Response.StatusCode), Facts: nothing}
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return &flow.Error{Code: api.RequestTimeout, Message: baseURL + " did not answer in time", Facts: nothing}
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // it repeats the address
	}
	return &flow.Error{Code: api.NetworkError, Message: baseURL + " cannot be reached", Facts: nothing, Err: err}
}

// Withdraw ends a sign-in that was not kept.
func (a *Accounts) Withdraw(ctx context.Context, baseURL string, t Tokens) error {
	return a.revoke(ctx, credential{BaseURL: baseURL, RefreshToken: t.Refresh})
}

// revoke ends a sign-in at the service.
func (a *Accounts) revoke(ctx context.Context, c credential) error {
	baseURL := c.BaseURL
	origin, err := a.Origin(baseURL)
	if err != nil {
		return err
	}
	ctx, done := a.attempt(ctx)
	defer done()
	form := url.Values{"client_id": {ClientID}, "token": {c.RefreshToken}, "token_type_hint": {"refresh_token"}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, origin+"/v1/auth/revoke", strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := a.client().Do(req)
	if err != nil {
		return a.said(baseURL, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return &flow.Error{Code: api.HTTPError, Message: fmt.Sprintf("%s answered with status %d", origin, res.StatusCode)}
	}
	return nil
}
