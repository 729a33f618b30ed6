// Package identity decides about people: how an account begins, who signs in,
// who may change what in a workspace, and what an API key may be given.
//
//   - An account exists once its address was verified: by a code that was mailed
//     and is typed into the browser that registered, or by the operator where no
//     mail can be sent. Before that there is a registration, which nobody signs
//     in with.
//   - Whether an address has an account is told to nobody: registering and
//     signing in answer the same, take as long, and only the mail differs.
//   - Codes are typed and never part of an address, so that no log, history or
//     referrer holds one.
//   - A key has no more scopes than whoever made it, and one with a ceiling
//     makes no keys.
package identity

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/password"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/ratelimit"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
)

// People keeps accounts and registrations.
type People interface {
	User(context.Context, core.UserID) (core.User, error)
	UserByEmail(context.Context, string) (core.User, error)
	AddRegistration(context.Context, core.Registration) error
	RegistrationOf(ctx context.Context, browser []byte) (core.Registration, error)
	Verify(ctx context.Context, browser, code []byte, id core.UserID, by core.By) (u core.User, ok bool, err error)
	SetName(context.Context, core.UserID, string) error
	SetPassword(ctx context.Context, id core.UserID, hash, keepSession string, by core.By) error
	Resets
}

// Sessions keeps browsers in which people signed in.
type Sessions interface {
	AddSession(ctx context.Context, v core.Session, before string, by core.By) error
	Session(ctx context.Context, mac []byte) (core.Session, core.User, error)
	EndSession(ctx context.Context, user core.UserID, id string, by core.By) error
}

// Mailer sends mails.
type Mailer interface {
	Send(ctx context.Context, to, subject, text string) error
}

// Service decides. All fields are required unless they say otherwise.
type Service struct {
	People   People
	Sessions Sessions
	Members  Members
	Keys     Keys
	Hasher   *password.Hasher
	Master   *seal.Master
	// Draw makes secrets; Code makes one that a person types.
	Draw func(seal.Kind) (seal.Key, error)
	Code func() (string, error)
	// NewID makes ids, NewEntry those of lines of the log, which are in order.
	NewID, NewEntry func() string
	Now             func() core.Micros
	// Mail is nil where the operator approves accounts.
	Mail Mailer
	// Origin is where people find the service, for mails.
	Origin string
	// Tries bounds how often one address is tried, and Mails how often it is
	// written to: whoever asks for a mail need not be who gets it.
	Tries, Mails *ratelimit.Limiter
}

// Codes of a refusal that a page shows as it is.
const (
	// Unfit is input that a person can mend.
	Unfit = core.InvalidRequest
	// TooOften is asking again too soon.
	TooOften = core.Code("rate_limited")
	// NotSent is a mail that could not be sent.
	NotSent = core.Code("unavailable")
)

func unfit(format string, args ...any) error { return core.Refuse(Unfit, format, args...) }

// Labels of what is kept as a MAC.
const (
	labelBrowser seal.Label = "browser"
	labelCode    seal.Label = "mail code"
	// LabelUserCode is that of the codes of devices.
	LabelUserCode seal.Label = "user code"
)

// How long a registration waits: for its code, or for the operator.
const (
	hour        = 3600 * 1_000_000
	mailWait    = hour
	approveWait = 30 * 24 * hour
)

// Address is an e-mail address in the form that it is kept in, "" for text that
// is none.
func Address(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	name, domain, ok := strings.Cut(text, "@")
	if !ok || name == "" || domain == "" || len(text) > 254 || strings.Contains(domain, "@") || strings.HasPrefix(domain, ".") || strings.HasSuffix(domain, ".") {
		return ""
	}
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c > '~' || strings.IndexByte(`"(),:;<>[\]`, c) >= 0 {
			return ""
		}
	}
	return text
}

// Registering is what somebody registers with.
type Registering struct {
	Email, Name, Password string
	// Browser is the browser's own secret.
	Browser string
	Address string // where from
}

