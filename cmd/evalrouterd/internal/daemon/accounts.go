package daemon

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/netip"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/badge"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/courier"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/accounts"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/identity"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/oauth"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/password"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/ratelimit"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/secretfile"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/access"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web"
)

var (
	_ identity.People   = (*access.Store)(nil)
	_ identity.Sessions = (*access.Store)(nil)
	_ identity.Members  = (*access.Store)(nil)
	_ identity.Keys     = (*access.Store)(nil)
	_ oauth.Store       = (*access.Store)(nil)
	_ accounts.Access   = (*access.Store)(nil)
	_ httpapi.Sessions  = badge.Sessions{}
	_ web.Reader        = (*access.Store)(nil)
	_ web.Ender         = (*access.Store)(nil)
)

// Turns a minute: of one address that begins sign-ins or asks for tokens, of
// whatever is tried for one account, of mails to one address, and of one visitor
// who looks at pages.
const (
	signInRate = 10
	asksRate   = 60
	triesRate  = 10
	mailRate   = 1
	looksRate  = 600
)

// signIn is how people sign in at a service. The zero value is a service where
// nobody does.
type signIn struct {
	// origin is where browsers find the service, "" for nowhere.
	origin string
	mail   *courier.Courier
}

// signIn declares the flags of people's sign-in.
func (f *flagSet) signIn() func(System) (signIn, error) {
	origin := f.StringLong("web-origin", "", "`URL` under which browsers find this service, such as https://eval.example.org; people sign in there. By default that of a loopback address, and none otherwise")
	file := f.StringLong("mail-file", "", "a `FILE` with the mail server, readable by its owner only: {\"address\":\"HOST:PORT\",\"from\":\"...\",\"user\":\"...\",\"password\":\"...\"}. Without it you approve accounts with 'evalrouterd accounts approve'")
	return func(sys System) (signIn, error) {
		out := signIn{origin: strings.TrimSuffix(*origin, "/")}
		if out.origin != "" && !web.Origin(out.origin) {
			return out, refuse("invalid_input", "--web-origin is https://HOST or https://HOST:PORT, or http:// and a loopback address; nothing was started")
		}
		if *file == "" {
			return out, nil
		}
		text, err := secretfile.Read(*file)
		if err != nil {
			return out, refuse("invalid_input", "the file with the mail server cannot be used: %s; nothing was started", reason(err))
		}
		if out.mail, err = courier.Parse([]byte(text), sys.now); err != nil {
			return out, refuse("invalid_input", "the file with the mail server cannot be used: %s; nothing was started", err)
		}
		return out, nil
	}
}

// at fills in the origin of a loopback listener. Behind a proxy only the
// operator knows under which name browsers come.
func (s signIn) at(l netip.AddrPort, encrypted, proxied bool) signIn {
	if s.origin != "" || proxied || !l.Addr().IsLoopback() {
		return s
	}
	if s.origin = "http://" + l.String(); encrypted {
		s.origin = "https://" + l.String()
	}
	return s
}

// people decides about accounts and keys.
func (s *service) people(o options) *identity.Service {
	a := s.store.Access()
	out := &identity.Service{
		People: a, Sessions: a, Members: a, Keys: a, Hasher: password.New(password.Usual(), rand.Reader), Master: s.master, Draw: drawKey, Code: drawCode,
		NewID: newID, NewEntry: newCallID, Now: s.store.Now, Origin: o.signIn.origin, Tries: ratelimit.New(triesRate), Mails: ratelimit.New(mailRate),
	}
	if o.signIn.mail != nil {
		out.Mail = o.signIn.mail
	}
	return out
}

// accounts is the routes of who somebody is.
func (s *service) accounts(o options, people *identity.Service) *accounts.Handlers {
	a := s.store.Access()
	h := &accounts.Handlers{
		Money: s.store, Access: a, People: people, Often: ratelimit.New(signInRate), Asks: ratelimit.New(asksRate), Origin: o.signIn.origin, Now: s.store.Now,
		Fault: func(_ context.Context, err error) { s.log.Error("request failed", "error", err.Error()) },
	}
	if o.signIn.origin == "" {
		return h
	}
	h.SignIn = &oauth.Service{
		Store: a, Ender: a, People: a, Master: s.master, Draw: drawKey, Code: drawCode, Salt: randomBytes, NewID: newID, NewEntry: newCallID,
		Now: s.store.Now, Scopes: httpapi.Scopes(), Origin: o.signIn.origin, Guesses: oauth.NewGuesses(),
	}
	return h
}

// web is the pages on which people do all that, and look at what was evaluated.
// Where nobody signs in only the latter are there, for whoever has a link.
func (s *service) web(who *accounts.Handlers, origin string, subjects ...web.Subject) (*web.Server, error) {
	a := s.store.Access()
	o := web.Options{
		SignIn: who.SignIn, Reader: a, Ender: a, Money: s.store, Master: s.master, Often: who.Often, Looks: ratelimit.New(looksRate), Now: s.store.Now, Random: randomBytes, Scopes: httpapi.Scopes(), Origin: origin, Log: s.log, Subjects: subjects,
	}
	if who.SignIn != nil {
		o.People = who.People
	}
	return web.New(o)
}

// ServeHTTP answers with a page where there is one, and as the API otherwise.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.pages != nil && s.pages.Has(r) {
		s.pages.ServeHTTP(w, r)
		return
	}
	s.server.ServeHTTP(w, r)
}

func drawKey(kind seal.Kind) (seal.Key, error) { return seal.NewKey(kind, rand.Reader) }

func drawCode() (string, error) { return oauth.NewCode(rand.Reader) }
