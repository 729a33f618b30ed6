package web

import (
	"errors"
	"html/template"
	"io/fs"
	"net/http"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Subject is a package of pages beside this one. They stand in the frame of all
// pages, with its policy, its sessions and its forms.
type Subject interface {
	Pages() []Page
	// Sections are what the head of every page leads to.
	Sections() []Section
}

// Section is a page that the head of every page leads to.
type Section struct{ Name, Path string }

// Page is a line of the table of pages.
type Page struct {
	Method, Path string
	// Open says that the page decides itself what to show to who is not signed in.
	Open bool
	// File is how many bytes a file of the form may have, 0 for a form without.
	// Only who is signed in may send one.
	File int64
	Show func(w http.ResponseWriter, r *http.Request, v Visit) (Shown, error)
}

// Visit is who looks at a page.
type Visit struct {
	// In says that somebody is signed in. The other fields are theirs.
	In   bool
	User core.User
	// All are the workspaces of the person, and At is the one that the address
	// names, or the first.
	All []core.Membership
	At  core.Membership
	// Form is what every form carries in the field "form".
	Form string
	// Address is where the request came from, for the log of changes.
	Address string
}

// Shown is what stands in the frame.
type Shown struct {
	Title string
	Body  template.HTML
	// Own says that the body has a first heading of its own.
	Own bool
	// Section is the path of the section that the page belongs to.
	Section string
	// Choose shows the person's workspaces, to look at another one.
	Choose bool
	// Styles and Scripts are paths of files of the subject. A page with a script
	// may also ask this service.
	Styles, Scripts []string
	// Refresh is after how many seconds a browser without script looks again; 0
	// for never.
	Refresh   int
	Bad, Good string
	Status    int
}

// File is a page of a subject that is a file of the program.
func File(files fs.FS, name, kind string) func(http.ResponseWriter, *http.Request, Visit) (Shown, error) {
	return func(w http.ResponseWriter, _ *http.Request, _ Visit) (Shown, error) {
		return Shown{}, sendFile(w, files, name, kind)
	}
}

// sendFile answers with a file of the program. Browsers keep it for a while.
func sendFile(w http.ResponseWriter, files fs.FS, name, kind string) error {
	b, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "public, max-age=300")
	_, _ = w.Write(b) // whoever left has no use for an error
	return errAnswered
}

// ErrAnswered says that a page has answered by itself.
var ErrAnswered = errAnswered

// ErrSignIn says that the page is for who is signed in.
var ErrSignIn = errors.New("the page needs a sign-in")

// subjects are the lines of the table that other packages add.
func (s *Server) subjects() (out []Route) {
	for _, sub := range s.o.Subjects {
		for _, p := range sub.Pages() {
			out = append(out, Route{p.Method, p.Path, p.Open, p.File, s.framed(p)})
		}
	}
	return out
}

func (s *Server) sections(here string) (out []tab) {
	for _, sub := range s.o.Subjects {
		for _, c := range sub.Sections() {
			out = append(out, tab{c.Name, c.Path, c.Path == here})
		}
	}
	if len(out) > 0 && s.o.People != nil {
		out = append(out, tab{"Settings", "/settings", here == "/settings"})
	}
	return out
}

// framed is a page of a subject in the frame of all pages.
func (s *Server) framed(p Page) page {
	return func(w http.ResponseWriter, r *http.Request, v *visitor) error {
		if err := s.mayLook(r, v); err != nil {
			return err
		}
		who := Visit{In: v.in, User: v.user, Address: v.address}
		if v.in {
			var err error
			who.All, who.At, err = s.place(r, v)
			if errors.Is(err, errNoWorkspace) {
				http.Redirect(w, r, "/setup", http.StatusSeeOther)
				return nil
			}
			if err != nil {
				return err
			}
			who.Form = s.formToken(v)
		}
		got, err := p.Show(w, r, who)
		switch {
		case errors.Is(err, ErrSignIn) && s.o.People != nil && !v.in:
			s.toLogin(w, r, false)
			return nil
		case errors.Is(err, ErrSignIn):
			return core.Refuse(core.NotFound, "There is nothing here for this browser. A link opens a page for a quarter of an hour: make a new one with 'evalrouter open'.")
		case err != nil:
			return err
		}
		out := view{
			Title: got.Title, Page: "subject", Body: got.Body, Own: got.Own, Sections: s.sections(got.Section), Styles: got.Styles, Scripts: got.Scripts, Refresh: got.Refresh,
			Bad: got.Bad, Good: got.Good, status: got.Status,
		}
		if got.Choose {
			out.Workspaces, out.At, out.Path = who.All, who.At, r.URL.Path
		}
		s.show(w, v, out)
		return nil
	}
}
