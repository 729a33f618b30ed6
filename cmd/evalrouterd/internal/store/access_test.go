package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/access"
	"github.com/evalrouter/evalrouter/lib/usd"
)

func by(actor string) core.By {
	return core.By{Entry: uuid.Must(uuid.NewV7()).String(), Workspace: "w1", Actor: actor, Address: "192.0.2.1"}
}

// person makes an account that the operator approved.
func (d *db) person(name string) core.User {
	d.t.Helper()
	a, ctx := d.Access(), context.Background()
	d.check(a.AddRegistration(ctx, core.Registration{ID: "reg-" + name, Browser: []byte("b-" + name), Email: name + "@example.org", Name: name, Password: "hash", ExpiresAt: d.Now() + 1_000_000}))
	u, err := a.Approve(ctx, "reg-"+name, core.UserID("u-"+name), by("operator"))
	d.check(err)
	return u
}

// actions lists what the log says, oldest first.
func (d *db) actions(w core.WorkspaceID) []string {
	d.t.Helper()
	lines, err := d.Access().Log(context.Background(), w, nil, 200)
	d.check(err)
	out := []string{}
	for _, l := range slices.Backward(lines) {
		out = append(out, l.Action+" "+l.Subject)
	}
	return out
}

// A code proves an address only with the browser that registered, five times at
// most and in time; wrong ones count although they are refused.
func TestAccess_AUT25_Verify(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		a := d.Access()
		mail := func(id, browser, code string) {
			d.check(a.AddRegistration(ctx, core.Registration{ID: id, Browser: []byte(browser), Email: "ada@example.org", Name: id, Password: "hash-" + id, Code: []byte(code), ExpiresAt: d.Now() + 100}))
		}
		mail("mine", "b1", "code-1")
		mail("theirs", "b2", "code-2") // somebody else registers the same address with a password of their own
		for i := range 4 {
			if _, ok, err := a.Verify(ctx, []byte("b2"), []byte("code-1"), "u-x", by("")); ok || err != nil {
				t.Fatalf("try %d with the other browser's code: %v %v", i, ok, err)
			}
		}
		if _, err := a.UserByEmail(ctx, "ada@example.org"); !errors.Is(err, code(core.NotFound)) {
			t.Errorf("an account before its address was verified: %v", err)
		}
		u, ok, err := a.Verify(ctx, []byte("b1"), []byte("code-1"), "u-ada", by("u-ada"))
		if d.check(err); !ok || u.Password != "hash-mine" || u.VerifiedBy != "mail" || u.State != core.UserActive {
			t.Errorf("verified %v as %+v", ok, u)
		}
		if left, err := a.Registrations(ctx); err != nil || len(left) != 0 {
			t.Errorf("registrations of a verified address are left: %v %v", left, err)
		}
		mail("late", "b3", "code-3")
		_, err = a.Approve(ctx, "late", "u-2", by("operator"))
		d.wants(err, core.InvalidRequest)
		d.time.Add(100)
		if _, ok, err := a.Verify(ctx, []byte("b3"), []byte("code-3"), "u-3", by("")); ok || err != nil {
			t.Errorf("a late code: %v %v", ok, err)
		}
		d.check(a.AddRegistration(ctx, core.Registration{ID: "five", Browser: []byte("b5"), Email: "bob@example.org", Name: "b", Password: "h", Code: []byte("right"), ExpiresAt: d.Now() + 100}))
		for range core.MaxCodeTries {
			if _, ok, err := a.Verify(ctx, []byte("b5"), []byte("wrong"), "u-5", by("")); ok || err != nil {
				t.Fatalf("a wrong code: %v %v", ok, err)
			}
		}
		if _, ok, err := a.Verify(ctx, []byte("b5"), []byte("right"), "u-5", by("")); ok || err != nil {
			t.Errorf("the right code after five wrong ones: %v %v", ok, err)
		}
	})
}

