// Package web is the pages on which people register, sign in, approve command
// lines and look after workspaces.
//
//   - Pages are HTML made on the server and one style sheet. They need no script.
//     A page that has one says so, and the policy of every other lets none run.
//   - GET changes nothing. A POST needs the origin that its page came from, as
//     the browser says it, and a token that only that browser's cookie gives.
//   - A cookie is a secret of 256 bits that is kept as a MAC; over TLS its name
//     begins with __Host-. It changes when somebody signs in.
//   - Approving a command line needs a password that was given within the last
//     quarter of an hour, and shows what to compare.
//   - Whoever is no member of a workspace reads that there is none.
//   - Text of people passes lib/plain and html/template.
package web

import (
	"context"
	"embed"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/identity"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/oauth"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/ratelimit"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/history"
	"github.com/evalrouter/evalrouter/lib/usd"
)

//go:embed templates style.css
var files embed.FS

// Reader reads what pages show.
type Reader interface {
	Workspaces(context.Context, core.UserID) ([]core.Membership, error)
	Members(context.Context, core.WorkspaceID) ([]core.Member, error)
	Invitations(ctx context.Context, w core.WorkspaceID, email string) ([]core.Invitation, error)
	Keys(ctx context.Context, w core.WorkspaceID, after *core.Place, limit int) ([]core.APIKey, error)
	Spent(ctx context.Context, lineage string) (usd.Micro, error)
	Grants(context.Context, core.UserID) ([]core.Grant, error)
	Sessions(context.Context, core.UserID) ([]core.Session, error)
}

// Ender ends sign-ins.
type Ender interface {
	EndGrant(ctx context.Context, user core.UserID, id string, by core.By) error
	EndSession(ctx context.Context, user core.UserID, id string, by core.By) error
}

// Money reads credit.
type Money interface {
	Credits(context.Context, core.WorkspaceID, core.Book) (core.Credits, error)
	Entries(context.Context, core.Scope, history.EntryQuery) ([]history.Entry, error)
}

// Options of a Server. All fields are required unless they say otherwise.
type Options struct {
	// People is nil where nobody signs in. Then only pages of subjects are there.
	People *identity.Service
	SignIn *oauth.Service
	Reader Reader
	Ender  Ender
	Money  Money
	Master *seal.Master
	// Often bounds beginnings of sign-ins by address, and Looks pages of subjects by
	// person, or by address where nobody is signed in.
	Often, Looks *ratelimit.Limiter
	Now          func() core.Micros
	// Random makes a browser's secret before anybody signed in.
	Random func(b []byte)
	// Scopes are all that a key can have.
	Scopes []string
	// Origin is where browsers find the service.
	Origin string
	// Subjects are what other packages of pages add.
	Subjects []Subject
	Log      *slog.Logger
}

// Server answers with pages.
type Server struct {
	o      Options
	mux    *http.ServeMux
	host   string
	secure bool
	cross  *http.CrossOriginProtection
	pages  map[string]*template.Template
	// reading holds one for each form with a file that is read.
	reading chan struct{}
}

// page is a handler. What it returns is shown, and logged where it is no
// refusal.
type page func(w http.ResponseWriter, r *http.Request, v *visitor) error

// New makes a server.
func New(o Options) (*Server, error) {
	u, err := url.Parse(o.Origin)
	if err != nil {
		return nil, err
	}
	s := &Server{o: o, mux: http.NewServeMux(), host: u.Host, secure: u.Scheme == "https", cross: http.NewCrossOriginProtection(), reading: make(chan struct{}, filesAtOnce)}
	if err := s.cross.AddTrustedOrigin(o.Origin); err != nil {
		return nil, err
	}
	if s.pages, err = parse(); err != nil {
		return nil, err
	}
	for _, rt := range s.table() {
		s.mux.HandleFunc(rt.Method+" "+rt.Path, s.serve(rt))
	}
	return s, nil
}

// Route is a line of the table of pages.
type Route struct {
	Method, Path string
	// Open says that it is for people who are not signed in too.
	Open bool
	// File is how many bytes a file of the form may have.
	File int64
	page page
}

// Table lists every page.
func (s *Server) Table() []Route { return s.table() }

