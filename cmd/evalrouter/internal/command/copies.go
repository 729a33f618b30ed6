package command

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
	"github.com/evalrouter/evalrouter/lib/local"
	"github.com/evalrouter/evalrouter/lib/profile"
	"github.com/evalrouter/evalrouter/lib/readcache"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
)

// envReadCache switches local copies of the catalog off.
const envReadCache = "EVALROUTER_READ_CACHE"

// copyFormat is raised when this program reads the catalog in another way, so
// that it trusts no older copy.
const copyFormat = "1"

// catalogReader is the public catalog over local copies, with what was used.
type catalogReader struct {
	*evalrouter.Catalog
	client *evalrouter.Client
	wire   *http.Transport
	// age is that of the oldest copy that answered, and copied says that one did.
	age    time.Duration
	copied bool
}

// PublicCatalog is the catalog without credentials: none is read, refreshed or
// sent. Copies are used as the mode says.
func (a *App) publicCatalog(mode readcache.Mode) (*catalogReader, error) {
	p, err := a.Profile()
	if err != nil {
		return nil, err
	}
	r := &catalogReader{wire: evalrouter.NewTransport()}
	cfg := a.config(p)
	next := http.RoundTripper(a.patience(r.wire))
	if p.Local {
		// The service is started only when a copy does not do, and where it
		// listens is known only then.
		cfg.BaseURL, cfg.AllowHTTP = fmt.Sprintf("http://127.0.0.1:%d", local.DefaultPort), true
		if dir, err := p.Dirs.Data.Path(); err == nil { // ensureLocal says what is wrong with it
			r.wire.DialContext = a.LocalService(dir, local.DefaultPort).Dial
		}
		next = &localTransport{app: a, profile: p, next: next}
	}
	cache, off := a.catalogCopies(p)
	switch {
	case off && mode == readcache.Offline:
		return nil, &argv.UsageError{Message: "--offline uses local copies, and there are none here: " + envReadCache + "=off, or no place for them"}
	case off:
		cfg.HTTPClient = &http.Client{Transport: refreshing(next, mode)}
	default:
		cache.Next, cache.Mode = next, mode
		cache.Used = func(age time.Duration) { r.age, r.copied = max(r.age, age), true }
		cfg.HTTPClient = &http.Client{Transport: cache}
	}
	if mode == readcache.Offline {
		cfg.Retries = new(int) // asking again finds the same
	}
	if r.client, err = evalrouter.New(cfg); err != nil {
		return nil, err
	}
	r.Catalog = r.client.Catalog.Public()
	return r, nil
}

// catalogCopies is where copies are kept, and off says that none are.
func (a *App) catalogCopies(p *profile.Profile) (c *readcache.Cache, off bool) {
	dir, err := p.Dirs.Cache.Path()
	if err != nil || strings.EqualFold(a.Term.Get(envReadCache), "off") {
		return nil, true
	}
	c = &readcache.Cache{Dir: dir, Client: copyFormat, Now: a.Now}
	if p.Local {
		c.Origin = "local " + p.Dirs.Data.Value
	}
	return c, false
}

// refreshing asks caches on the way to revalidate where no copies are kept.
func refreshing(next http.RoundTripper, mode readcache.Mode) http.RoundTripper {
	if mode != readcache.Refresh {
		return next
	}
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		req = req.Clone(req.Context())
		req.Header.Set("Cache-Control", "no-cache")
		req.Header.Set("Pragma", "no-cache")
		return next.RoundTrip(req)
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// close ends the connections of the reader.
func (r *catalogReader) close() error {
	err := r.client.Close()
	r.wire.CloseIdleConnections()
	return err
}

// explain gives the cause of a failed read its own words: what the transport
// below it met is not the network's fault. online is the same command with a
// network.
func (r *catalogReader) explain(err error, online string) error {
	var miss *readcache.MissError
	var service *local.Error
	switch {
	case errors.As(err, &miss):
		return WithNext(&flow.Error{
			Code: api.CacheMiss, Message: "--offline found nothing to show: " + miss.Error(), Err: miss,
			Facts: []string{"nothing was asked of any service"},
		}, online)
	case errors.As(err, &service):
		return service
	}
	return err
}

// Told says that a copy was used, on stderr, once.
func (r *catalogReader) told(a *App) {
	if r.copied {
		a.Note("Using a local copy read %s ago (--refresh reads it now). Availability in it is informational; a quote checks it again.", ago(r.age))
	}
}

func ago(d time.Duration) string {
	if d < 2*time.Minute {
		return Count(int(d.Seconds()), "second")
	}
	return Count(int(d.Minutes()), "minute")
}

// localTransport leads to the service on this machine, which it starts when the
// first request comes.
type localTransport struct {
	app     *App
	profile *profile.Profile
	next    http.RoundTripper

	once sync.Once
	base *url.URL
	err  error
}

// RoundTrip sends the request where the service listens.
func (t *localTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	t.once.Do(func() { t.base, t.err = t.find(req.Context()) })
	if t.err != nil {
		return nil, t.err
	}
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host, req.Host = t.base.Scheme, t.base.Host, t.base.Host
	return t.next.RoundTrip(req)
}

func (t *localTransport) find(ctx context.Context) (*url.URL, error) {
	r, err := t.app.ensureLocal(ctx, t.profile)
	if err != nil {
		return nil, err
	}
	return url.Parse(r.BaseURL)
}
