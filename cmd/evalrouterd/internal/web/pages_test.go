package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/oauth"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web"
)

// TestRegister_AUT25_MailedCode: an account begins with a code that was mailed
// and typed into the browser that registered, and not without.
func TestRegister_AUT25_MailedCode(t *testing.T) {
	t.Parallel()
	h := newHouse(t, true)
	b := h.browser()
	b.get("/register").fill("/register", "email", " Ada@Example.org", "name", "Ada", "password", pw).sees(200, "Verify your address", "ada@example.org")
	if len(h.mails) != 1 || h.mails[0].to != "ada@example.org" {
		t.Fatalf("mails %+v", h.mails)
	}
	code := regexp.MustCompile(`[A-Z]{4}-[A-Z]{4}`).FindString(h.mails[0].text)
	h.browser().get("/login").fill("/login", "email", "ada@example.org", "password", pw).sees(422, "do not fit, or the account is not verified")
	stranger := h.browser() // who knows the code in another browser has nothing to verify
	stranger.get("/register").fill("/register", "email", "eve@example.org", "name", "Eve", "password", pw)
	stranger.fill("/verify", "code", code).sees(422, "not the code that was mailed")
	b.fill("/verify", "code", "XXXX-XXXX").sees(422, "not the code that was mailed")
	b.fill("/verify", "code", strings.ToLower(strings.ReplaceAll(code, "-", " "))).sees(200, "Set up your workspace")
	b.fill("/setup", "name", "Ada's").sees(200, "Profile", "ada@example.org", "verified by mail")

	again := h.browser()
	again.get("/register").fill("/register", "email", "ada@example.org", "name", "Eve", "password", "another password").sees(429, "A mail went to this address a moment ago")
	h.now.Add(60_000_000) // the address has an account: the page is the same, the mail is not
	again.get("/register").fill("/register", "email", "ada@example.org", "name", "Eve", "password", "another password").sees(200, "Verify your address", "ada@example.org")
	last := h.mails[len(h.mails)-1]
	if last.to != "ada@example.org" || !strings.Contains(last.subject, "already") || regexp.MustCompile(`[A-Z]{4}-[A-Z]{4}`).MatchString(last.text) {
		t.Errorf("the mail to who has an account: %+v", last)
	}
	h.browser().get("/login").fill("/login", "email", "ada@example.org", "password", "another password").sees(422, "do not fit")
}

// TestRegister_AUT25_OperatorApproves: without mail nobody gets in before the
// operator says so.
func TestRegister_AUT25_OperatorApproves(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	h.browser().get("/register").fill("/register", "email", "bob@example.org", "name", "Bob", "password", pw).sees(200, "Wait to be let in", "evalrouterd accounts approve bob@example.org")
	h.browser().get("/login").fill("/login", "email", "bob@example.org", "password", pw).sees(422, "do not fit")
}

func TestRegister_Refuses(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	b := h.browser()
	for _, tt := range []struct{ name, email, person, pw, says string }{
		{"no address", "ada", "Ada", pw, "not an e-mail address"},
		{"two addresses", "a@b.c, d@e.f", "Ada", pw, "not an e-mail address"},
		{"a line break", "a@b.c\r\nBcc: d@e.f", "Ada", pw, "not an e-mail address"},
		{"no name", "ada@example.org", " ", pw, "A name has"},
		{"a control character", "ada@example.org", "A\x1b[31m", pw, "A name has"},
		{"a character that no database keeps", "ada\x00@example.org", "Ada", pw, "cannot be kept"},
		{"no UTF-8", "ada@example.org", "A\xff", pw, "cannot be kept"},
		{"a short password", "ada@example.org", "Ada", "short", "at least 10"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b.get("/register").fill("/register", "email", tt.email, "name", tt.person, "password", tt.pw).sees(422, tt.says)
			if strings.Contains(b.html, pw) {
				t.Error("the page repeats the password")
			}
			h.now.Add(60_000_000)
		})
	}
}