func (s *Server) table() []Route {
	get := func(path string, open bool, p page) Route { return Route{http.MethodGet, path, open, 0, p} }
	post := func(path string, open bool, p page) Route { return Route{http.MethodPost, path, open, 0, p} }
	more := append(s.subjects(), get("/style.css", true, s.style))
	if s.o.People == nil {
		return more
	}
	return append(more, []Route{
		get("/{$}", true, s.home),
		get("/register", true, s.registerPage), post("/register", true, s.register),
		get("/verify", true, s.verifyPage), post("/verify", true, s.verify),
		get("/forgotten", true, s.forgottenPage), post("/forgotten", true, s.forgotten), get("/reset", true, s.resetPage), post("/reset", true, s.reset),
		get("/login", true, s.loginPage), post("/login", true, s.login), post("/logout", false, s.logout),
		get("/setup", false, s.setupPage), post("/setup", false, s.setup),
		get("/device", false, s.devicePage), post("/device", false, s.deviceTyped), post("/device/decide", false, s.deviceDecided),
		get("/authorize", true, s.authorizePage), post("/authorize", false, s.authorized),
		get("/settings", false, s.profilePage), post("/settings", false, s.rename), post("/settings/password", false, s.changePassword), post("/settings/invitations", false, s.answerInvitation),
		get("/settings/sign-ins", false, s.signInsPage), post("/settings/sign-ins", false, s.endSignIn),
		get("/settings/members", false, s.membersPage), post("/settings/members", false, s.changeMembers),
		get("/settings/api-keys", false, s.keysPage), post("/settings/api-keys", false, s.changeKeys),
		get("/settings/billing", false, s.billingPage),
	}...)
}

// Has says whether a request is for a page.
func (s *Server) Has(r *http.Request) bool {
	_, pattern := s.mux.Handler(r)
	return pattern != ""
}

// ServeHTTP answers with a page.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// policy lets a page be shown and sent, and nothing else. The address of a
// terminal that waits on this machine may be where a form leads.
func policy(forms ...string) string {
	return "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action " + strings.Join(append([]string{"'self'"}, forms...), " ")
}

// scripted lets the scripts of this service run too, and ask this service.
const scripted = "; script-src 'self'; connect-src 'self'"

// filesAtOnce bounds the forms with a file that are read at a time, and with them
// what lies on the disk meanwhile.
const filesAtOnce = 4

// maxForm bounds a form.
const maxForm = 32 << 10

func (s *Server) serve(rt Route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if r.MultipartForm != nil {
				_ = r.MultipartForm.RemoveAll() // the system clears its own folder
			}
		}()
		defer s.caught(w, r)
		h := w.Header()
		h.Set("Content-Security-Policy", policy())
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		if s.secure {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		if r.Host != s.host && rt.Path != "/style.css" {
			s.elsewhere(w, r)
			return
		}
		v, err := s.visit(r)
		if err == nil && !storable(r.URL.Query()) {
			err = core.Refuse(identity.Unfit, "The address holds a character that is in none of ours. Nothing was done.")
		}
		if err == nil {
			err = s.admit(w, r, v, rt)
		}
		if err == nil {
			err = rt.page(w, r, v)
		}
		if err != nil && !errors.Is(err, errAnswered) {
			s.fail(w, r, v, err)
		}
	}
}

// caught turns a panic into an answer, if there was none, and a line of the log.
func (s *Server) caught(w http.ResponseWriter, r *http.Request) {
	if p := recover(); p != nil {
		s.o.Log.Error("page panicked", "path", r.Pattern, "stack", string(debug.Stack()))
		http.Error(w, "The service failed; its log says more.", http.StatusInternalServerError)
	}
}

// errAnswered says that there is nothing more to answer.
var errAnswered = errors.New("answered")

// elsewhere sends a browser that came by another name to the one that cookies
// are for.
func (s *Server) elsewhere(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		http.Redirect(w, r, s.o.Origin+r.URL.RequestURI(), http.StatusSeeOther)
		return
	}
	http.Error(w, "This service is at "+s.o.Origin+".", http.StatusMisdirectedRequest)
}

