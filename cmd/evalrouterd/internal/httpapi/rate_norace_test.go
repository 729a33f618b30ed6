//go:build !race

package httpapi_test

import (
	"fmt"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi"
)

// TestRates asks as often as a minute allows and once more, as everybody who
// has a limit and as those who have none. It is one goroutine with thousands of
// requests, which the race detector would only slow down.
func TestRates(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, from, path string
		local            bool
		bearer           string // "key" for a good key, "rotated" for two in turn, "page" for a page that asks for a person
		status, most     int
		free             bool // asks so often without a limit
	}{
		{"catalog as nobody", "198.51.100.7:1234", "/v1/catalog/models", false, "", 200, 60, false},
		{"catalog as nobody, IPv6", "[2001:db8::%d]:1234", "/v1/catalog/models", false, "", 200, 60, false}, // addresses of one customer
		{"guessing keys", "198.51.100.8:1234", "/v1/runs", false, "erk_guess", 401, 60, false},
		{"without a key", "198.51.100.9:1234", "/v1/runs", false, "", 401, 60, false},
		{"with a key", "198.51.100.10:1234", "/v1/runs", false, "key", 200, 600, false},
		{"with a key and what it was rotated to", "198.51.100.12:1234", "/v1/runs", false, "rotated", 200, 600, false},
		{"with a key, locally", "127.0.0.1:1234", "/v1/runs", true, "key", 200, 600, false},
		{"the owner", "127.0.0.1:1234", "/v1/runs", true, owner, 200, 601, true},
		{"catalog locally", "127.0.0.1:1234", "/v1/catalog/models", true, "", 200, 61, true},
		{"through a proxy", "127.0.0.1:1234", "/v1/catalog/models", false, "", 200, 61, true},
		{"for a page", "", "/v1/runs", false, "page", 200, 601, true},
		{"health", "198.51.100.11:1234", "/healthz", false, "", 200, 61, true},
	}
	services := map[bool]*harness{true: newHarness(t), false: newHarness(t, func(o *httpapi.Options) { o.Owner = "" })}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := services[tt.local]
			bearer := tt.bearer
			if bearer == "key" {
				bearer = h.key(core.Local, nil, httpapi.Scopes()...)
			}
			row := func(k *core.APIKey) { k.Lineage = "the first" }
			rotated := []string{h.key(core.Local, row, "eval:read"), h.key(core.Local, row, "eval:read")}
			n := 0
			ask := func() *httptest.ResponseRecorder {
				r := httptest.NewRequestWithContext(t.Context(), "GET", tt.path, nil)
				r.RemoteAddr = tt.from
				if strings.HasPrefix(tt.from, "[") {
					n++
					r.RemoteAddr = fmt.Sprintf(tt.from, n)
				}
				switch bearer {
				case "":
				case "rotated":
					n++
					r.Header.Set("Authorization", "Bearer "+rotated[n%2])
				case "page":
					r = r.WithContext(httpapi.As(r.Context(), httpapi.Caller{Kind: httpapi.KindSession, Workspace: core.Local, Actor: "page:ada", Scopes: []string{"eval:read"}}))
				default:
					r.Header.Set("Authorization", "Bearer "+bearer)
				}
				w := httptest.NewRecorder()
				h.api.ServeHTTP(w, r)
				return w
			}
			for i := range tt.most {
				w := ask()
				if w.Code != tt.status {
					t.Fatalf("request %d answers %d: %s", i+1, w.Code, w.Body)
				}
				most, left := w.Header().Get("RateLimit-Limit"), w.Header().Get("RateLimit-Remaining")
				if tt.free && most+left != "" || !tt.free && (most != strconv.Itoa(tt.most) || left != strconv.Itoa(tt.most-i-1)) {
					t.Fatalf("request %d: the limit is %q with %q left", i+1, most, left)
				}
			}
			if tt.free {
				return
			}
			w := ask()
			if left, reset := w.Header().Get("RateLimit-Remaining"), w.Header().Get("RateLimit-Reset"); left != "0" || reset != "60" {
				t.Errorf("%q are left, and all again in %q seconds", left, reset)
			}
			reply{w.Code, w.Header(), w.Body.Bytes()}.refused(t, 429, "rate_limited")
			if after := w.Header().Get("Retry-After"); after != "1" {
				t.Errorf("Retry-After is %q", after)
			}
			h.now.Add(1_000_000)
			if w := ask(); w.Code != tt.status {
				t.Errorf("a second later the answer is %d", w.Code)
			}
		})
	}
}
