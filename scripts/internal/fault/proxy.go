// Package fault is an HTTP reverse proxy that loses, delays or refuses chosen answers, to prove that a client survives
// what networks do.
//
// A lost answer is the hard case: the server has done its work, and the client cannot know. So the proxy lets the
// server answer completely before it closes the client's connection without a byte.
package fault

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Kind is what happens to a matching request.
type Kind string

const (
	Drop   Kind = "drop"   // the server answers, the client's connection closes without an answer
	Delay  Kind = "delay"  // the request reaches the server after Rule.By
	Refuse Kind = "refuse" // the proxy answers 503, the server sees nothing
)

// Rule applies to the first Times matching requests, to all of them when Times is 0.
type Rule struct {
	Kind   Kind
	Method string
	Path   string // exact, or a prefix when it ends in "*"
	Times  int
	By     time.Duration // of Delay
}

// ParseMatch reads "METHOD /path" into the matching half of a rule.
func ParseMatch(s string) (Rule, error) {
	method, path, ok := strings.Cut(s, " ")
	if !ok || method == "" || method != strings.ToUpper(method) || !strings.HasPrefix(path, "/") {
		return Rule{}, fmt.Errorf("read rule %q: write it as METHOD /path, for example POST /v1/runs", s)
	}
	return Rule{Method: method, Path: path}, nil
}

func (r Rule) matches(req *http.Request) bool {
	if r.Method != req.Method {
		return false
	}
	if prefix, ok := strings.CutSuffix(r.Path, "*"); ok {
		return strings.HasPrefix(req.URL.Path, prefix)
	}
	return r.Path == req.URL.Path
}

// Proxy forwards to one target. It is safe for concurrent use.
type Proxy struct {
	forward *httputil.ReverseProxy
	log     io.Writer

	mu    sync.Mutex
	rules []Rule
	used  []int
}

// New returns a proxy to target, a base URL without path. The target sees its own host name, so a server that checks
// the Host header is content. One line for each applied rule goes to log.
func New(target *url.URL, rules []Rule, log io.Writer) *Proxy {
	forward := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		FlushInterval: -1, // event streams pass at once
		// Bytes pass unchanged, and no proxy of the environment comes between.
		Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 256, IdleConnTimeout: time.Minute},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, "the target does not answer: "+err.Error(), http.StatusBadGateway)
		},
	}
	return &Proxy{forward: forward, log: log, rules: rules, used: make([]int, len(rules))}
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rule, ok := p.take(r)
	if !ok {
		p.forward.ServeHTTP(w, r)
		return
	}
	switch rule.Kind {
	case Refuse:
		http.Error(w, "refused on purpose", http.StatusServiceUnavailable)
	case Delay:
		if pause(r, rule.By) {
			p.forward.ServeHTTP(w, r)
		}
	case Drop:
		p.forward.ServeHTTP(&sink{header: http.Header{}}, r)
		panic(http.ErrAbortHandler) // the documented way to close a connection without an answer
	}
}

// take finds the first rule that still applies and uses it up.
func (p *Proxy) take(r *http.Request) (Rule, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, rule := range p.rules {
		if !rule.matches(r) || (rule.Times > 0 && p.used[i] >= rule.Times) {
			continue
		}
		p.used[i]++
		// The log is for people; a proxy whose reader has gone still does its work.
		_, _ = fmt.Fprintf(p.log, "%s %s %s (%d)\n", rule.Kind, r.Method, r.URL.Path, p.used[i])
		return rule, true
	}
	return Rule{}, false
}

func pause(r *http.Request, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// sink takes an answer that nobody will see, to its last byte.
type sink struct{ header http.Header }

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(int)             {}
func (s *sink) Write(p []byte) (int, error) { return len(p), nil }