func TestAccess_Members(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		a, ada, bob, cy := d.Access(), d.person("ada"), d.person("bob"), d.person("cy")
		d.check(a.AddMember(ctx, ada.ID, "w1", core.RoleOwner, by("operator")))
		invite := func(u core.User, role core.Role) string {
			id := uuid.NewString()
			d.check(a.Invite(ctx, core.Invitation{ID: id, Workspace: "w1", Email: u.Email, Role: role, By: ada.ID}, by("u-ada")))
			return id
		}
		old := invite(bob, core.RoleViewer)
		id := invite(bob, core.RoleAdmin) // replaces the one before
		_, err := a.AnswerInvitation(ctx, old, bob, true, by("u-bob"))
		d.wants(err, core.NotFound)
		_, err = a.AnswerInvitation(ctx, id, cy, true, by("u-cy")) // not cy's
		d.wants(err, core.NotFound)
		d.must(a.AnswerInvitation(ctx, id, bob, true, by("u-bob")))
		_, err = a.AnswerInvitation(ctx, id, bob, true, by("u-bob"))
		d.wants(err, core.NotFound)
		d.wants(a.Invite(ctx, core.Invitation{ID: "i", Workspace: "w1", Email: bob.Email, Role: core.RoleMember, By: ada.ID}, by("u-ada")), core.InvalidRequest)
		late := invite(cy, core.RoleMember)
		d.time.Add(int64(core.InvitationLife))
		_, err = a.AnswerInvitation(ctx, late, cy, true, by("u-cy"))
		d.wants(err, core.NotFound)
		if r, err := a.RoleIn(ctx, bob.ID, "w1"); err != nil || r != core.RoleAdmin {
			t.Errorf("bob is %q: %v", r, err)
		}
		if r, err := a.RoleIn(ctx, bob.ID, "w2"); err != nil || r != "" {
			t.Errorf("bob is %q in another workspace: %v", r, err)
		}
		d.wants(a.SetRole(ctx, ada.ID, "w1", core.RoleAdmin, core.RoleViewer, by("u-bob")), core.InsufficientScope)
		d.wants(a.SetRole(ctx, bob.ID, "w1", core.RoleAdmin, core.RoleOwner, by("u-bob")), core.InsufficientScope)
		d.wants(a.RemoveMember(ctx, ada.ID, "w1", core.RoleOwner, by("u-ada")), core.InvalidRequest)
		d.wants(a.SetRole(ctx, ada.ID, "w1", core.RoleOwner, core.RoleMember, by("u-ada")), core.InvalidRequest)
		d.wants(a.SetRole(ctx, cy.ID, "w1", core.RoleOwner, core.RoleMember, by("u-ada")), core.NotFound)
		d.check(a.AddKey(ctx, core.APIKey{ID: "k-bob", Workspace: "w1", Name: "n", Prefix: "erk_bob", MAC: []byte("m"), CreatedBy: bob.ID}, by("u-bob")))
		d.check(a.RemoveMember(ctx, bob.ID, "w1", core.RoleOwner, by("u-ada")))
		if k, err := a.Key(ctx, "w1", "k-bob"); err != nil || k.RevokedAt == 0 {
			t.Errorf("a key outlives the membership of its maker: %+v %v", k, err)
		}
		want := []string{"member.added u-ada", "member.invited bob@example.org", "member.invited bob@example.org", "invitation.accepted bob@example.org",
			"member.invited cy@example.org", "key.made erk_bob", "member.removed u-bob"}
		if diff := cmp.Diff(want, slices.DeleteFunc(d.actions("w1"), func(s string) bool { return s[:8] == "account." })); diff != "" {
			t.Errorf("log (-want +got):\n%s", diff)
		}
	})
}

// A workspace that somebody makes is theirs and has nothing.
func TestAccess_OwnWorkspaceHasNoCredit(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		a, ada := d.Access(), d.person("ada")
		for i := range core.MaxOwned {
			id := core.WorkspaceID(fmt.Sprint("own-", i))
			d.check(a.Own(ctx, ada.ID, core.WorkspaceInfo{ID: id, Slug: string(id), Name: "Mine"}, by("u-ada")))
			for _, b := range []core.Book{core.CreditBook, core.PracticeBook} {
				if c, err := d.Credits(ctx, id, b); err != nil || c != (core.Credits{}) {
					t.Errorf("a new workspace has %+v: %v", c, err)
				}
			}
		}
		d.wants(a.Own(ctx, ada.ID, core.WorkspaceInfo{ID: "own-9", Slug: "own-9", Name: "Mine"}, by("u-ada")), core.InvalidRequest)
		all, err := a.Workspaces(ctx, ada.ID)
		if d.check(err); len(all) != core.MaxOwned || all[0].Role != core.RoleOwner {
			t.Errorf("%+v", all)
		}
	})
}

