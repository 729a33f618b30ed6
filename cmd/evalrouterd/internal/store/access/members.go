package access

import (
	"context"
	"database/sql"
	"errors"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Workspaces lists the workspaces of a person, the oldest membership first.
func (s *Store) Workspaces(ctx context.Context, user core.UserID) ([]core.Membership, error) {
	return list(ctx, s.db, func(r Row) (m core.Membership, err error) {
		err = r.Scan(&m.ID, &m.Slug, &m.Name, &m.Epoch, &m.Practice, &m.CreatedAt, &m.Role)
		return m, err
	}, `SELECT w.id, w.slug, w.name, w.epoch, w.practice, w.created_at, m.role FROM memberships m JOIN workspaces w ON w.id = m.workspace_id
		WHERE m.user_id = $1 ORDER BY m.created_at, w.id`, string(user))
}

// RoleIn is the role of a person in a workspace, "" for a stranger.
func (s *Store) RoleIn(ctx context.Context, user core.UserID, w core.WorkspaceID) (role core.Role, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT role FROM memberships WHERE user_id = $1 AND workspace_id = $2`, string(user), string(w)).Scan(&role)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return role, err
}

// Members lists who is in a workspace, by address.
func (s *Store) Members(ctx context.Context, w core.WorkspaceID) ([]core.Member, error) {
	return list(ctx, s.db, func(r Row) (m core.Member, err error) {
		err = r.Scan(&m.User, &m.Email, &m.Name, &m.Role, &m.Since)
		return m, err
	}, `SELECT u.id, u.email, u.name, m.role, m.created_at FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.workspace_id = $1 ORDER BY u.email`, string(w))
}

// Own makes a workspace whose owner is the person, with no credit. One person
// makes at most core.MaxOwned.
func (s *Store) Own(ctx context.Context, user core.UserID, w core.WorkspaceInfo, by core.By) error {
	by.Workspace = w.ID
	return s.ask(ctx, func(t Tx) error {
		var n int
		if err := t.Row(`SELECT count(*) FROM memberships WHERE user_id = $1 AND role = 'owner'`, string(user)).Scan(&n); err != nil {
			return err
		}
		if n >= core.MaxOwned {
			return core.Refuse(core.InvalidRequest, "one person owns at most %d workspaces; nothing was made", core.MaxOwned)
		}
		if made, err := t.NewWorkspace(w); err != nil || !made {
			return errors.Join(err, onlyNew(made))
		}
		if err := join(t, user, w.ID, core.RoleOwner); err != nil {
			return err
		}
		return log(t, by, "workspace.made", string(w.ID), "")
	})
}

func onlyNew(made bool) error {
	if made {
		return nil
	}
	return core.ErrMoved
}

func join(t Tx, user core.UserID, w core.WorkspaceID, role core.Role) error {
	_, err := t.Exec(`INSERT INTO memberships (workspace_id, user_id, role, created_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (workspace_id, user_id) DO UPDATE SET role = excluded.role`, string(w), string(user), string(role), int64(t.Now()))
	return err
}

// AddMember puts a person into a workspace on the operator's word.
func (s *Store) AddMember(ctx context.Context, user core.UserID, w core.WorkspaceID, role core.Role, by core.By) error {
	by.Workspace = w
	return s.ask(ctx, func(t Tx) error {
		if err := join(t, user, w, role); err != nil {
			return err
		}
		return log(t, by, "member.added", string(user), string(role))
	})
}

// SetRole changes a member's role. as is the role of whoever asks; the last
// owner stays one.
func (s *Store) SetRole(ctx context.Context, user core.UserID, w core.WorkspaceID, as, role core.Role, by core.By) error {
	return s.ask(ctx, func(t Tx) error {
		if err := mayChange(t, user, w, as, role); err != nil {
			return err
		}
		if err := t.One(`UPDATE memberships SET role = $1 WHERE workspace_id = $2 AND user_id = $3`, string(role), string(w), string(user)); err != nil {
			return err
		}
		if err := lessen(t, user, w, role); err != nil {
			return err
		}
		return log(t, by, "member.role", string(user), string(role))
	})
}

// RemoveMember takes a person out of a workspace; the keys that they made there
// end. as is the role of whoever asks, core.RoleOwner for oneself.
func (s *Store) RemoveMember(ctx context.Context, user core.UserID, w core.WorkspaceID, as core.Role, by core.By) error {
	return s.ask(ctx, func(t Tx) error {
		if err := mayChange(t, user, w, as, ""); err != nil {
			return err
		}
		if err := t.One(`DELETE FROM memberships WHERE workspace_id = $1 AND user_id = $2`, string(w), string(user)); err != nil {
			return err
		}
		if _, err := t.Exec(`UPDATE api_keys SET revoked_at = $1 WHERE workspace_id = $2 AND created_by = $3 AND revoked_at = 0`, int64(t.Now()), string(w), string(user)); err != nil {
			return err
		}
		if err := uninvited(t, user, w); err != nil {
			return err
		}
		return log(t, by, "member.removed", string(user), "")
	})
}

// lessen ends what a member made that their role does not cover any more: keys
// with further scopes, and invitations where they invite nobody now.
func lessen(t Tx, user core.UserID, w core.WorkspaceID, role core.Role) error {
	rows, err := t.Rows(`SELECT `+keyColumns+` FROM api_keys WHERE workspace_id = $1 AND created_by = $2 AND revoked_at = 0`, string(w), string(user))
	keys, err := gather(rows, err, scanKey)
	if err != nil {
		return err
	}
	for _, k := range keys {
		needs := k.Scopes
		if k.Connection != "" {
			needs = []string{"traces:write"} // who may not make a connection keeps no key of one
		}
		if len(role.Scopes(needs)) == len(needs) {
			continue
		}
		if err := t.One(`UPDATE api_keys SET revoked_at = $1 WHERE id = $2 AND revoked_at = 0`, int64(t.Now()), k.ID); err != nil {
			return err
		}
	}
	if role.Manages(core.RoleViewer) {
		return nil
	}
	return uninvited(t, user, w)
}

// uninvited takes back what a person invites to: nobody comes in by the word of
// somebody who is out. w is "" for every workspace.
func uninvited(t Tx, user core.UserID, w core.WorkspaceID) error {
	_, err := t.Exec(`UPDATE invitations SET ended_at = $1 WHERE invited_by = $2 AND ended_at = 0 AND ($3 = '' OR workspace_id = $4)`, int64(t.Now()), string(user), string(w), string(w))
	return err
}

// mayChange refuses what the role of the asker does not cover, and whatever
// would leave a workspace without an owner. to is "" for a removal.
func mayChange(t Tx, user core.UserID, w core.WorkspaceID, as, to core.Role) error {
	var was core.Role
	if err := t.Row(`SELECT role FROM memberships WHERE workspace_id = $1 AND user_id = $2`, string(w), string(user)).Scan(&was); err != nil {
		return missing(err, "member")
	}
	if !as.Manages(was) || to != "" && !as.Manages(to) {
		return core.Refuse(core.InsufficientScope, "owners are made and unmade by owners only; nothing was changed")
	}
	if was != core.RoleOwner || to == core.RoleOwner {
		return nil
	}
	var owners int
	if err := t.Row(`SELECT count(*) FROM memberships WHERE workspace_id = $1 AND role = 'owner'`, string(w)).Scan(&owners); err != nil {
		return err
	}
	if owners < 2 {
		return core.Refuse(core.InvalidRequest, "a workspace keeps at least one owner; make somebody else owner first. Nothing was changed")
	}
	return nil
}

const invitationColumns = `i.id, i.workspace_id, w.name, i.email, i.role, i.invited_by, i.created_at, i.expires_at`

func scanInvitation(r Row) (i core.Invitation, err error) {
	err = r.Scan(&i.ID, &i.Workspace, &i.Name, &i.Email, &i.Role, &i.By, &i.CreatedAt, &i.ExpiresAt)
	return i, missing(err, "invitation")
}

// Invite offers a role. An open invitation of the same address is replaced.
func (s *Store) Invite(ctx context.Context, i core.Invitation, by core.By) error {
	return s.ask(ctx, func(t Tx) error {
		var n int
		if err := t.Row(`SELECT count(*) FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.workspace_id = $1 AND u.email = $2`, string(i.Workspace), i.Email).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			return core.Refuse(core.InvalidRequest, "this person is a member already; nobody was invited")
		}
		if _, err := t.Exec(`UPDATE invitations SET ended_at = $1 WHERE workspace_id = $2 AND email = $3 AND ended_at = 0`, int64(t.Now()), string(i.Workspace), i.Email); err != nil {
			return err
		}
		if _, err := t.Exec(`INSERT INTO invitations (id, workspace_id, email, role, invited_by, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			i.ID, string(i.Workspace), i.Email, string(i.Role), string(i.By), int64(t.Now()), int64(t.Now()+core.InvitationLife)); err != nil {
			return err
		}
		return log(t, by, "member.invited", i.Email, string(i.Role))
	})
}

