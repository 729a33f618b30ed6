package store_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/uuid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// A copy of before may not know what was revoked since: whatever lets somebody in
// by a secret of before ends with the epoch, and keys are the operator's to end.
func TestEpoch_SignsEverybodyOut(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		a, ada := d.Access(), d.person("ada")
		d.check(a.AddMember(ctx, ada.ID, "w1", core.RoleOwner, by("operator")))
		d.signedIn(ada, "laptop")
		d.check(a.AddSession(ctx, core.Session{ID: "s1", MAC: []byte("cookie"), User: ada.ID}, "", by("u-ada")))
		d.check(a.AddCode(ctx, core.AuthCode{MAC: []byte("code"), User: ada.ID, Client: "evalrouter-cli"}))
		d.check(a.AddKey(ctx, core.APIKey{ID: "k", Workspace: "w1", Name: "k", Prefix: "erk_k", MAC: []byte("k"), Scopes: []string{"eval:read"}, CreatedBy: ada.ID}, by("u-ada")))
		d.check(a.AddKey(ctx, core.APIKey{ID: "late", Workspace: "w1", Name: "k", Prefix: "erk_l", MAC: []byte("l"), Scopes: []string{"eval:read"}, ExpiresAt: d.Now() + 1}, by("u-ada")))
		invitation := uuid.NewString()
		friend := d.person("friend")
		d.check(a.Invite(ctx, core.Invitation{ID: invitation, Workspace: "w1", Email: friend.Email, Role: core.RoleAdmin, By: ada.ID}, by("u-ada")))
		if sealed, err := d.HasSealedKeys(ctx); err != nil || !sealed {
			t.Errorf("nothing depends on the master key: %v, %v", sealed, err)
		}
		d.time.Add(10)

		r, err := d.NewEpoch(ctx, "a test")
		if d.check(err); !r.Gap || r.SignIns != 2 {
			t.Errorf("the epoch says %+v", r)
		}
		if all, err := a.Grants(ctx, ada.ID); err != nil || len(all) != 0 {
			t.Errorf("sign-ins go on: %v, %v", all, err)
		}
		_, _, err = a.Session(ctx, []byte("cookie"))
		d.wants(err, core.NotFound)
		if _, err := a.RedeemCode(ctx, []byte("code"), func(core.AuthCode) bool { return true }, core.Grant{ID: "g2"}, core.Tokens{}, by("u-ada")); err == nil {
			t.Error("a code of before lets in")
		}
		_, err = a.AnswerInvitation(ctx, invitation, friend, true, by("u-friend"))
		d.wants(err, core.NotFound)
		if n, err := a.GoodKeys(ctx); err != nil || n != 1 {
			t.Errorf("%d keys are good, %v", n, err)
		}
		if n, err := a.EndKeys(ctx, by("operator")); err != nil || n != 2 {
			t.Errorf("ended %d keys, %v", n, err)
		}
		if n, err := a.GoodKeys(ctx); err != nil || n != 0 {
			t.Errorf("%d keys are good, %v", n, err)
		}
	})
}

// A terminal or a browser that is signed in depends on the master key as a key
// does: its token is known by a MAC.
func TestHasSealedKeys(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for _, tt := range []struct {
		name string
		made func(*db, core.User)
		want bool
	}{
		{"an account alone", func(*db, core.User) {}, false},
		{"a terminal", func(d *db, u core.User) { d.signedIn(u, "laptop") }, true},
		{"a browser", func(d *db, u core.User) {
			d.check(d.Access().AddSession(ctx, core.Session{ID: "s", MAC: []byte("c"), User: u.ID}, "", by("u")))
		}, true},
		{"a key", func(d *db, u core.User) {
			d.check(d.Access().AddKey(ctx, core.APIKey{ID: "k", Workspace: "w1", Name: "k", Prefix: "erk_k", MAC: []byte("k"), Scopes: []string{"eval:read"}}, by("u")))
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			onEach(t, func(t *testing.T, d *db) {
				tt.made(d, d.person("ada"))
				if got, err := d.HasSealedKeys(ctx); err != nil || got != tt.want {
					t.Errorf("depends: %v, %v", got, err)
				}
			})
		})
	}
}

// Strangers' registrations of yesterday keep nobody out today.
func TestAccess_RegistrationsPastTheirTimeDoNotCount(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		a := d.Access()
		one := func(n int) error {
			return a.AddRegistration(ctx, core.Registration{ID: fmt.Sprint(n), Browser: fmt.Append(nil, n), Email: "ada@example.org", Name: "a", Password: "h", ExpiresAt: d.Now() + 100})
		}
		const bound = 10_000
		d.check(one(0))
		mac := `CAST('x' || i AS BLOB)`
		if d.several() {
			mac = `convert_to('x' || i, 'UTF8')`
		}
		_, err := d.raw.Exec(`INSERT INTO registrations (id, browser_mac, email, name, password, address, created_at, expires_at)
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ` + fmt.Sprint(bound-1) + `)
			SELECT 'x' || i, ` + mac + `, email, name, password, address, created_at, expires_at FROM registrations, n WHERE id = '0'`)
		d.check(err)
		d.wants(one(bound), core.StorageLow)
		d.time.Add(200)
		d.check(one(bound))
	})
}
