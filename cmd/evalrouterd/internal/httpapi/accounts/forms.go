package accounts

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/oauth"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/ratelimit"
	"github.com/evalrouter/evalrouter/lib/api"
)

// maxForm bounds a form.
const maxForm = 16 << 10

// Paths below the origin.
const (
	pathAuthorize = "/authorize"
	pathDevice    = "/device"
)

func (h *Handlers) config(_ *httpapi.Server, _ context.Context, _ *none) (*httpapi.Answer[api.AuthConfig], error) {
	out := api.AuthConfig{WebOrigin: h.Origin, ClientID: oauth.ClientID, Scopes: httpapi.Scopes()}
	if h.SignIn != nil {
		out.Device, out.Browser, out.AuthorizeURL = true, true, maybe(h.Origin+pathAuthorize)
	}
	return httpapi.Reply(out), nil
}

func (h *Handlers) metadata(w http.ResponseWriter, r *http.Request) {
	if h.SignIn == nil {
		h.off(w)
		return
	}
	h.write(w, http.StatusOK, map[string]any{
		"issuer": h.Origin, "authorization_endpoint": h.Origin + pathAuthorize, "token_endpoint": h.Origin + "/v1/auth/token",
		"device_authorization_endpoint": h.Origin + "/v1/auth/device", "revocation_endpoint": h.Origin + "/v1/auth/revoke",
		"response_types_supported": []string{"code"}, "grant_types_supported": []string{oauth.GrantCode, oauth.GrantDevice, oauth.GrantRefresh},
		"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"}, "revocation_endpoint_auth_methods_supported": []string{"none"},
		"scopes_supported": httpapi.Scopes(), "authorization_response_iss_parameter_supported": true,
	})
}

// off answers where nobody signs in. It is the envelope: there is no
// authorization server here to speak otherwise.
func (h *Handlers) off(w http.ResponseWriter) {
	h.write(w, http.StatusNotFound, api.Envelope{Error: api.Error{
		Code: api.FeatureUnavailable, Message: "nobody signs in at this service: it has one owner, or its operator gave it no web origin. Use an API key", Details: map[string]any{"feature": "accounts"}, RequestID: w.Header().Get("X-Request-Id"),
	}})
}

// form reads a form strictly and answers what fn gives, or its error.
func (h *Handlers) form(fn func(r *http.Request, f url.Values) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if h.SignIn == nil {
			h.off(w)
			return
		}
		var f url.Values
		var out any
		err := h.bounded(h.Asks, r)
		if err == nil {
			f, err = readForm(w, r)
		}
		if err == nil {
			out, err = fn(r, f)
		}
		if err != nil {
			h.refuse(w, r, err)
			return
		}
		h.write(w, http.StatusOK, out)
	}
}

// readForm reads a form whose fields stand once each, as RFC 6749 wants them.
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	bad := &oauth.Error{Code: "invalid_request", Description: "the body is a form of at most 16 KiB, each field once and in UTF-8 without U+0000, and the address has no parameters"}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" || r.URL.RawQuery != "" {
		return nil, bad
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return nil, bad
	}
	for _, values := range r.PostForm {
		if len(values) > 1 || core.Storable(values[0]) != values[0] {
			return nil, bad
		}
	}
	return r.PostForm, nil
}

// refuse answers with an error as RFC 6749 has it.
func (h *Handlers) refuse(w http.ResponseWriter, r *http.Request, err error) {
	var e *oauth.Error
	if !errors.As(err, &e) {
		h.Fault(r.Context(), err)
		e = &oauth.Error{Code: "server_error", Description: "the service failed; its log says more under this request id"}
	}
	body := map[string]any{"error": e.Code, "error_description": e.Description}
	if e.Stage != "" {
		body["stage"], body["account"] = e.Stage, maybe(e.Account)
	}
	if e.Wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(e.Wait))
	}
	h.write(w, statusOf(e.Code), body)
}