// Invitations lists the open invitations of a workspace, or of an address
// where the workspace is "".
func (s *Store) Invitations(ctx context.Context, w core.WorkspaceID, email string) ([]core.Invitation, error) {
	q := `SELECT ` + invitationColumns + ` FROM invitations i JOIN workspaces w ON w.id = i.workspace_id WHERE i.ended_at = 0 AND i.expires_at > $1 AND `
	if w != "" {
		return list(ctx, s.db, scanInvitation, q+`i.workspace_id = $2 ORDER BY i.email`, int64(s.now()), string(w))
	}
	return list(ctx, s.db, scanInvitation, q+`i.email = $2 ORDER BY i.created_at, i.id`, int64(s.now()), email)
}

// AnswerInvitation accepts or declines an invitation of the person's own
// address. Whoever is a member by now keeps the role that they have.
func (s *Store) AnswerInvitation(ctx context.Context, id string, u core.User, accept bool, by core.By) (i core.Invitation, err error) {
	err = s.ask(ctx, func(t Tx) error {
		i, err = scanInvitation(t.Row(`SELECT `+invitationColumns+` FROM invitations i JOIN workspaces w ON w.id = i.workspace_id
			WHERE i.id = $1 AND i.email = $2 AND i.ended_at = 0 AND i.expires_at > $3`, id, u.Email, int64(t.Now())))
		if err != nil {
			return err
		}
		if err := t.One(`UPDATE invitations SET ended_at = $1 WHERE id = $2 AND ended_at = 0`, int64(t.Now()), id); err != nil {
			return err
		}
		by.Workspace = i.Workspace
		if !accept {
			return log(t, by, "invitation.declined", i.Email, string(i.Role))
		}
		if _, err := t.Exec(`INSERT INTO memberships (workspace_id, user_id, role, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT (workspace_id, user_id) DO NOTHING`,
			string(i.Workspace), string(u.ID), string(i.Role), int64(t.Now())); err != nil {
			return err
		}
		return log(t, by, "invitation.accepted", i.Email, string(i.Role))
	})
	return i, err
}

// Uninvite takes an open invitation of a workspace back.
func (s *Store) Uninvite(ctx context.Context, w core.WorkspaceID, id string, by core.By) error {
	return s.ask(ctx, func(t Tx) error {
		n, err := t.Exec(`UPDATE invitations SET ended_at = $1 WHERE id = $2 AND workspace_id = $3 AND ended_at = 0`, int64(t.Now()), id, string(w))
		if err == nil && n == 0 {
			err = core.Missing("invitation")
		}
		if err != nil {
			return err
		}
		return log(t, by, "invitation.revoked", id, "")
	})
}