// TestLogin_Bounded: an account is tried ten times a minute, whether it exists
// or not, and the right password then waits too.
func TestLogin_Bounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	h.owner("ada")
	h.now.Add(60_000_000)
	for _, who := range []string{"ada@example.org", "nobody@example.org"} {
		b := h.browser().get("/login")
		for range 10 {
			b.fill("/login", "email", who, "password", "wrong").sees(422, "do not fit")
		}
		b.fill("/login", "email", who, "password", pw).sees(429, "too often")
	}
}

// TestPages_Forged asks every form of the table without its token, with one of
// another browser, and from another origin: nothing is done. A page that is
// added is asked too.
func TestPages_Forged(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	b, other := h.owner("ada"), h.browser().get("/login")
	foreign := hidden.FindStringSubmatch(other.html)[2]
	own := hidden.FindStringSubmatch(b.get("/settings").html)[2]
	posts := 0
	for _, rt := range h.web.Table() {
		if rt.Method != http.MethodPost {
			continue
		}
		posts++
		b.post(rt.Path, url.Values{}).sees(403, "did not come from a page of this service")
		b.post(rt.Path, url.Values{"form": {foreign}}).sees(403, "did not come")
		b.post(rt.Path, url.Values{"form": {own}}, func(r *http.Request) {
			r.Header.Set("Origin", "https://evil.example")
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}).sees(403, "did not come")
		h.browser().post(rt.Path, url.Values{"form": {own}}).sees(403, "did not come") // no cookie
	}
	if posts != 16 {
		t.Errorf("%d forms", posts)
	}
	b.get("/settings").sees(200, "Profile")
}

// TestPages_Closed: every page but those of signing in sends a stranger there,
// and each page has its headers.
func TestPages_Closed(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	for _, rt := range h.web.Table() {
		if rt.Method != http.MethodGet {
			continue
		}
		path := strings.TrimSuffix(rt.Path, "{$}")
		b := h.browser().get(path)
		if !rt.Open {
			b.sees(200, "Sign in", "Password")
		}
		if rt.Path == "/style.css" {
			continue
		}
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
			"X-Frame-Options":         "DENY", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
		} {
			if got := b.head.Get(name); got != want {
				t.Errorf("%s has %s: %q", path, name, got)
			}
		}
		if strings.Contains(strings.ToLower(b.html), "<script") || regexp.MustCompile(`\son[a-z]+=|style="|javascript:|https?://`).MatchString(b.html) {
			t.Errorf("%s has a script, a style of its own or something from elsewhere:\n%s", path, b.html)
		}
	}
	post := h.browser().get("/login")
	post.fill("/login", "email", "x@y.z", "password", "x")
	if c := post.client.Jar.Cookies(mustURL(t, h.server.URL)); len(c) != 1 || c[0].Name != "evr-early" {
		t.Errorf("cookies of a stranger: %v", c)
	}
}

