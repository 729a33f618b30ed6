package daemon_test

import (
	"archive/zip"
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle/families"
	"github.com/evalrouter/evalrouter/bundle/pack"
	"github.com/evalrouter/evalrouter/bundle/pack/packtest"
	"github.com/evalrouter/evalrouter/lib/api"
)

// bundled is a good package as evalrouter-bench writes it.
func bundled(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, _, err := pack.Bundle(t.Context(), packtest.Good(pack.TemplateNumeric).FS(), pack.Options{Graders: families.Grader}, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// brings sends the form of the page with a file, and gives the page it leads to.
func (s *surfer) brings(path, file string, content []byte, more map[string]string) (status int, text, at string) {
	s.t.Helper()
	_, page, _ := s.page(path)
	form := regexp.MustCompile(`name="form" value="([^"]+)"`).FindStringSubmatch(page)
	if form == nil {
		s.t.Fatalf("%s has no form:\n%s", path, page)
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	more["form"] = form[1]
	for k, v := range more {
		if err := w.WriteField(k, v); err != nil {
			s.t.Fatal(err)
		}
	}
	f, err := w.CreateFormFile("file", file)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := f.Write(content); err != nil {
		s.t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		s.t.Fatal(err)
	}
	req, err := http.NewRequest("POST", s.base+path, &b)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", w.FormDataContentType())
	req.Header.Set("Origin", s.base)
	res, err := s.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(answer), res.Request.URL.Path
}

// TestBring: a person brings a package on a page. What cannot be used is said, and
// nothing is made; the same form again makes no second benchmark.
func TestBring(t *testing.T) {
	t.Parallel()
	l := startPosted(t)
	s := newSurfer(t, l.base)
	workspace, token := l.member(t, s, "ada@example.org")
	path := "/benchmarks/bring?workspace=" + workspace
	s.sees("/benchmarks", "Bring a benchmark of your own", path)
	good := bundled(t)
	var empty bytes.Buffer
	if err := zip.NewWriter(&empty).Close(); err != nil {
		t.Fatal(err)
	}
	hostile := `"><script>alert(1)</script>` + "\u202e.zip"
	for _, tt := range []struct {
		name, file string
		content    []byte
		fields     map[string]string
		status     int
		says       string
	}{
		{"no rights", "mine.zip", good, map[string]string{}, 422, "Say that you may use the data so"},
		{"no file", "mine.zip", nil, map[string]string{"rights": "yes"}, 422, "Nothing was made"},
		{"no package", "mine.zip", []byte("no zip at all"), map[string]string{"rights": "yes"}, 422, "Nothing was made"},
		{"an empty package", hostile, empty.Bytes(), map[string]string{"rights": "yes", "name": hostile}, 422, "Nothing was made"},
		{"half a package", "mine.zip", good[:len(good)/2], map[string]string{"rights": "yes"}, 422, "Nothing was made"},
	} {
		status, text, _ := s.brings(path, tt.file, tt.content, tt.fields)
		if status != tt.status || !strings.Contains(text, tt.says) || strings.Contains(text, "<script>alert") || !strings.Contains(text, "Make the benchmark") {
			t.Errorf("%s: answered %d:\n%s", tt.name, status, text)
		}
	}
	var own api.Page[api.PrivateBenchmark]
	if l.asks(t, token, "GET", "/v1/benchmarks", nil, &own); len(own.Data) != 0 {
		t.Fatalf("made of what cannot be used: %+v", own.Data)
	}
	for range 2 {
		status, text, at := s.brings(path, `C:\Users\ada\`+hostile, good, map[string]string{"rights": "yes", "name": "Sums of Ada"})
		if status != 200 || !strings.HasPrefix(at, "/benchmarks/byob-") || !strings.Contains(text, "Sums of Ada") {
			t.Fatalf("answered %d at %s:\n%s", status, at, text)
		}
	}
	if l.asks(t, token, "GET", "/v1/benchmarks", nil, &own); len(own.Data) != 1 || own.Data[0].Name != "Sums of Ada" {
		t.Errorf("made %+v", own.Data)
	}
	stranger := newSurfer(t, l.base)
	if status, text, at := stranger.brings("/login", "mine.zip", good, map[string]string{"rights": "yes"}); at != "/login" || status == 200 && strings.Contains(text, "Sums") {
		t.Errorf("a stranger is answered %d at %s", status, at)
	}
	if status, _, at := strangerBrings(t, stranger, path, good); at != "/login" || status != 200 {
		t.Errorf("a stranger's file is answered %d at %s", status, at)
	}
}

// strangerBrings sends a file without a session.
func strangerBrings(t *testing.T, s *surfer, path string, content []byte) (int, string, string) {
	t.Helper()
	req, err := http.NewRequest("POST", s.base+path, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	req.Header.Set("Origin", s.base)
	res, err := s.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b), res.Request.URL.Path
}
