package web_test

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/oauth"
)

// device begins a sign-in in a terminal.
func (h *house) device(t *testing.T) oauth.Device {
	t.Helper()
	d, err := h.signIn.Begin(t.Context(), oauth.NewDevice{Client: oauth.ClientID, Version: "1.2", Name: "ada's <laptop>", Scope: "eval:read", Address: "192.0.2.9"})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// stage is what the terminal hears when it asks.
func (h *house) stage(t *testing.T, d oauth.Device) string {
	t.Helper()
	h.now.Add(5_000_000)
	s, err := h.signIn.Poll(t.Context(), oauth.ClientID, d.Code.Reveal(), "192.0.2.9")
	var e *oauth.Error
	if errors.As(err, &e) {
		return e.Code + " " + e.Stage
	}
	if err != nil {
		t.Fatal(err)
	}
	return "signed in " + s.User.Email
}

// TestDevice_NewAccount: somebody without an account follows the terminal's
// address, and the terminal hears each step that is missing until it is done.
func TestDevice_NewAccount(t *testing.T) {
	t.Parallel()
	h := newHouse(t, true)
	d := h.device(t)
	hears := func(want string) {
		t.Helper()
		if got := h.stage(t, d); got != want {
			t.Errorf("the terminal hears %q, want %q", got, want)
		}
	}
	hears("authorization_pending sign_in")
	b := h.browser().get("/device?user_code="+d.UserCode).sees(200, "Sign in", "Create an account")
	href := strings.Split(strings.Split(b.html, `<p>New here? <a href="`)[1], `"`)[0]
	b.get(unescape(href)).fill("/register", "email", "ada@example.org", "name", "Ada", "password", pw).sees(200, "Verify your address")
	hears("authorization_pending verify_email")
	code := strings.TrimSpace(strings.Split(h.mails[0].text, "\n\n")[2])
	b.fill("/verify", "code", code).sees(200, "Set up your workspace")
	hears("authorization_pending setup")
	b.fill("/setup", "name", "Ada's").sees(200, "Compare this code", d.UserCode, "ada's <laptop>", "192.0.2.9", "evalrouter-cli 1.2", "eval:read", "less than a minute ago")
	hears("authorization_pending approve")
	b.fill("/device/decide", "decision", "approve").sees(200, "The terminal is signed in")
	hears("signed in ada@example.org")
	b.get("/settings/sign-ins").sees(200, "ada's <laptop>")
	b.fill("/settings/sign-ins").sees(200, "Signed out.", "No terminal is signed in")
}

// TestDevice_Codes: a mistyped code, an expired one, a denied one.
func TestDevice_Codes(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	b := h.owner("ada")
	d := h.device(t)
	b.get("/device").fill("/device", "user_code", "BBBB-BBBB").sees(404, "This code is not known, or it has expired")
	b.fill("/device", "user_code", " "+strings.ToLower(d.UserCode)).sees(200, "Compare this code", d.UserCode)
	b.fill("/device/decide", "decision", "deny").sees(200, "Denied")
	if got := h.stage(t, d); got != "access_denied " {
		t.Errorf("the terminal hears %q", got)
	}
	late := h.device(t)
	h.now.Add(int64(core.DeviceLife))
	b.get("/device?user_code="+late.UserCode).sees(404, "not known, or it has expired")
	for range 4 { // with those above: more than five
		b.get("/device").fill("/device", "user_code", "BBBB-BBBB")
	}
	b.sees(429, "Too many wrong codes")
	b.get("/device?user_code="+h.device(t).UserCode).sees(429, "Too many wrong codes")
}

// TestDevice_Reauthentication: a sign-in that is a quarter of an hour old does
// not approve a terminal before the password was given again.
func TestDevice_Reauthentication(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	b := h.owner("ada")
	d := h.device(t)
	b.get("/device?user_code="+d.UserCode).sees(200, "Compare this code")
	h.now.Add(int64(core.ProofLife))
	d = h.device(t)
	b.get("/device?user_code="+d.UserCode).sees(200, "give your password once more")
	b.fill("/login", "email", "ada@example.org", "password", pw).sees(200, "Compare this code")
	page := b.html
	h.now.Add(int64(core.ProofLife))
	b.html = page
	b.fill("/device/decide", "decision", "approve").sees(200, "give your password once more")
}

func challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

const verifier = "a-verifier-of-the-test-that-is-long-enough-0"

func authorize(change ...string) string {
	v := url.Values{
		"client_id": {oauth.ClientID}, "redirect_uri": {"http://127.0.0.1:4711/c/8f2e"}, "state": {"state-of-the-test"}, "code_challenge": {challenge(verifier)}, "code_challenge_method": {"S256"},
		"response_type": {"code"}, "scope": {"eval:read"},
	}
	for i := 0; i+1 < len(change); i += 2 {
		v.Set(change[i], change[i+1])
	}
	return "/authorize?" + v.Encode()
}

// TestAuthorize: the browser goes back to the terminal with a code that only
// the terminal can use.
func TestAuthorize(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	h.owner("ada")
	h.now.Add(60_000_000)
	b := h.browser().get(authorize()).sees(200, "Sign in")
	b.fill("/login", "email", "ada@example.org", "password", pw).sees(200, "A terminal on this computer wants to act for you", "127.0.0.1:4711", "eval:read")
	if got := b.head.Get("Content-Security-Policy"); !strings.HasSuffix(got, "form-action 'self' http://127.0.0.1:4711") {
		t.Errorf("policy %q", got)
	}
	page := b.html
	b.fill("/authorize", "decision", "approve")
	back := mustURL(t, b.head.Get("Location"))
	if b.code != http.StatusSeeOther || back.Host != "127.0.0.1:4711" || back.Path != "/c/8f2e" || back.Query().Get("state") != "state-of-the-test" || back.Query().Get("iss") != h.server.URL {
		t.Fatalf("%d to %s", b.code, back)
	}
	s, err := h.signIn.Redeem(t.Context(), oauth.ClientID, back.Query().Get("code"), verifier, "http://127.0.0.1:4711/c/8f2e", "")
	if err != nil || s.User.Email != "ada@example.org" || strings.Join(s.Grant.Scopes, " ") != "eval:read" {
		t.Errorf("%+v %v", s, err)
	}
	b.html = page
	b.fill("/authorize", "decision", "deny")
	if back := mustURL(t, b.head.Get("Location")); back.Query().Get("error") != "access_denied" || back.Query().Get("code") != "" {
		t.Errorf("denied: %s", back)
	}
}

// TestAuthorize_Refuses: what cannot be granted goes back as an error, and
// where it must not go back the person reads so.
func TestAuthorize_Refuses(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	b := h.owner("ada")
	for _, change := range [][]string{{"client_id", "x"}, {"redirect_uri", "https://evil.example/"}, {"redirect_uri", "http://localhost:1/"}} {
		b.get(authorize(change...)).sees(422, "Nothing was done")
	}
	for _, change := range [][]string{{"code_challenge_method", "plain"}, {"code_challenge", ""}, {"response_type", "token"}, {"scope", "root"}, {"state", "x"}} {
		b.get(authorize(change...))
		if back := mustURL(t, b.head.Get("Location")); b.code != http.StatusSeeOther || back.Host != "127.0.0.1:4711" || back.Query().Get("error") == "" || back.Query().Get("code") != "" {
			t.Errorf("%v: %d to %s", change, b.code, back)
		}
	}
	// The form's fields are the client's: changed on the way, they are refused too.
	b.get(authorize()).fill("/authorize", "decision", "approve", "redirect_uri", "https://evil.example/").sees(422, "Nothing was done")
}

// TestHost: a browser that came by another name is sent to the one that
// cookies are for, and its forms are refused.
func TestHost(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	for _, tt := range []struct {
		method string
		status int
	}{{"GET", http.StatusSeeOther}, {"POST", http.StatusMisdirectedRequest}} {
		r, err := http.NewRequest(tt.method, h.server.URL+"/login?next=%2Fdevice", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "rebound.example:80"
		b := h.browser()
		res, err := b.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if to := res.Header.Get("Location"); res.StatusCode != tt.status || tt.method == "GET" && to != h.server.URL+"/login?next=%2Fdevice" {
			t.Errorf("%s is answered %d, to %q", tt.method, res.StatusCode, to)
		}
	}
}
