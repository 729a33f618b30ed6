package readcache_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/lib/readcache"
)

type headerRow struct {
	name string
	kept bool
	head []string
}

// world is a service, a clock and a folder.
type world struct {
	t     *testing.T
	dir   string
	now   time.Time
	asked int
	last  http.Header // of the last request
	serve func(*http.Request) *http.Response
	used  []time.Duration
}

func newWorld(t *testing.T) *world {
	return &world{t: t, dir: filepath.Join(t.TempDir(), "cache"), now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}
}

func (w *world) RoundTrip(req *http.Request) (*http.Response, error) {
	w.asked++
	w.last = req.Header.Clone()
	if w.serve == nil {
		return nil, errors.New("no network")
	}
	return w.serve(req), nil
}

func (w *world) header(lines ...string) http.Header {
	h := http.Header{}
	for _, l := range lines {
		name, value, _ := strings.Cut(l, ":")
		value = strings.TrimSpace(value)
		if n, ok := strings.CutPrefix(value, "@"); ok {
			s, err := strconv.Atoi(n)
			if err != nil {
				w.t.Fatal(err)
			}
			value = w.now.Add(time.Duration(s) * time.Second).Format(http.TimeFormat)
		}
		h.Add(name, value)
	}
	return h
}

func (w *world) answers(status int, body string, lines ...string) {
	w.serve = func(*http.Request) *http.Response {
		return &http.Response{StatusCode: status, Header: w.header(lines...), Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}
	}
}

func (w *world) cache(mode readcache.Mode) *readcache.Cache {
	return &readcache.Cache{
		Dir: w.dir, Next: w, Client: "1", Mode: mode, Now: func() time.Time { return w.now },
		Used: func(d time.Duration) { w.used = append(w.used, d) },
	}
}

const list = "https://eval.example/v1/catalog/benchmarks"

func (w *world) get(mode readcache.Mode, url string, lines ...string) (string, error) {
	req, err := http.NewRequest("GET", url, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header = w.header(lines...)
	res, err := w.cache(mode).RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return string(b), err
}

func (w *world) copies() int {
	entries, err := os.ReadDir(w.dir)
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	return len(entries)
}

// CAT-08: what may be kept, header by header. What may not is not served
// either, whoever asks.
func TestHeaders_CAT08(t *testing.T) {
	t.Parallel()
	rows := headerRows()
	if len(rows) < 120 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.answers(200, `{"data":[]}`, tt.head...)
			if got, err := w.get(readcache.Use, list); err != nil || got != `{"data":[]}` {
				t.Fatalf("the answer was %q, %v", got, err)
			}
			if kept := w.copies() == 1; kept != tt.kept {
				t.Errorf("kept: %v, want %v", kept, tt.kept)
			}
			_, err := w.get(readcache.Offline, list)
			if served := err == nil; served != tt.kept {
				t.Errorf("served without a network: %v, want %v", served, tt.kept)
			}
		})
	}
}

const good = "Cache-Control: public, max-age=120"
const typed = "Content-Type: application/json"

// CAT-09 CAT-10: a copy is used while it is fresh, at most five minutes, and
// every use is told.
func TestFreshness_CAT09(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		life  string
		after time.Duration
		fresh bool
	}{
		{"at once", "max-age=120", 0, true},
		{"a second before the end", "max-age=120", 119 * time.Second, true},
		{"at the end", "max-age=120", 120 * time.Second, false},
		{"a day allowed, four minutes used", "max-age=86400", 299 * time.Second, true},
		{"a day allowed, five minutes are the most", "max-age=86400", 300 * time.Second, false},
		{"a jump ahead", "max-age=86400", time.Hour, false},
		{"a clock that went back", "max-age=120", -time.Second, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.answers(200, "{}", "Cache-Control: "+tt.life, typed)
			if _, err := w.get(readcache.Use, list); err != nil {
				t.Fatal(err)
			}
			w.now = w.now.Add(tt.after)
			if _, err := w.get(readcache.Use, list); err != nil {
				t.Fatal(err)
			}
			if fresh := w.asked == 1; fresh != tt.fresh || fresh != (len(w.used) == 1) {
				t.Errorf("asked %d times and told %v", w.asked, w.used)
			}
			if tt.fresh && w.used[0] != tt.after {
				t.Errorf("the age was told as %s", w.used[0])
			}
		})
	}
}

