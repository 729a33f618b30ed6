package identity

import (
	"context"
	"errors"
	"fmt"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/password"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
)

// Resets keeps who asked for another password.
type Resets interface {
	AddReset(context.Context, core.Reset) error
	ResetOf(ctx context.Context, browser []byte) (core.Reset, error)
	ResetPassword(ctx context.Context, browser, code []byte, hash string, by core.By) (u core.User, ok bool, err error)
}

// labelReset keeps a code of this kind from being one of a registration.
const labelReset seal.Label = "password code"

// Forgotten mails a code that sets another password. Whether the address has an
// account shows in the mail only: the answer, what is kept and that a mail is
// sent are the same.
func (s *Service) Forgotten(ctx context.Context, email, browser, address string) error {
	email = Address(email)
	switch {
	case s.Mail == nil:
		return unfit("This service sends no mail. Its operator can give you another password.")
	case email == "":
		return unfit("This is not an e-mail address.")
	}
	if err := s.mayTry("forgotten " + email); err != nil {
		return err
	}
	code, err := s.Code()
	if err != nil {
		return err
	}
	v := core.Reset{ID: s.NewID(), Browser: s.Master.MACText(labelBrowser, browser), Email: email, Address: address, ExpiresAt: s.Now() + mailWait, Code: s.Master.MACText(labelReset, code)}
	subject, text := "Another password for EvalRouter", fmt.Sprintf("Somebody asks for another password for your account with EvalRouter at %s.\n\nIf it was you, type this code into the page that you left open:\n\n    %s\n\n"+
		"It is good for an hour. If it was not you, do nothing: without the code nothing happens, and your password stays.\n", s.Origin, SpelledCode(code))
	u, err := s.People.UserByEmail(ctx, email)
	switch {
	case errors.Is(err, &core.Refusal{Code: core.NotFound}) || err == nil && u.State != core.UserActive:
		v.Code = s.Master.MACText(labelReset, "none "+code)
		subject, text = "No EvalRouter account that can be used", fmt.Sprintf("Somebody asks for another password for EvalRouter at %s and gave this address, which has no account there that can be used.\n\n"+
			"If it was you, you may have registered with another address; or create an account at %s/register. If it was not you, do nothing: nothing happened.\n", s.Origin, s.Origin)
	case err != nil:
		return err
	}
	if !s.mayWrite(email) {
		return core.Refuse(TooOften, "A mail went to this address a moment ago. Wait a minute, then try again.")
	}
	if err := s.People.AddReset(ctx, v); err != nil {
		return err
	}
	if err := s.Mail.Send(ctx, email, subject, text); err != nil {
		return errors.Join(core.Refuse(NotSent, "The mail could not be sent. Try again in a while."), err)
	}
	return nil
}

// Asked is what a browser has asked another password for; ok is false for
// nothing that still counts.
func (s *Service) Asked(ctx context.Context, browser string) (v core.Reset, ok bool, err error) {
	v, err = s.People.ResetOf(ctx, s.Master.MACText(labelBrowser, browser))
	if errors.Is(err, &core.Refusal{Code: core.NotFound}) {
		return v, false, nil
	}
	return v, err == nil, err
}

// Reset gives the person another password, who then signs in with it everywhere
// anew.
func (s *Service) Reset(ctx context.Context, browser, code, pw, address string) (core.User, error) {
	v, ok, err := s.Asked(ctx, browser)
	switch {
	case err != nil:
		return core.User{}, err
	case !ok:
		return core.User{}, unfit("This browser waits for no code. Ask for one again.")
	}
	if bad := password.Fit(pw, v.Email); bad != "" {
		return core.User{}, unfit("%s", bad)
	}
	if err := s.mayTry("reset " + v.Email); err != nil {
		return core.User{}, err
	}
	hash, err := s.Hasher.Hash(ctx, pw)
	if err != nil {
		return core.User{}, err
	}
	u, ok, err := s.People.ResetPassword(ctx, s.Master.MACText(labelBrowser, browser), s.Master.MACText(labelReset, TypedCode(code)), hash, core.By{Entry: s.NewEntry(), Address: address})
	switch {
	case errors.Is(err, &core.Refusal{Code: core.NotFound}), err == nil && !ok:
		return core.User{}, unfit("This is not the code that was mailed, or it is too late for it. After %d wrong codes, ask for another one.", core.MaxCodeTries)
	}
	return u, err
}