// admit lets a visitor see a page, and a form be carried out.
func (s *Server) admit(w http.ResponseWriter, r *http.Request, v *visitor, rt Route) error {
	if r.Method == http.MethodPost {
		if err := s.cross.Check(r); err != nil {
			return errForged
		}
		if rt.File > 0 {
			if !v.in { // a stranger's file is not read
				s.toLogin(w, r, false)
				return errAnswered
			}
			select {
			case s.reading <- struct{}{}:
				defer func() { <-s.reading }()
			default:
				return core.Refuse(identity.TooOften, "Other files are being sent right now. Nothing was done. Try again in a minute.")
			}
		}
		if err := readForm(w, r, rt.File); err != nil {
			return err
		}
		if !storable(r.PostForm) {
			return core.Refuse(identity.Unfit, "A field holds a character that cannot be kept (U+0000, or bytes that are no UTF-8). Nothing was done.")
		}
		if !s.formFits(v, r.PostForm.Get("form")) {
			return errForged
		}
	}
	if !rt.Open && !v.in {
		s.toLogin(w, r, false)
		return errAnswered
	}
	return nil
}

// readForm reads a form, with a file of at most so many bytes beside it. A file is
// kept on the disk until the request is answered.
func readForm(w http.ResponseWriter, r *http.Request, file int64) error {
	r.Body = http.MaxBytesReader(w, r.Body, file+maxForm)
	read := r.ParseForm
	if file > 0 {
		read = func() error { return r.ParseMultipartForm(maxForm) }
	}
	err := read()
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large) && file > 0:
		return core.Refuse(core.SourceTooLarge, "The file is larger than %d MiB. Nothing was done.", file>>20)
	case err != nil:
		return core.Refuse(identity.Unfit, "The form could not be read. Nothing was done.")
	}
	return nil
}

// storable says that a database can be asked for everything in a form.
func storable(f url.Values) bool {
	for _, values := range f {
		for _, v := range values {
			if core.Storable(v) != v {
				return false
			}
		}
	}
	return true
}

// errForged refuses a form that no page of ours sent for this browser.
var errForged = errors.New("the form is not of a page of this service in this browser")

// often refuses an address that begins sign-ins too often.
func (s *Server) often(r *http.Request) error {
	from, ok := ratelimit.Network(r.RemoteAddr)
	if ok && s.o.Often.Take(from, s.now()) > 0 {
		return core.Refuse(identity.TooOften, "That was tried too often. Try again in a minute.")
	}
	return nil
}

// mayLook refuses whoever looks at pages too often. A page asks the API several
// times for one look, so that requests of pages count here and not there.
func (s *Server) mayLook(r *http.Request, v *visitor) error {
	who, ok := "person "+string(v.user.ID), true
	if !v.in {
		who, ok = ratelimit.Network(r.RemoteAddr)
	}
	if ok && s.o.Looks.Take(who, s.now()) > 0 {
		return core.Refuse(identity.TooOften, "Pages were looked at too often. Try again in a minute.")
	}
	return nil
}

func (s *Server) now() time.Time { return time.UnixMicro(int64(s.o.Now())) }

// fail shows an error as a page.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, v *visitor, err error) {
	status, title, text := http.StatusInternalServerError, "Something went wrong", "The service failed; its log says more. Nothing was changed, as far as is known."
	var refusal *core.Refusal
	switch {
	case errors.Is(err, errForged):
		status, title, text = http.StatusForbidden, "Not done", "This did not come from a page of this service in your browser, or that page was too old. Go back, load the page again, and repeat."
	case errors.As(err, &refusal):
		status, title, text = statusOf(refusal.Code), "Not done", refusal.Message
	default:
		s.o.Log.Error("page failed", "path", r.Pattern, "error", err.Error())
	}
	if v == nil {
		v = &visitor{}
	}
	s.show(w, v, view{Title: title, Narrow: true, Page: "message", Body: text, status: status})
}

func statusOf(c core.Code) int {
	switch c {
	case core.NotFound:
		return http.StatusNotFound
	case core.InsufficientScope:
		return http.StatusForbidden
	case identity.TooOften:
		return http.StatusTooManyRequests
	case identity.NotSent, core.StorageLow:
		return http.StatusServiceUnavailable
	}
	return http.StatusUnprocessableEntity
}

func (s *Server) home(w http.ResponseWriter, r *http.Request, _ *visitor) error {
	http.Redirect(w, r, s.begin(), http.StatusSeeOther)
	return nil
}

// begin is the page on which a visit begins.
func (s *Server) begin() string {
	for _, c := range s.sections("") {
		return c.Path
	}
	return "/settings"
}

func (s *Server) style(w http.ResponseWriter, _ *http.Request, _ *visitor) error {
	return sendFile(w, files, "style.css", "text/css; charset=utf-8")
}
