package web_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/identity"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/oauth"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/password"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/ratelimit"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/storetest"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web"
)

// house is a service with its pages, a clock that only tests move and a post
// box.
type house struct {
	t       *testing.T
	store   *store.Store
	people  *identity.Service
	signIn  *oauth.Service
	web     *web.Server
	options web.Options
	server  *httptest.Server
	now     atomic.Int64
	mu      sync.Mutex
	mails   []mail
	log     bytes.Buffer
}

type mail struct{ to, subject, text string }

// Send keeps a mail.
func (h *house) Send(_ context.Context, to, subject, text string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mails = append(h.mails, mail{to, subject, text})
	return nil
}

// tables is a database with nothing in it.
var tables = &storetest.Template{Now: time.Now}

func newHouse(t *testing.T, mailed bool) *house {
	t.Helper()
	h := &house{t: t}
	h.now.Store(time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC).UnixMicro())
	path := filepath.Join(t.TempDir(), "t.db")
	tables.Copy(t, path)
	var err error
	if h.store, err = store.Open(t.Context(), store.Options{Path: path, Now: func() time.Time { return time.UnixMicro(h.now.Load()) }}); err != nil {
		t.Fatal(err)
	}
	master, err := seal.LoadOrCreate(filepath.Join(t.TempDir(), "master.key"), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	h.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.web.Has(r) {
			h.web.ServeHTTP(w, r)
			return
		}
		http.NotFound(w, r)
	}))
	origin := "http://" + h.server.Listener.Addr().String()
	a := h.store.Access()
	draw := func(k seal.Kind) (seal.Key, error) { return seal.NewKey(k, rand.Reader) }
	code := func() (string, error) {
		b := make([]byte, oauth.CodeLen)
		if _, err := rand.Read(b); err != nil {
			return "", err
		}
		for i := range b {
			b[i] = oauth.Alphabet[int(b[i])%len(oauth.Alphabet)]
		}
		return string(b), nil
	}
	entry := func() string { return uuid.Must(uuid.NewV7()).String() }
	h.people = &identity.Service{
		People: a, Sessions: a, Members: a, Keys: a, Hasher: password.New(password.Costs{KiB: 64, Passes: 1}, rand.Reader), Master: master, Draw: draw, Code: code, NewID: uuid.NewString, NewEntry: entry,
		Now: h.store.Now, Origin: origin, Tries: ratelimit.New(10), Mails: ratelimit.New(1),
	}
	if mailed {
		h.people.Mail = h
	}
	scopes := []string{"billing:read", "eval:read", "eval:write", "keys:admin"}
	h.signIn = &oauth.Service{
		Store: a, Ender: a, People: a, Master: master, Draw: draw, Code: code, Salt: func(b []byte) { rand.Read(b) }, NewID: uuid.NewString, NewEntry: entry,
		Now: h.store.Now, Scopes: scopes, Origin: origin, Guesses: oauth.NewGuesses(),
	}
	h.options = web.Options{
		People: h.people, SignIn: h.signIn, Reader: a, Ender: a, Money: h.store, Master: master, Often: ratelimit.New(10), Looks: ratelimit.New(600), Now: h.store.Now, Random: func(b []byte) { rand.Read(b) }, Scopes: scopes, Origin: origin,
		Log: slog.New(slog.NewJSONHandler(&h.log, nil)),
	}
	if h.web, err = web.New(h.options); err != nil {
		t.Fatal(err)
	}
	h.server.Start()
	t.Cleanup(func() {
		h.server.Close()
		if err := h.store.Close(); err != nil {
			t.Error(err)
		}
		if s := h.log.String(); s != "" {
			t.Errorf("the log says:\n%s", s)
		}
	})
	return h
}

// browser keeps cookies and follows nothing by itself.
type browser struct {
	h      *house
	client *http.Client
	// at is the last page, and where it stands.
	at   string
	html string
	head http.Header
	code int
}

