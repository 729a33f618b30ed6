package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Whoever is out stays out: nothing that they made outlives what they may do.
func TestAccess_NothingOutlivesItsMaker(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	tests := []struct {
		name string
		ends func(*db, core.User) error
	}{
		{"removed", func(d *db, u core.User) error {
			return d.Access().RemoveMember(ctx, u.ID, "w1", core.RoleOwner, by("u-ada"))
		}},
		{"kept out", func(d *db, u core.User) error {
			return d.Access().SetState(ctx, u.ID, core.UserDisabled, by("operator"))
		}},
		{"made a viewer", func(d *db, u core.User) error {
			return d.Access().SetRole(ctx, u.ID, "w1", core.RoleOwner, core.RoleViewer, by("u-ada"))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			onEach(t, func(t *testing.T, d *db) {
				a, ada, eve, friend := d.Access(), d.person("ada"), d.person("eve"), d.person("friend")
				d.check(a.AddMember(ctx, ada.ID, "w1", core.RoleOwner, by("operator")))
				d.check(a.AddMember(ctx, eve.ID, "w1", core.RoleAdmin, by("u-ada")))
				key := func(n string, scopes ...string) string {
					d.check(a.AddKey(ctx, core.APIKey{ID: "k-" + n, Workspace: "w1", Name: n, Prefix: "erk_" + n, MAC: []byte(n), Scopes: scopes, CreatedBy: eve.ID}, by("u-eve")))
					return "k-" + n
				}
				writes := key("1", "eval:write", "keys:admin")
				// A successor that nobody answers for ends with whoever made its key.
				successor, err := a.RotateKey(ctx, "w1", writes, core.APIKey{ID: "k-2", Prefix: "erk_2", MAC: []byte("2")}, 1_000_000, by("key erk_1"))
				d.check(err)
				if successor.CreatedBy != eve.ID {
					t.Errorf("%q answers for the successor", successor.CreatedBy)
				}
				invitation := uuid.NewString()
				d.check(a.Invite(ctx, core.Invitation{ID: invitation, Workspace: "w1", Email: friend.Email, Role: core.RoleAdmin, By: eve.ID}, by("u-eve")))
				d.check(tt.ends(d, eve))
				for _, id := range []string{writes, "k-2"} {
					if k, err := a.Key(ctx, "w1", id); err != nil || k.RevokedAt == 0 {
						t.Errorf("%s goes on: %+v %v", id, k, err)
					}
				}
				_, err = a.AnswerInvitation(ctx, invitation, friend, true, by("u-friend"))
				d.wants(err, core.NotFound)
			})
		})
	}
}

// A smaller role keeps the keys that it covers.
func TestAccess_ASmallerRoleKeepsWhatItCovers(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		a, ada, eve := d.Access(), d.person("ada"), d.person("eve")
		d.check(a.AddMember(ctx, ada.ID, "w1", core.RoleOwner, by("operator")))
		d.check(a.AddMember(ctx, eve.ID, "w1", core.RoleAdmin, by("u-ada")))
		for n, scopes := range map[string][]string{"reads": {"eval:read"}, "writes": {"eval:write"}, "administers": {"keys:admin"}} {
			d.check(a.AddKey(ctx, core.APIKey{ID: n, Workspace: "w1", Name: n, Prefix: "erk_" + n, MAC: []byte(n), Scopes: scopes, CreatedBy: eve.ID}, by("u-eve")))
		}
		live := func(want map[string]bool) {
			t.Helper()
			for n, ok := range want {
				if k, err := a.Key(ctx, "w1", n); err != nil || (k.RevokedAt == 0) != ok {
					t.Errorf("the key that %s: revoked at %d (%v), live should be %v", n, k.RevokedAt, err, ok)
				}
			}
		}
		d.check(a.SetRole(ctx, eve.ID, "w1", core.RoleOwner, core.RoleMember, by("u-ada")))
		live(map[string]bool{"reads": true, "writes": true, "administers": false})
		d.check(a.SetRole(ctx, eve.ID, "w1", core.RoleOwner, core.RoleViewer, by("u-ada")))
		live(map[string]bool{"reads": true, "writes": false})
	})
}

// A password that was changed ends what was approved with the old one and not
// collected yet.
func TestAccess_APasswordEndsWhatWasApproved(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	onEach(t, func(t *testing.T, d *db) {
		a, ada := d.Access(), d.person("ada")
		d.check(a.AddDevice(ctx, core.DeviceRequest{ID: "d-1", Device: []byte("dev-1"), UserCode: []byte("user-1"), Client: "cli", Name: "laptop", Scopes: []string{"eval:read"}}))
		d.check(a.DecideDevice(ctx, []byte("user-1"), true, ada.ID, by("u-ada")))
		d.check(a.SetPassword(ctx, ada.ID, "another", "", by("u-ada")))
		p, err := a.Poll(ctx, []byte("dev-1"), "cli", core.Grant{ID: "g-1"}, tokens("1"), by(""))
		if p.State != core.DeviceDenied && !errors.Is(err, core.ErrGrant) {
			t.Errorf("it was collected: %+v %v", p, err)
		}
	})
}