// The database itself keeps the log from being changed.
func TestAccess_LogOnlyGrows(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, d *db) {
		d.person("ada")
		for _, q := range []string{`UPDATE access_log SET actor = 'nobody'`, `DELETE FROM access_log`} {
			if _, err := d.raw.Exec(q); err == nil {
				t.Errorf("%s was carried out", q)
			}
		}
		if got := d.actions(""); len(got) != 1 || got[0] != "account.verified u-ada" {
			t.Errorf("the log says %v", got)
		}
	})
}

func TestAccess_Keys(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		a := d.Access()
		d.check(a.AddKey(ctx, core.APIKey{ID: "key-1", Workspace: "w1", Name: "ci", Prefix: "erk_1", MAC: []byte("m1"), Scopes: []string{"eval:read", "eval:write"}, Ceiling: 5000}, by("u")))
		next := core.APIKey{ID: "key-2", Prefix: "erk_2", MAC: []byte("m2"), CreatedBy: "u"}
		_, err := a.RotateKey(ctx, "w2", "key-1", next, 0, by("u"))
		d.wants(err, core.NotFound)
		made, err := a.RotateKey(ctx, "w1", "key-1", next, 60, by("u"))
		if d.check(err); made.Lineage != "key-1" || made.Ceiling != 5000 || made.Name != "ci" || !slices.Equal(made.Scopes, []string{"eval:read", "eval:write"}) {
			t.Errorf("the successor is %+v", made)
		}
		old, ok, err := a.KeyByPrefix(ctx, "erk_1")
		if d.check(err); !ok || old.ExpiresAt != d.Now()+60 || old.RevokedAt != 0 {
			t.Errorf("during the overlap the old key is %+v", old)
		}
		d.time.Add(61)
		_, err = a.RotateKey(ctx, "w1", "key-1", core.APIKey{ID: "key-3", Prefix: "erk_3", MAC: []byte("m3")}, 0, by("u"))
		d.wants(err, core.InvalidRequest)
		d.must(a.RotateKey(ctx, "w1", "key-2", core.APIKey{ID: "key-4", Prefix: "erk_4", MAC: []byte("m4")}, 0, by("u")))
		if k, err := a.Key(ctx, "w1", "key-2"); err != nil || k.RevokedAt == 0 {
			t.Errorf("without an overlap the old key goes on: %+v %v", k, err)
		}
		d.wants(a.RevokeKey(ctx, "w2", "key-4", by("u")), core.NotFound)
		d.check(a.RevokeKey(ctx, "w1", "key-4", by("u")))
		d.check(a.RevokeKey(ctx, "w1", "key-4", by("u")))
		if _, err := a.Key(ctx, "w2", "key-1"); !errors.Is(err, code(core.NotFound)) {
			t.Errorf("another workspace reads the key: %v", err)
		}
		page, err := a.Keys(ctx, "w1", nil, 2)
		d.check(err)
		rest, err := a.Keys(ctx, "w1", &core.Place{At: page[1].CreatedAt, ID: page[1].ID}, 9)
		d.check(err)
		if len(page) != 2 || len(rest) != 1 {
			t.Errorf("pages of %d and %d keys", len(page), len(rest))
		}
	})
}

// What a key spent counts for all keys that came of it: a run that goes on with
// its cap, one that ended with what it cost.
func TestAccess_KeySpent(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		a := d.Access()
		d.check(a.AddKey(ctx, core.APIKey{ID: "key-1", Workspace: "w1", Name: "ci", Prefix: "erk_1", MAC: []byte("m1")}, by("u")))
		run := d.start(1, 1000)
		spent := func(want usd.Micro) {
			t.Helper()
			if got, err := a.Spent(ctx, "key-1"); err != nil || got != want {
				t.Errorf("spent %d, want %d: %v", got, want, err)
			}
		}
		spent(1000)
		d.ask(run, 0, 100, 40)
		d.finalize(run)
		spent(40)
		d.must(a.RotateKey(ctx, "w1", "key-1", core.APIKey{ID: "key-9", Prefix: "erk_9", MAC: []byte("m9")}, 0, by("u")))
		spent(40)
	})
}

