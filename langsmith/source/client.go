// Package source reads runs from LangSmith over HTTP.
//
// It speaks version 2 of the query interface, and version 1 where version 2
// does not exist (self-hosted before 0.16); Probe finds out which. The two
// differ in ways that lose data silently, so every request says its window,
// its fields and its page size itself: version 2 answers with the last 24
// hours and with ids only when they are left out.
//
// The key is sent to the configured origin and nowhere else: redirects are
// refused, and error texts are searched for it. Addresses inside runs
// (attachments, share links) are secrets of their own and are not asked for.
// Requests are paced below the limits that LangSmith publishes; repeating is
// the caller's decision.
package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// DefaultOrigin is LangSmith's own service in the United States.
const DefaultOrigin = "https://api.smith.langchain.com"

// Versions of the query interface.
const (
	V2 = "v2"
	V1 = "v1"
)

// Config says where LangSmith is and who asks.
type Config struct {
	// Origin is https, or http to this machine with AllowHTTP. A trailing /api,
	// /api/v1 or /api/v2 is dropped.
	Origin    string
	AllowHTTP bool
	Key       string
	// Workspace is needed by keys of an organisation.
	Workspace string
	// Project is the id of the tracing project; Projects works without.
	Project string
	// API is V2 or V1, "" to probe first.
	API       string
	UserAgent string
	// Timeout bounds the wait for an answer and for every part of it (60 s), not
	// the time that is spent on what has arrived.
	Timeout   time.Duration
	Transport http.RoundTripper
	// Unpaced drops the pace of requests, for tests against a fake.
	Unpaced bool
	Now     func() time.Time
	Sleep   func(ctx context.Context, d time.Duration) error
}

// Client reads one project. It is used by one goroutine.
type Client struct {
	cfg    Config
	origin string
	http   *http.Client
	pace   bucket
	offset time.Duration // LangSmith's clock minus ours
	dated  bool
	noSkew bool // the service refuses windows that end in the future
}

// New checks the configuration and makes no request.
func New(cfg Config) (*Client, error) {
	origin, err := normalise(cfg.Origin, cfg.AllowHTTP)
	if err != nil {
		return nil, err
	}
	if cfg.Key == "" || strings.ContainsFunc(cfg.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, &Error{Code: InvalidConfiguration, Message: "the LangSmith key is empty or has characters that no key has"}
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = time.Minute
	}
	if cfg.Transport == nil {
		cfg.Transport = &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 4, IdleConnTimeout: 90 * time.Second}
	}
	c := &Client{cfg: cfg, origin: origin, http: &http.Client{
		Transport:     cfg.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	c.setAPI(cfg.API)
	return c, nil
}

// setAPI chooses the version and the pace that its limits allow: 300 requests
// in 10 s for version 2, 10 in 10 s for version 1. We take a third, and less.
func (c *Client) setAPI(api string) {
	c.cfg.API = api
	c.pace = bucket{every: 100 * time.Millisecond, burst: 10}
	if api == V1 {
		c.pace = bucket{every: 1250 * time.Millisecond, burst: 2}
	}
}

// API is the version in use, "" before the probe.
func (c *Client) API() string { return c.cfg.API }

// Origin is the origin in use.
func (c *Client) Origin() string { return c.origin }

// Now is LangSmith's clock as its last answer told it, to the second.
func (c *Client) Now() time.Time { return c.cfg.Now().Add(c.offset) }

// Skew is how far our clock is behind LangSmith's.
func (c *Client) Skew() time.Duration { return c.offset }

// normalise reads an origin. The text is never part of an error.
func normalise(raw string, allowHTTP bool) (string, error) {
	bad := func(why string) (string, error) {
		return "", &Error{Code: InvalidConfiguration, Message: "the LangSmith endpoint " + why}
	}
	if raw == "" {
		raw = DefaultOrigin
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return bad("must be an origin such as " + DefaultOrigin)
	}
	path := strings.TrimRight(u.Path, "/")
	for _, tail := range []string{"/api/v1", "/api/v2", "/api"} {
		path = strings.TrimSuffix(path, tail)
	}
	if path != "" {
		return bad("has a path that is not /api, /api/v1 or /api/v2")
	}
	switch {
	case u.Scheme == "https":
	case u.Scheme != "http":
		return bad("must begin with https://")
	case !loopback(u.Hostname()):
		return bad("must begin with https://; plain http is for this machine only")
	case !allowHTTP:
		return bad("is plain http; --allow-http permits that for this machine")
	}
	return u.Scheme + "://" + u.Host, nil
}

func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.Zone() == "" && a.IsLoopback()
}

