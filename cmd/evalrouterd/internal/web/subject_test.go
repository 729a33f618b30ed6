package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/ratelimit"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web"
)

// place is a subject of one page, for everybody.
type place struct{}

func (place) Sections() []web.Section { return nil }

func (place) Pages() []web.Page {
	return []web.Page{{Method: http.MethodGet, Path: "/place", Open: true, Show: func(http.ResponseWriter, *http.Request, web.Visit) (web.Shown, error) {
		return web.Shown{Title: "Place", Body: "<p>here</p>"}, nil
	}}}
}

// TestSubject_Looks: a visitor looks at so many pages a minute, a person as
// themselves wherever they are, and everybody else as their address. What comes
// from loopback without a sign-in is a proxy's, and not counted.
func TestSubject_Looks(t *testing.T) {
	t.Parallel()
	h := newHouse(t, false)
	ada, ben := h.owner("ada"), h.owner("ben")
	o := h.options
	o.Subjects, o.Looks = []web.Subject{place{}}, ratelimit.New(2)
	s, err := web.New(o)
	if err != nil {
		t.Fatal(err)
	}
	look := func(b *browser, from string) int {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, o.Origin+"/place", nil)
		r.RemoteAddr = from
		for _, c := range b.client.Jar.Cookies(r.URL) {
			r.AddCookie(c)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code == http.StatusTooManyRequests && !strings.Contains(w.Body.String(), "looked at too often") {
			t.Errorf("it does not say why: %s", w.Body)
		}
		return w.Code
	}
	nobody := h.browser()
	for _, tt := range []struct {
		name string
		b    *browser
		from string
		want int
	}{
		{"a person", ada, "198.51.100.1:1", 200},
		{"a person, from elsewhere", ada, "127.0.0.1:1", 200},
		{"the same person for the third time", ada, "198.51.100.2:1", 429},
		{"somebody else at that address", ben, "198.51.100.1:1", 200},
		{"nobody", nobody, "198.51.100.1:1", 200},
		{"nobody again", nobody, "198.51.100.1:2", 200},
		{"nobody for the third time", nobody, "198.51.100.1:3", 429},
		{"through a proxy", nobody, "127.0.0.1:1", 200},
		{"through a proxy again", nobody, "127.0.0.1:1", 200},
		{"through a proxy for the third time", nobody, "127.0.0.1:1", 200},
	} {
		if got := look(tt.b, tt.from); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
	h.now.Add(30_000_000)
	if got := look(ada, "198.51.100.1:1"); got != 200 {
		t.Errorf("half a minute later: %d", got)
	}
}
