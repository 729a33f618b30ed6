// Package oauth signs command lines in: authorization codes with PKCE for
// machines with a browser (RFC 7636, 8252), device codes for those without
// (RFC 8628), and refresh tokens that are used once (RFC 9700).
//
//   - There is one client, which is public: everybody can read its program. What
//     protects a sign-in is that the answer goes to the machine that asked.
//   - A code returns only to a loopback address, is good for a minute, and once;
//     a second use ends the sign-in that the first one made.
//   - A refresh token is replaced by each use. The same token again gives the
//     same successor for a minute, because the first answer may not have
//     arrived. The successor is derived from the token and a stored salt, so
//     that no answer is kept. Later the family ends: two had the token.
//   - Everything is kept as a MAC, and every error is one of the standards'.
package oauth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
)

// ClientID is the only client.
const ClientID = "evalrouter-cli"

// Grant types of the token endpoint.
const (
	GrantCode    = "authorization_code"
	GrantDevice  = "urn:ietf:params:oauth:grant-type:device_code"
	GrantRefresh = "refresh_token"
)

// Store keeps codes, questions of devices and tokens.
type Store interface {
	AddCode(context.Context, core.AuthCode) error
	RedeemCode(ctx context.Context, mac []byte, fits func(core.AuthCode) bool, g core.Grant, first core.Tokens, by core.By) (core.Grant, error)
	AddDevice(context.Context, core.DeviceRequest) error
	DeviceOf(ctx context.Context, userCode []byte) (core.DeviceRequest, error)
	DeviceAt(ctx context.Context, userCode []byte, stage string, user core.UserID) error
	DecideDevice(ctx context.Context, userCode []byte, approve bool, user core.UserID, by core.By) error
	Poll(ctx context.Context, device []byte, client string, g core.Grant, first core.Tokens, by core.By) (core.Polled, error)
	Rotate(ctx context.Context, mac, salt []byte, derive func([]byte) core.Tokens, by core.By) (core.Rotated, error)
}

// Ender ends sign-ins.
type Ender interface {
	Leave(ctx context.Context, refresh []byte, accessPrefix string, access []byte, by core.By) error
}

// People finds whom a sign-in is of.
type People interface {
	User(context.Context, core.UserID) (core.User, error)
}

// Service signs in. All fields are required.
type Service struct {
	Store  Store
	Ender  Ender
	People People
	Master *seal.Master
	// Draw makes secrets; Code makes one that a person types; Salt fills b.
	Draw            func(seal.Kind) (seal.Key, error)
	Code            func() (string, error)
	Salt            func(b []byte)
	NewID, NewEntry func() string
	Now             func() core.Micros
	// Scopes are all that a sign-in can be given.
	Scopes []string
	// Origin is where people find the service.
	Origin string
	// Guesses bounds who tries codes of devices.
	Guesses *Guesses
}

// Error is a refusal in the words of RFC 6749, 7636 and 8628.
type Error struct {
	Code        string
	Description string
	// Stage and Account say how far the person is, while a device waits.
	Stage   string
	Account string
	// Wait is after how many seconds to ask again, 0 for no matter.
	Wait int
}

// Error is code and description.
func (e *Error) Error() string { return e.Code + ": " + e.Description }

func refuse(code, description string) *Error { return &Error{Code: code, Description: description} }

// Signed is a pair of tokens, which are shown once.
type Signed struct {
	Access, Refresh         seal.Key
	AccessEnds, RefreshEnds core.Micros
	Grant                   core.Grant
	User                    core.User
}

// Ask is what a command line sends a browser with.
type Ask struct {
	Client, Redirect, State, Challenge, Method, ResponseType, Scope string
}

// Check says what an authorization is asked for. An error without back is shown
// to the person: whoever sent the browser must not get it. One with back is
// told to the client.
func (s *Service) Check(a Ask) (scopes []string, back bool, err *Error) {
	switch {
	case a.Client != ClientID:
		return nil, false, refuse("invalid_client", "there is no such client here")
	case !LoopbackRedirect(a.Redirect):
		return nil, false, refuse("invalid_request", "a sign-in returns only to a loopback address such as http://127.0.0.1:PORT/callback")
	case a.ResponseType != "code":
		return nil, true, refuse("unsupported_response_type", "the response type is code")
	case len(a.State) < 8 || len(a.State) > 512:
		return nil, true, refuse("invalid_request", "a state has 8 to 512 characters")
	case a.Method != "S256" || !challenge(a.Challenge):
		return nil, true, refuse("invalid_request", "PKCE with S256 is required")
	}
	scopes, err = s.scopes(a.Scope)
	return scopes, true, err
}

// scopes reads a list of scopes; none stands for all.
func (s *Service) scopes(text string) ([]string, *Error) {
	list := strings.Fields(text)
	if len(list) == 0 {
		list = s.Scopes
	}
	for _, v := range list {
		if !slices.Contains(s.Scopes, v) {
			return nil, refuse("invalid_scope", "a scope is not known here")
		}
	}
	return core.Within(list, s.Scopes), nil
}

// challenge says whether a text is the SHA-256 of a verifier.
func challenge(text string) bool {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(b) == sha256.Size
}

// LoopbackRedirect says whether an address is one of this machine's own, by
// number, over plain HTTP, with a port and nothing behind its path.
func LoopbackRedirect(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Opaque != "" || strings.Contains(text, "#") || len(text) > 512 {
		return false
	}
	at, err := netip.ParseAddrPort(u.Host)
	if err != nil || at.Port() == 0 || at.Addr().Zone() != "" {
		return false
	}
	return at.Addr() == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || at.Addr() == netip.IPv6Loopback()
}

