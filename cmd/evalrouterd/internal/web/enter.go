package web

import (
	"errors"
	"net/http"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/identity"
)

// shown makes a refusal a sentence on the page of the form; other errors stay
// errors.
func shown(err error) (string, int, error) {
	var r *core.Refusal
	if errors.As(err, &r) {
		return r.Message, statusOf(r.Code), nil
	}
	return "", 0, err
}

type enterBody struct {
	Email, Name string
	Mail, Again bool
	Other       string // the page beside this one
	Forgotten   string
}

func (s *Server) registerPage(w http.ResponseWriter, r *http.Request, v *visitor) error {
	s.registering(w, v, next(r.URL.Query().Get("next")), enterBody{}, "", 0)
	return nil
}

func (s *Server) registering(w http.ResponseWriter, v *visitor, after string, b enterBody, bad string, status int) {
	b.Mail, b.Other = s.o.People.Mail != nil, to("/login", after)
	s.show(w, v, view{Title: "Create an account", Page: "register", Narrow: true, Next: after, Body: b, Bad: bad, status: status})
}

func (s *Server) register(w http.ResponseWriter, r *http.Request, v *visitor) error {
	if err := s.often(r); err != nil {
		return err
	}
	f, after := r.PostForm, next(r.PostForm.Get("next"))
	s.early(w, v)
	err := s.o.People.Register(r.Context(), identity.Registering{Email: f.Get("email"), Name: f.Get("name"), Password: f.Get("password"), Browser: v.early, Address: v.address})
	if err == nil {
		if err := s.reached(r, after, core.StageVerify, ""); err != nil {
			return err
		}
		http.Redirect(w, r, to("/verify", after), http.StatusSeeOther)
		return nil
	}
	if errors.Is(err, &core.Refusal{Code: identity.NotSent}) {
		s.o.Log.Warn("a mail was not sent", "error", err.Error())
	}
	bad, status, err := shown(err)
	if err != nil {
		return err
	}
	s.registering(w, v, after, enterBody{Email: f.Get("email"), Name: f.Get("name")}, bad, status)
	return nil
}

// early gives a browser in which somebody is signed in a secret of its own for
// a registration.
func (s *Server) early(w http.ResponseWriter, v *visitor) {
	if v.early == "" {
		signedIn := v.secret
		v.secret = ""
		s.known(w, v)
		if signedIn != "" {
			v.secret = signedIn
		}
	}
}

type verifyBody struct {
	Email string
	Mail  bool
	Other string
}

func (s *Server) verifyPage(w http.ResponseWriter, r *http.Request, v *visitor) error {
	return s.verifying(w, r, v, next(r.URL.Query().Get("next")), "", 0)
}

func (s *Server) verifying(w http.ResponseWriter, r *http.Request, v *visitor, after, bad string, status int) error {
	g, ok, err := s.o.People.Waiting(r.Context(), v.early)
	if err != nil {
		return err
	}
	if !ok {
		http.Redirect(w, r, to("/login", after), http.StatusSeeOther)
		return nil
	}
	title := "Verify your address"
	if g.Code == nil {
		title = "Wait to be let in"
	}
	s.show(w, v, view{Title: title, Page: "verify", Narrow: true, Next: after, Bad: bad, status: status, Body: verifyBody{g.Email, g.Code != nil, to("/login", after)}})
	return nil
}

func (s *Server) verify(w http.ResponseWriter, r *http.Request, v *visitor) error {
	after := next(r.PostForm.Get("next"))
	u, err := s.o.People.Verify(r.Context(), v.early, r.PostForm.Get("code"), v.address)
	if err != nil {
		bad, status, err := shown(err)
		if err != nil {
			return err
		}
		return s.verifying(w, r, v, after, bad, status)
	}
	cookie, err := s.o.People.Begin(r.Context(), u, v.session.ID, v.address)
	if err != nil {
		return err
	}
	s.entered(w, cookie)
	return s.onward(w, r, u, after)
}