// Bounds of what is read of an answer.
const (
	maxAnswer = 1 << 30 // a tree is read run by run
	maxPage   = 64 << 20
	maxError  = 64 << 10
)

// call makes one request and gives the body of a success to read.
func (c *Client) call(ctx context.Context, method, path string, query url.Values, body any, read func(io.Reader) error) error {
	if !c.cfg.Unpaced {
		if err := c.pace.wait(ctx, c.cfg.Now, c.cfg.Sleep); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := time.AfterFunc(c.cfg.Timeout, func() { cancel(errSilent) })
	defer limit.Stop()
	req, err := c.request(ctx, method, path, query, body)
	if err != nil {
		return err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return c.networkError(ctx, err)
	}
	defer res.Body.Close()
	c.readClock(res.Header.Get("Date"))
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return c.refusal(res)
	}
	limit.Stop()
	if err := read(&patient{res.Body, limit, c.cfg.Timeout}); err != nil {
		var own *stop
		if errors.As(err, &own) {
			return own.error
		}
		if ctx.Err() != nil {
			return c.networkError(ctx, err)
		}
		return &Error{Code: InvalidResponse, Temporary: true, Message: "LangSmith's answer is not complete or not the expected JSON", err: err}
	}
	return nil
}

var errSilent = errors.New("no answer in time")

// patient reads an answer and ends it when nothing comes for too long.
type patient struct {
	in    io.Reader
	limit *time.Timer
	most  time.Duration
}

func (p *patient) Read(b []byte) (int, error) {
	p.limit.Reset(p.most)
	defer p.limit.Stop()
	return p.in.Read(b)
}

// stop is an error of the visitor on its way through the reader.
type stop struct{ error }

func (c *Client) request(ctx context.Context, method, path string, query url.Values, body any) (*http.Request, error) {
	target := c.origin + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	var in io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("write query: %w", err)
		}
		in = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, target, in)
	if err != nil {
		return nil, &Error{Code: InvalidConfiguration, Message: "the request has no valid address"}
	}
	req.Header.Set("X-API-Key", c.cfg.Key)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.cfg.UserAgent)
	if c.cfg.Workspace != "" {
		req.Header.Set("X-Tenant-Id", c.cfg.Workspace)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// readClock follows LangSmith's clock. Headers have whole seconds, so small
// differences mean nothing.
func (c *Client) readClock(date string) {
	at, err := http.ParseTime(date)
	if err != nil {
		return
	}
	offset := at.Sub(c.cfg.Now())
	if d := offset - c.offset; !c.dated || d > 2*time.Second || d < -2*time.Second {
		if offset.Abs() <= 2*time.Second {
			offset = 0
		}
		c.offset, c.dated = offset, true
	}
}

func (c *Client) networkError(ctx context.Context, err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var t net.Error
	switch {
	case errors.Is(context.Cause(ctx), errSilent), errors.As(err, &t) && t.Timeout():
		return &Error{Code: RequestTimeout, Temporary: true, Message: fmt.Sprintf("LangSmith did not answer within %s", c.cfg.Timeout), err: err}
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return &Error{Code: NetworkError, Temporary: true, Message: "LangSmith at " + c.origin + " cannot be reached", err: err}
}

// bucket paces requests: burst at once, then one every interval.
type bucket struct {
	every time.Duration
	burst int
	full  time.Time // when the bucket is full again
}

func (b *bucket) wait(ctx context.Context, now func() time.Time, sleep func(context.Context, time.Duration) error) error {
	at := now()
	if b.full.Before(at) {
		b.full = at
	}
	b.full = b.full.Add(b.every)
	if over := b.full.Sub(at) - time.Duration(b.burst)*b.every; over > 0 {
		return sleep(ctx, over)
	}
	return nil
}