// Allow makes a code and gives the address that the browser is sent to.
func (s *Service) Allow(ctx context.Context, a Ask, user core.UserID, address string) (string, error) {
	scopes, _, bad := s.Check(a)
	if bad != nil {
		return "", bad
	}
	code, err := s.Draw(seal.CodeKey)
	if err != nil {
		return "", err
	}
	err = s.Store.AddCode(ctx, core.AuthCode{MAC: s.Master.MAC(code), User: user, Client: a.Client, Redirect: a.Redirect, Challenge: a.Challenge, Scopes: scopes, Address: address})
	if err != nil {
		return "", err
	}
	return s.answer(a, url.Values{"code": {code.Reveal()}}), nil
}

// Deny gives the address that the browser is sent to with an error.
func (s *Service) Deny(a Ask, e *Error) string {
	return s.answer(a, url.Values{"error": {e.Code}, "error_description": {e.Description}})
}

// answer adds the state, and who answers, so that a client that knows several
// services does not take one for another.
func (s *Service) answer(a Ask, v url.Values) string {
	v.Set("state", a.State)
	v.Set("iss", s.Origin)
	return a.Redirect + "?" + v.Encode()
}

// Redeem exchanges a code for tokens.
func (s *Service) Redeem(ctx context.Context, client, code, verifier, redirect, address string) (Signed, error) {
	key, err := seal.ParseKey(code)
	if err != nil || key.Kind() != seal.CodeKey {
		return Signed{}, refuse("invalid_grant", "the code is not known, was used, or is too old")
	}
	fits := func(c core.AuthCode) bool {
		sum := sha256.Sum256([]byte(verifier))
		return len(verifier) >= 43 && len(verifier) <= 128 && c.Client == client && c.Redirect == redirect &&
			subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(c.Challenge)) == 1
	}
	out, first, err := s.first()
	if err != nil {
		return Signed{}, err
	}
	g, err := s.Store.RedeemCode(ctx, s.Master.MAC(key), fits, core.Grant{ID: s.NewID(), Address: address}, first, core.By{Entry: s.NewEntry(), Address: address})
	if errors.Is(err, core.ErrGrant) || errors.Is(err, core.ErrReplayed) {
		return Signed{}, refuse("invalid_grant", "the code is not known, was used, or is too old")
	}
	if err != nil {
		return Signed{}, err
	}
	return s.signed(ctx, out, g, g.CreatedAt)
}

// first draws the first pair of a family.
func (s *Service) first() (Signed, core.Tokens, error) {
	var out Signed
	var err error
	if out.Access, err = s.Draw(seal.SessionKey); err == nil {
		out.Refresh, err = s.Draw(seal.RefreshKey)
	}
	return out, s.kept(out), err
}

// kept is what is stored of a pair.
func (s *Service) kept(k Signed) core.Tokens {
	return core.Tokens{AccessPrefix: k.Access.Prefix(), AccessMAC: s.Master.MAC(k.Access), RefreshMAC: s.Master.MAC(k.Refresh)}
}

// signed completes a pair that was made at a time.
func (s *Service) signed(ctx context.Context, k Signed, g core.Grant, at core.Micros) (Signed, error) {
	k.Grant = g
	k.AccessEnds, k.RefreshEnds = min(at+core.AccessLife, g.ExpiresAt), min(at+core.RefreshIdle, g.ExpiresAt)
	var err error
	k.User, err = s.People.User(ctx, g.User)
	return k, err
}

// Refresh exchanges a refresh token for the pair that follows it.
func (s *Service) Refresh(ctx context.Context, client, token, address string) (Signed, error) {
	gone := refuse("invalid_grant", "this sign-in has ended; sign in again")
	key, err := seal.ParseKey(token)
	if err != nil || key.Kind() != seal.RefreshKey || client != ClientID {
		return Signed{}, gone
	}
	salt := make([]byte, 16)
	s.Salt(salt)
	var derived error
	out, err := s.Store.Rotate(ctx, s.Master.MAC(key), salt, func(salt []byte) core.Tokens {
		k, err := s.successor(key, salt)
		derived = err
		return s.kept(k)
	}, core.By{Entry: s.NewEntry(), Address: address})
	switch {
	case errors.Is(err, core.ErrGrant), errors.Is(err, core.ErrReplayed):
		return Signed{}, gone
	case err != nil:
		return Signed{}, err
	case derived != nil:
		return Signed{}, derived
	}
	k, err := s.successor(key, out.Salt)
	if err != nil {
		return Signed{}, err
	}
	return s.signed(ctx, k, out.Grant, out.At)
}

// successor is the pair that follows a refresh token, for a salt.
func (s *Service) successor(from seal.Key, salt []byte) (k Signed, err error) {
	if k.Access, err = s.Master.Derive(seal.SessionKey, from, salt); err != nil {
		return k, err
	}
	k.Refresh, err = s.Master.Derive(seal.RefreshKey, from, salt)
	return k, err
}

// Revoke ends the sign-in of a token of either kind. What is no token is no
// error: RFC 7009 wants it so.
func (s *Service) Revoke(ctx context.Context, token, address string) error {
	key, err := seal.ParseKey(token)
	if err != nil || key.Kind() != seal.RefreshKey && key.Kind() != seal.SessionKey {
		return nil
	}
	by := core.By{Entry: s.NewEntry(), Address: address}
	if key.Kind() == seal.RefreshKey {
		return s.Ender.Leave(ctx, s.Master.MAC(key), "", nil, by)
	}
	return s.Ender.Leave(ctx, nil, key.Prefix(), s.Master.MAC(key), by)
}
