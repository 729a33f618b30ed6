// Package place is where the workspace runs: which service it talks to and as
// whom, which directories it uses, and what opens a browser. The rules are
// those of the command line, so that both see the same runs and find each
// other's accepted quotes.
package place

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouter-tui/internal/release"
	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/connect"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/local"
	"github.com/evalrouter/evalrouter/lib/profile"
	"github.com/evalrouter/evalrouter/lib/readcache"
	"github.com/evalrouter/evalrouter/lib/signin"
	"github.com/evalrouter/evalrouter/tui"
)

// copyFormat is raised when the workspace reads the catalog in another way.
const copyFormat = "tui-1"

// Place is the surroundings of one process.
type Place struct {
	connect.Place
	// Host names this computer to whoever approves a code.
	Host string
}

// Options is the workspace at this place. It asks no service.
func (p Place) Options() (tui.Options, error) {
	who, err := p.Profile()
	if err != nil {
		return tui.Options{}, err
	}
	state, err := who.Dirs.State.Path()
	if err != nil {
		return tui.Options{}, err
	}
	newer := release.Check{
		Version: p.Version, Env: p.Env, Dir: state, Program: os.Executable, Now: p.Now,
		HTTP: &http.Client{Transport: evalrouter.NewTransport()},
	}
	gate, err := p.gate()
	if err != nil {
		return tui.Options{}, err
	}
	browser := Browser{OS: runtime.GOOS, Env: p.Env, Start: start}
	banner := who.Workspace.Value
	if who.Local {
		banner = "this machine"
	}
	return tui.Options{
		SignIn: gate, Service: tui.Service{
			Connect:   func(ctx context.Context) (*evalrouter.Client, error) { return p.Client(ctx, who) },
			Catalog:   func() (*evalrouter.Catalog, error) { return p.catalog(who, readcache.Use) },
			Refresh:   func() (*evalrouter.Catalog, error) { return p.catalog(who, readcache.Refresh) },
			Journal:   &flow.Journal{Dir: state, Disk: flow.OS{}, Now: p.Now, Sleep: p.Sleep},
			Origin:    who.BaseURL.Value,
			Workspace: who.Workspace.Value,
			NewKey:    func() string { return string(evalrouter.NewIdempotencyKey()) },
			Now:       p.Now, Sleep: p.Sleep, Chance: p.Chance, SaveDir: os.Getwd, Local: who.Local,
			Newer: newer.Newer,
		},
		Env: p.Env, Open: browser.Open, Now: p.Now, Banner: banner,
	}, nil
}

// gate is how one signs in here: where `evalrouter login` would. nil is where
// there is no place to keep a sign-in.
func (p Place) gate() (*tui.SignIn, error) {
	accounts, err := p.Accounts()
	if err != nil {
		return nil, nil // the service on this machine needs none
	}
	at := profile.Production
	for _, named := range []string{p.BaseURL, p.get(profile.EnvBaseURL)} {
		if named != "" && !strings.EqualFold(named, profile.Local) {
			at = named
			break
		}
	}
	if last, found, err := accounts.Find(""); err == nil && found && at == profile.Production && p.BaseURL == "" && p.get(profile.EnvBaseURL) == "" {
		at = last.BaseURL // an ended sign-in is begun again where it was
	}
	g := &tui.SignIn{Accounts: accounts, Machine: signin.Machine{Name: p.Host, Version: p.Version}, Origin: at}
	switch {
	case p.get(profile.EnvAPIKey) != "":
		g.Overruled = profile.EnvAPIKey
	case p.BaseURL == "" && strings.EqualFold(p.get(profile.EnvBaseURL), profile.Local):
		g.Overruled = profile.EnvBaseURL
	}
	g.Again = func() (tui.Service, string, error) {
		if strings.EqualFold(p.BaseURL, profile.Local) {
			p.BaseURL = at
		}
		o, err := p.Options()
		return o.Service, o.Banner, err
	}
	return g, nil
}

func (p Place) get(name string) string {
	v, _ := p.Env(name)
	return v
}

// catalog is the public catalog over local copies, read without credentials.
func (p Place) catalog(who *profile.Profile, mode readcache.Mode) (*evalrouter.Catalog, error) {
	cfg := p.Config(who)
	wire := evalrouter.NewTransport()
	next := http.RoundTripper(wire)
	if who.Local {
		// Where the service listens is known once it runs, and it is started
		// only when a copy does not do.
		cfg.BaseURL, cfg.AllowHTTP = fmt.Sprintf("http://127.0.0.1:%d", local.DefaultPort), true
		service := p.Service(who)
		wire.DialContext = service.Dial
		next = localTransport{service, next}
	}
	dir, err := who.Dirs.Cache.Path()
	if off, _ := p.Env("EVALROUTER_READ_CACHE"); err == nil && !strings.EqualFold(off, "off") {
		cache := &readcache.Cache{Dir: dir, Client: copyFormat, Now: p.Now, Next: next, Mode: mode}
		if who.Local {
			cache.Origin = "local " + who.Dirs.Data.Value
		}
		next = cache
	}
	cfg.HTTPClient = &http.Client{Transport: next}
	c, err := evalrouter.New(cfg)
	if err != nil {
		return nil, err
	}
	return c.Catalog.Public(), nil
}

// localTransport leads to the service on this machine.
type localTransport struct {
	service *local.Service
	next    http.RoundTripper
}

// RoundTrip sends the request where the service listens.
func (t localTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	r, _, err := t.service.Ensure(req.Context())
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(r.BaseURL)
	if err != nil {
		return nil, errors.New("the local service named no address")
	}
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host, req.Host = base.Scheme, base.Host, base.Host
	return t.next.RoundTrip(req)
}