func (h *house) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		h.t.Fatal(err)
	}
	return &browser{h: h, client: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

func (b *browser) do(r *http.Request) *browser {
	b.h.t.Helper()
	res, err := b.client.Do(r)
	if err != nil {
		b.h.t.Fatal(err)
	}
	defer res.Body.Close()
	page, err := io.ReadAll(res.Body)
	if err != nil {
		b.h.t.Fatal(err)
	}
	b.html, b.head, b.code, b.at = string(page), res.Header, res.StatusCode, r.URL.RequestURI()
	if to := res.Header.Get("Location"); res.StatusCode == http.StatusSeeOther && (strings.HasPrefix(to, "/") || strings.HasPrefix(to, b.h.server.URL)) {
		return b.get(strings.TrimPrefix(to, b.h.server.URL))
	}
	return b
}

// get opens a page, and goes where it leads on this service.
func (b *browser) get(path string) *browser {
	b.h.t.Helper()
	r, err := http.NewRequest("GET", b.h.server.URL+path, nil)
	if err != nil {
		b.h.t.Fatal(err)
	}
	return b.do(r)
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([a-z_]+)" value="([^"]*)">`)

// fill sends the form of the page whose action is path with its hidden fields
// and more.
func (b *browser) fill(path string, more ...string) *browser {
	b.h.t.Helper()
	_, form, ok := strings.Cut(b.html, `action="`+path+`"`)
	if !ok {
		b.h.t.Fatalf("%s has no form for %s:\n%s", b.at, path, b.html)
	}
	form, _, _ = strings.Cut(form, "</form>")
	v := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(form, -1) {
		v.Set(m[1], unescape(m[2]))
	}
	given := map[string]bool{}
	for i := 0; i+1 < len(more); i += 2 {
		if !given[more[i]] {
			v.Del(more[i])
		}
		given[more[i]] = true
		v.Add(more[i], more[i+1])
	}
	return b.post(unescape(path), v)
}

func (b *browser) post(path string, v url.Values, change ...func(*http.Request)) *browser {
	b.h.t.Helper()
	r, err := http.NewRequest("POST", b.h.server.URL+path, strings.NewReader(v.Encode()))
	if err != nil {
		b.h.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", b.h.server.URL)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for _, c := range change {
		c(r)
	}
	return b.do(r)
}

func unescape(s string) string {
	return strings.NewReplacer("&amp;", "&", "&#43;", "+", "&#39;", "'", "&#34;", `"`, "&lt;", "<", "&gt;", ">").Replace(s)
}

// sees fails unless the page has a status and says something.
func (b *browser) sees(status int, texts ...string) *browser {
	b.h.t.Helper()
	if b.code != status {
		b.h.t.Fatalf("%s is %d, want %d:\n%s", b.at, b.code, status, b.html)
	}
	for _, text := range texts {
		if !strings.Contains(unescape(b.html), text) {
			b.h.t.Errorf("%s does not say %q:\n%s", b.at, text, b.html)
		}
	}
	return b
}

const pw = "a password of the test"

// person is somebody who registered, was approved and signed in.
func (h *house) person(name string) *browser {
	h.t.Helper()
	return h.named(name, strings.ToUpper(name[:1])+name[1:])
}

// named is a person who is called otherwise than their address.
func (h *house) named(name, called string) *browser {
	h.t.Helper()
	b := h.browser()
	b.get("/register").fill("/register", "email", name+"@example.org", "name", called, "password", pw)
	all, err := h.store.Access().Registrations(context.Background())
	if err != nil || len(all) != 1 {
		h.t.Fatalf("%d registrations: %v", len(all), err)
	}
	if _, err := h.store.Access().Approve(context.Background(), all[0].ID, core.UserID("user-"+name), core.By{Entry: uuid.NewString(), Actor: "operator"}); err != nil {
		h.t.Fatal(err)
	}
	return b.get("/login").fill("/login", "email", name+"@example.org", "password", pw)
}

// owner is a person with a workspace of their own.
func (h *house) owner(name string) *browser {
	h.t.Helper()
	return h.person(name).sees(200, "Set up your workspace").fill("/setup", "name", name+"s").sees(200, "Profile")
}

func (h *house) workspace(name string) core.WorkspaceID {
	h.t.Helper()
	all, err := h.store.Access().Workspaces(context.Background(), core.UserID("user-"+name))
	if err != nil || len(all) == 0 {
		h.t.Fatal(errors.Join(err, errors.New("no workspace")))
	}
	return all[0].ID
}
