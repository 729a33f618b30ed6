package httpapi_test

import (
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/oauth"
	"github.com/evalrouter/evalrouter/lib/api"
)

// form sends a form as RFC 6749 has it.
func (h *harness) form(path string, fields ...string) reply {
	h.t.Helper()
	v := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		v.Add(fields[i], fields[i+1])
	}
	return h.send("POST", path, v.Encode(), anonymous, header("Content-Type", "application/x-www-form-urlencoded"))
}

type tokenReply struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int    `json:"expires_in"`
	RefreshToken string `json:"refresh_token"`
	Scope        string
	Scopes       []string
	Account      api.AccountRecord
}

// denied demands an error in the words of the standards.
func (r reply) denied(t testing.TB, status int, code string) (e struct{ Error, Stage, Account string }) {
	t.Helper()
	r.want(t, status).into(t, &e)
	if e.Error != code {
		t.Errorf("error %q, want %q: %s", e.Error, code, r.body)
	}
	if r.header.Get("Cache-Control") != "no-store" {
		t.Errorf("an answer of the token endpoint may be cached: %v", r.header)
	}
	return e
}

const (
	verifier = "a-verifier-of-the-test-that-is-long-enough-0"
	callback = "http://127.0.0.1:4711/c/0123456789abcdef"
)

