package oauth

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/identity"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
	"github.com/evalrouter/evalrouter/lib/plain"
)

// Alphabet is what codes that people type are made of: no vowels, so that they
// spell nothing, and nothing that is read as something else.
const Alphabet = "BCDFGHJKLMNPQRSTVWXZ"

// CodeLen is how many letters such a code has.
const CodeLen = 8

// NewCode draws a code that a person types.
func NewCode(random io.Reader) (string, error) {
	b := make([]byte, CodeLen)
	for i := range b {
		n, err := rand.Int(random, big.NewInt(int64(len(Alphabet))))
		if err != nil {
			return "", fmt.Errorf("draw a code: %w", err)
		}
		b[i] = Alphabet[n.Int64()]
	}
	return string(b), nil
}

// NewDevice is what a device asks with.
type NewDevice struct {
	Client, Version, Name, Scope string
	Address                      string
}

// Device is what it shows and keeps.
type Device struct {
	Code     seal.Key
	UserCode string // spelled
	Life     core.Micros
	Interval core.Micros
}

// Begin lets a device wait for an approval elsewhere.
func (s *Service) Begin(ctx context.Context, n NewDevice) (Device, error) {
	if n.Client != ClientID {
		return Device{}, refuse("invalid_client", "there is no such client here")
	}
	if len(n.Name) > 64 || len(n.Version) > 64 {
		return Device{}, refuse("invalid_request", "device_name and client_version have at most 64 bytes")
	}
	scopes, bad := s.scopes(n.Scope)
	if bad != nil {
		return Device{}, bad
	}
	key, err := s.Draw(seal.DeviceKey)
	if err != nil {
		return Device{}, err
	}
	code, err := s.Code()
	if err != nil {
		return Device{}, err
	}
	err = s.Store.AddDevice(ctx, core.DeviceRequest{
		ID: s.NewID(), Device: s.Master.MAC(key), UserCode: s.userCode(code), Client: n.Client, Version: string(plain.Line(n.Version)), Name: string(plain.Line(n.Name)), Scopes: scopes, Address: n.Address,
	})
	return Device{Code: key, UserCode: identity.SpelledCode(code), Life: core.DeviceLife, Interval: core.DevicePoll}, err
}

func (s *Service) userCode(text string) []byte {
	return s.Master.MACText(identity.LabelUserCode, identity.TypedCode(text))
}

// Poll answers a device that waits.
func (s *Service) Poll(ctx context.Context, client, code, address string) (Signed, error) {
	gone := refuse("invalid_grant", "the device code is not known here, or was used")
	key, err := seal.ParseKey(code)
	if err != nil || key.Kind() != seal.DeviceKey {
		return Signed{}, gone
	}
	out, first, err := s.first()
	if err != nil {
		return Signed{}, err
	}
	p, err := s.Store.Poll(ctx, s.Master.MAC(key), client, core.Grant{ID: s.NewID()}, first, core.By{Entry: s.NewEntry(), Address: address})
	switch {
	case errors.Is(err, core.ErrGrant):
		return Signed{}, gone
	case err != nil:
		return Signed{}, err
	case p.Expired:
		return Signed{}, refuse("expired_token", "the code has expired; begin again")
	case p.Early:
		return Signed{}, s.waiting(ctx, "slow_down", "ask less often: the time between two questions grew by five seconds", p.DeviceRequest)
	case p.State == core.DeviceDenied:
		return Signed{}, refuse("access_denied", "the sign-in was denied in the browser")
	case p.State == core.DevicePending:
		return Signed{}, s.waiting(ctx, "authorization_pending", "the sign-in waits for somebody in a browser", p.DeviceRequest)
	}
	return s.signed(ctx, out, p.Grant, p.Grant.CreatedAt)
}

// waiting says how far the person in the browser is. Of the account it shows
// what its owner recognises and nobody else learns: the device may be a
// stranger's.
func (s *Service) waiting(ctx context.Context, code, description string, d core.DeviceRequest) *Error {
	e := &Error{Code: code, Description: description, Stage: d.Stage}
	if d.User == "" {
		return e
	}
	if u, err := s.People.User(ctx, d.User); err == nil {
		e.Account = masked(u.Email)
	}
	return e
}

func masked(email string) string {
	name, domain, _ := strings.Cut(email, "@")
	if len(name) > 1 {
		name = name[:1] + "…"
	}
	return name + "@" + domain
}

// Asked finds what a code that a person typed stands for. who is the session
// and address of whoever types; wrong codes are counted for it.
func (s *Service) Asked(ctx context.Context, code, who string) (core.DeviceRequest, error) {
	now := s.Now()
	if !s.Guesses.May(who, now) {
		return core.DeviceRequest{}, core.Refuse(identity.TooOften, "Too many wrong codes were tried. Wait a quarter of an hour, then begin again with a new code.")
	}
	d, err := s.Store.DeviceOf(ctx, s.userCode(code))
	if errors.Is(err, &core.Refusal{Code: core.NotFound}) {
		s.Guesses.Wrong(who, now)
		return d, core.Refuse(core.NotFound, "This code is not known, or it has expired. Look at your terminal: letters are easily mistaken. A code is good for ten minutes.")
	}
	return d, err
}

// Reached notes how far the person with a code is.
func (s *Service) Reached(ctx context.Context, code, stage string, user core.UserID) error {
	return s.Store.DeviceAt(ctx, s.userCode(code), stage, user)
}

// Decide approves or denies the device of a code.
func (s *Service) Decide(ctx context.Context, code string, approve bool, user core.UserID, address string) error {
	return s.Store.DecideDevice(ctx, s.userCode(code), approve, user, core.By{Entry: s.NewEntry(), Actor: string(user), Address: address})
}
