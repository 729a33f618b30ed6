package daemon_test

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// TestOrigin: the service knows under which name browsers come to loopback,
// with TLS and without; behind a proxy only its operator does, and until then
// nobody signs in.
func TestOrigin(t *testing.T) {
	t.Parallel()
	cert, key, pool := selfSigned(t, t.TempDir())
	for _, tt := range []struct {
		name   string
		args   []string
		origin string // "" for none, "base" for the address itself
	}{
		{"plain on loopback", nil, "base"},
		{"TLS on loopback", []string{"--tls-cert", cert, "--tls-key", key}, "base"},
		{"behind a proxy", []string{"--trusted-proxy", "127.0.0.1"}, ""},
		{"behind a proxy, with a name", []string{"--trusted-proxy", "127.0.0.1", "--web-origin", "https://eval.example.org"}, "https://eval.example.org"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := startServe(t, t.TempDir(), tt.args...)
			want := strings.Replace(tt.origin, "base", l.base, 1)
			client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			res, err := client.Get(l.base + "/v1/auth/config")
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			var c struct {
				Browser bool   `json:"browser"`
				Origin  string `json:"web_origin"`
			}
			if err := json.NewDecoder(res.Body).Decode(&c); err != nil {
				t.Fatal(err)
			}
			if c.Origin != want || c.Browser != (want != "") {
				t.Errorf("%+v, want %q", c, want)
			}
			page, err := client.Get(l.base + "/login")
			if err != nil {
				t.Fatal(err)
			}
			defer page.Body.Close()
			status := map[string]int{"": 404, l.base: 200}[want]
			if status == 0 {
				status = 303 // by another name: sent to the right one
			}
			if page.StatusCode != status || status == 303 && page.Header.Get("Location") != want+"/login" {
				t.Errorf("the page is answered %d, to %q", page.StatusCode, page.Header.Get("Location"))
			}
			if secure := strings.HasPrefix(l.base, "https"); status == 200 && secure != strings.HasPrefix(page.Header.Get("Set-Cookie"), "__Host-") {
				t.Errorf("the cookie is %q", page.Header.Get("Set-Cookie"))
			}
		})
	}
}
