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

// form is what a form of a page carries.
func (s *surfer) form(path string) string {
	s.t.Helper()
	_, page, _ := s.page(path)
	m := regexp.MustCompile(`name="form" value="([^"]+)"`).FindStringSubmatch(page)
	if m == nil {
		s.t.Fatalf("%s has no form:\n%s", path, page)
	}
	return m[1]
}

// posts sends a form as a browser does, and gives the page it leads to.
func (s *surfer) posts(path, kind string, body io.Reader) (status int, text, at string) {
	s.t.Helper()
	req, err := http.NewRequest("POST", s.base+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Origin", s.base)
	res, err := s.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(b), res.Request.URL.Path
}

// brings sends the form of the page with a file.
func (s *surfer) brings(path, file string, content []byte, more map[string]string) (status int, text, at string) {
	s.t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	more["form"] = s.form(path)
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
	return s.posts(path, w.FormDataContentType(), &b)
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
	var sources api.Page[api.BenchmarkSource]
	if l.asks(t, token, "GET", "/v1/benchmark-sources?status=completed", nil, &sources); len(sources.Data) != 1 {
		t.Errorf("kept %d times: %+v", len(sources.Data), sources.Data)
	}
	if got := l.asks(t, token, "POST", "/v1/benchmarks/"+own.Data[0].ProfileID+"/archive", nil, nil); got != 200 {
		t.Fatalf("the archive is answered %d", got)
	}
	if status, text, _ := s.brings(path, "again.zip", good, map[string]string{"rights": "yes", "name": "Sums of Ada"}); status != 422 || !strings.Contains(text, "and archived. Nothing was made") {
		t.Errorf("after the archive: answered %d:\n%s", status, text)
	}
	if status, _, at := newSurfer(t, l.base).posts(path, "multipart/form-data; boundary=x", bytes.NewReader(good)); at != "/login" || status != 200 {
		t.Errorf("a stranger's file is answered %d at %s", status, at)
	}
}

// TestBring_FilesAtOnce: what lies on the disk while forms are read is bounded.
func TestBring_FilesAtOnce(t *testing.T) {
	t.Parallel()
	l := startPosted(t)
	s := newSurfer(t, l.base)
	workspace, _ := l.member(t, s, "ada@example.org")
	path := "/benchmarks/bring?workspace=" + workspace
	var slow []*io.PipeWriter
	done := make(chan struct{})
	for range 4 {
		r, w := io.Pipe()
		slow = append(slow, w)
		go func() {
			s.posts(path, "multipart/form-data; boundary=x", r)
			done <- struct{}{}
		}()
		if _, err := w.Write([]byte("--x\r\n")); err != nil { // the request has begun
			t.Fatal(err)
		}
	}
	until(t, l, "the refusal of a fifth", func() bool {
		status, text, _ := s.posts(path, "multipart/form-data; boundary=x", strings.NewReader("--x--\r\n"))
		return status == 429 && strings.Contains(text, "Other files are being sent")
	})
	for _, w := range slow {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		<-done
	}
	if status, _, _ := s.brings(path, "mine.zip", bundled(t), map[string]string{"rights": "yes"}); status != 200 {
		t.Errorf("afterwards a file is answered %d", status)
	}
}