// Register begins an account.
func (s *Service) Register(ctx context.Context, r Registering) error {
	email, name := Address(r.Email), strings.TrimSpace(r.Name)
	if email == "" {
		return unfit("This is not an e-mail address.")
	}
	if err := personName(name); err != nil {
		return err
	}
	if bad := password.Fit(r.Password, email); bad != "" {
		return unfit("%s", bad)
	}
	if err := s.mayTry("register " + email); err != nil {
		return err
	}
	hash, err := s.Hasher.Hash(ctx, r.Password)
	if err != nil {
		return err
	}
	g := core.Registration{ID: s.NewID(), Browser: s.Master.MACText(labelBrowser, r.Browser), Email: email, Name: name, Password: hash, Address: r.Address, ExpiresAt: s.Now() + approveWait}
	if s.Mail == nil {
		return s.People.AddRegistration(ctx, g)
	}
	return s.mailCode(ctx, g)
}

// mailCode sends the code of a registration. Whoever has an account already is
// told so by mail, and the code that would verify does not exist.
func (s *Service) mailCode(ctx context.Context, g core.Registration) error {
	code, err := s.Code()
	if err != nil {
		return err
	}
	g.ExpiresAt, g.Code = s.Now()+mailWait, s.Master.MACText(labelCode, code)
	subject, text := "Your EvalRouter code", fmt.Sprintf("Somebody registers with EvalRouter at %s and gave this address.\n\nIf it was you, type this code into the page that you left open:\n\n    %s\n\n"+
		"It is good for an hour. If it was not you, do nothing: without the code nothing happens.\n", s.Origin, SpelledCode(code))
	_, err = s.People.UserByEmail(ctx, g.Email)
	switch {
	case err == nil:
		if unknown, drawn := s.Code(); drawn == nil {
			g.Code = s.Master.MACText(labelCode, "none "+unknown)
		}
		subject, text = "You have an EvalRouter account already", fmt.Sprintf("Somebody tried to register with EvalRouter at %s and gave this address, which has an account.\n\nIf it was you, sign in at %s/login instead. "+
			"If it was not you, do nothing: nothing happened.\n", s.Origin, s.Origin)
	case !errors.Is(err, &core.Refusal{Code: core.NotFound}):
		return err
	}
	if !s.mayWrite(g.Email) {
		return core.Refuse(TooOften, "A mail went to this address a moment ago. Wait a minute, then try again.")
	}
	if err := s.People.AddRegistration(ctx, g); err != nil {
		return err
	}
	if err := s.Mail.Send(ctx, g.Email, subject, text); err != nil {
		return errors.Join(core.Refuse(NotSent, "The mail could not be sent. Try again in a while."), err)
	}
	return nil
}

// Waiting says what a browser's registration waits for: a code, or the
// operator; ok is false when there is none.
func (s *Service) Waiting(ctx context.Context, browser string) (g core.Registration, ok bool, err error) {
	g, err = s.People.RegistrationOf(ctx, s.Master.MACText(labelBrowser, browser))
	if errors.Is(err, &core.Refusal{Code: core.NotFound}) {
		return g, false, nil
	}
	return g, err == nil, err
}

// Verify makes a registration an account.
func (s *Service) Verify(ctx context.Context, browser, code, address string) (core.User, error) {
	id := core.UserID(s.NewID())
	u, ok, err := s.People.Verify(ctx, s.Master.MACText(labelBrowser, browser), s.Master.MACText(labelCode, TypedCode(code)), id, core.By{Entry: s.NewEntry(), Actor: string(id), Address: address})
	switch {
	case errors.Is(err, &core.Refusal{Code: core.NotFound}):
		return u, unfit("This browser has no registration that waits for a code. Register again.")
	case err != nil:
		return u, err
	case !ok:
		return u, unfit("This is not the code that was mailed, or it is too late for it. After %d wrong codes, register again.", core.MaxCodeTries)
	}
	return u, nil
}

// TypedCode is a code as people type it: any case, with or without a dash or
// spaces.
func TypedCode(text string) string {
	return strings.ToUpper(strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' {
			return -1
		}
		return r
	}, text))
}

