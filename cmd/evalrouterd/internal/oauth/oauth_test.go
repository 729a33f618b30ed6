package oauth_test

import (
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/oauth"
)

// A code goes to this machine and nowhere else.
func TestLoopbackRedirect(t *testing.T) {
	t.Parallel()
	tests := []struct {
		address string
		good    bool
	}{
		{"http://127.0.0.1:4000/callback", true},
		{"http://127.0.0.1:4000/c/8f2e", true},
		{"http://127.0.0.1:4000", true},
		{"http://[::1]:4000/callback", true},
		{"http://127.0.0.1/callback", false}, // no port: not a client that waits
		{"http://127.0.0.1:0/callback", false},
		{"http://localhost:4000/callback", false}, // a name may lead elsewhere
		{"http://127.0.0.2:4000/callback", false},
		{"http://127.1:4000/callback", false},
		{"http://2130706433:4000/callback", false},
		{"http://0x7f.0.0.1:4000/callback", false},
		{"http://[::ffff:127.0.0.1]:4000/callback", false},
		{"http://[::1%25lo]:4000/callback", false},
		{"http://127.0.0.1.example.org:4000/callback", false},
		{"http://user@127.0.0.1:4000/callback", false},
		{"http://127.0.0.1:4000@example.org/callback", false},
		{"http://127.0.0.1:4000/callback?x=1", false},
		{"http://127.0.0.1:4000/callback?", false},
		{"http://127.0.0.1:4000/callback#x", false},
		{"http://127.0.0.1:4000/callback#", false},
		{"https://127.0.0.1:4000/callback", false},
		{"javascript://127.0.0.1:4000/%0aalert(1)", false},
		{"http:127.0.0.1:4000/callback", false},
		{"//127.0.0.1:4000/callback", false},
		{"http://example.org/callback", false},
		{"", false},
		{"http://127.0.0.1:4000/" + strings.Repeat("x", 600), false},
	}
	for _, tt := range tests {
		t.Run(tt.address[:min(50, len(tt.address))], func(t *testing.T) {
			t.Parallel()
			if got := oauth.LoopbackRedirect(tt.address); got != tt.good {
				t.Errorf("LoopbackRedirect(%q) = %v", tt.address, got)
			}
		})
	}
}

// What cannot be sent back safely is shown to the person instead.
func TestCheck(t *testing.T) {
	t.Parallel()
	s := &oauth.Service{Scopes: []string{"eval:read", "eval:write"}}
	good := oauth.Ask{Client: oauth.ClientID, Redirect: "http://127.0.0.1:4000/c", State: "12345678", Challenge: strings.Repeat("A", 43), Method: "S256", ResponseType: "code"}
	tests := []struct {
		name   string
		change func(*oauth.Ask)
		code   string
		back   bool
	}{
		{"as it should be", func(*oauth.Ask) {}, "", true},
		{"another client", func(a *oauth.Ask) { a.Client = "x" }, "invalid_client", false},
		{"a foreign address", func(a *oauth.Ask) { a.Redirect = "https://evil.example/" }, "invalid_request", false},
		{"implicit", func(a *oauth.Ask) { a.ResponseType = "token" }, "unsupported_response_type", true},
		{"no state", func(a *oauth.Ask) { a.State = "" }, "invalid_request", true},
		{"plain PKCE", func(a *oauth.Ask) { a.Method = "plain" }, "invalid_request", true},
		{"no PKCE", func(a *oauth.Ask) { a.Method, a.Challenge = "", "" }, "invalid_request", true},
		{"a short challenge", func(a *oauth.Ask) { a.Challenge = "AAAA" }, "invalid_request", true},
		{"an unknown scope", func(a *oauth.Ask) { a.Scope = "eval:read root" }, "invalid_scope", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := good
			tt.change(&a)
			scopes, back, err := s.Check(a)
			if tt.code == "" {
				if err != nil || len(scopes) != 2 {
					t.Errorf("%v %v", scopes, err)
				}
				return
			}
			if err == nil || err.Code != tt.code || back != tt.back {
				t.Errorf("%v, back %v", err, back)
			}
		})
	}
}

func FuzzLoopbackRedirect(f *testing.F) {
	for _, s := range []string{"http://127.0.0.1:4000/c", "http://[::1]:1/", "http://127.0.0.1:1@evil/", "http://127.0.0.1:1\\@evil/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !oauth.LoopbackRedirect(s) {
			return
		}
		rest, v4 := strings.CutPrefix(s, "http://127.0.0.1:")
		if !v4 {
			rest, v4 = strings.CutPrefix(s, "http://[::1]:")
		}
		if port, _, _ := strings.Cut(rest, "/"); !v4 || strings.Trim(port, "0123456789") != "" || port == "" || strings.ContainsAny(s, "?#") {
			t.Errorf("%q was accepted", s)
		}
	})
}