func s256(v string) string {
	sum := sha256.Sum256([]byte(v))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// code is an authorization code for a person.
func (h *harness) code(u core.User) string {
	h.t.Helper()
	to, err := h.who.SignIn.Allow(h.t.Context(), oauth.Ask{Client: oauth.ClientID, Redirect: callback, State: "12345678", Challenge: s256(verifier), Method: "S256", ResponseType: "code"}, u.ID, "192.0.2.1")
	if err != nil {
		h.t.Fatal(err)
	}
	back, err := url.Parse(to)
	if err != nil || !strings.HasPrefix(to, callback+"?") || back.Query().Get("state") != "12345678" || back.Query().Get("iss") != origin {
		h.t.Fatalf("the browser is sent to %s: %v", to, err)
	}
	return back.Query().Get("code")
}

func (h *harness) redeem(code string, change ...string) reply {
	f := map[string]string{"client_id": oauth.ClientID, "grant_type": "authorization_code", "code": code, "code_verifier": verifier, "redirect_uri": callback}
	for i := 0; i+1 < len(change); i += 2 {
		f[change[i]] = change[i+1]
	}
	var flat []string
	for k, v := range f {
		flat = append(flat, k, v)
	}
	return h.form("/v1/auth/token", flat...)
}

func (h *harness) refresh(token string) reply {
	return h.form("/v1/auth/token", "client_id", oauth.ClientID, "grant_type", "refresh_token", "refresh_token", token)
}

func TestSignIn_Config(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	var c api.AuthConfig
	h.send("GET", "/v1/auth/config", nil, anonymous).want(t, 200).into(t, &c)
	if !c.Browser || !c.Device || *c.AuthorizeURL != origin+"/authorize" || c.ClientID != "evalrouter-cli" || c.WebOrigin != origin {
		t.Errorf("%+v", c)
	}
	var m map[string]any
	h.send("GET", "/.well-known/oauth-authorization-server", nil, anonymous).want(t, 200).into(t, &m)
	if m["issuer"] != origin || m["token_endpoint"] != origin+"/v1/auth/token" || len(m["code_challenge_methods_supported"].([]any)) != 1 {
		t.Errorf("%v", m)
	}
	h.who.SignIn, h.who.Origin = nil, "" // a service with one owner
	h.send("GET", "/v1/auth/config", nil, anonymous).want(t, 200).into(t, &c)
	if c.Browser || c.Device || c.AuthorizeURL != nil {
		t.Errorf("a service where nobody signs in says %+v", c)
	}
	for _, path := range []string{"/v1/auth/device", "/v1/auth/token", "/v1/auth/revoke"} {
		h.form(path, "client_id", oauth.ClientID).refused(t, 404, "feature_unavailable")
	}
	h.send("GET", "/.well-known/oauth-authorization-server", nil, anonymous).refused(t, 404, "feature_unavailable")
}

// A code is good once, for who asked, with what they asked.
func TestSignIn_Code(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	ada := h.person("ada")
	h.joins(ada, core.Local, core.RoleMember)
	for _, tt := range []struct {
		name   string
		change []string
		code   string
	}{
		{"another verifier", []string{"code_verifier", verifier + "x"}, "invalid_grant"},
		{"no verifier", []string{"code_verifier", ""}, "invalid_grant"},
		{"another address", []string{"redirect_uri", callback + "x"}, "invalid_grant"},
		{"another port", []string{"redirect_uri", "http://127.0.0.1:4712/c/0123456789abcdef"}, "invalid_grant"},
		{"another client", []string{"client_id", "x"}, "invalid_client"},
		{"another code", []string{"code", "era_x"}, "invalid_grant"},
		{"another grant", []string{"grant_type", "password"}, "unsupported_grant_type"},
		{"no grant", []string{"grant_type", ""}, "invalid_request"},
	} {
		status := 400
		if tt.code == "invalid_client" {
			status = 401
		}
		h.redeem(h.code(ada), tt.change...).denied(t, status, tt.code)
	}
	late := h.code(ada)
	h.now.Add(int64(core.CodeLife))
	h.redeem(late).denied(t, 400, "invalid_grant")

	code := h.code(ada)
	var got tokenReply
	r := h.redeem(code).want(t, 200).into(t, &got)
	if got.TokenType != "Bearer" || got.ExpiresIn != 900 || got.Account.Email != "ada@example.org" || !got.Account.EmailVerified || got.Scope != strings.Join(got.Scopes, " ") {
		t.Errorf("%s", r.body)
	}
	var who api.WhoamiRecord
	h.send("GET", "/v1/auth/whoami", nil, as(got.AccessToken), header("X-Workspace-Id", "local")).want(t, 200).into(t, &who)
	if who.Kind != "session" || who.Account.Email != "ada@example.org" || who.Workspace.Role != "member" || strings.Join(who.Scopes, " ") != "benchmarks:submit billing:read connections:read connections:write datasets:read datasets:write eval:read eval:write feedback:write traces:read traces:write" {
		t.Errorf("whoami %+v", who)
	}
	h.redeem(code).denied(t, 400, "invalid_grant")
	h.send("GET", "/v1/auth/whoami", nil, as(got.AccessToken)).refused(t, 401, "unauthenticated")
	h.refresh(got.RefreshToken).denied(t, 400, "invalid_grant")
}

// Whoever has no workspace yet is told where to make one.
func TestSignIn_SetupRequired(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	bob := h.person("bob")
	var who api.WhoamiRecord
	h.send("GET", "/v1/auth/whoami", nil, as(h.session(bob))).want(t, 200).into(t, &who)
	if !who.SetupRequired || who.SetupURL == nil || *who.SetupURL != origin+"/setup" || who.Workspace != nil {
		t.Errorf("%+v", who)
	}
	h.joins(bob, core.Local, core.RoleViewer)
	h.send("GET", "/v1/auth/whoami", nil, as(h.session(bob))).want(t, 200).into(t, &who)
	if who.SetupRequired {
		t.Errorf("%+v", who)
	}
}

// TestSignIn_Refresh: a refresh is repeated with the same answer for a
// minute, and ends the sign-in after it.
func TestSignIn_Refresh(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	ada := h.person("ada")
	var first, second, again tokenReply
	h.redeem(h.code(ada)).want(t, 200).into(t, &first)
	h.now.Add(int64(core.AccessLife))
	h.send("GET", "/v1/workspaces", nil, as(first.AccessToken)).refused(t, 401, "session_expired")
	h.refresh(first.RefreshToken).want(t, 200).into(t, &second)
	h.send("GET", "/v1/workspaces", nil, as(second.AccessToken)).want(t, 200)
	if second.RefreshToken == first.RefreshToken || second.AccessToken == first.AccessToken || second.ExpiresIn != 900 {
		t.Errorf("%+v", second)
	}
	h.now.Add(int64(core.RefreshGrace)) // the answer was lost; the last moment to ask again
	h.refresh(first.RefreshToken).want(t, 200).into(t, &again)
	if again.RefreshToken != second.RefreshToken || again.AccessToken != second.AccessToken || again.ExpiresIn != 840 {
		t.Errorf("the repetition is answered with another pair: %+v", again)
	}
	var third tokenReply
	h.refresh(second.RefreshToken).want(t, 200).into(t, &third)
	h.now.Add(1)
	h.refresh(first.RefreshToken).denied(t, 400, "invalid_grant")
	for _, token := range []string{first.RefreshToken, second.RefreshToken, third.RefreshToken} {
		h.refresh(token).denied(t, 400, "invalid_grant")
	}
	h.send("GET", "/v1/workspaces", nil, as(third.AccessToken)).refused(t, 401, "unauthenticated")
}

func TestSignIn_Revoke(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	ada := h.person("ada")
	for _, which := range []string{"refresh", "access"} {
		var got tokenReply
		h.redeem(h.code(ada)).want(t, 200).into(t, &got)
		token := got.RefreshToken
		if which == "access" {
			token = got.AccessToken
		}
		h.form("/v1/auth/revoke", "token", token).want(t, 200)
		h.form("/v1/auth/revoke", "token", token).want(t, 200) // RFC 7009: unknown tokens are no error
		h.refresh(got.RefreshToken).denied(t, 400, "invalid_grant")
		h.send("GET", "/v1/workspaces", nil, as(got.AccessToken)).refused(t, 401, "unauthenticated")
	}
	h.form("/v1/auth/revoke", "token", "not a token").want(t, 200)
	h.form("/v1/auth/revoke").denied(t, 400, "invalid_request")
}

// rounds is how often the refresh race is run; a proof runs it a hundred times.
var rounds = flag.Int("refresh.rounds", 3, "rounds of the refresh race")

// TestSignIn_RefreshRace: fifty clients with the same token refresh at the
// moment when it expires. One rotation comes of it, all get the same pair, and
// nobody is signed out.
func TestSignIn_RefreshRace(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	ada := h.person("ada")
	var now tokenReply
	h.redeem(h.code(ada)).want(t, 200).into(t, &now)
	for round := range *rounds {
		h.now.Add(int64(core.AccessLife))
		got := make([]tokenReply, 50)
		var group sync.WaitGroup
		for i := range got {
			group.Go(func() { h.refresh(now.RefreshToken).want(t, 200).into(t, &got[i]) })
		}
		group.Wait()
		for i := range got {
			if got[i].RefreshToken != got[0].RefreshToken || got[i].AccessToken != got[0].AccessToken || got[i].RefreshToken == now.RefreshToken {
				t.Fatalf("round %d: client %d has another pair", round, i)
			}
		}
		now = got[0]
		h.send("GET", "/v1/workspaces", nil, as(now.AccessToken)).want(t, 200)
		var n int
		if err := h.raw(t).QueryRow(`SELECT count(*) FROM refresh_tokens`).Scan(&n); err != nil || n != round+2 {
			t.Fatalf("round %d: %d tokens were made: %v", round, n, err)
		}
	}
}

// device begins a sign-in elsewhere.
func (h *harness) device() (code, user string) {
	h.t.Helper()
	var d struct {
		DeviceCode string `json:"device_code"`
		UserCode   string `json:"user_code"`
		URI        string `json:"verification_uri"`
		Complete   string `json:"verification_uri_complete"`
		Expires    int    `json:"expires_in"`
		Interval   int    `json:"interval"`
	}
	h.form("/v1/auth/device", "client_id", oauth.ClientID, "client_version", "1", "device_name", "laptop", "scope", "eval:read billing:read").want(h.t, 200).into(h.t, &d)
	if d.URI != origin+"/device" || d.Complete != origin+"/device?user_code="+d.UserCode || d.Expires != 600 || d.Interval != 5 || len(d.UserCode) != 9 || d.UserCode[4] != '-' {
		h.t.Errorf("%+v", d)
	}
	return d.DeviceCode, d.UserCode
}

func (h *harness) poll(code string) reply {
	return h.form("/v1/auth/token", "client_id", oauth.ClientID, "grant_type", oauth.GrantDevice, "device_code", code)
}

func TestSignIn_Device(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	ada, s := h.person("ada"), h.who.SignIn
	code, user := h.device()
	if e := h.poll(code).denied(t, 400, "authorization_pending"); e.Stage != "sign_in" || e.Account != "" {
		t.Errorf("%+v", e)
	}
	h.poll(code).denied(t, 400, "slow_down")
	h.now.Add(9_000_000)
	h.poll(code).denied(t, 400, "slow_down") // ten seconds by now
	h.now.Add(15_000_000)
	if err := s.Reached(t.Context(), user, core.StageSetup, ada.ID); err != nil {
		t.Fatal(err)
	}
	if e := h.poll(code).denied(t, 400, "authorization_pending"); e.Stage != "setup" || e.Account != "a…@example.org" {
		t.Errorf("%+v", e)
	}
	typed := " " + strings.ToLower(strings.ReplaceAll(user, "-", " ")) // as people type
	d, err := s.Asked(t.Context(), typed, "browser")
	if err != nil || d.Name != "laptop" || strings.Join(d.Scopes, " ") != "billing:read eval:read" {
		t.Fatalf("%+v %v", d, err)
	}
	if err := s.Decide(t.Context(), typed, true, ada.ID, "192.0.2.1"); err != nil {
		t.Fatal(err)
	}
	h.now.Add(15_000_000)
	var got tokenReply
	h.poll(code).want(t, 200).into(t, &got)
	if got.Account.Email != "ada@example.org" || got.Scope != "billing:read eval:read" {
		t.Errorf("%+v", got)
	}
	h.poll(code).denied(t, 400, "invalid_grant")

	denied, user := h.device()
	if err := s.Decide(t.Context(), user, false, ada.ID, ""); err != nil {
		t.Fatal(err)
	}
	h.poll(denied).denied(t, 400, "access_denied")
	expired, _ := h.device()
	h.now.Add(int64(core.DeviceLife))
	h.poll(expired).denied(t, 400, "expired_token")
	h.poll("erd_x").denied(t, 400, "invalid_grant")
}

// Five wrong codes lock a browser out for a quarter of an hour, and everybody
// together has sixty tries a minute.
func TestSignIn_GuessedCodes(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	s := h.who.SignIn
	_, user := h.device()
	for range 5 {
		if _, err := s.Asked(t.Context(), "ZZZZ-ZZZZ", "attacker"); !refusedAs(err, "not_found") {
			t.Fatal(err)
		}
	}
	if _, err := s.Asked(t.Context(), user, "attacker"); !refusedAs(err, "rate_limited") {
		t.Errorf("after five wrong codes the right one works: %v", err)
	}
	if _, err := s.Asked(t.Context(), user, "somebody else"); err != nil {
		t.Errorf("one browser's mistakes lock another one out: %v", err)
	}
	h.now.Add(16 * 60_000_000)
	_, user = h.device()
	if _, err := s.Asked(t.Context(), user, "attacker"); err != nil {
		t.Errorf("a quarter of an hour later: %v", err)
	}
	tries := 0
	for who := range 100 {
		if _, err := s.Asked(t.Context(), "ZZZZ-ZZZZ", string(rune('a'+who))); refusedAs(err, "not_found") {
			tries++
		}
	}
	if tries != 59 {
		t.Errorf("%d more tries in the same moment, want 59", tries)
	}
}

func refusedAs(err error, code core.Code) bool {
	r, ok := err.(*core.Refusal)
	return ok && r.Code == code
}

func TestSignIn_Forms(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	plain := header("Content-Type", "application/x-www-form-urlencoded")
	h.send("POST", "/v1/auth/token", `{"grant_type":"refresh_token"}`, anonymous).denied(t, 400, "invalid_request")
	h.send("POST", "/v1/auth/token?client_id=x", "", anonymous, plain).denied(t, 400, "invalid_request")
	h.send("POST", "/v1/auth/token", "client_id=a&client_id=b", anonymous, plain).denied(t, 400, "invalid_request")
	h.send("POST", "/v1/auth/token", "code="+strings.Repeat("x", 20<<10), anonymous, plain).denied(t, 400, "invalid_request")
	h.send("POST", "/v1/auth/token", "code=%zz", anonymous, plain).denied(t, 400, "invalid_request")
	h.send("POST", "/v1/auth/token", "code=%00", anonymous, plain).denied(t, 400, "invalid_request")
	h.send("POST", "/v1/auth/token", "code=%ff", anonymous, plain).denied(t, 400, "invalid_request")
	h.form("/v1/auth/device", "client_id", "other").denied(t, 401, "invalid_client")
	h.form("/v1/auth/device", "client_id", oauth.ClientID, "scope", "root").denied(t, 400, "invalid_scope")
	h.form("/v1/auth/device", "client_id", oauth.ClientID, "device_name", strings.Repeat("x", 65)).denied(t, 400, "invalid_request")
	if r := h.send("GET", "/v1/auth/token", nil, anonymous); r.status != http.StatusMethodNotAllowed {
		t.Errorf("GET is answered %d", r.status)
	}
}