// SpelledCode is a code as people read it.
func SpelledCode(code string) string {
	half := len(code) / 2
	return code[:half] + "-" + code[half:]
}

// SignIn begins a session with an address and a password. before is the session
// that the browser had, "" for none. The cookie is shown once.
func (s *Service) SignIn(ctx context.Context, email, pw, before, address string) (cookie seal.Key, u core.User, err error) {
	email = Address(email)
	if err := s.mayTry("sign in " + email); err != nil {
		return cookie, u, err
	}
	u, err = s.People.UserByEmail(ctx, email)
	if err != nil && !errors.Is(err, &core.Refusal{Code: core.NotFound}) {
		return cookie, u, err
	}
	hash := u.Password
	if err != nil || u.State != core.UserActive {
		hash = ""
	}
	ok, err := s.Hasher.Check(ctx, pw, hash)
	if err != nil {
		return cookie, u, err
	}
	if !ok {
		return cookie, core.User{}, unfit("Address and password do not fit, or the account is not verified yet.")
	}
	cookie, err = s.Begin(ctx, u, before, address)
	return cookie, u, err
}

// Begin begins a session of a person who has just proved who they are.
func (s *Service) Begin(ctx context.Context, u core.User, before, address string) (seal.Key, error) {
	cookie, err := s.Draw(seal.CookieKey)
	if err != nil {
		return cookie, err
	}
	v := core.Session{ID: s.NewID(), MAC: s.Master.MAC(cookie), User: u.ID, Address: address}
	return cookie, s.Sessions.AddSession(ctx, v, before, core.By{Entry: s.NewEntry(), Actor: string(u.ID), Address: address})
}

// Session finds who a cookie stands for; ok is false for nobody.
func (s *Service) Session(ctx context.Context, cookie string) (v core.Session, u core.User, ok bool, err error) {
	key, err := seal.ParseKey(cookie)
	if err != nil || key.Kind() != seal.CookieKey {
		return v, u, false, nil
	}
	v, u, err = s.Sessions.Session(ctx, s.Master.MAC(key))
	if errors.Is(err, &core.Refusal{Code: core.NotFound}) {
		return v, u, false, nil
	}
	return v, u, err == nil, err
}

// Rename changes what a person is called.
func (s *Service) Rename(ctx context.Context, u core.User, name string) error {
	name = strings.TrimSpace(name)
	if err := personName(name); err != nil {
		return err
	}
	return s.People.SetName(ctx, u.ID, name)
}

// ChangePassword changes a password with the old one, and ends everything but
// the session that asks.
func (s *Service) ChangePassword(ctx context.Context, u core.User, session, old, pw, address string) error {
	if err := s.mayTry("sign in " + u.Email); err != nil {
		return err
	}
	ok, err := s.Hasher.Check(ctx, old, u.Password)
	if err != nil {
		return err
	}
	if !ok {
		return unfit("The present password is another one.")
	}
	if bad := password.Fit(pw, u.Email); bad != "" {
		return unfit("%s", bad)
	}
	hash, err := s.Hasher.Hash(ctx, pw)
	if err != nil {
		return err
	}
	return s.People.SetPassword(ctx, u.ID, hash, session, core.By{Entry: s.NewEntry(), Actor: string(u.ID), Address: address})
}

func (s *Service) mayTry(what string) error {
	if wait := s.Tries.Take(what, time.UnixMicro(int64(s.Now()))); wait > 0 {
		return core.Refuse(TooOften, "That was tried too often. Try again in a minute.")
	}
	return nil
}

func (s *Service) mayWrite(to string) bool {
	return s.Mails.Take(to, time.UnixMicro(int64(s.Now()))) == 0
}

// personName refuses what is no name.
func personName(name string) error {
	if name == "" || utf8.RuneCountInString(name) > 80 || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7F }) {
		return unfit("A name has 1 to 80 characters on one line.")
	}
	return nil
}