// The delay of an answer, its Age and its Date make it older.
func TestCorrectedAge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.serve = func(*http.Request) *http.Response {
		date := w.now.Add(-20 * time.Second)
		w.now = w.now.Add(10 * time.Second) // it took so long
		h := http.Header{"Cache-Control": {"max-age=60"}, "Content-Type": {"application/json"}, "Age": {"5"}, "Date": {date.Format(http.TimeFormat)}}
		return &http.Response{StatusCode: 200, Header: h, Body: io.NopCloser(strings.NewReader("{}")), ContentLength: 2}
	}
	if _, err := w.get(readcache.Use, list); err != nil {
		t.Fatal(err)
	}
	if _, err := w.get(readcache.Offline, list); err != nil || len(w.used) != 1 || w.used[0] != 40*time.Second {
		t.Errorf("the age is %v, %v; want 30 s by its Date and 10 s on the way", w.used, err)
	}
}

// CAT-11 CAT-12: a refresh asks the caches on the way too, never shows an older
// copy, and replaces it.
func TestRefresh_CAT11_CAT12(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.answers(200, `{"v":1}`, good, typed)
	if _, err := w.get(readcache.Use, list); err != nil {
		t.Fatal(err)
	}
	w.serve = nil
	if got, err := w.get(readcache.Refresh, list); err == nil {
		t.Errorf("a refresh without a network showed %q", got)
	}
	w.answers(503, `{"error":{}}`, typed)
	if got, err := w.get(readcache.Refresh, list); err != nil || got != `{"error":{}}` {
		t.Errorf("a refused refresh showed %q, %v", got, err)
	}
	w.answers(200, `{"v":2}`, good, typed)
	if got, _ := w.get(readcache.Refresh, list); got != `{"v":2}` {
		t.Errorf("a refresh showed %q", got)
	}
	if w.last.Get("Cache-Control") != "no-cache" || w.last.Get("Pragma") != "no-cache" {
		t.Errorf("the request said %v", w.last)
	}
	if got, _ := w.get(readcache.Offline, list); got != `{"v":2}` {
		t.Errorf("the copy is %q after a refresh", got)
	}
}

// CAT-13 CAT-14: offline asks nobody, and says what there is when nothing fits.
func TestOffline_CAT13_CAT14(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var miss *readcache.MissError
	if _, err := w.get(readcache.Offline, list); !errors.As(err, &miss) || miss.Known {
		t.Errorf("nothing was kept: %v", err)
	}
	w.answers(200, "{}", good, typed)
	if _, err := w.get(readcache.Use, list); err != nil {
		t.Fatal(err)
	}
	w.asked = 0
	if _, err := w.get(readcache.Offline, list); err != nil {
		t.Error(err)
	}
	w.now = w.now.Add(3 * time.Minute)
	if _, err := w.get(readcache.Offline, list); !errors.As(err, &miss) || !miss.Known || miss.Age != 3*time.Minute {
		t.Errorf("an old copy: %v", err)
	}
	if _, err := w.get(readcache.Offline, "https://eval.example/v1/runs"); !errors.As(err, &miss) {
		t.Errorf("what has no copies: %v", err)
	}
	if w.asked != 0 {
		t.Errorf("%d requests were sent", w.asked)
	}
}

// CAT-15: a later answer that forbids a copy, or says that there is nothing to
// copy, removes the one there is. A failure does not.
func TestNoStore_CAT15(t *testing.T) {
	t.Parallel()
	for status, left := range map[int]int{200: 0, 404: 0, 410: 0, 503: 1, 429: 1} {
		w := newWorld(t)
		w.answers(200, "{}", good, typed)
		if _, err := w.get(readcache.Use, list); err != nil {
			t.Fatal(err)
		}
		w.now = w.now.Add(2 * time.Minute)
		w.answers(status, "{}", "Cache-Control: no-store", typed)
		if _, err := w.get(readcache.Use, list); err != nil || w.asked != 2 || w.copies() != left {
			t.Errorf("status %d: %v, asked %d times, %d copies", status, err, w.asked, w.copies())
		}
	}
}

// CAT-17: only the public reads of the catalog, without anything that makes an
// answer somebody's own.
func TestNeverKept_CAT17(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, url string
		head      []string
	}{
		{"runs", "https://eval.example/v1/runs", nil},
		{"results", "https://eval.example/v1/runs/1/results", nil},
		{"quotes", "https://eval.example/v1/quotes/1", nil},
		{"credits", "https://eval.example/v1/credits", nil},
		{"connections", "https://eval.example/v1/connections", nil},
		{"signed links", "https://eval.example/r/1?signature=x", nil},
		{"compatibility, which knows the workspace", "https://eval.example/v1/catalog/compatibility?profile_id=a@1", nil},
		{"a path that only begins so", "https://eval.example/v1/catalog/benchmarksx", nil},
		{"with a credential", list, []string{"Authorization: Bearer x"}},
		{"with an empty credential", list, []string{"Authorization:"}},
		{"with a cookie", list, []string{"Cookie: a=b"}},
		{"with a workspace", list, []string{"X-Workspace-Id: w"}},
		{"a part", list, []string{"Range: bytes=0-1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.answers(200, "{}", good, typed)
			for range 2 {
				if _, err := w.get(readcache.Use, tt.url, tt.head...); err != nil {
					t.Fatal(err)
				}
			}
			if w.asked != 2 || w.copies() != 0 {
				t.Errorf("asked %d times, %d copies", w.asked, w.copies())
			}
		})
	}
}

