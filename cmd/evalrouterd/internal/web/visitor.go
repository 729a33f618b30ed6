package web

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
)

const (
	sessionCookie = "evr"
	// earlyCookie is a browser's secret before anybody has signed in: forms and
	// registrations are bound to it.
	earlyCookie = "evr-early"
)

const labelForm seal.Label = "form"

// visitor is who a request comes from.
type visitor struct {
	in      bool
	user    core.User
	session core.Session
	// secret is the cookie that forms are bound to, "" for a browser without one.
	secret string
	// early is the browser's secret from before a sign-in.
	early   string
	address string
}

func (s *Server) cookieName(name string) string {
	if s.secure {
		return "__Host-" + name
	}
	return name
}

// visit finds out who comes.
func (s *Server) visit(r *http.Request) (*visitor, error) {
	v := &visitor{}
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		v.address = host
	}
	if c, err := r.Cookie(s.cookieName(earlyCookie)); err == nil && len(c.Value) == 64 {
		v.early, v.secret = c.Value, c.Value
	}
	c, err := r.Cookie(s.cookieName(sessionCookie))
	if err != nil || s.o.People == nil {
		return v, nil
	}
	var found error
	if v.session, v.user, v.in, found = s.o.People.Session(r.Context(), c.Value); found != nil {
		return v, found
	}
	if v.in {
		v.secret = c.Value
	}
	return v, nil
}

// proved says whether the password was given lately.
func (s *Server) proved(v *visitor) bool {
	return v.in && s.o.People.Now()-v.session.ProvedAt < core.ProofLife
}

func (s *Server) setCookie(w http.ResponseWriter, name, value string, age int) {
	http.SetCookie(w, &http.Cookie{Name: s.cookieName(name), Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: s.secure, SameSite: http.SameSiteLaxMode})
}

// known gives a browser a secret if it has none and could send a form.
func (s *Server) known(w http.ResponseWriter, v *visitor) {
	if v.secret != "" || s.o.People == nil {
		return
	}
	var b [32]byte
	s.o.Random(b[:])
	v.early = hex.EncodeToString(b[:])
	v.secret = v.early
	s.setCookie(w, earlyCookie, v.early, 0)
}

// entered gives a browser the cookie of a new session, and takes the early one.
func (s *Server) entered(w http.ResponseWriter, cookie seal.Key) {
	s.setCookie(w, sessionCookie, cookie.Reveal(), int(core.SessionLife/1_000_000))
	s.setCookie(w, earlyCookie, "", -1)
}

// formToken is what forms of a browser carry.
func (s *Server) formToken(v *visitor) string {
	if v.secret == "" {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(s.o.Master.MACText(labelForm, v.secret))
}

func (s *Server) formFits(v *visitor, token string) bool {
	want := s.formToken(v)
	return want != "" && hmac.Equal([]byte(want), []byte(token))
}

// nextPaths are the pages that a sign-in leads back to.
func nextPaths() []string {
	return []string{"/device", "/authorize", "/setup", "/settings", "/settings/sign-ins", "/settings/members", "/settings/api-keys", "/settings/billing"}
}

// nextSections are beginnings of paths that a sign-in leads back to.
func nextSections() []string {
	return []string{"/runs", "/groups", "/benchmarks", "/models", "/traces", "/datasets"}
}

func leadsBack(path string) bool {
	within := func(section string) bool { return path == section || strings.HasPrefix(path, section+"/") }
	return slices.Contains(nextPaths(), path) || slices.ContainsFunc(nextSections(), within)
}

// next is where a visitor wanted to go, "" for nowhere of ours.
func next(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || u.Opaque != "" || strings.ContainsAny(text, "\\\r\n\t") || !leadsBack(u.Path) || len(text) > 2048 {
		return ""
	}
	return u.Path + query(u.RawQuery)
}

func query(raw string) string {
	if raw == "" {
		return ""
	}
	return "?" + raw
}

// to is a path with where to go after it.
func to(path, after string) string {
	if after == "" {
		return path
	}
	return path + "?next=" + url.QueryEscape(after)
}

// userCode is the code of a device that waits for what a visitor is doing, ""
// for none.
func userCode(after string) string {
	u, err := url.Parse(after)
	if err != nil || u.Path != "/device" {
		return ""
	}
	return u.Query().Get("user_code")
}

// reached tells a waiting device how far its person is.
func (s *Server) reached(r *http.Request, after, stage string, user core.UserID) error {
	if code := userCode(after); code != "" {
		return s.o.SignIn.Reached(r.Context(), code, stage, user)
	}
	return nil
}

// toLogin sends a visitor to sign in first.
func (s *Server) toLogin(w http.ResponseWriter, r *http.Request, again bool) {
	after := ""
	if r.Method == http.MethodGet {
		after = next(r.URL.RequestURI())
	}
	http.Redirect(w, r, loginFor(after, again), http.StatusSeeOther)
}

// loginFor is the page on which somebody signs in on the way to another one.
// again asks for the password of whoever is signed in.
func loginFor(after string, again bool) string {
	q := url.Values{}
	if after != "" {
		q.Set("next", after)
	}
	if again {
		q.Set("again", "1")
	}
	return "/login" + query(q.Encode())
}

// place finds the workspace that a page is about: the one that is named, or the
// person's first. Whoever is no member reads that there is none.
func (s *Server) place(r *http.Request, v *visitor) (all []core.Membership, at core.Membership, err error) {
	if all, err = s.o.Reader.Workspaces(r.Context(), v.user.ID); err != nil {
		return nil, at, err
	}
	id := core.WorkspaceID(r.URL.Query().Get("workspace"))
	for _, m := range all {
		if id == "" || m.ID == id {
			return all, m, nil
		}
	}
	if id == "" {
		return nil, at, errNoWorkspace
	}
	return nil, at, core.Missing("workspace")
}

// errNoWorkspace says that somebody has to make a workspace first.
var errNoWorkspace = errors.New("no workspace yet")

// Origin says whether an address is an origin that cookies are safe at.
func Origin(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || strings.ToLower(text) != text {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || err == nil && addr.IsLoopback())
}
