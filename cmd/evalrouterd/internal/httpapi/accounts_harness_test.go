package httpapi_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/accounts"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/identity"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/oauth"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/password"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/ratelimit"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/access"
)

const origin = "https://eval.example"

// draws makes secrets that are the same each time.
type draws struct{ n atomic.Int64 }

func (d *draws) key(kind seal.Kind) (seal.Key, error) {
	n := d.n.Add(1)
	return seal.NewKey(kind, counting{byte(n), byte(n >> 8)})
}

func (d *draws) salt(b []byte) {
	n := d.n.Add(1)
	b[0], b[1] = byte(n), byte(n>>8)
}

func (d *draws) code() (string, error) {
	b := []byte("BCDFGHJK")
	for i, n := 7, d.n.Add(1); n > 0; i, n = i-1, n/20 {
		b[i] = oauth.Alphabet[n%20]
	}
	return string(b), nil
}

// counting is a source of bytes that depend on two.
type counting struct{ a, b byte }

func (c counting) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = c.a ^ byte(i)*c.b + byte(i)*7 + c.b
	}
	return len(p), nil
}

// accounts adds what people sign in with.
func (h *harness) accounts(o *httpapi.Options, master *seal.Master) {
	a, d := h.store.Access(), &draws{}
	entry := func() string { return uuid.Must(uuid.NewV7()).String() }
	people := &identity.Service{
		People: a, Sessions: a, Members: a, Keys: a, Hasher: password.New(password.Costs{KiB: 64, Passes: 1}, counting{1, 3}), Master: master, Draw: d.key, Code: d.code, NewID: h.id("9"), NewEntry: entry,
		Now: h.store.Now, Origin: origin, Tries: ratelimit.New(1000), Mails: ratelimit.New(1),
	}
	signIn := &oauth.Service{
		Store: a, Ender: a, People: a, Master: master, Draw: d.key, Code: d.code, Salt: d.salt, NewID: h.id("8"), NewEntry: entry,
		Now: h.store.Now, Scopes: httpapi.Scopes(), Origin: origin, Guesses: oauth.NewGuesses(),
	}
	h.who = &accounts.Handlers{
		Money: h.store, Access: a, People: people, SignIn: signIn, Often: ratelimit.New(10), Asks: ratelimit.New(60), Origin: origin, Now: h.store.Now,
		Fault: func(_ context.Context, err error) { h.t.Errorf("a fault of a form: %v", err) },
	}
	o.Sessions, o.WebOrigin = sessions{a, master}, origin
	h.master = master
}

// sessions finds access tokens as the daemon does.
type sessions struct {
	*access.Store
	master *seal.Master
}

func (s sessions) SignedIn(ctx context.Context, token string) (core.SignedIn, bool, error) {
	key, err := seal.ParseKey(token)
	if err != nil {
		return core.SignedIn{}, false, nil
	}
	v, ok, err := s.Store.SignedIn(ctx, key.Prefix())
	return v, ok && s.master.Matches(key, v.MAC), err
}

// person makes an account.
func (h *harness) person(name string) core.User {
	h.t.Helper()
	ctx, a, n := context.Background(), h.store.Access(), fmt.Sprint(h.ids.Add(1))
	g := core.Registration{ID: "reg-" + n, Browser: []byte("b-" + n), Email: name + "@example.org", Name: name, Password: "none", ExpiresAt: h.store.Now() + 1e6}
	if err := a.AddRegistration(ctx, g); err != nil {
		h.t.Fatal(err)
	}
	u, err := a.Approve(ctx, g.ID, core.UserID("user-"+name), core.By{Entry: uuid.NewString(), Actor: "operator"})
	if err != nil {
		h.t.Fatal(err)
	}
	return u
}

// joins gives a person a role.
func (h *harness) joins(u core.User, w core.WorkspaceID, role core.Role) {
	h.t.Helper()
	if err := h.store.Access().AddMember(context.Background(), u.ID, w, role, core.By{Entry: uuid.NewString(), Actor: "operator"}); err != nil {
		h.t.Fatal(err)
	}
}

var (
	_ httpapi.Sessions = sessions{}
	_ accounts.Access  = (*access.Store)(nil)
	_ accounts.Money   = (*store.Store)(nil)
)

func parsed(t testing.TB, token string) seal.Key {
	t.Helper()
	k, err := seal.ParseKey(token)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// session signs a person in and gives the access token; without scopes, it has
// all.
func (h *harness) session(u core.User, scopes ...string) string {
	h.t.Helper()
	verifier := strings.Repeat("v", 43)
	sum := sha256.Sum256([]byte(verifier))
	ask := oauth.Ask{
		Client: oauth.ClientID, Redirect: "http://127.0.0.1:4000/callback", State: "state-of-the-test", Method: "S256", ResponseType: "code",
		Challenge: base64.RawURLEncoding.EncodeToString(sum[:]), Scope: strings.Join(scopes, " "),
	}
	to, err := h.who.SignIn.Allow(context.Background(), ask, u.ID, "192.0.2.1")
	if err != nil {
		h.t.Fatal(err)
	}
	back, err := url.Parse(to)
	if err != nil {
		h.t.Fatal(err)
	}
	s, err := h.who.SignIn.Redeem(context.Background(), ask.Client, back.Query().Get("code"), verifier, ask.Redirect, "192.0.2.1")
	if err != nil {
		h.t.Fatal(err)
	}
	return s.Access.Reveal()
}

// raw is a way around the store.
func (h *harness) raw(t testing.TB) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+h.path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}
