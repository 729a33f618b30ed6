package web

import (
	"bytes"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/evalrouter/evalrouter/lib/usd"
)

// view is a page to show.
type view struct {
	Title  string
	Page   string // its template
	Narrow bool
	// Bad and Good say what came of what was done.
	Bad, Good string
	Next      string
	Tabs      []tab
	// Workspaces and At are for pages about one workspace, Path is theirs.
	Workspaces []core.Membership
	At         core.Membership
	Path       string
	Body       any
	// Own says that the body has a first heading of its own. The others are those
	// of Shown.
	Own             bool
	Sections        []tab
	Styles, Scripts []string
	Refresh         int
	// Filled in.
	In   bool
	User core.User
	Form string

	status int
	forms  []string // where else a form of the page may lead
}

type tab struct {
	Name, Path string
	Here       bool
}

// tabs are the pages of settings.
func tabs(here string, at core.Membership) []tab {
	var out []tab
	for _, t := range []tab{{"Profile", "/settings", false}, {"Sign-ins", "/settings/sign-ins", false}, {"Members", "/settings/members", false}, {"API keys", "/settings/api-keys", false}, {"Billing", "/settings/billing", false}} {
		t.Here = t.Path == here
		if at.ID != "" {
			t.Path += "?workspace=" + string(at.ID)
		}
		out = append(out, t)
	}
	return out
}

// pageNames lists the templates.
func pageNames() []string {
	return []string{"register", "login", "verify", "setup", "device", "authorize", "message", "profile", "signins", "members", "keys", "billing", "subject"}
}

func parse() (map[string]*template.Template, error) {
	layout, err := template.New("layout").Funcs(template.FuncMap{
		"line":  func(v string) string { return string(plain.Line(v)) },
		"day":   func(t core.Micros) string { return timeText(t, time.DateOnly) },
		"stamp": func(t core.Micros) string { return timeText(t, "2006-01-02 15:04") },
		"money": func(m usd.Micro) string { return m.String() },
		"list":  func(v []string) string { return strings.Join(v, ", ") },
	}).ParseFS(files, "templates/layout.html")
	if err != nil {
		return nil, err
	}
	out := map[string]*template.Template{}
	for _, name := range pageNames() {
		t, err := layout.Clone()
		if err != nil {
			return nil, err
		}
		if out[name], err = t.ParseFS(files, "templates/"+name+".html"); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// timeText is a time in UTC, a dash for one that has not come.
func timeText(t core.Micros, form string) string {
	if t == 0 {
		return "–"
	}
	return time.UnixMicro(int64(t)).UTC().Format(form)
}

// show answers with a page. Nothing is sent unless all of it can be made.
func (s *Server) show(w http.ResponseWriter, v *visitor, p view) {
	s.known(w, v)
	p.In, p.User, p.Form = v.in, v.user, s.formToken(v)
	if p.Sections == nil && p.In {
		p.Sections = s.sections("/settings")
	}
	var b bytes.Buffer
	if err := s.pages[p.Page].ExecuteTemplate(&b, "layout", p); err != nil {
		s.o.Log.Error("page was not made", "page", p.Page, "error", err.Error())
		http.Error(w, "The service failed; its log says more.", http.StatusInternalServerError)
		return
	}
	if len(p.forms) > 0 {
		w.Header().Set("Content-Security-Policy", policy(p.forms...))
	}
	if len(p.Scripts) > 0 {
		w.Header().Set("Content-Security-Policy", policy(p.forms...)+scripted)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(max(p.status, http.StatusOK))
	// Whoever left before the page came has no use for an error.
	_, _ = w.Write(b.Bytes())
}

// done is what a page says after something was done; only these words are
// taken from an address.
func done(word string) string {
	switch word {
	case "saved":
		return "Saved."
	case "password":
		return "The password was changed. Every other browser and terminal is signed out."
	case "joined":
		return "You are a member now."
	case "declined":
		return "Declined."
	case "ended":
		return "Signed out."
	case "invited":
		return "Invited, and told by mail."
	case "invited-untold":
		return "Invited. No mail was sent: tell them to sign in, or register with this address, here."
	case "changed":
		return "Changed."
	case "removed":
		return "Removed. The keys that they made here have ended."
	case "revoked":
		return "The key has ended."
	}
	return ""
}
