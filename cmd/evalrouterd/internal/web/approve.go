package web

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/identity"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/oauth"
)

type deviceBody struct {
	Code, Client, Version, Name, Address, Age, Scopes string
}

// approving leads a visitor who may not approve yet to what is missing first;
// ok is true when nothing is.
func (s *Server) approving(w http.ResponseWriter, r *http.Request, v *visitor) (ok bool, err error) {
	if !s.proved(v) {
		s.toLogin(w, r, v.in)
		return false, nil
	}
	all, err := s.o.Reader.Workspaces(r.Context(), v.user.ID)
	if err != nil || len(all) > 0 {
		return err == nil, err
	}
	http.Redirect(w, r, to("/setup", next(r.URL.RequestURI())), http.StatusSeeOther)
	return false, nil
}

func (s *Server) devicePage(w http.ResponseWriter, r *http.Request, v *visitor) error {
	if ok, err := s.approving(w, r, v); !ok {
		return err
	}
	code := r.URL.Query().Get("user_code")
	if code == "" {
		s.askCode(w, v, "", 0)
		return nil
	}
	d, err := s.o.SignIn.Asked(r.Context(), code, v.session.ID+" "+v.address)
	if err != nil {
		bad, status, err := shown(err)
		if err == nil {
			s.askCode(w, v, bad, status)
		}
		return err
	}
	s.show(w, v, view{Title: "Sign a terminal in", Page: "device", Narrow: true, Body: deviceBody{
		Code: identity.SpelledCode(identity.TypedCode(code)), Client: d.Client, Version: d.Version, Name: d.Name, Address: d.Address, Age: age(s.o.People.Now() - d.CreatedAt), Scopes: strings.Join(d.Scopes, ", "),
	}})
	return nil
}

func (s *Server) askCode(w http.ResponseWriter, v *visitor, bad string, status int) {
	s.show(w, v, view{Title: "Sign a terminal in", Page: "device", Narrow: true, Bad: bad, status: status, Body: deviceBody{}})
}

// age says how long ago something was, to the minute.
func age(t core.Micros) string {
	const minute = 60_000_000
	if t < minute {
		return "less than a minute ago"
	}
	if t < 2*minute {
		return "a minute ago"
	}
	return timeText(t, "4") + " minutes ago"
}

func (s *Server) deviceTyped(w http.ResponseWriter, r *http.Request, v *visitor) error {
	code := identity.TypedCode(r.PostForm.Get("user_code"))
	if _, err := s.o.SignIn.Asked(r.Context(), code, v.session.ID+" "+v.address); err != nil {
		bad, status, err := shown(err)
		if err == nil {
			s.askCode(w, v, bad, status)
		}
		return err
	}
	if err := s.o.SignIn.Reached(r.Context(), code, core.StageApprove, v.user.ID); err != nil {
		return err
	}
	http.Redirect(w, r, "/device?user_code="+url.QueryEscape(identity.SpelledCode(code)), http.StatusSeeOther)
	return nil
}

func (s *Server) deviceDecided(w http.ResponseWriter, r *http.Request, v *visitor) error {
	code, approve := r.PostForm.Get("user_code"), r.PostForm.Get("decision") == "approve"
	if !s.proved(v) {
		http.Redirect(w, r, loginFor("/device?user_code="+url.QueryEscape(code), true), http.StatusSeeOther)
		return nil
	}
	if _, err := s.o.SignIn.Asked(r.Context(), code, v.session.ID+" "+v.address); err != nil {
		return err
	}
	if err := s.o.SignIn.Decide(r.Context(), code, approve, v.user.ID, v.address); err != nil {
		return err
	}
	p := view{Title: "Denied", Page: "message", Narrow: true, Body: "The terminal was told no. If you did not start it, nothing more is to be done."}
	if approve {
		p.Title, p.Body = "The terminal is signed in", "Go back to your terminal; it goes on by itself. You can close this page. Settings → Sign-ins shows all terminals and ends them."
	}
	s.show(w, v, p)
	return nil
}

type authorizeBody struct {
	Client, Back, Scopes string
	Fields               []field
}

type field struct{ Name, Value string }

// asked reads what a command line asks a browser for.
func asked(f url.Values) oauth.Ask {
	return oauth.Ask{
		Client: f.Get("client_id"), Redirect: f.Get("redirect_uri"), State: f.Get("state"), Challenge: f.Get("code_challenge"), Method: f.Get("code_challenge_method"), ResponseType: f.Get("response_type"), Scope: f.Get("scope"),
	}
}

// asking is asked the other way round.
func asking(a oauth.Ask) url.Values {
	return url.Values{
		"client_id": {a.Client}, "redirect_uri": {a.Redirect}, "state": {a.State}, "code_challenge": {a.Challenge}, "code_challenge_method": {a.Method}, "response_type": {a.ResponseType}, "scope": {a.Scope},
	}
}

func (s *Server) authorizePage(w http.ResponseWriter, r *http.Request, v *visitor) error {
	a := asked(r.URL.Query())
	scopes, back, bad := s.o.SignIn.Check(a)
	if bad != nil {
		return s.unasked(w, r, a, back, bad)
	}
	if ok, err := s.approving(w, r, v); !ok {
		return err
	}
	u, err := url.Parse(a.Redirect)
	if err != nil {
		return err
	}
	var fields []field
	values := asking(a)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		fields = append(fields, field{name, values.Get(name)})
	}
	s.show(w, v, view{Title: "Sign a terminal in", Page: "authorize", Narrow: true, forms: []string{"http://" + u.Host}, Body: authorizeBody{a.Client, u.Host, strings.Join(scopes, ", "), fields}})
	return nil
}

// unasked answers a request that cannot be granted: to the client where its
// address is good, and to the person otherwise.
func (s *Server) unasked(w http.ResponseWriter, r *http.Request, a oauth.Ask, back bool, bad *oauth.Error) error {
	if back {
		http.Redirect(w, r, s.o.SignIn.Deny(a, bad), http.StatusSeeOther)
		return nil
	}
	return core.Refuse(identity.Unfit, "The link that led here is not one that this service can follow: %s. Nothing was done; start again in your terminal.", bad.Description)
}

func (s *Server) authorized(w http.ResponseWriter, r *http.Request, v *visitor) error {
	a := asked(r.PostForm)
	if _, back, bad := s.o.SignIn.Check(a); bad != nil {
		return s.unasked(w, r, a, back, bad)
	}
	if r.PostForm.Get("decision") != "approve" {
		http.Redirect(w, r, s.o.SignIn.Deny(a, &oauth.Error{Code: "access_denied", Description: "denied in the browser"}), http.StatusSeeOther)
		return nil
	}
	if !s.proved(v) {
		http.Redirect(w, r, loginFor("/authorize?"+asking(a).Encode(), true), http.StatusSeeOther)
		return nil
	}
	address, err := s.o.SignIn.Allow(r.Context(), a, v.user.ID, v.address)
	if err != nil {
		return err
	}
	http.Redirect(w, r, address, http.StatusSeeOther)
	return nil
}