// Copies of different questions, origins and clients are different.
func TestNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.serve = func(r *http.Request) *http.Response {
		body := fmt.Sprintf("{%q:%q}", r.URL.String(), r.Header.Get("Accept-Language"))
		return &http.Response{StatusCode: 200, Header: w.header(good, typed), Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}
	}
	urls := []string{list, list + "?q=a", list + "?q=b", list + "/a", "https://other.example/v1/catalog/benchmarks", "https://eval.example:8443/v1/catalog/benchmarks", "https://eval.example/v1/catalog/models"}
	for _, u := range urls {
		for _, lang := range []string{"", "Accept-Language: de"} {
			head := []string{}
			if lang != "" {
				head = append(head, lang)
			}
			fresh, err := w.get(readcache.Refresh, u, head...)
			if err != nil {
				t.Fatal(err)
			}
			if kept, err := w.get(readcache.Offline, u, head...); err != nil || kept != fresh {
				t.Errorf("%s %q: %q is kept as %q, %v", u, lang, fresh, kept, err)
			}
		}
	}
	if w.copies() != 2*len(urls) {
		t.Errorf("%d copies of %d answers", w.copies(), 2*len(urls))
	}
	w.asked = 0
	if _, err := w.get(readcache.Use, list+"?b=2&a=1"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.get(readcache.Use, list+"?a=1&b=2"); err != nil || w.asked != 1 {
		t.Errorf("the order of a query made another copy: asked %d times", w.asked)
	}
}

// A copy that is not fresh any more is confirmed by its validator, and only by
// its own.
func TestRevalidation(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		etag   string // of the 304
		head   string // its Cache-Control
		want   string
		copies int
	}{
		{"confirmed", `"a"`, good, `{"v":1}`, 1},
		{"confirmed, but no longer to be kept", `"a"`, "Cache-Control: no-store", `{"v":1}`, 0},
		{"another validator", `"b"`, good, `{"v":2}`, 1},
		{"no validator", "", good, `{"v":2}`, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.answers(200, `{"v":1}`, good, typed, `ETag: "a"`)
			if _, err := w.get(readcache.Use, list); err != nil {
				t.Fatal(err)
			}
			w.now = w.now.Add(2 * time.Minute)
			w.serve = func(r *http.Request) *http.Response {
				if r.Header.Get("If-None-Match") == `"a"` {
					h := w.header(tt.head)
					if tt.etag != "" {
						h.Set("ETag", tt.etag)
					}
					return &http.Response{StatusCode: 304, Header: h, Body: http.NoBody}
				}
				return &http.Response{StatusCode: 200, Header: w.header(good, typed), Body: io.NopCloser(strings.NewReader(`{"v":2}`)), ContentLength: 7}
			}
			if got, err := w.get(readcache.Use, list); err != nil || got != tt.want || w.copies() != tt.copies {
				t.Errorf("got %q, %v, %d copies", got, err, w.copies())
			}
			if len(w.used) != 0 {
				t.Errorf("what the service confirmed was told as a copy: %v", w.used)
			}
		})
	}
}

// A copy that was changed, cut or made by somebody else is no copy.
func TestDamagedCopies(t *testing.T) {
	t.Parallel()
	change := map[string]func([]byte) []byte{
		"one byte of the body":   func(b []byte) []byte { b[len(b)-2] ^= 1; return b },
		"one byte of the header": func(b []byte) []byte { b[80] ^= 1; return b },
		"cut":                    func(b []byte) []byte { return b[:len(b)-1] },
		"longer":                 func(b []byte) []byte { return append(b, ' ') },
		"empty":                  func([]byte) []byte { return nil },
		"no copy":                func([]byte) []byte { return []byte("hello\nworld\n") },
	}
	for name, f := range change {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.answers(200, `{"v":1}`, good, typed)
			if _, err := w.get(readcache.Use, list); err != nil {
				t.Fatal(err)
			}
			path := w.only()
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, f(bytes.Clone(b)), 0o600); err != nil {
				t.Fatal(err)
			}
			if got, err := w.get(readcache.Offline, list); err == nil {
				t.Errorf("a damaged copy answered %q", got)
			}
			if _, err := os.Stat(path); err == nil {
				t.Error("the damaged copy is still there")
			}
		})
	}
}