func tokens(n string) core.Tokens {
	return core.Tokens{AccessPrefix: "ers_" + n, AccessMAC: []byte("a-" + n), RefreshMAC: []byte("r-" + n)}
}

// signedIn redeems an authorization code.
func (d *db) signedIn(u core.User, name string) core.Grant {
	d.t.Helper()
	a, ctx := d.Access(), context.Background()
	d.check(a.AddCode(ctx, core.AuthCode{MAC: []byte("code-" + name), User: u.ID, Client: "cli", Redirect: "http://127.0.0.1:1/c", Challenge: "x", Scopes: []string{"eval:read"}}))
	g, err := a.RedeemCode(ctx, []byte("code-"+name), func(c core.AuthCode) bool { return c.Client == "cli" }, core.Grant{ID: "g-" + name}, tokens(name), by(""))
	d.check(err)
	return g
}

func TestAccess_CodeOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		a, ada := d.Access(), d.person("ada")
		yes := func(core.AuthCode) bool { return true }
		redeem := func(code string, fits func(core.AuthCode) bool) error {
			_, err := a.RedeemCode(ctx, []byte(code), fits, core.Grant{ID: uuid.NewString()}, tokens(uuid.NewString()), by(""))
			return err
		}
		g := d.signedIn(ada, "one")
		if g.User != ada.ID || !slices.Equal(g.Scopes, []string{"eval:read"}) || g.ExpiresAt != d.Now()+core.GrantLife {
			t.Errorf("the sign-in is %+v", g)
		}
		if err := redeem("code-one", yes); !errors.Is(err, core.ErrReplayed) {
			t.Errorf("the code again: %v", err)
		}
		if v, ok, err := a.SignedIn(ctx, "ers_one"); err != nil || !ok || v.RevokedAt == 0 {
			t.Errorf("after the code came again its sign-in goes on: %+v %v", v, err)
		}
		d.check(a.AddCode(ctx, core.AuthCode{MAC: []byte("c2"), User: ada.ID}))
		if err := redeem("c2", func(core.AuthCode) bool { return false }); !errors.Is(err, core.ErrGrant) {
			t.Errorf("a code with another verifier: %v", err)
		}
		if err := redeem("c2", yes); !errors.Is(err, core.ErrReplayed) {
			t.Errorf("a code that was asked for wrongly works later: %v", err)
		}
		d.check(a.AddCode(ctx, core.AuthCode{MAC: []byte("c3"), User: ada.ID}))
		d.time.Add(int64(core.CodeLife))
		if err := redeem("c3", yes); !errors.Is(err, core.ErrGrant) {
			t.Errorf("a late code: %v", err)
		}
		if err := redeem("none", yes); !errors.Is(err, core.ErrGrant) {
			t.Errorf("no code: %v", err)
		}
	})
}

// However many processes refresh at once, one rotates and all get its
// successor; after the grace the same token ends the family.
func TestAccess_RotateOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		a, ada := d.Access(), d.person("ada")
		d.signedIn(ada, "one")
		derive := func(salt []byte) core.Tokens { return tokens("after-" + string(salt)) }
		var group sync.WaitGroup
		salts := make([][]byte, 20)
		for i := range salts {
			group.Go(func() {
				out, err := a.Rotate(ctx, []byte("r-one"), []byte(fmt.Sprint("salt-", i)), derive, by(""))
				if err != nil {
					t.Errorf("rotation %d: %v", i, err)
				}
				salts[i] = out.Salt
			})
		}
		group.Wait()
		for i, s := range salts {
			if !bytes.Equal(s, salts[0]) {
				t.Errorf("rotation %d got another successor", i)
			}
		}
		next := derive(salts[0])
		if v, ok, err := a.SignedIn(ctx, next.AccessPrefix); err != nil || !ok || v.User.ID != ada.ID || !bytes.Equal(v.MAC, next.AccessMAC) {
			t.Errorf("the successor stands for %+v %v", v, err)
		}
		d.time.Add(int64(core.RefreshGrace))
		if _, err := a.Rotate(ctx, []byte("r-one"), []byte("s"), derive, by("")); err != nil {
			t.Errorf("at the end of the grace: %v", err)
		}
		d.time.Add(1)
		if _, err := a.Rotate(ctx, []byte("r-one"), []byte("s"), derive, by("")); !errors.Is(err, core.ErrReplayed) {
			t.Errorf("after the grace: %v", err)
		}
		if _, err := a.Rotate(ctx, next.RefreshMAC, []byte("s"), derive, by("")); !errors.Is(err, core.ErrGrant) {
			t.Errorf("the successor after a replay: %v", err)
		}
		if got := d.actions(""); got[len(got)-1] != "signin.ended g-one" {
			t.Errorf("the log ends with %v", got)
		}
	})
}