// onward leads a person who has just signed in to where they wanted to go, by
// way of a workspace.
func (s *Server) onward(w http.ResponseWriter, r *http.Request, u core.User, after string) error {
	all, err := s.o.Reader.Workspaces(r.Context(), u.ID)
	if err != nil {
		return err
	}
	stage, path := core.StageApprove, after
	if path == "" {
		path = s.begin()
	}
	if len(all) == 0 {
		stage, path = core.StageSetup, to("/setup", after)
	}
	if err := s.reached(r, after, stage, u.ID); err != nil {
		return err
	}
	http.Redirect(w, r, path, http.StatusSeeOther)
	return nil
}

func (s *Server) loginPage(w http.ResponseWriter, r *http.Request, v *visitor) error {
	q := r.URL.Query()
	after, again := next(q.Get("next")), q.Get("again") != ""
	if v.in && !again {
		http.Redirect(w, r, "/settings", http.StatusSeeOther)
		return nil
	}
	s.signingIn(w, v, after, enterBody{Email: v.user.Email, Again: v.in && again}, "", 0)
	return nil
}

func (s *Server) signingIn(w http.ResponseWriter, v *visitor, after string, b enterBody, bad string, status int) {
	b.Other, b.Forgotten = to("/register", after), to("/forgotten", after)
	s.show(w, v, view{Title: "Sign in", Page: "login", Narrow: true, Next: after, Body: b, Bad: bad, status: status})
}

func (s *Server) login(w http.ResponseWriter, r *http.Request, v *visitor) error {
	if err := s.often(r); err != nil {
		return err
	}
	f, after := r.PostForm, next(r.PostForm.Get("next"))
	cookie, u, err := s.o.People.SignIn(r.Context(), f.Get("email"), f.Get("password"), v.session.ID, v.address)
	if err == nil {
		s.entered(w, cookie)
		return s.onward(w, r, u, after)
	}
	bad, status, err := shown(err)
	if err != nil {
		return err
	}
	s.signingIn(w, v, after, enterBody{Email: f.Get("email"), Again: v.in}, bad, status)
	return nil
}

func (s *Server) logout(w http.ResponseWriter, r *http.Request, v *visitor) error {
	if err := s.o.Ender.EndSession(r.Context(), v.user.ID, v.session.ID, s.by(v)); err != nil {
		return err
	}
	s.setCookie(w, sessionCookie, "", -1)
	http.Redirect(w, r, "/login", http.StatusSeeOther)
	return nil
}

func (s *Server) by(v *visitor) core.By {
	return core.By{Entry: s.o.People.NewEntry(), Actor: string(v.user.ID), Address: v.address}
}

type setupBody struct {
	Name        string
	Invitations []core.Invitation
}

func (s *Server) setupPage(w http.ResponseWriter, r *http.Request, v *visitor) error {
	return s.settingUp(w, r, v, next(r.URL.Query().Get("next")), firstName(v.user.Name), "", 0)
}

// firstName is the name that a person's workspace is offered, which is no longer
// than a name may be.
func firstName(person string) string {
	const own, limit = "'s workspace", 80
	if r := []rune(person); len(r) > limit-len(own) {
		person = strings.TrimSpace(string(r[:limit-len(own)]))
	}
	return person + own
}

func (s *Server) settingUp(w http.ResponseWriter, r *http.Request, v *visitor, after, name, bad string, status int) error {
	open, err := s.o.Reader.Invitations(r.Context(), "", v.user.Email)
	if err != nil {
		return err
	}
	s.show(w, v, view{Title: "Set up your workspace", Page: "setup", Narrow: true, Next: after, Bad: bad, status: status, Body: setupBody{name, open}})
	return nil
}

func (s *Server) setup(w http.ResponseWriter, r *http.Request, v *visitor) error {
	after, name := next(r.PostForm.Get("next")), r.PostForm.Get("name")
	if _, err := s.o.People.MakeWorkspace(r.Context(), v.user, name, v.address); err != nil {
		bad, status, err := shown(err)
		if err != nil {
			return err
		}
		return s.settingUp(w, r, v, after, name, bad, status)
	}
	return s.onward(w, r, v.user, after)
}
