package web

import (
	"errors"
	"net/http"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/identity"
)

func (s *Server) forgottenPage(w http.ResponseWriter, r *http.Request, v *visitor) error {
	s.forgetting(w, v, next(r.URL.Query().Get("next")), enterBody{}, "", 0)
	return nil
}

func (s *Server) forgetting(w http.ResponseWriter, v *visitor, after string, b enterBody, bad string, status int) {
	b.Mail, b.Other = s.o.People.Mail != nil, to("/login", after)
	s.show(w, v, view{Title: "Forgotten password", Page: "forgotten", Narrow: true, Next: after, Body: b, Bad: bad, status: status})
}

func (s *Server) forgotten(w http.ResponseWriter, r *http.Request, v *visitor) error {
	if err := s.often(r); err != nil {
		return err
	}
	after, email := next(r.PostForm.Get("next")), r.PostForm.Get("email")
	s.early(w, v)
	err := s.o.People.Forgotten(r.Context(), email, v.early, v.address)
	if err == nil {
		http.Redirect(w, r, to("/reset", after), http.StatusSeeOther)
		return nil
	}
	if errors.Is(err, &core.Refusal{Code: identity.NotSent}) {
		s.o.Log.Warn("a mail was not sent", "error", err.Error())
	}
	bad, status, err := shown(err)
	if err != nil {
		return err
	}
	s.forgetting(w, v, after, enterBody{Email: email}, bad, status)
	return nil
}

func (s *Server) resetPage(w http.ResponseWriter, r *http.Request, v *visitor) error {
	return s.resetting(w, r, v, next(r.URL.Query().Get("next")), "", 0)
}

func (s *Server) resetting(w http.ResponseWriter, r *http.Request, v *visitor, after, bad string, status int) error {
	asked, ok, err := s.o.People.Asked(r.Context(), v.early)
	if err != nil {
		return err
	}
	if !ok {
		http.Redirect(w, r, to("/forgotten", after), http.StatusSeeOther)
		return nil
	}
	s.show(w, v, view{Title: "Another password", Page: "reset", Narrow: true, Next: after, Bad: bad, status: status, Body: verifyBody{Email: asked.Email, Other: to("/forgotten", after)}})
	return nil
}

func (s *Server) reset(w http.ResponseWriter, r *http.Request, v *visitor) error {
	f, after := r.PostForm, next(r.PostForm.Get("next"))
	u, err := s.o.People.Reset(r.Context(), v.early, f.Get("code"), f.Get("password"), v.address)
	if err != nil {
		bad, status, err := shown(err)
		if err != nil {
			return err
		}
		return s.resetting(w, r, v, after, bad, status)
	}
	cookie, err := s.o.People.Begin(r.Context(), u, v.session.ID, v.address)
	if err != nil {
		return err
	}
	s.entered(w, cookie)
	return s.onward(w, r, u, after)
}
