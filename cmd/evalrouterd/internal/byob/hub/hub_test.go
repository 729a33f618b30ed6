package hub_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/byob/hub"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/netguard"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

// play is a server that speaks the hub's API.
func play(t *testing.T, routes map[string]http.HandlerFunc) *hub.Hub {
	t.Helper()
	mux := http.NewServeMux()
	for pattern, fn := range routes {
		mux.HandleFunc(pattern, fn)
	}
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	base, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	transport := netguard.Transport(netguard.Policy{AllowPrivate: []string{base.Host}})
	t.Cleanup(transport.CloseIdleConnections)
	return &hub.Hub{Base: base, Transport: transport, UserAgent: "test"}
}

func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func to(address string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", address)
		w.WriteHeader(http.StatusFound)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		source string
		want   hub.Dataset
		ok     bool
	}{
		{"hf://openai/gsm8k@main", hub.Dataset{Org: "openai", Name: "gsm8k", Ref: "main"}, true},
		{"hf://a/b.c-d@refs/convert/parquet", hub.Dataset{Org: "a", Name: "b.c-d", Ref: "refs/convert/parquet"}, true},
		{source: "hf://a/b"}, {source: "hf://a@main"}, {source: "hf://../b@main"}, {source: "hf://a/b@../../x"}, {source: "hf://a/b@a//b"}, {source: "https://a/b@c"},
		{source: "hf://a/b@m?x=1"}, {source: "hf://a/b/c@m"}, {source: ""},
	} {
		if got, ok := hub.Parse(tt.source); ok != tt.ok || got != tt.want {
			t.Errorf("%s: %+v, %v", tt.source, got, ok)
		}
	}
	for path, want := range map[string]bool{"a.csv": true, "data/test-00000-of-00001.parquet": true, "../a.csv": false, "/a.csv": false, "a/../b.csv": false, "a//b": false, "": false, ".a": false, "a?b": false} {
		if hub.ValidPath(path) != want {
			t.Errorf("path %q: want %v", path, want)
		}
	}
}

func TestHub(t *testing.T) {
	t.Parallel()
	d := hub.Dataset{Org: "org", Name: "set", Ref: "refs/convert/parquet"}
	const resolve, file = "GET /api/datasets/org/set/revision/{ref}", "GET /datasets/org/set/resolve/" + commit + "/data/{name}"
	for _, tt := range []struct {
		name    string
		resolve http.HandlerFunc
		file    http.HandlerFunc
		more    map[string]http.HandlerFunc
		code    string
		want    string
	}{
		{name: "a file", file: says(200, "a,b\n"), want: "a,b\n"},
		{name: "a file elsewhere", file: to("/elsewhere"), more: map[string]http.HandlerFunc{"/elsewhere": says(200, "x")}, want: "x"},
		{name: "no such set", resolve: says(404, ""), code: "hub_not_found"},
		{name: "a gated set", resolve: says(401, ""), code: "hub_not_found"},
		{name: "no commit", resolve: says(200, `{"sha":"main"}`), code: "hub_invalid"},
		{name: "no JSON", resolve: says(200, `<html>`), code: "hub_invalid"},
		{name: "no such file", file: says(404, ""), code: "hub_not_found"},
		{name: "too busy", file: says(429, ""), code: "hub_busy"},
		{name: "broken", file: says(500, ""), code: "hub_unreachable"},
		{name: "too large", file: says(200, strings.Repeat("x", 101)), code: "source_too_large"},
		{name: "too large without a length", file: func(w http.ResponseWriter, _ *http.Request) {
			for range 101 {
				_, _ = w.Write([]byte("x"))
				w.(http.Flusher).Flush()
			}
		}, code: "source_too_large"},
		{name: "cut off", file: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "50")
			_, _ = w.Write([]byte("x"))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, code: "hub_unreachable"},
		{name: "to an address of a cloud's metadata", file: to("https://169.254.169.254/latest"), code: "hub_unreachable"},
		{name: "to a private address", file: to("https://10.0.0.1/a"), code: "hub_unreachable"},
		{name: "to another port of this machine", file: to("https://127.0.0.1:1/a"), code: "hub_unreachable"},
		{name: "to plain http elsewhere", file: to("http://example.com/a"), code: "hub_invalid"},
		{name: "to a file of this machine", file: to("file:///etc/passwd"), code: "hub_invalid"},
		{name: "with a password", file: to("https://a:b@example.com/a"), code: "hub_invalid"},
		{name: "nowhere", file: to(""), code: "hub_invalid"},
		{name: "in a circle", file: to("/datasets/org/set/resolve/" + commit + "/data/a%20b.csv"), code: "hub_invalid"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			routes := map[string]http.HandlerFunc{resolve: func(w http.ResponseWriter, r *http.Request) {
				if r.PathValue("ref") != d.Ref || r.Header.Get("Authorization") != "" {
					t.Errorf("asked for %s with %v", r.URL, r.Header)
				}
				says(200, `{"id":"org/set","sha":"`+commit+`"}`)(w, r)
			}}
			if tt.resolve != nil {
				routes[resolve] = tt.resolve
			}
			if tt.file != nil {
				routes[file] = tt.file
			}
			for p, fn := range tt.more {
				routes[p] = fn
			}
			h := play(t, routes)
			var out bytes.Buffer
			at, err := h.Commit(t.Context(), d)
			if err == nil {
				err = h.Fetch(t.Context(), d, at, "data/a b.csv", &out, 100)
			}
			var failed *hub.Error
			switch {
			case tt.code == "" && (err != nil || out.String() != tt.want || at != commit):
				t.Errorf("%q at %s, %v", out.String(), at, err)
			case tt.code != "" && (!errors.As(err, &failed) || failed.Code != tt.code):
				t.Errorf("%v, want %s", err, tt.code)
			}
		})
	}
}

// A commit that was asked for is the one that is answered with.
func TestHub_AnotherCommit(t *testing.T) {
	t.Parallel()
	h := play(t, map[string]http.HandlerFunc{"/": says(200, `{"sha":"`+commit+`"}`)})
	_, err := h.Commit(t.Context(), hub.Dataset{Org: "o", Name: "n", Ref: strings.Repeat("f", 40)})
	var failed *hub.Error
	if !errors.As(err, &failed) || failed.Code != "hub_invalid" {
		t.Errorf("%v", err)
	}
}
