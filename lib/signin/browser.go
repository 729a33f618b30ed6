package signin

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/flow"
)

// browserWait is how long a browser has to come back.
const browserWait = 5 * time.Minute

// Browser signs in by the browser of this machine, which comes back to a port
// that only this machine reaches. told gets the address to open.
func (a *Accounts) Browser(ctx context.Context, baseURL string, told func(address string)) (Tokens, error) {
	o, err := a.offered(ctx, baseURL)
	switch {
	case err != nil:
		return Tokens{}, err
	case !o.Browser || o.AuthorizeURL == nil:
		return Tokens{}, notOffered("by a browser")
	case !a.ours(baseURL, o, *o.AuthorizeURL):
		return Tokens{}, notOurs()
	}
	conf, err := a.conf(baseURL)
	if err != nil {
		return Tokens{}, err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		ln, err = net.Listen("tcp", "[::1]:0")
	}
	if err != nil {
		return Tokens{}, &flow.Error{Code: api.NetworkError, Message: "no port of this machine can be opened for the browser to come back to", Facts: []string{"nothing was stored"}, Err: err}
	}
	back := &callback{host: ln.Addr().String(), path: "/callback/" + token(), state: token(), issuers: []string{baseURL, o.WebOrigin}, codes: make(chan arrival, 1)}
	conf.Endpoint.AuthURL, conf.RedirectURL = *o.AuthorizeURL, "http://"+back.host+back.path
	verifier := oauth2.GenerateVerifier()
	code, err := back.await(ctx, ln, func() { told(conf.AuthCodeURL(back.state, oauth2.S256ChallengeOption(verifier))) })
	if err != nil {
		return Tokens{}, err
	}
	ctx, done := a.attempt(ctx)
	defer done()
	tok, err := conf.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	if s, ok := refusal(err); ok && s.Code == "invalid_grant" {
		return Tokens{}, &flow.Error{Code: api.SignInExpired, Message: "the answer of the browser was too old, or used already", Facts: []string{"nothing was stored"}}
	}
	if err != nil {
		return Tokens{}, a.said(baseURL, err)
	}
	return a.tokens(tok)
}

// token is 128 random bits.
func token() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, by its contract
	return hex.EncodeToString(b[:])
}

// arrival is what a browser brought.
type arrival struct{ code, refused string }

// callback waits for the one request that brings the state.
type callback struct {
	host, path, state string
	issuers           []string
	codes             chan arrival
}

// await serves until the browser has come back. It returns when nothing of the
// server is left.
func (c *callback) await(ctx context.Context, ln net.Listener, ready func()) (string, error) {
	srv := &http.Server{Handler: c, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ln) }()
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if srv.Shutdown(last) != nil { // a browser that keeps its connection busy
			_ = srv.Close()
		}
		<-ended
	}()
	ready()
	limit := time.NewTimer(browserWait)
	defer limit.Stop()
	select {
	case got := <-c.codes:
		if got.refused == "access_denied" {
			return "", &flow.Error{Code: api.SignInRefused, Message: "the sign-in was refused in the browser", Facts: []string{"nothing was stored"}}
		}
		if got.code == "" {
			return "", &flow.Error{Code: api.SignInRefused, Message: "the service refused the sign-in", Facts: []string{"nothing was stored"}}
		}
		return got.code, nil
	case err := <-ended:
		ended <- err
		return "", &flow.Error{Code: api.NetworkError, Message: "the browser cannot come back: the port was closed", Facts: []string{"nothing was stored"}, Err: err}
	case <-limit.C:
		return "", &flow.Error{Code: api.SignInExpired, Message: "the browser did not come back in five minutes", Facts: []string{"nothing was stored"}}
	case <-ctx.Done():
		return "", errors.Join(context.Cause(ctx), ctx.Err())
	}
}

// ServeHTTP answers every request with a page that repeats nothing of it. Only
// the right address, state and service count.
func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Type", "text/html; charset=utf-8")
	q := r.URL.Query()
	right := r.Method == http.MethodGet && r.Host == c.host && r.URL.Path == c.path &&
		subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(c.state)) == 1 && c.expected(q)
	if !right {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte("<!doctype html><title>Not here</title><p>There is nothing here.\n"))
		return
	}
	// Whether the browser gets its page changes nothing about the sign-in.
	_, _ = w.Write([]byte("<!doctype html><title>EvalRouter</title><p>This window can be closed. The terminal goes on.\n"))
	select {
	case c.codes <- arrival{q.Get("code"), q.Get("error")}:
	default: // a second one changes nothing
	}
}

// expected says that the answer is this service's own, where it says whose.
func (c *callback) expected(q url.Values) bool {
	iss := q.Get("iss")
	if iss == "" {
		return true
	}
	for _, known := range c.issuers {
		if sameOrigin(iss, known) {
			return true
		}
	}
	return false
}
