package identity

import (
	"context"
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Members keeps who is in which workspace.
type Members interface {
	RoleIn(context.Context, core.UserID, core.WorkspaceID) (core.Role, error)
	Own(ctx context.Context, user core.UserID, w core.WorkspaceInfo, by core.By) error
	SetRole(ctx context.Context, user core.UserID, w core.WorkspaceID, as, role core.Role, by core.By) error
	RemoveMember(ctx context.Context, user core.UserID, w core.WorkspaceID, as core.Role, by core.By) error
	Invite(ctx context.Context, i core.Invitation, by core.By) error
	AnswerInvitation(ctx context.Context, id string, u core.User, accept bool, by core.By) (core.Invitation, error)
	Uninvite(ctx context.Context, w core.WorkspaceID, id string, by core.By) error
}

// Acting is a person at work in a workspace.
type Acting struct {
	User      core.User
	Workspace core.WorkspaceInfo
	Role      core.Role
	Address   string
}

func (s *Service) by(a Acting) core.By {
	return core.By{Entry: s.NewEntry(), Workspace: a.Workspace.ID, Actor: string(a.User.ID), Address: a.Address}
}

// administers refuses whoever is neither owner nor admin.
func (a Acting) administers() error {
	if a.Role != core.RoleOwner && a.Role != core.RoleAdmin {
		return core.Refuse(core.InsufficientScope, "Owners and admins of the workspace do that. Nothing was changed.")
	}
	return nil
}

// MakeWorkspace makes a workspace of a person's own. It has no credit.
func (s *Service) MakeWorkspace(ctx context.Context, u core.User, name, address string) (core.WorkspaceInfo, error) {
	name = strings.TrimSpace(name)
	if err := personName(name); err != nil {
		return core.WorkspaceInfo{}, err
	}
	id := s.NewID()
	w := core.WorkspaceInfo{ID: core.WorkspaceID(id), Slug: slug(name, id), Name: name}
	return w, s.Members.Own(ctx, u.ID, w, core.By{Entry: s.NewEntry(), Actor: string(u.ID), Address: address})
}

// slug is a name for addresses, with the id's beginning to be unique.
func slug(name, id string) string {
	word := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, name), "-")
	word = strings.Join(strings.FieldsFunc(word, func(r rune) bool { return r == '-' }), "-")
	if len(word) > 40 {
		word = strings.Trim(word[:40], "-")
	}
	if word == "" {
		word = "workspace"
	}
	return word + "-" + id[:8]
}

// Invite offers somebody a role, and tells them by mail where that can be done.
// told is false where they must be told by other means.
func (s *Service) Invite(ctx context.Context, a Acting, email string, role core.Role) (told bool, err error) {
	if err := a.administers(); err != nil {
		return false, err
	}
	to := Address(email)
	switch {
	case to == "":
		return false, unfit("This is not an e-mail address. Nobody was invited.")
	case !role.Known() || !a.Role.Manages(role):
		return false, core.Refuse(core.InsufficientScope, "Owners are made by owners. Nobody was invited.")
	}
	if err := s.mayTry("invite " + string(a.User.ID)); err != nil {
		return false, err
	}
	i := core.Invitation{ID: s.NewID(), Workspace: a.Workspace.ID, Email: to, Role: role, By: a.User.ID}
	if err := s.Members.Invite(ctx, i, s.by(a)); err != nil {
		return false, err
	}
	if s.Mail == nil || !s.mayWrite(to) {
		return false, nil
	}
	// Names are the inviter's text: a stranger's words do not go into our mail.
	text := fmt.Sprintf("%s invites you to a workspace of EvalRouter at %s, as %s.\n\nSign in, or register with this address, at %s/settings to accept or decline. The invitation is good for a week.\n",
		a.User.Email, s.Origin, role, s.Origin)
	return s.Mail.Send(ctx, to, "An invitation to EvalRouter", text) == nil, nil
}

// Uninvite takes an invitation back.
func (s *Service) Uninvite(ctx context.Context, a Acting, id string) error {
	if err := a.administers(); err != nil {
		return err
	}
	return s.Members.Uninvite(ctx, a.Workspace.ID, id, s.by(a))
}

// Answer accepts or declines an invitation of the person's address.
func (s *Service) Answer(ctx context.Context, u core.User, id string, accept bool, address string) (core.Invitation, error) {
	return s.Members.AnswerInvitation(ctx, id, u, accept, core.By{Entry: s.NewEntry(), Actor: string(u.ID), Address: address})
}

// SetRole changes somebody's role.
func (s *Service) SetRole(ctx context.Context, a Acting, user core.UserID, role core.Role) error {
	if err := a.administers(); err != nil {
		return err
	}
	if !role.Known() {
		return unfit("There is no such role. Nothing was changed.")
	}
	return s.Members.SetRole(ctx, user, a.Workspace.ID, a.Role, role, s.by(a))
}

// Remove takes somebody out of the workspace; everybody may go themselves.
func (s *Service) Remove(ctx context.Context, a Acting, user core.UserID) error {
	as := a.Role
	if user == a.User.ID {
		as = core.RoleOwner // one needs no right to go; the last owner stays
	} else if err := a.administers(); err != nil {
		return err
	}
	return s.Members.RemoveMember(ctx, user, a.Workspace.ID, as, s.by(a))
}