func TestAccess_RotateRefuses(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	derive := func(salt []byte) core.Tokens { return tokens(uuid.NewString()) }
	tests := []struct {
		name string
		do   func(*db, *access.Store, core.User)
	}{
		{"unknown", func(d *db, a *access.Store, _ core.User) { d.must(d.raw.Exec(`DELETE FROM refresh_tokens`)) }},
		{"idle", func(d *db, _ *access.Store, _ core.User) { d.time.Add(int64(core.RefreshIdle)) }},
		{"signed out", func(d *db, a *access.Store, _ core.User) { d.check(a.Leave(ctx, []byte("r-one"), "", nil, by(""))) }},
		{"signed out by the access token", func(d *db, a *access.Store, _ core.User) {
			d.check(a.Leave(ctx, nil, "ers_one", []byte("a-one"), by("")))
		}},
		{"ended in the settings", func(d *db, a *access.Store, u core.User) { d.check(a.EndGrant(ctx, u.ID, "g-one", by(""))) }},
		{"disabled", func(d *db, a *access.Store, u core.User) {
			d.check(a.SetState(ctx, u.ID, core.UserDisabled, by("operator")))
		}},
		{"another password", func(d *db, a *access.Store, u core.User) { d.check(a.SetPassword(ctx, u.ID, "h", "", by(""))) }},
	}
	onEach(t, func(t *testing.T, d *db) {
		for i, tt := range tests {
			a, u := d.Access(), d.person(fmt.Sprint("p", i))
			d.must(d.raw.Exec(`DELETE FROM access_tokens`))
			d.must(d.raw.Exec(`DELETE FROM refresh_tokens`))
			d.must(d.raw.Exec(`DELETE FROM grants`))
			d.must(d.raw.Exec(`DELETE FROM auth_codes`))
			d.signedIn(u, "one")
			d.wants(a.EndGrant(ctx, "u-stranger", "g-one", by("")), core.NotFound)
			tt.do(d, a, u)
			if _, err := a.Rotate(ctx, []byte("r-one"), []byte("s"), derive, by("")); !errors.Is(err, core.ErrGrant) {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
	})
}

func TestAccess_Device(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		a, ada := d.Access(), d.person("ada")
		ask := func(n string) {
			d.check(a.AddDevice(ctx, core.DeviceRequest{ID: "d-" + n, Device: []byte("dev-" + n), UserCode: []byte("user-" + n), Client: "cli", Name: "laptop", Scopes: []string{"eval:read"}}))
		}
		poll := func(n string) core.Polled {
			t.Helper()
			p, err := a.Poll(ctx, []byte("dev-"+n), "cli", core.Grant{ID: "g-" + n}, tokens(n), by(""))
			d.check(err)
			return p
		}
		ask("1")
		if p := poll("1"); p.State != core.DevicePending || p.Stage != core.StageSignIn || p.Early {
			t.Errorf("first question: %+v", p)
		}
		d.time.Add(1_000_000)
		if p := poll("1"); !p.Early || p.Interval != 10_000_000 {
			t.Errorf("too early: %+v", p)
		}
		d.time.Add(6_000_000) // enough at first, not any more
		if p := poll("1"); !p.Early || p.Interval != 15_000_000 {
			t.Errorf("too early again: %+v", p)
		}
		d.check(a.DeviceAt(ctx, []byte("user-1"), core.StageSetup, ada.ID))
		d.time.Add(15_000_000)
		if p := poll("1"); p.Early || p.Stage != core.StageSetup || p.User != ada.ID {
			t.Errorf("during the setup: %+v", p)
		}
		d.check(a.DecideDevice(ctx, []byte("user-1"), true, ada.ID, by("u-ada")))
		d.wants(a.DecideDevice(ctx, []byte("user-1"), false, ada.ID, by("u-ada")), core.NotFound)
		d.time.Add(15_000_000)
		if p := poll("1"); p.Grant.User != ada.ID || p.Grant.Device != "laptop" || p.Grant.Flow != core.FlowDevice {
			t.Errorf("approved: %+v", p)
		}
		d.time.Add(15_000_000)
		if _, err := a.Poll(ctx, []byte("dev-1"), "cli", core.Grant{ID: "g"}, tokens("again"), by("")); !errors.Is(err, core.ErrGrant) {
			t.Errorf("redeemed twice: %v", err)
		}
		ask("2")
		if _, err := a.Poll(ctx, []byte("dev-2"), "other", core.Grant{ID: "g"}, tokens("o"), by("")); !errors.Is(err, core.ErrGrant) {
			t.Errorf("another client: %v", err)
		}
		d.check(a.DecideDevice(ctx, []byte("user-2"), false, ada.ID, by("u-ada")))
		if p := poll("2"); p.State != core.DeviceDenied {
			t.Errorf("denied: %+v", p)
		}
		ask("3")
		d.time.Add(int64(core.DeviceLife))
		if p := poll("3"); !p.Expired {
			t.Errorf("expired: %+v", p)
		}
		d.wants(a.DecideDevice(ctx, []byte("user-3"), true, ada.ID, by("u-ada")), core.NotFound)
	})
}