func statusOf(code string) int {
	switch code {
	case "invalid_client":
		return http.StatusUnauthorized
	case "temporarily_unavailable":
		return http.StatusTooManyRequests
	case "server_error":
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}

func (h *Handlers) write(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"error":"server_error"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Pragma", "no-cache")
	w.WriteHeader(status)
	// Whoever left before the answer has no use for an error.
	_, _ = w.Write(append(b, '\n'))
}

// bounded refuses an address that asks more often than a limiter lets it.
// Loopback is a proxy that speaks for many.
func (h *Handlers) bounded(l *ratelimit.Limiter, r *http.Request) error {
	from, ok := ratelimit.Network(r.RemoteAddr)
	if !ok {
		return nil
	}
	wait := l.Take(from, time.UnixMicro(int64(h.Now())))
	if wait == 0 {
		return nil
	}
	return &oauth.Error{Code: "temporarily_unavailable", Description: "this address asks too often; wait as Retry-After says", Wait: int(math.Ceil(wait.Seconds()))}
}

// deviceAnswer is RFC 8628's.
type deviceAnswer struct {
	DeviceCode              string `json:"device_code"`
	UserCode                string `json:"user_code"`
	VerificationURI         string `json:"verification_uri"`
	VerificationURIComplete string `json:"verification_uri_complete"`
	ExpiresIn               int64  `json:"expires_in"`
	Interval                int64  `json:"interval"`
}

const second = 1_000_000

func (h *Handlers) device(r *http.Request, f url.Values) (any, error) {
	if err := h.bounded(h.Often, r); err != nil {
		return nil, err
	}
	d, err := h.SignIn.Begin(r.Context(), oauth.NewDevice{
		Client: f.Get("client_id"), Version: f.Get("client_version"), Name: f.Get("device_name"), Scope: f.Get("scope"), Address: httpapi.Address(r.RemoteAddr),
	})
	if err != nil {
		return nil, err
	}
	return deviceAnswer{
		DeviceCode: d.Code.Reveal(), UserCode: d.UserCode, VerificationURI: h.Origin + pathDevice, VerificationURIComplete: h.Origin + pathDevice + "?user_code=" + url.QueryEscape(d.UserCode),
		ExpiresIn: int64(d.Life / second), Interval: int64(d.Interval / second),
	}, nil
}

// tokenAnswer is RFC 6749's, with what a command line shows and keeps.
type tokenAnswer struct {
	AccessToken      string            `json:"access_token"`
	TokenType        string            `json:"token_type"`
	ExpiresIn        int64             `json:"expires_in"`
	RefreshToken     string            `json:"refresh_token"`
	Scope            string            `json:"scope"`
	ExpiresAt        time.Time         `json:"expires_at"`
	RefreshExpiresAt time.Time         `json:"refresh_expires_at"`
	Scopes           []string          `json:"scopes"`
	Account          api.AccountRecord `json:"account"`
}

func (h *Handlers) token(r *http.Request, f url.Values) (any, error) {
	if f.Get("client_id") != oauth.ClientID {
		return nil, &oauth.Error{Code: "invalid_client", Description: "there is no such client here"}
	}
	client, from := f.Get("client_id"), httpapi.Address(r.RemoteAddr)
	var s oauth.Signed
	var err error
	switch f.Get("grant_type") {
	case oauth.GrantCode:
		s, err = h.SignIn.Redeem(r.Context(), client, f.Get("code"), f.Get("code_verifier"), f.Get("redirect_uri"), from)
	case oauth.GrantDevice:
		s, err = h.SignIn.Poll(r.Context(), client, f.Get("device_code"), from)
	case oauth.GrantRefresh:
		s, err = h.SignIn.Refresh(r.Context(), client, f.Get("refresh_token"), from)
	case "":
		err = &oauth.Error{Code: "invalid_request", Description: "grant_type is missing"}
	default:
		err = &oauth.Error{Code: "unsupported_grant_type", Description: "this grant type is not known here"}
	}
	if err != nil {
		return nil, err
	}
	return tokenAnswer{
		AccessToken: s.Access.Reveal(), TokenType: "Bearer", ExpiresIn: max(0, int64((s.AccessEnds-h.Now())/second)), RefreshToken: s.Refresh.Reveal(), Scope: strings.Join(s.Grant.Scopes, " "),
		ExpiresAt: httpapi.TimeOf(s.AccessEnds), RefreshExpiresAt: httpapi.TimeOf(s.RefreshEnds), Scopes: s.Grant.Scopes, Account: accountRecord(s.User),
	}, nil
}

// revoke ends a sign-in. The field is token, as RFC 7009 has it; refresh_token
// is understood too.
func (h *Handlers) revoke(r *http.Request, f url.Values) (any, error) {
	token := f.Get("token")
	if token == "" {
		token = f.Get("refresh_token")
	}
	if token == "" {
		return nil, &oauth.Error{Code: "invalid_request", Description: "token is missing"}
	}
	if err := h.SignIn.Revoke(r.Context(), token, httpapi.Address(r.RemoteAddr)); err != nil {
		return nil, err
	}
	return api.OKResponse{OK: true}, nil
}