func mustURL(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestCookies: the cookie is new with each sign-in and void after signing out.
func TestCookies(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	b := h.owner("ada")
	site := mustURL(t, h.server.URL)
	session := func() string {
		for _, c := range b.client.Jar.Cookies(site) {
			if c.Name == "evr" {
				return c.Value
			}
		}
		return ""
	}
	first := session()
	if !strings.HasPrefix(first, "erw_") {
		t.Fatalf("the cookie is %q", first)
	}
	b.get("/login?again=1").fill("/login", "email", "ada@example.org", "password", pw)
	second := session()
	old := h.browser()
	use := func(cookie string) *browser {
		old.client.Jar.SetCookies(site, []*http.Cookie{{Name: "evr", Value: cookie, Path: "/"}})
		return old.get("/settings")
	}
	if second == first {
		t.Error("a new sign-in keeps the cookie")
	}
	use(first).sees(200, "Sign in")
	use(second).sees(200, "Profile")
	b.get("/settings").fill("/logout").sees(200, "Sign in")
	use(second).sees(200, "Sign in")
}

// TestCookies_TLS: over TLS a cookie goes to this host alone, never in the
// clear and never to a script.
func TestCookies_TLS(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	o := h.options
	o.Origin = "https://eval.example"
	s, err := web.New(o)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("GET", "https://eval.example/login", nil)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	c := w.Result().Cookies()
	if w.Code != 200 || len(c) != 1 || c[0].Name != "__Host-evr-early" || !c[0].Secure || !c[0].HttpOnly || c[0].SameSite != http.SameSiteLaxMode || c[0].Path != "/" || c[0].Domain != "" {
		t.Errorf("%d, cookies %+v", w.Code, c)
	}
	if w.Header().Get("Strict-Transport-Security") == "" {
		t.Error("browsers are not told to stay with TLS")
	}
}

// TestNext: a sign-in leads to pages of this service and nowhere else.
func TestNext(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	h.owner("ada")
	for _, tt := range []struct{ next, at string }{
		{"/settings/billing", "/settings/billing"},
		{"/settings/members?workspace=x", ""},
		{"//evil.example/device", "/settings"},
		{"https://evil.example/", "/settings"},
		{`/\evil.example`, "/settings"},
		{"/v1/runs", "/settings"},
		{"javascript:alert(1)", "/settings"},
		{"/logout", "/settings"},
	} {
		h.now.Add(60_000_000)
		b := h.browser().get("/login?next="+url.QueryEscape(tt.next)).fill("/login", "email", "ada@example.org", "password", pw)
		if tt.at != "" && b.at != tt.at || b.code != 200 && tt.at != "" {
			t.Errorf("next=%s leads to %s (%d)", tt.next, b.at, b.code)
		}
	}
}

// TestHostile: what people call themselves is text on every page.
func TestHostile(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	b := h.owner("ada")
	evil := `"><img src=x onerror=alert(1)>` + "\u202egnp.exe"
	b.get("/settings").fill("/settings", "name", evil).sees(200, "Saved.")
	b.get("/setup").fill("/setup", "name", evil)
	if _, err := h.signIn.Begin(t.Context(), oauth.NewDevice{Client: oauth.ClientID, Name: "<b>x</b>\u202e", Version: "\x1b[31m"}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/settings", "/settings/members", "/settings/billing", "/setup"} {
		b.get(path)
		if strings.Contains(b.html, "<img") || strings.Contains(b.html, "<b>x") || strings.Contains(b.html, "\u202e") && !strings.Contains(path, "setup") && path != "/settings" {
			t.Errorf("%s shows what somebody is called as it came:\n%s", path, b.html)
		}
	}
}

// TestMembers: what a role may not do is refused by the page's form too.
func TestMembers(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	ada := h.owner("ada")
	ws := string(h.workspace("ada"))
	h.now.Add(60_000_000)
	bob := h.person("bob")
	page := "/settings/members?workspace=" + ws
	ada.get(page).fill(page, "do", "invite", "email", "bob@example.org", "role", "viewer").sees(200, "Invited. No mail was sent", "bob@example.org")
	bob.get("/setup").sees(200, "You are invited to adas as viewer")
	bob.fill("/settings/invitations", "answer", "accept").sees(200, "You are a member now")
	bob.get(page).sees(200, "ada@example.org")
	if strings.Contains(bob.html, "Invite somebody") || strings.Contains(bob.html, ">Remove<") {
		t.Error("a viewer is offered what only admins do")
	}
	// The form of another page of bob's carries his token; what he may do is decided anyway.
	token := hidden.FindStringSubmatch(bob.html)[2]
	for _, v := range []url.Values{
		{"do": {"invite"}, "email": {"eve@example.org"}, "role": {"owner"}}, {"do": {"role"}, "user": {"user-bob"}, "role": {"owner"}}, {"do": {"remove"}, "user": {"user-ada"}},
	} {
		v.Set("form", token)
		bob.post(page, v).sees(403, "Owners and admins of the workspace do that")
	}
	bob.post("/settings/api-keys?workspace="+ws, url.Values{"form": {token}, "do": {"make"}, "name": {"n"}, "scope": {"eval:read"}}).sees(403, "Owners and admins")
	ada.get(page).fill(page, "do", "role", "user", "user-bob", "role", "admin")
	token = hidden.FindStringSubmatch(bob.get(page).html)[2]
	bob.post(page, url.Values{"form": {token}, "do": {"role"}, "user": {"user-bob"}, "role": {"owner"}}).sees(403, "owners only")
	bob.post(page, url.Values{"form": {token}, "do": {"remove"}, "user": {"user-ada"}}).sees(403, "owners only")
	ada.get(page).post(page, url.Values{"form": {hidden.FindStringSubmatch(ada.html)[2]}, "do": {"remove"}, "user": {"user-ada"}}).sees(422, "at least one owner")
	h.now.Add(60_000_000)
	eve := h.owner("eve")
	for _, p := range []string{"/settings", "/settings/members", "/settings/api-keys", "/settings/billing", "/settings/sign-ins"} {
		foreign := eve.get(p+"?workspace="+ws).sees(404, "no such workspace").html
		if none := eve.get(p + "?workspace=00000000-0000-4000-8000-00000000dead").sees(404).html; none != foreign {
			t.Errorf("%s tells a foreign workspace from a missing one", p)
		}
	}
	bob.get(page).post(page, url.Values{"form": {hidden.FindStringSubmatch(bob.html)[2]}, "do": {"remove"}, "user": {"user-bob"}}) // leaves
	bob.get(page).sees(404, "no such workspace")
}

func TestKeys(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	ada := h.owner("ada")
	page := "/settings/api-keys?workspace=" + string(h.workspace("ada"))
	ada.get(page).fill(page, "do", "make", "name", "ci", "scope", "eval:read", "scope", "eval:write", "days", "30", "ceiling", "25").sees(200, "It is shown this once", "ci", "$0.00 of $25.00", "2026-12-30")
	secret := regexp.MustCompile(`erk_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}`)
	first := secret.FindString(ada.html)
	if first == "" || secret.MatchString(ada.get(page).html) {
		t.Error("the key is not shown, or shown twice")
	}
	ada.fill(page, "do", "rotate").sees(200, "It is shown this once")
	if next := secret.FindString(ada.html); next == "" || next == first {
		t.Error("a rotation shows no new key")
	}
	ada.get(page).fill(page, "do", "revoke").sees(200, "The key has ended.", "revoked")
	for _, tt := range []struct{ days, ceiling, says string }{{"0", "", "whole number"}, {"x", "", "whole number"}, {"", "0", "An amount"}, {"", "1e3", "An amount"}} {
		b := ada.get(page)
		form := hidden.FindStringSubmatch(b.html)[2]
		b.post(page, url.Values{"form": {form}, "do": {"make"}, "name": {"n"}, "scope": {"eval:read"}, "days": {tt.days}, "ceiling": {tt.ceiling}}).sees(422, tt.says)
	}
}

func TestPassword(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	ada := h.owner("ada")
	h.now.Add(60_000_000)
	second := h.browser().get("/login").fill("/login", "email", "ada@example.org", "password", pw).sees(200, "Profile")
	second.get("/settings/sign-ins").sees(200, "this browser")
	ada.get("/settings").fill("/settings/password", "old", "wrong one", "new", "another password").sees(422, "present password is another one")
	ada.fill("/settings/password", "old", pw, "new", "short").sees(422, "at least 10")
	ada.fill("/settings/password", "old", pw, "new", "another password").sees(200, "The password was changed")
	second.get("/settings").sees(200, "Sign in")
	h.now.Add(60_000_000)
	h.browser().get("/login").fill("/login", "email", "ada@example.org", "password", "another password").sees(200, "Profile")
}

func TestBilling(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	ada := h.owner("ada")
	ws := h.workspace("ada")
	ada.get("/settings/billing").sees(200, "$0.00", "Nothing has moved yet", "evalrouterd credits grant "+string(ws))
	if err := h.store.Grant(t.Context(), "g1", ws, core.CreditBook, 25_000_000, "from <the> operator"); err != nil {
		t.Fatal(err)
	}
	ada.get("/settings/billing").sees(200, "$25.00", "grant", "from <the> operator")
}

// TestSetup_LongName: whoever has a long name is offered a workspace with a name
// that is taken.
func TestSetup_LongName(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	for _, name := range []string{"ada", strings.Repeat("é", 69), strings.Repeat("x", 67) + " y", strings.Repeat("界", 80)} {
		b := h.named("long-"+strconv.Itoa(len(name)), name).sees(200, "Set up your workspace")
		m := regexp.MustCompile(`id="name"[^>]* value="([^"]*)"`).FindStringSubmatch(b.html)
		b.fill("/setup", "name", unescape(m[1])).sees(200, "Profile")
	}
}
