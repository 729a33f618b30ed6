package web

import (
	"errors"
	"net/http"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/identity"
)

type profileBody struct{ Invitations []core.Invitation }

func (s *Server) profilePage(w http.ResponseWriter, r *http.Request, v *visitor) error {
	return s.profile(w, r, v, "", 0)
}

func (s *Server) profile(w http.ResponseWriter, r *http.Request, v *visitor, bad string, status int) error {
	all, at, err := s.place(r, v)
	if errors.Is(err, errNoWorkspace) {
		http.Redirect(w, r, "/setup", http.StatusSeeOther)
		return nil
	}
	if err != nil {
		return err
	}
	open, err := s.o.Reader.Invitations(r.Context(), "", v.user.Email)
	if err != nil {
		return err
	}
	s.show(w, v, view{Title: "Profile", Page: "profile", Tabs: tabs("/settings", at), Workspaces: all, At: at, Bad: bad, Good: done(r.URL.Query().Get("done")), status: status, Body: profileBody{open}})
	return nil
}

func (s *Server) rename(w http.ResponseWriter, r *http.Request, v *visitor) error {
	if err := s.o.People.Rename(r.Context(), v.user, r.PostForm.Get("name")); err != nil {
		return s.profileAgain(w, r, v, err)
	}
	http.Redirect(w, r, "/settings?done=saved", http.StatusSeeOther)
	return nil
}

func (s *Server) profileAgain(w http.ResponseWriter, r *http.Request, v *visitor, err error) error {
	bad, status, err := shown(err)
	if err != nil {
		return err
	}
	return s.profile(w, r, v, bad, status)
}

func (s *Server) changePassword(w http.ResponseWriter, r *http.Request, v *visitor) error {
	f := r.PostForm
	if err := s.o.People.ChangePassword(r.Context(), v.user, v.session.ID, f.Get("old"), f.Get("new"), v.address); err != nil {
		return s.profileAgain(w, r, v, err)
	}
	http.Redirect(w, r, "/settings?done=password", http.StatusSeeOther)
	return nil
}

func (s *Server) answerInvitation(w http.ResponseWriter, r *http.Request, v *visitor) error {
	accept := r.PostForm.Get("answer") == "accept"
	i, err := s.o.People.Answer(r.Context(), v.user, r.PostForm.Get("id"), accept, v.address)
	switch after := next(r.PostForm.Get("next")); {
	case err != nil:
		return err
	case accept && after != "":
		return s.onward(w, r, v.user, after)
	case accept:
		http.Redirect(w, r, "/settings?done=joined&workspace="+string(i.Workspace), http.StatusSeeOther)
	default:
		http.Redirect(w, r, "/settings?done=declined", http.StatusSeeOther)
	}
	return nil
}

type signInsBody struct {
	Grants   []core.Grant
	Sessions []core.Session
	Here     string
}

func (s *Server) signInsPage(w http.ResponseWriter, r *http.Request, v *visitor) error {
	_, at, err := s.place(r, v)
	if err != nil && !errors.Is(err, errNoWorkspace) {
		return err
	}
	grants, err := s.o.Reader.Grants(r.Context(), v.user.ID)
	if err != nil {
		return err
	}
	sessions, err := s.o.Reader.Sessions(r.Context(), v.user.ID)
	if err != nil {
		return err
	}
	s.show(w, v, view{Title: "Sign-ins", Page: "signins", Tabs: tabs("/settings/sign-ins", at), Good: done(r.URL.Query().Get("done")), Body: signInsBody{grants, sessions, v.session.ID}})
	return nil
}

func (s *Server) endSignIn(w http.ResponseWriter, r *http.Request, v *visitor) (err error) {
	if id := r.PostForm.Get("grant"); id != "" {
		err = s.o.Ender.EndGrant(r.Context(), v.user.ID, id, s.by(v))
	} else {
		err = s.o.Ender.EndSession(r.Context(), v.user.ID, r.PostForm.Get("session"), s.by(v))
	}
	if err == nil {
		http.Redirect(w, r, "/settings/sign-ins?done=ended", http.StatusSeeOther)
	}
	return err
}

type membersBody struct {
	Members     []member
	Invitations []core.Invitation
	Roles       []core.Role // that the visitor may give
	Admin       bool
}

type member struct {
	core.Member
	May, Self bool
}

// acting is the visitor at work in a workspace.
func acting(v *visitor, at core.Membership) identity.Acting {
	return identity.Acting{User: v.user, Workspace: at.WorkspaceInfo, Role: at.Role, Address: v.address}
}

func administers(role core.Role) bool { return role == core.RoleOwner || role == core.RoleAdmin }

func (s *Server) membersPage(w http.ResponseWriter, r *http.Request, v *visitor) error {
	return s.members(w, r, v, "", 0)
}

func (s *Server) members(w http.ResponseWriter, r *http.Request, v *visitor, bad string, status int) error {
	all, at, err := s.place(r, v)
	if errors.Is(err, errNoWorkspace) {
		http.Redirect(w, r, "/setup", http.StatusSeeOther)
		return nil
	}
	if err != nil {
		return err
	}
	list, err := s.o.Reader.Members(r.Context(), at.ID)
	if err != nil {
		return err
	}
	b := membersBody{Admin: administers(at.Role)}
	for _, m := range list {
		b.Members = append(b.Members, member{m, b.Admin && at.Role.Manages(m.Role), m.User == v.user.ID})
	}
	for _, role := range core.Roles() {
		if at.Role.Manages(role) {
			b.Roles = append(b.Roles, role)
		}
	}
	if b.Admin {
		if b.Invitations, err = s.o.Reader.Invitations(r.Context(), at.ID, ""); err != nil {
			return err
		}
	}
	s.show(w, v, view{Title: "Members", Page: "members", Tabs: tabs("/settings/members", at), Workspaces: all, At: at, Path: "/settings/members", Bad: bad, Good: done(r.URL.Query().Get("done")), status: status, Body: b})
	return nil
}

func (s *Server) changeMembers(w http.ResponseWriter, r *http.Request, v *visitor) error {
	_, at, err := s.place(r, v)
	if err != nil {
		return err
	}
	f, a, word, user := r.PostForm, acting(v, at), "", core.UserID(r.PostForm.Get("user"))
	switch f.Get("do") {
	case "invite":
		var told bool
		if told, err = s.o.People.Invite(r.Context(), a, f.Get("email"), core.Role(f.Get("role"))); told {
			word = "invited"
		} else {
			word = "invited-untold"
		}
	case "uninvite":
		word, err = "changed", s.o.People.Uninvite(r.Context(), a, f.Get("invitation"))
	case "role":
		word, err = "changed", s.o.People.SetRole(r.Context(), a, user, core.Role(f.Get("role")))
	case "remove":
		word, err = "removed", s.o.People.Remove(r.Context(), a, user)
	default:
		return core.Refuse(identity.Unfit, "The form said nothing that is done here. Nothing was done.")
	}
	if err != nil {
		bad, status, err := shown(err)
		if err != nil {
			return err
		}
		return s.members(w, r, v, bad, status)
	}
	path := "/settings/members?done=" + word + "&workspace=" + string(at.ID)
	if word == "removed" && user == v.user.ID {
		path = "/settings?done=removed"
	}
	http.Redirect(w, r, path, http.StatusSeeOther)
	return nil
}
