package signin_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/apitest"
	"github.com/evalrouter/evalrouter/lib/signin"
)

// clock is a time that moves when somebody sleeps.
type clock struct {
	mu    sync.Mutex
	now   time.Time
	slept []time.Duration
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.slept = append(c.slept, d)
	return ctx.Err()
}

type bench struct {
	*testing.T
	Fake  *apitest.Fake
	clock *clock
	dir   string
	*signin.Accounts
}

func newBench(t *testing.T, how apitest.SignIn) *bench {
	t.Helper()
	c := &clock{now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	f := apitest.NewFake(apitest.Options{Now: c.Now})
	t.Cleanup(f.Close)
	f.SignIns(how)
	dir := filepath.Join(t.TempDir(), "config")
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &bench{t, f, c, dir, &signin.Accounts{Dir: dir, Transport: transport, AllowHTTP: true, UserAgent: "test", Now: c.Now, Sleep: c.Sleep}}
}

func (b *bench) wants(err error, code api.Code) {
	b.Helper()
	if !errors.Is(err, code) {
		b.Errorf("%v, want %s", err, code)
	}
}

// visit is a browser: it follows to wherever the service sends it, back to the
// waiting program.
func (b *bench) visit(address string) {
	res, err := http.Get(address)
	if err != nil {
		b.Error(err)
		return
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	h := res.Header
	if err != nil || res.StatusCode != 200 || !strings.Contains(string(body), "can be closed") || h.Get("Cache-Control") != "no-store" || h.Get("Referrer-Policy") != "no-referrer" {
		b.Errorf("the browser got %d %s %v", res.StatusCode, body, h)
	}
	for _, secret := range []string{"code=", "state=", "era_"} {
		if strings.Contains(string(body), secret) {
			b.Errorf("the page repeats %s", secret)
		}
	}
}

// enter signs in by the browser and keeps it.
func (b *bench) enter() signin.Tokens {
	b.Helper()
	t, err := b.Browser(b.Context(), b.Fake.URL, func(address string) { b.visit(address) })
	if err == nil {
		err = b.Keep(b.Context(), signin.Account{BaseURL: b.Fake.URL, Kind: signin.Session, Who: t.Account.Email, WorkspaceID: b.Fake.WorkspaceID}, t)
	}
	if err != nil {
		b.Fatal(err)
	}
	return t
}

// AUT-02: the browser comes back by itself, and nobody else can.
func TestBrowser_AUT02(t *testing.T) {
	t.Parallel()
	b := newBench(t, apitest.SignIn{})
	got, err := b.Browser(t.Context(), b.Fake.URL, func(address string) {
		if !strings.HasPrefix(address, b.Fake.URL+"/authorize?") || !strings.Contains(address, "code_challenge_method=S256") || !strings.Contains(address, "redirect_uri=http%3A%2F%2F127.0.0.1%3A") {
			t.Errorf("the browser is sent to %s", address)
		}
		back := redirect(t, address)
		for name, wrong := range map[string]string{
			"another path": strings.Replace(back, "/callback/", "/callback/x", 1), "no state": strings.Split(back, "&state=")[0],
			"another state": strings.Replace(back, "state=", "state=x", 1), "another service": strings.Replace(back, "iss=", "iss=https%3A%2F%2Felse.example&x=", 1),
		} {
			if status := get(t, wrong, ""); status != 404 {
				t.Errorf("%s: %d", name, status)
			}
		}
		if status := get(t, back, "evil.example"); status != 404 {
			t.Errorf("another host name: %d", status)
		}
		if status := get(t, back, ""); status != 200 {
			t.Errorf("the right answer: %d", status)
		}
		get(t, strings.Replace(back, "code=", "code=x", 1), "") // a late one changes nothing
	})
	if err != nil || got.Access == "" || got.Refresh == "" || got.Account.Email != "dana@example.org" || !got.ExpiresAt.Equal(b.clock.now.Add(15*time.Minute)) {
		t.Errorf("signed in as %+v, %v", got.Account, err)
	}
}

// redirect is where the service sends a browser to.
func redirect(t *testing.T, address string) string {
	t.Helper()
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := c.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.Header.Get("Location")
}

func get(t *testing.T, address, host string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

func TestBrowserRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		how  apitest.SignIn
		code api.Code
	}{
		{"the person says no", apitest.SignIn{Deny: true}, api.SignInRefused},
		{"nobody signs in here", apitest.SignIn{Off: true}, api.FeatureUnavailable},
		{"a page of somebody else", apitest.SignIn{Foreign: true}, api.InvalidResponse},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, tt.how)
			_, err := b.Browser(t.Context(), b.Fake.URL, func(address string) { get(t, address, "") })
			b.wants(err, tt.code)
		})
	}
	b := newBench(t, apitest.SignIn{})
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := b.Browser(ctx, b.Fake.URL, func(string) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// person sees what a device is to show.
type person struct {
	codes []signin.Code
	waits []string
}

func (p *person) Code(c signin.Code)     { p.codes = append(p.codes, c) }
func (p *person) Waits(w signin.Waiting) { p.waits = append(p.waits, w.Stage+" "+w.Account) }

// AUT-03 AUT-05: a code is approved elsewhere; what is missing there is told,
// and the waiting goes on by itself, as slowly as the service wants.
func TestDevice_AUT03_AUT05(t *testing.T) {
	t.Parallel()
	b := newBench(t, apitest.SignIn{Interval: 2, SlowDowns: 1, Stages: []string{"verify_email", "verify_email", "setup", "approve"}})
	p := &person{}
	got, err := b.Device(t.Context(), b.Fake.URL, "laptop", "1.0", p)
	if err != nil || got.Account.Email != "dana@example.org" {
		t.Fatalf("%+v, %v", got.Account, err)
	}
	if len(p.codes) != 1 || p.codes[0].User != "KQTF-RZ7M" || p.codes[0].Address != b.Fake.URL+"/device" || p.codes[0].Life != 10*time.Minute {
		t.Errorf("shown %+v", p.codes)
	}
	if s := strings.Join(p.waits, ", "); s != "verify_email dana@example.org, setup dana@example.org, approve dana@example.org" {
		t.Errorf("waited for %s", s)
	}
	if b.clock.slept[0] != 2*time.Second || b.clock.slept[1] != 7*time.Second || b.clock.slept[len(b.clock.slept)-1] != 7*time.Second {
		t.Errorf("asked after %v", b.clock.slept)
	}
}

func TestDeviceGoesOn(t *testing.T) {
	t.Parallel()
	b := newBench(t, apitest.SignIn{Expired: 1})
	p := &person{}
	if _, err := b.Device(t.Context(), b.Fake.URL, "laptop", "1.0", p); err != nil || len(p.codes) != 2 || !p.codes[1].Again {
		t.Errorf("an expired code: %+v, %v", p.codes, err)
	}
	b = newBench(t, apitest.SignIn{})
	b.Fake.Drop("POST /v1/auth/token", 2)
	if _, err := b.Device(t.Context(), b.Fake.URL, "laptop", "1.0", &person{}); err == nil || b.Fake.SignedIn() != 1 {
		// The code was used up by the answer that got lost.
		t.Errorf("a lost answer: %v, %d signed in", err, b.Fake.SignedIn())
	}
	for name, tt := range map[string]struct {
		how  apitest.SignIn
		code api.Code
	}{
		"refused": {apitest.SignIn{Deny: true}, api.SignInRefused}, "nobody comes": {apitest.SignIn{Expired: 9}, api.SignInExpired},
		"a page of somebody else": {apitest.SignIn{Foreign: true}, api.InvalidResponse}, "off": {apitest.SignIn{Off: true}, api.FeatureUnavailable},
	} {
		b := newBench(t, tt.how)
		_, err := b.Device(t.Context(), b.Fake.URL, "laptop", "1.0", &person{})
		if !errors.Is(err, tt.code) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// AUT-15: a token that ends is replaced, once.
func TestToken_AUT15(t *testing.T) {
	t.Parallel()
	b := newBench(t, apitest.SignIn{})
	first := b.enter()
	token := func() string {
		t.Helper()
		s, err := b.Token(t.Context(), b.Fake.URL+"/v1")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if token() != first.Access || b.Fake.Rotations() != 0 {
		t.Error("a good token was replaced")
	}
	b.clock.Sleep(t.Context(), 15*time.Minute)
	second := token()
	if second == first.Access || token() != second || b.Fake.Rotations() != 1 {
		t.Errorf("%d rotations", b.Fake.Rotations())
	}
	// Nothing but the service's word ends a sign-in, and only signing out removes it.
	b.clock.Sleep(t.Context(), 14*time.Minute+45*time.Second)
	b.Fake.Drop("POST /v1/auth/token", 1)
	if token() != second {
		t.Error("out of reach, a token that is still good is not used")
	}
	b.Fake.Close()
	b.clock.Sleep(t.Context(), time.Minute)
	_, err := b.Token(t.Context(), b.Fake.URL)
	b.wants(err, api.NetworkError)
	if all, err := b.List(); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
}

// The answer with the next pair got lost: the old token gives the same pair for
// a minute, and ends everything after that.
func TestTokenAfterALostAnswer(t *testing.T) {
	t.Parallel()
	for late, ends := range map[time.Duration]bool{50 * time.Second: false, 2 * time.Minute: true} {
		b := newBench(t, apitest.SignIn{})
		b.enter()
		b.clock.Sleep(t.Context(), 16*time.Minute)
		b.Fake.Drop("POST /v1/auth/token", 1)
		if _, err := b.Token(t.Context(), b.Fake.URL); err == nil {
			t.Fatal("the lost answer arrived")
		}
		b.clock.Sleep(t.Context(), late)
		_, err := b.Token(t.Context(), b.Fake.URL)
		if ends != errors.Is(err, api.SessionExpired) || !ends && err != nil || b.Fake.Rotations() != 1 {
			t.Errorf("after %s: %v, %d rotations", late, err, b.Fake.Rotations())
		}
		if all, lerr := b.List(); lerr != nil || len(all) != 1 {
			t.Errorf("what was kept: %v, %v", all, lerr)
		}
	}
}

// AUT-14 AUT-20: what is kept is private whatever the umask, holds its secrets
// in one file only, and goes with signing out.
func TestFiles_AUT14_AUT20(t *testing.T) {
	t.Parallel()
	b := newBench(t, apitest.SignIn{})
	got := b.enter()
	for name, mode := range map[string]os.FileMode{"": os.ModeDir | 0o700, "profile.json": 0o600, "credentials.json": 0o600, "credentials.lock": 0o600} {
		info, err := os.Lstat(filepath.Join(b.dir, name))
		if err != nil || info.Mode() != mode {
			t.Errorf("%q: %v, %v", name, info.Mode(), err)
		}
	}
	profile, err := os.ReadFile(filepath.Join(b.dir, "profile.json"))
	if err != nil || strings.Contains(string(profile), got.Access) || strings.Contains(string(profile), got.Refresh) {
		t.Errorf("the profile holds a secret: %s, %v", profile, err)
	}
	var doc struct {
		Schema   string
		Accounts []map[string]any
	}
	raw, err := os.ReadFile(filepath.Join(b.dir, "credentials.json"))
	if err != nil || json.Unmarshal(raw, &doc) != nil || doc.Schema != "evalrouter.credentials.v1" || len(doc.Accounts) != 1 || doc.Accounts[0]["access_token"] != got.Access {
		t.Errorf("the credentials: %v", err)
	}
	if found, unheard, err := b.Leave(t.Context(), b.Fake.URL); err != nil || unheard != nil || !found || b.Fake.SignedIn() != 0 {
		t.Errorf("left: %v, %v, %v, %d left", found, unheard, err, b.Fake.SignedIn())
	}
	left, err := filepath.Glob(filepath.Join(b.dir, "*.json"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	_, err = b.Token(t.Context(), b.Fake.URL)
	b.wants(err, api.SignedOut)
}

// What somebody else may have read or planted is never used.
func TestFilesRefused_AUT14(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(dir string) error
		code   api.Code
	}{
		{"others can read it", func(dir string) error { return os.Chmod(filepath.Join(dir, "credentials.json"), 0o644) }, api.StateUnwritable},
		{"a link", func(dir string) error {
			path := filepath.Join(dir, "credentials.json")
			return errors.Join(os.Rename(path, path+".moved"), os.Symlink(path+".moved", path))
		}, api.StateUnwritable},
		{"a directory", func(dir string) error {
			path := filepath.Join(dir, "credentials.json")
			return errors.Join(os.Remove(path), os.Mkdir(path, 0o700))
		}, api.StateUnwritable},
		{"the directory is a link", func(dir string) error {
			return errors.Join(os.Rename(dir, dir+".moved"), os.Symlink(dir+".moved", dir))
		}, api.StateUnwritable},
		{"nonsense", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "credentials.json"), []byte("{"), 0o600)
		}, api.StateCorrupt},
		{"another form", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "credentials.json"), []byte(`{"schema":"evalrouter.credentials.v9"}`), 0o600)
		}, api.StateCorrupt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, apitest.SignIn{})
			b.enter()
			fresh := &signin.Accounts{Dir: b.dir, Transport: b.Transport, AllowHTTP: true, Now: b.clock.Now, Sleep: b.clock.Sleep}
			if err := tt.change(b.dir); err != nil {
				t.Fatal(err)
			}
			_, err := fresh.Token(t.Context(), b.Fake.URL)
			b.wants(err, tt.code)
		})
	}
	// A directory that others can look into is closed.
	b := newBench(t, apitest.SignIn{})
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b.enter()
	if info, err := os.Stat(b.dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// A token that the service has refused is replaced although this clock believes in
// it, and once for all who were refused.
func TestAnotherToken(t *testing.T) {
	t.Parallel()
	b := newBench(t, apitest.SignIn{})
	first := b.enter()
	second, err := b.Another(t.Context(), b.Fake.URL, first.Access)
	if err != nil || second == first.Access {
		t.Fatalf("the same again, %v", err)
	}
	other := &signin.Accounts{Dir: b.dir, Transport: b.Transport, AllowHTTP: true, Now: b.clock.Now, Sleep: b.clock.Sleep}
	if third, err := other.Another(t.Context(), b.Fake.URL, first.Access); third != second || err != nil || b.Fake.Rotations() != 1 {
		t.Errorf("another process: %v, %d rotations", err, b.Fake.Rotations())
	}
	b.Fake.Drop("POST /v1/auth/token", 1)
	if _, err := b.Another(t.Context(), b.Fake.URL, second); !errors.Is(err, api.NetworkError) {
		t.Errorf("out of reach: %v", err)
	}
}

// AUT-19: a key is kept once the service has accepted it, and only then.
func TestEnterKey_AUT19(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, key string
		refused   bool // by the service
		code      api.Code
		asked     int
	}{
		{"AUT-19 a good key", "", false, "", 1},
		{"a key that the service refuses", "", true, api.KeyRevoked, 1},
		{"two words", "two words", false, api.InvalidInput, 0},
		{"nothing", " \n", false, api.InvalidInput, 0},
		{"a control character", "key\x1b[2J", false, api.InvalidInput, 0},
		{"too long", strings.Repeat("k", 4097), false, api.InvalidInput, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, apitest.SignIn{})
			key := tt.key
			if key == "" {
				key = b.Fake.Token
			}
			if tt.refused {
				b.Fake.Fail("GET /v1/auth/whoami", 1, 401, tt.code)
			}
			got, err := b.EnterKey(t.Context(), b.Fake.URL, " "+key+"\n")
			all, listed := b.List()
			if listed != nil || b.Fake.Count("GET /v1/auth/whoami") != tt.asked {
				t.Errorf("%v, asked %d times", listed, b.Fake.Count("GET /v1/auth/whoami"))
			}
			if tt.code != "" {
				b.wants(err, tt.code)
				if len(all) != 0 || strings.Contains(err.Error(), key) {
					t.Errorf("kept %v: %v", all, err)
				}
				return
			}
			if err != nil || got.Account.Kind != signin.APIKey || len(all) != 1 || all[0].WorkspaceID != b.Fake.WorkspaceID {
				t.Errorf("%+v, %v, kept %v", got.Account, err, all)
			}
		})
	}
}
