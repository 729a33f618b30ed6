package daemon_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// guest is a browser without a screen.
type guest struct {
	t      *testing.T
	l      *living
	client *http.Client
	html   string
	to     string // where the last answer leads
}

func (l *living) guest(t *testing.T) *guest {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &guest{t: t, l: l, client: &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if r.URL.Host != strings.TrimPrefix(l.base, "http://") {
			return http.ErrUseLastResponse
		}
		return nil
	}}}
}

func (g *guest) took(res *http.Response, err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	g.html, g.to = string(b), res.Header.Get("Location")
	if res.StatusCode >= 400 {
		g.t.Fatalf("%s: %d\n%s", res.Request.URL.Path, res.StatusCode, b)
	}
}

func (g *guest) open(path string) *guest {
	g.t.Helper()
	g.took(g.client.Get(g.l.base + path))
	return g
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([a-z_]+)" value="([^"]*)">`)

// fill sends a form of the page with its hidden fields and more.
func (g *guest) fill(path string, more ...string) *guest {
	g.t.Helper()
	_, form, ok := strings.Cut(g.html, `action="`+path+`"`)
	if !ok {
		g.t.Fatalf("no form for %s:\n%s", path, g.html)
	}
	form, _, _ = strings.Cut(form, "</form>")
	v := url.Values{}
	for _, m := range hiddenField.FindAllStringSubmatch(form, -1) {
		v.Set(m[1], strings.NewReplacer("&amp;", "&", "&#43;", "+", "&#39;", "'").Replace(m[2]))
	}
	for i := 0; i+1 < len(more); i += 2 {
		v.Add(more[i], more[i+1])
	}
	g.took(g.client.PostForm(g.l.base+path, v))
	return g
}

const guestPassword = "canary-password-of-ada"

// joins registers somebody, lets the operator approve them and signs them in.
func (g *guest) joins(email string, approval ...string) {
	g.t.Helper()
	g.open("/register").fill("/register", "email", email, "name", "Ada", "password", guestPassword)
	run(g.t, append([]string{"accounts", "approve", email, "--data", g.l.dir}, approval...)...).ok(g.t)
	g.open("/login").fill("/login", "email", email, "password", guestPassword)
}

// authorized signs a command line in, and gives its code and tokens.
func (g *guest) authorized() (code, access, refresh string) {
	g.t.Helper()
	verifier := strings.Repeat("canary", 9)
	sum := sha256.Sum256([]byte(verifier))
	const redirect = "http://127.0.0.1:9/callback"
	g.open("/authorize?"+url.Values{"client_id": {"evalrouter-cli"}, "response_type": {"code"}, "redirect_uri": {redirect}, "state": {"state-of-the-test"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"}}.Encode()).fill("/authorize", "decision", "approve")
	back, err := url.Parse(g.to)
	if err != nil {
		g.t.Fatal(err)
	}
	code = back.Query().Get("code")
	status, got := g.l.form(g.t, "/v1/auth/token", url.Values{"client_id": {"evalrouter-cli"}, "grant_type": {"authorization_code"}, "code": {code}, "code_verifier": {verifier}, "redirect_uri": {redirect}})
	if status != 200 {
		g.t.Fatalf("%d %v", status, got)
	}
	return code, got["access_token"].(string), got["refresh_token"].(string)
}

// as asks the API with a token, "" for none, in a workspace.
func (l *living) as(t *testing.T, token, workspace, method, path string, body, into any) int {
	t.Helper()
	header := []string{"Idempotency-Key", "k-" + path}
	if token != "" {
		header = append(header, bearer(token)...)
	}
	if workspace != "" {
		header = append(header, "X-Workspace-Id", workspace)
	}
	return l.decoded(t, method, path, body, into, header...)
}

// TestTeam_PKG10_NoAccessAndNoCredit: nobody starts anything without an
// account, and a new account has a workspace without credit.
func TestTeam_PKG10_NoAccessAndNoCredit(t *testing.T) {
	t.Parallel()
	l := startTeam(t)
	type m = map[string]any
	quote := m{"selection": m{"profile_ids": []string{"arithmetic@1"}}, "model": m{"kind": "managed", "route_id": "practice.solver-0.8"}, "coverage": m{"mode": "sample", "sample_count": 2}, "max_charge_microusd": "1000000"}
	for _, path := range []string{"/v1/quotes", "/v1/runs", "/v1/evaluations"} {
		if status := l.as(t, "", "", "POST", path, quote, nil); status != 401 {
			t.Errorf("POST %s without an account is answered %d", path, status)
		}
	}
	g := l.guest(t)
	g.joins("ada@example.org")
	g.open("/setup").fill("/setup", "name", "Ada's")
	_, access, _ := g.authorized()
	var page struct{ Data []struct{ ID, Role string } }
	if l.as(t, access, "", "GET", "/v1/workspaces", nil, &page); len(page.Data) != 1 || page.Data[0].Role != "owner" {
		t.Fatalf("workspaces %+v", page)
	}
	ws := page.Data[0].ID
	var c struct {
		Balance string `json:"balance_microusd"`
		URL     string `json:"billing_url"`
	}
	if status := l.as(t, access, ws, "GET", "/v1/credits", nil, &c); status != 200 || c.Balance != "0" || c.URL != l.base+"/settings/billing?workspace="+ws {
		t.Errorf("%d %+v", status, c)
	}
	var q struct{ ID string }
	if status := l.as(t, access, ws, "POST", "/v1/quotes", quote, &q); status != 200 {
		t.Fatalf("a quote is answered %d", status)
	}
	var e struct{ Error struct{ Code string } }
	if status := l.as(t, access, ws, "POST", "/v1/runs", m{"quote_id": q.ID}, &e); status != 402 || e.Error.Code != "insufficient_credit" {
		t.Errorf("a run without credit is answered %d %+v", status, e)
	}
	if status := l.as(t, access, "main", "GET", "/v1/credits", nil, &e); status != 403 || e.Error.Code != "workspace_mismatch" {
		t.Errorf("another workspace is answered %d %+v", status, e)
	}
}

// TestSecrets_NowhereKept carries every secret of an account through the
// service, and then looks for each, in every form that it could have, in the
// log at its most verbose and in all files of the data directory.
func TestSecrets_NowhereKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	furnish(t, dir)
	l := launch(t, dir, "serve", "--data", dir, "--addr", "127.0.0.1:0", "--verbose")
	l.awaitBase(t)
	g := l.guest(t)
	g.joins("ada@example.org", "--workspace", "main", "--role", "owner")
	code, access, refresh := g.authorized()
	_, next := l.form(t, "/v1/auth/token", url.Values{"client_id": {"evalrouter-cli"}, "grant_type": {"refresh_token"}, "refresh_token": {refresh}})
	device, user, _ := l.device(t)
	g.open("/device?user_code="+user).fill("/device/decide", "decision", "approve")
	_, signed := l.poll(t, device)
	g.open("/settings/api-keys?workspace=main").fill("/settings/api-keys?workspace=main", "do", "make", "name", "ci", "scope", "eval:read")
	key := regexp.MustCompile(`erk_[0-9A-Za-z_]{58}`).FindString(g.html)
	if status := l.as(t, key, "", "GET", "/v1/runs", nil, nil); status != 200 {
		t.Errorf("the key is answered %d", status)
	}
	for _, bad := range []string{key + "x", slip(access), "ers_" + strings.Repeat("canary", 9)} { // a slip is no reason to write it down
		l.as(t, bad, "", "GET", "/v1/runs?cursor="+url.QueryEscape(bad), nil, nil)
	}
	secrets := map[string]string{
		"password": guestPassword, "authorization code": code, "access token": access, "refresh token": refresh, "successor": text(next["refresh_token"]), "next access token": text(next["access_token"]),
		"device code": device, "user code": strings.ReplaceAll(user, "-", ""), "spelled user code": user, "token of the device": text(signed["access_token"]), "API key": key, "verifier": strings.Repeat("canary", 9),
	}
	site, err := url.Parse(l.base)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range g.client.Jar.Cookies(site) {
		secrets["cookie "+c.Name] = c.Value
	}
	if len(secrets) != 13 {
		t.Fatalf("%d secrets", len(secrets))
	}
	l.searched(t, secrets)
}

func text(v any) string { s, _ := v.(string); return s }

// searched looks for secrets where none may be.
func (l *living) searched(t *testing.T, secrets map[string]string) {
	t.Helper()
	files := map[string][]byte{"the log": []byte(l.stderr.String())}
	err := filepath.WalkDir(l.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		files[d.Name()] = b
		return err
	})
	if err != nil || len(files["evalrouter.db"]) == 0 || len(files["the log"]) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	if whole := bytes.Join(slices.Collect(maps.Values(files)), nil); !bytes.Contains(whole, []byte("ada@example.org")) {
		t.Error("what was searched does not even hold the address")
	}
	for name, secret := range secrets {
		if len(secret) < 8 {
			t.Errorf("the %s is %q", name, secret)
			continue
		}
		for _, form := range forms(secret) {
			for file, content := range files {
				if bytes.Contains(content, []byte(form)) {
					t.Errorf("the %s stands in %s", name, file)
				}
			}
		}
	}
}

// forms are what a secret looks like raw, in hex, percent-escaped, and in
// base64 at each of its three offsets.
func forms(secret string) []string {
	out := []string{secret, hex.EncodeToString([]byte(secret)), url.QueryEscape(secret)}
	for shift := range 3 {
		b := base64.StdEncoding.EncodeToString(append(make([]byte, shift), secret...))
		out = append(out, b[4:len(b)-4]) // the ends depend on neighbours
	}
	return out
}

// postbox takes mails on loopback and gives their text.
func postbox(t *testing.T) (address string, mails <-chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	out, done := make(chan string, 10), make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(c, "220 test\r\n")
			in, text, data := bufio.NewReader(c), "", false
			for {
				line, err := in.ReadString('\n')
				if err != nil {
					break
				}
				switch {
				case data && line != ".\r\n":
					text += line
				case strings.HasPrefix(line, "DATA"):
					data = true
					fmt.Fprint(c, "354 go on\r\n")
				case strings.HasPrefix(line, "QUIT"):
					fmt.Fprint(c, "221 bye\r\n")
				default:
					data = false
					fmt.Fprint(c, "250 ok\r\n")
				}
			}
			c.Close()
			out <- text
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return l.Addr().String(), out
}

// TestTeam_AUT25_Mail: with a mail server an account begins when the mailed
// code is typed, and the operator need not do anything.
func TestTeam_AUT25_Mail(t *testing.T) {
	t.Parallel()
	address, mails := postbox(t)
	dir := t.TempDir()
	furnish(t, dir)
	settings := filepath.Join(t.TempDir(), "mail.json")
	if err := os.WriteFile(settings, fmt.Appendf(nil, `{"address":%q,"from":"EvalRouter <no-reply@example.org>"}`, address), 0o600); err != nil {
		t.Fatal(err)
	}
	l := launch(t, dir, "serve", "--data", dir, "--addr", "127.0.0.1:0", "--mail-file", settings)
	l.awaitBase(t)
	g := l.guest(t)
	g.open("/register").fill("/register", "email", "ada@example.org", "name", "Ada", "password", guestPassword)
	var mail string
	select {
	case mail = <-mails:
	case <-time.After(30 * time.Second):
		t.Fatal("no mail came")
	}
	code := regexp.MustCompile(`[A-Z]{4}-[A-Z]{4}`).FindString(mail)
	if !strings.Contains(mail, "To: <ada@example.org>") || code == "" || strings.Contains(mail, l.base+"/verify") {
		t.Fatalf("the mail says:\n%s", mail)
	}
	if out := run(t, "accounts", "list", "--data", dir).ok(t).stdout; !strings.Contains(out, "waits for its code") {
		t.Errorf("before the code was typed:\n%s", out)
	}
	g.fill("/verify", "code", code).fill("/setup", "name", "Ada's")
	_, access, _ := g.authorized()
	var who struct{ Account struct{ Email string } }
	if status := l.ask(t, access, &who); status != 200 || who.Account.Email != "ada@example.org" {
		t.Errorf("whoami %d %+v", status, who)
	}
}
