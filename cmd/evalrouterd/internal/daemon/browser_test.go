package daemon_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web/webtest"
)

// startTeam is a service for many, with its base address.
func startTeam(t *testing.T) *living {
	t.Helper()
	dir := t.TempDir()
	furnish(t, dir)
	l := begin(t, program(t, "serve", "--data", dir, "--addr", "127.0.0.1:0"), dir)
	l.awaitBase(t)
	return l
}

// awaitBase waits until a service says where it is.
func (l *living) awaitBase(t *testing.T) {
	t.Helper()
	said := regexp.MustCompile(`serves (http://[0-9.:]+) `)
	until(t, l, "its address", func() bool {
		if m := said.FindStringSubmatch(l.stderr.String()); m != nil {
			l.base = m[1]
		}
		return l.base != ""
	})
}

// form sends a form and gives status and fields of the answer.
func (l *living) form(t *testing.T, path string, fields url.Values) (int, map[string]any) {
	t.Helper()
	res, err := http.PostForm(l.base+path, fields)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%s: %s", path, raw)
	}
	return res.StatusCode, out
}

func (l *living) device(t *testing.T) (code, user, address string) {
	t.Helper()
	_, d := l.form(t, "/v1/auth/device", url.Values{"client_id": {"evalrouter-cli"}, "device_name": {"a laptop"}})
	return d["device_code"].(string), d["user_code"].(string), d["verification_uri_complete"].(string)
}

func (l *living) poll(t *testing.T, code string) (int, map[string]any) {
	t.Helper()
	// The interval is the service's rule, not this test's subject.
	l.sql(t, `UPDATE device_requests SET polled_at = 0`)
	return l.form(t, "/v1/auth/token", url.Values{"client_id": {"evalrouter-cli"}, "grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {code}})
}

func (l *living) sql(t *testing.T, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(l.dir, "evalrouter.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

const browserPassword = "a password of the browser"

// TestBrowser_SignIn walks both ways of signing in with a real browser and the
// keyboard alone: from no account to a terminal that is signed in, by way of a
// mistyped code, an expired one and one that is denied.
func TestBrowser_SignIn(t *testing.T) {
	t.Parallel()
	b := webtest.Start(t)
	l := startTeam(t)
	code, user, address := l.device(t)
	p := b.Open(address)
	p.Sees("Sign in").Tab("Create an account").Enter()
	p.Sees("Your name").Tab("E-mail address").Type("ada@example.org").Tab("Your name").Type("Ada Lovelace").Tab("Password").Type(browserPassword).Enter()
	p.Sees("Wait to be let in")
	if _, e := l.poll(t, code); e["error"] != "authorization_pending" || e["stage"] != "verify_email" {
		t.Errorf("before the approval the terminal hears %v", e)
	}
	run(t, "accounts", "approve", "ada@example.org", "--data", l.dir).ok(t)
	p.Tab("sign in").Enter()
	p.Sees("Password").Tab("E-mail address").Type("ada@example.org").Tab("Password").Type(browserPassword).Enter()
	p.Sees("Set up your workspace")
	if _, e := l.poll(t, code); e["stage"] != "setup" || e["account"] != "a…@example.org" {
		t.Errorf("before the setup the terminal hears %v", e)
	}
	p.Tab("Make the workspace").Enter()
	p.Sees("Compare this code").Sees(user).Sees("a laptop")
	p.Tab("I started this on my own terminal").Enter()
	p.Sees("The terminal is signed in")
	status, got := l.poll(t, code)
	if status != 200 {
		t.Fatalf("the terminal hears %v", got)
	}
	l.whoami(t, got["access_token"].(string))

	late, user, _ := l.device(t)
	p.Go(l.base + "/device")
	p.Sees("Type the code").Tab("Code").Type("BCDF-GHJK").Enter()
	p.Sees("This code is not known, or it has expired")
	l.sql(t, `UPDATE device_requests SET expires_at = 1 WHERE state = 'pending'`)
	p.Tab("Code").Type(user).Enter()
	p.Sees("This code is not known, or it has expired")
	if _, e := l.poll(t, late); e["error"] != "expired_token" {
		t.Errorf("a terminal whose code has expired hears %v", e)
	}
	denied, user, _ := l.device(t)
	p.Tab("Code").Type(strings.ToLower(strings.ReplaceAll(user, "-", ""))).Enter()
	p.Sees("Compare this code").Tab("Deny").Enter()
	p.Sees("The terminal was told no")
	if _, e := l.poll(t, denied); e["error"] != "access_denied" {
		t.Errorf("a terminal that was denied hears %v", e)
	}
	l.loopback(t, p)
}

func (l *living) whoami(t *testing.T, token string) {
	t.Helper()
	var who struct {
		Kind    string
		Account struct{ Email string }
	}
	if status := l.ask(t, token, &who); status != 200 || who.Kind != "session" || who.Account.Email != "ada@example.org" {
		t.Errorf("whoami %d %+v", status, who)
	}
}

func (l *living) ask(t *testing.T, token string, into any) int {
	t.Helper()
	return l.decoded(t, "GET", "/v1/auth/whoami", nil, into, bearer(token)...)
}

// loopback signs in as a command line does on a machine with a browser: the
// browser brings the code back to a listener.
func (l *living) loopback(t *testing.T, p *webtest.Page) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	came := make(chan url.Values, 1)
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/callback" {
			http.NotFound(w, r)
			return
		}
		came <- r.URL.Query()
		fmt.Fprint(w, "<!doctype html><title>x</title>Go back to your terminal.")
	})}
	go srv.Serve(listener)
	defer srv.Shutdown(context.Background())
	verifier := strings.Repeat("v", 50)
	sum := sha256.Sum256([]byte(verifier))
	redirect := "http://" + listener.Addr().String() + "/callback"
	p.Go(l.base + "/authorize?" + url.Values{
		"client_id": {"evalrouter-cli"}, "response_type": {"code"}, "redirect_uri": {redirect}, "state": {"state-of-the-test"}, "code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}.Encode())
	p.Sees("A terminal on this computer wants to act for you").Tab("I started this on my own terminal").Enter()
	p.Sees("Go back to your terminal.")
	back := <-came
	if back.Get("state") != "state-of-the-test" || back.Get("iss") != l.base {
		t.Errorf("the browser came back with %v", back)
	}
	status, got := l.form(t, "/v1/auth/token", url.Values{"client_id": {"evalrouter-cli"}, "grant_type": {"authorization_code"}, "code": {back.Get("code")}, "code_verifier": {verifier}, "redirect_uri": {redirect}})
	if status != 200 {
		t.Fatalf("the exchange is answered %d %v", status, got)
	}
	l.whoami(t, got["access_token"].(string))
}