func (w *world) only() string {
	w.t.Helper()
	entries, err := os.ReadDir(w.dir)
	if err != nil || len(entries) != 1 {
		w.t.Fatalf("%d files, %v", len(entries), err)
	}
	return filepath.Join(w.dir, entries[0].Name())
}

// The folder is private and may go at any time. CAT-21
func TestFolder_CAT21(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.answers(200, "{}", good, typed)
	if _, err := w.get(readcache.Use, list); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{w.dir: 0o700, w.only(): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if err := os.RemoveAll(w.dir); err != nil {
		t.Fatal(err)
	}
	if _, err := w.get(readcache.Use, list); err != nil {
		t.Error(err)
	}
	// A folder that cannot be made is no error either.
	if err := errors.Join(os.RemoveAll(w.dir), os.WriteFile(w.dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if got, err := w.get(readcache.Use, list); err != nil || got != "{}" {
		t.Errorf("got %q, %v", got, err)
	}
}

// An answer that breaks off, or is longer or shorter than it says, leaves none.
func TestIncomplete(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	tests := []struct {
		name string
		body io.Reader
		size int64
		err  error
	}{
		{"it breaks off", io.MultiReader(strings.NewReader("{"), failing{broken}), -1, broken},
		{"it is shorter than it says", strings.NewReader("{}"), 3, nil},
		{"it is too long", io.MultiReader(bytes.NewReader(make([]byte, 8<<20)), strings.NewReader("x")), -1, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.serve = func(*http.Request) *http.Response {
				return &http.Response{StatusCode: 200, Header: w.header(good, typed), Body: io.NopCloser(tt.body), ContentLength: tt.size}
			}
			got, err := w.get(readcache.Use, list)
			if !errors.Is(err, tt.err) || len(got) == 0 || w.copies() != 0 {
				t.Errorf("%d bytes, %v, %d copies", len(got), err, w.copies())
			}
			if tt.name == "it is too long" && len(got) != 8<<20+1 {
				t.Errorf("the reader got %d bytes", len(got))
			}
		})
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// Suggestions read fresh copies only.
func TestFreshBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.answers(200, `{"v":1}`, good, typed)
	if _, err := w.get(readcache.Use, list); err != nil {
		t.Fatal(err)
	}
	count := func() (n int) {
		for b := range w.cache(readcache.Offline).Fresh() {
			if !json.Valid(b) {
				t.Errorf("body %q", b)
			}
			n++
		}
		return n
	}
	if n := count(); n != 1 {
		t.Errorf("%d fresh copies", n)
	}
	w.now = w.now.Add(time.Hour)
	if n := count(); n != 0 {
		t.Errorf("%d fresh copies after an hour", n)
	}
}

// Whatever stands in the header, an answer with a forbidding directive is never
// kept and never served; and what is kept is served unchanged.
func FuzzCacheControl(f *testing.F) {
	for _, r := range headerRows() {
		var cc []string
		for _, h := range r.head {
			if name, v, _ := strings.Cut(h, ":"); strings.EqualFold(name, "Cache-Control") {
				cc = append(cc, v)
			}
		}
		f.Add(strings.Join(cc, "\n"), "", "")
	}
	f.Add("max-age=60", "Accept", "5")
	f.Fuzz(func(t *testing.T, control, vary, age string) {
		w := newWorld(t)
		h := http.Header{"Content-Type": {"application/json"}, "Cache-Control": strings.Split(control, "\n")}
		if vary != "" {
			h.Set("Vary", vary)
		}
		if age != "" {
			h.Set("Age", age)
		}
		w.serve = func(*http.Request) *http.Response {
			return &http.Response{StatusCode: 200, Header: h.Clone(), Body: io.NopCloser(strings.NewReader("{}")), ContentLength: 2}
		}
		if _, err := w.get(readcache.Use, list); err != nil {
			t.Fatal(err)
		}
		got, err := w.get(readcache.Offline, list)
		low := strings.ToLower(control)
		for _, word := range []string{"no-store", "no-cache", "private"} {
			if err == nil && strings.Contains(low, word) {
				t.Fatalf("served in spite of %s: %q", word, control)
			}
		}
		if err == nil && (got != "{}" || !strings.Contains(low, "max-age") || strings.Contains(vary, "*")) {
			t.Fatalf("served %q for %q, Vary %q", got, control, vary)
		}
		if err != nil && w.copies() != 0 {
			t.Fatalf("%q left a copy that is not served", control)
		}
	})
}
