// Package openaihost is what the protocols of OpenAI have in common wherever
// they are spoken: how an address is formed, which kind of server it names,
// and what its errors mean.
//
// What differs between hosts is decided by the host of the base URL, never by
// trying: a second request could be billed.
package openaihost

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

// Kind is a kind of server: those of one kind take the same requests and mean
// the same by an error.
type Kind string

// Kinds.
const (
	OpenAI     Kind = "openai"
	Azure      Kind = "azure"
	OpenRouter Kind = "openrouter"
	Compatible Kind = "compatible" // every other one, local servers included
)

// Endpoint is where a protocol of a target is spoken.
type Endpoint struct {
	URL  string
	Kind Kind
}

// Locator is Locate for one protocol's path. It remembers the last address, for
// a run asks thousands of times for the same one. It is safe for concurrent use.
type Locator struct {
	path string
	last atomic.Pointer[located]
}

type located struct {
	base string
	at   Endpoint
}

// NewLocator makes the locator of a protocol's path.
func NewLocator(path string) *Locator { return &Locator{path: path} }

// Locate is where the protocol is spoken at a base URL.
func (l *Locator) Locate(base string) (Endpoint, error) {
	if known := l.last.Load(); known != nil && known.base == base {
		return known.at, nil
	}
	at, err := Locate(base, l.path)
	if err == nil {
		l.last.Store(&located{base, at})
	}
	return at, err
}

// Locate joins the base URL of a target and the path of a protocol. A base
// URL without a path gets /v1, as all these servers have it; one with a path
// is the root of the API.
func Locate(base, path string) (Endpoint, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return Endpoint{}, fmt.Errorf("the base URL is not an http or https address")
	}
	root := strings.TrimRight(u.Path, "/")
	if root == "" {
		root = "/v1"
	}
	if !strings.HasSuffix(root, path) {
		root += path
	}
	at := url.URL{Scheme: u.Scheme, Host: u.Host, Path: root}
	return Endpoint{URL: at.String(), Kind: kindOf(u.Hostname())}, nil
}

func kindOf(name string) Kind {
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	within := func(domain string) bool { return name == domain || strings.HasSuffix(name, "."+domain) }
	switch {
	case within("api.openai.com"):
		return OpenAI
	case within("openai.azure.com"), within("cognitiveservices.azure.com"), within("services.ai.azure.com"):
		return Azure
	case within("openrouter.ai"):
		return OpenRouter
	}
	return Compatible
}

// Bound is the most input tokens that r can be billed for at a host.
func (k Kind) Bound(r provider.Request) int64 {
	if k == OpenAI || k == Azure {
		return provider.InputBound(r.Messages, 8, 64)
	}
	return provider.InputBound(r.Messages, 16, 256)
}

// Bearer is the header that carries a key; none without one.
func Bearer(key provider.Secret) http.Header {
	h := http.Header{}
	if !key.Empty() {
		h.Set("Authorization", "Bearer "+key.Reveal())
	}
	return h
}

// IDHeaders name the headers that carry a call's id, the likelier first. Each
// call gives a fresh slice.
func IDHeaders() []string { return []string{"X-Request-Id", "X-Generation-Id", "Apim-Request-Id"} }