func TestAccess_Sessions(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		a, ada := d.Access(), d.person("ada")
		add := func(id, before string) {
			d.check(a.AddSession(ctx, core.Session{ID: id, MAC: []byte("m-" + id), User: ada.ID, Address: "192.0.2.1"}, before, by("u-ada")))
		}
		good := func(id string, want bool) {
			t.Helper()
			_, _, err := a.Session(ctx, []byte("m-"+id))
			if want != (err == nil) || !want && !errors.Is(err, code(core.NotFound)) {
				t.Errorf("session %s: %v, want good %v", id, err, want)
			}
		}
		add("s1", "")
		add("s2", "s1")
		good("s1", false)
		d.time.Add(int64(core.SessionIdle - 1))
		good("s2", true) // and used
		d.time.Add(int64(core.SessionIdle - 1))
		good("s2", true)
		d.time.Add(int64(core.SessionIdle))
		good("s2", false)
		add("s3", "")
		for range 13 { // used all the time, a session still ends after a week
			d.time.Add(int64(core.SessionIdle - 1))
			good("s3", true)
		}
		d.time.Add(int64(core.SessionIdle - 1))
		good("s3", true)
		d.time.Add(14)
		good("s3", false)
		add("s4", "")
		d.wants(a.EndSession(ctx, "u-other", "s4", by("")), core.NotFound)
		d.check(a.EndSession(ctx, ada.ID, "s4", by("u-ada")))
		good("s4", false)
		add("s5", "")
		add("s6", "")
		d.check(a.SetPassword(ctx, ada.ID, "new", "s6", by("u-ada")))
		good("s5", false)
		good("s6", true)
		d.check(a.SetState(ctx, ada.ID, core.UserDisabled, by("operator")))
		good("s6", false)
	})
}

func TestAccess_Sweep(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		a, ada := d.Access(), d.person("ada")
		d.signedIn(ada, "one")
		d.check(a.Sweep(ctx))
		if _, ok, err := a.SignedIn(ctx, "ers_one"); err != nil || !ok {
			t.Errorf("a good token was swept: %v", err)
		}
		d.time.Add(8 * 24 * 3600 * 1_000_000)
		d.check(a.Sweep(ctx))
		if _, ok, err := a.SignedIn(ctx, "ers_one"); err != nil || ok {
			t.Errorf("a token that expired a week ago is kept: %v", err)
		}
		if _, err := a.Rotate(ctx, []byte("r-one"), []byte("s"), func([]byte) core.Tokens { return tokens("two") }, by("")); err != nil {
			t.Errorf("the sign-in was swept with it: %v", err)
		}
	})
}
