// Package readcache keeps copies of the public catalog on this machine, where
// and as long as the service allows it.
//
// It is a subset of RFC 9111, and stricter: only answers to requests without
// credentials are kept, only with an explicit max-age, for at most five
// minutes, and never when a directive that forbids it stands anywhere. What is
// not plain is not kept. A copy that does not match its own checksum is no copy.
// Nothing of a workspace, a run, a quote or a balance passes through here.
package readcache

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// MaxAge is how long a copy is used, whatever the service allows.
const MaxAge = 300 * time.Second

const maxBody = 8 << 20

// Mode says what a read may use.
type Mode int

// Modes of reading.
const (
	// Use prefers a fresh copy to a request.
	Use Mode = iota
	// Refresh asks the service, and caches on the way to revalidate. It never
	// falls back to a copy.
	Refresh
	// Offline uses a fresh copy and nothing else.
	Offline
)

// Cache is a transport that answers from copies where it may.
type Cache struct {
	// Dir holds the copies. It may be deleted at any time.
	Dir string
	// Next asks the service. It is not used with Offline.
	Next http.RoundTripper
	// Origin stands for the service in names of copies; "" takes that of the
	// request. A service whose port changes needs it.
	Origin string
	// Client is the version of whoever reads, as another one may read otherwise.
	Client string
	Mode   Mode
	Now    func() time.Time
	// Used is told of every copy that answers, with its age.
	Used func(age time.Duration)
}

var _ http.RoundTripper = (*Cache)(nil)

// MissError says that Offline found no fresh copy.
type MissError struct {
	// Age is that of the copy there is; Known is false when there is none.
	Age   time.Duration
	Known bool
}

// Error says what there was instead.
func (e *MissError) Error() string {
	if e.Known {
		return fmt.Sprintf("the local copy is %s old and no longer fresh", e.Age.Round(time.Second))
	}
	return "there is no local copy"
}

// RoundTrip answers from a fresh copy, or asks and keeps what may be kept.
func (c *Cache) RoundTrip(req *http.Request) (*http.Response, error) {
	if !cacheable(req) {
		if c.Mode == Offline {
			return nil, &MissError{}
		}
		return c.Next.RoundTrip(req)
	}
	key := c.key(req)
	if c.Mode == Refresh {
		return c.ask(req, key, nil)
	}
	old := c.load(key)
	now := c.Now()
	if old != nil && old.fresh(now) {
		return c.serve(req, old, now), nil
	}
	if c.Mode == Offline {
		miss := &MissError{Known: old != nil}
		if old != nil {
			miss.Age = old.age(now)
		}
		return nil, miss
	}
	return c.ask(req, key, old)
}

// ask sends the request on and keeps the answer if it may. A copy that is no
// longer fresh offers its validator.
func (c *Cache) ask(req *http.Request, key string, old *entry) (*http.Response, error) {
	out := req.Clone(req.Context())
	etag := ""
	switch {
	case c.Mode == Refresh:
		out.Header.Set("Cache-Control", "no-cache")
		out.Header.Set("Pragma", "no-cache")
	case old != nil:
		if etag = old.Header.Get("ETag"); strong(etag) {
			out.Header.Set("If-None-Match", etag)
		} else {
			etag = ""
		}
	}
	began := c.Now()
	res, err := c.Next.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusNotModified && etag != "" {
		return c.renew(req, key, old, res, began)
	}
	return c.keep(req, key, res, began)
}

// renew takes a copy that the service confirmed. Its headers count only when
// they are about this very copy; otherwise the copy is gone and the request is
// sent once more.
func (c *Cache) renew(req *http.Request, key string, old *entry, res *http.Response, began time.Time) (*http.Response, error) {
	res.Body.Close()
	if res.Header.Get("ETag") != old.Header.Get("ETag") {
		c.drop(key)
		return c.ask(req, key, nil)
	}
	header := old.Header.Clone()
	for _, name := range []string{"Cache-Control", "Pragma", "Date", "Age", "Vary", "Set-Cookie", "Expires"} {
		header.Del(name)
		for _, v := range res.Header.Values(name) {
			header.Add(name, v)
		}
	}
	fresh := c.entry(header, old.body, began)
	if fresh == nil {
		c.drop(key)
		fresh = old // it was confirmed, so it answers this once
		fresh.Header = header
	} else {
		c.store(key, fresh)
	}
	return response(req, fresh), nil
}

// keep reads the whole answer and stores it, or makes sure that nothing is left
// of an older one that this answer forbids.
func (c *Cache) keep(req *http.Request, key string, res *http.Response, began time.Time) (*http.Response, error) {
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusGone:
		c.drop(key)
		return res, nil
	default: // a failure says nothing about what the copy is of
		return res, nil
	}
	if !storable(res.Header) || res.ContentLength > maxBody {
		c.drop(key)
		return res, nil
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if err != nil || len(body) > maxBody || res.ContentLength >= 0 && int64(len(body)) != res.ContentLength {
		// The reader gets what came, and the failure or the rest behind it.
		c.drop(key)
		rest := io.Reader(res.Body)
		if err != nil {
			rest = failing{err}
		}
		res.Body = joined{io.MultiReader(bytes.NewReader(body), rest), res.Body}
		return res, nil
	}
	res.Body.Close()
	res.Body = io.NopCloser(bytes.NewReader(body))
	if e := c.entry(res.Header, body, began); e != nil {
		c.store(key, e)
	} else {
		c.drop(key)
	}
	return res, nil
}

func (c *Cache) serve(req *http.Request, e *entry, now time.Time) *http.Response {
	if c.Used != nil {
		c.Used(e.age(now))
	}
	return response(req, e)
}

func response(req *http.Request, e *entry) *http.Response {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: e.Header.Clone(),
		Body: io.NopCloser(bytes.NewReader(e.body)), ContentLength: int64(len(e.body)), Request: req,
	}
}

// cacheable says that a request is one of the public catalog reads, without
// anything that could make its answer somebody's own.
func cacheable(req *http.Request) bool {
	if req.Method != http.MethodGet || req.Body != nil && req.Body != http.NoBody {
		return false
	}
	for _, name := range []string{"Authorization", "Cookie", "X-Workspace-Id", "Range", "If-None-Match", "If-Modified-Since", "Idempotency-Key"} {
		if len(req.Header.Values(name)) > 0 {
			return false
		}
	}
	for _, list := range []string{"/v1/catalog/benchmarks", "/v1/catalog/models"} {
		if req.URL.Path == list || strings.HasPrefix(req.URL.Path, list+"/") {
			return true
		}
	}
	return false
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err == nil {
		return 0, errors.New("the answer broke off")
	}
	return 0, f.err
}

type joined struct {
	io.Reader
	io.Closer
}
