package signin

import (
	"context"
	"errors"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
)

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

// Bounds of asking whether a device was approved.
const (
	usualInterval = 5 * time.Second
	slower        = 5 * time.Second // what slow_down adds, for good
	longest       = time.Minute
	maxCodes      = 3
)

// Code is what a person types on another device.
type Code struct {
	User, Address string
	Life          time.Duration
	// Again says that an earlier code expired.
	Again bool
}

// Waiting is what a sign-in waits for: sign_in, verify_email, setup or approve.
type Waiting struct{ Stage, Account string }

// Desk shows a person what to do.
type Desk interface {
	Code(Code)
	Waits(Waiting)
}

// Device signs in by a code that is approved on any device. device names this
// machine to the person who approves. A code that expires is replaced by
// another one, a few times.
func (a *Accounts) Device(ctx context.Context, baseURL, device, version string, desk Desk) (Tokens, error) {
	o, err := a.offered(ctx, baseURL)
	if err != nil {
		return Tokens{}, err
	}
	if !o.Device {
		return Tokens{}, notOffered("by a code")
	}
	conf, err := a.conf(baseURL)
	if err != nil {
		return Tokens{}, err
	}
	for n := range maxCodes {
		var d *oauth2.DeviceAuthResponse
		if d, err = a.begin(ctx, conf, device, version); err != nil {
			return Tokens{}, a.said(baseURL, err)
		}
		life := d.Expiry.Sub(time.Now()) // oauth2 counts by the system's clock
		if !a.ours(baseURL, o, d.VerificationURI) || !typeable(d.UserCode) || d.DeviceCode == "" || life <= 0 {
			return Tokens{}, notOurs()
		}
		desk.Code(Code{User: d.UserCode, Address: d.VerificationURI, Life: life.Round(time.Minute), Again: n > 0})
		var t Tokens
		if t, err = a.poll(ctx, conf, baseURL, d, a.Now().Add(life), desk); !expired(err) {
			return t, err
		}
	}
	return Tokens{}, err
}

func (a *Accounts) begin(ctx context.Context, conf *oauth2.Config, device, version string) (*oauth2.DeviceAuthResponse, error) {
	ctx, done := a.attempt(ctx)
	defer done()
	return conf.DeviceAuth(ctx, oauth2.SetAuthURLParam("client_version", version), oauth2.SetAuthURLParam("device_name", device))
}

// typeable says that a code is one that a person can compare and type.
func typeable(code string) bool {
	return len(code) >= 4 && len(code) <= 16 && strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") == ""
}

func expired(err error) bool {
	var e *flow.Error
	return errors.As(err, &e) && e.Code == api.SignInExpired
}

// poll asks until somebody has decided, as RFC 8628 wants it: never faster than
// told, slower when told so, and slower when nobody answers.
func (a *Accounts) poll(ctx context.Context, conf *oauth2.Config, baseURL string, d *oauth2.DeviceAuthResponse, end time.Time, desk Desk) (Tokens, error) {
	interval := usualInterval
	if d.Interval > 0 && d.Interval < int64(longest/time.Second) {
		interval = time.Duration(d.Interval) * time.Second
	}
	var shown Waiting
	for {
		if err := a.Sleep(ctx, interval); err != nil {
			return Tokens{}, err
		}
		if !a.Now().Before(end) {
			return Tokens{}, &flow.Error{Code: api.SignInExpired, Message: "nobody approved the sign-in in time", Facts: []string{"nothing was stored"}}
		}
		tok, err := a.ask(ctx, conf, d.DeviceCode)
		if err == nil {
			return a.tokens(tok)
		}
		s, told := refusal(err)
		switch {
		case told && s.Code == "authorization_pending":
			now := Waiting{Stage: s.Stage}
			if s.Account != nil {
				now.Account = *s.Account
			}
			if now != shown {
				desk.Waits(now)
				shown = now
			}
		case told && s.Code == "slow_down":
			interval += slower
		case told, ctx.Err() != nil:
			return Tokens{}, a.said(baseURL, err)
		default: // out of reach for now; the code is good for longer than that
			interval = min(2*interval, longest)
		}
	}
}

func (a *Accounts) ask(ctx context.Context, conf *oauth2.Config, deviceCode string) (*oauth2.Token, error) {
	ctx, done := a.attempt(ctx)
	defer done()
	return conf.Exchange(ctx, "", oauth2.SetAuthURLParam("grant_type", deviceGrant), oauth2.SetAuthURLParam("device_code", deviceCode))
}
