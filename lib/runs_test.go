package evalrouter_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
)

func TestWait(t *testing.T) {
	t.Parallel()
	statuses := func(words ...string) http.HandlerFunc {
		turn := turns()
		return func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"id":"r1","status":%q,"model":{}}`, words[min(turn(), len(words))-1])
		}
	}
	t.Run("until the end", func(t *testing.T) {
		t.Parallel()
		for _, last := range []string{"completed", "partial", "failed", "cancelled"} {
			s := newStub(t, statuses("queued", "running", "cancelling", "finalizing", last))
			var seen []string
			run, err := s.client(t).Runs.Wait(t.Context(), "r1", evalrouter.WaitOptions{Seen: func(r api.RunRecord) { seen = append(seen, string(r.Status)) }})
			if err != nil || string(run.Status) != last {
				t.Fatalf("answers %s and %v", run.Status, err)
			}
			if d := cmp.Diff([]string{"queued", "running", "cancelling", "finalizing", last}, seen); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff([]time.Duration{2e9, 2e9, 2e9, 2e9}, s.slept); d != "" {
				t.Errorf("waits (-want +got):\n%s", d)
			}
		}
	})
	t.Run("unknown status", func(t *testing.T) {
		t.Parallel()
		s := newStub(t, statuses("running", "paused"))
		if _, err := s.client(t).Runs.Wait(t.Context(), "r1", evalrouter.WaitOptions{}); !errors.Is(err, api.InvalidResponse) {
			t.Errorf("answers %v", err)
		}
	})
	t.Run("an hour at most", func(t *testing.T) {
		t.Parallel()
		s := newStub(t, statuses("running"))
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		c := s.client(t, func(c *evalrouter.Config) {
			c.Now = func() time.Time { return now }
			c.Sleep = func(_ context.Context, d time.Duration) error { now = now.Add(d); return nil }
		})
		run, err := c.Runs.Wait(t.Context(), "r1", evalrouter.WaitOptions{})
		if !errors.Is(err, api.RequestTimeout) || run.ID != "r1" || s.count() != 1801 {
			t.Errorf("answers %v with run %q after %d requests", err, run.ID, s.count())
		}
	})
	t.Run("cancelled while waiting", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		s := newStub(t, statuses("running"))
		c := s.client(t, func(c *evalrouter.Config) {
			c.Sleep = func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }
		})
		_, err := c.Runs.Wait(ctx, "r1", evalrouter.WaitOptions{})
		if !errors.Is(err, api.WaitCancelled) || !errors.Is(err, context.Canceled) || s.count() != 1 {
			t.Errorf("answers %v after %d requests", err, s.count())
		}
		for _, r := range s.requests() {
			if r.Method != http.MethodGet {
				t.Errorf("the wait sent %s %s", r.Method, r.URL)
			}
		}
	})
}

func TestFollow(t *testing.T) {
	t.Parallel()
	log := func(pages ...string) http.HandlerFunc {
		turn := turns()
		return func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, pages[min(turn(), len(pages))-1])
		}
	}
	page := func(more, terminal bool, seqs ...int) string {
		var data []string
		for _, n := range seqs {
			data = append(data, `{"sequence":`+strconv.Itoa(n)+`,"type":"x","created_at":"2026-01-01T00:00:00Z","data":{}}`)
		}
		return fmt.Sprintf(`{"data":[%s],"has_more":%v,"next_sequence":0,"terminal":%v}`, strings.Join(data, ","), more, terminal)
	}
	tests := []struct {
		name  string
		query evalrouter.EventQuery
		pages []string
		want  []int64
		asked []string
		code  api.Code
	}{
		{"to the end", evalrouter.EventQuery{}, []string{page(true, false, 1, 2), page(false, false, 3), page(false, false), page(false, true, 4)}, []int64{1, 2, 3, 4},
			[]string{"wait_seconds=20", "after=2&wait_seconds=20", "after=3&wait_seconds=20", "after=3&wait_seconds=20"}, ""},
		{"from a point", evalrouter.EventQuery{After: 7, Limit: 2, Wait: time.Second}, []string{page(false, true, 8)}, []int64{8}, []string{"after=7&limit=2&wait_seconds=1"}, ""},
		{"a gap", evalrouter.EventQuery{}, []string{page(false, false, 1, 3)}, []int64{1}, []string{"wait_seconds=20"}, "invalid_response"},
		{"a repetition", evalrouter.EventQuery{}, []string{page(false, false, 1), page(false, false, 1)}, []int64{1}, []string{"wait_seconds=20", "after=1&wait_seconds=20"}, "invalid_response"},
		{"some types only", evalrouter.EventQuery{Types: []string{"a", "b"}}, []string{page(false, true, 2, 9)}, []int64{2, 9}, []string{"type=a&type=b&wait_seconds=20"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStub(t, log(tt.pages...))
			var got []int64
			var failed error
			for e, err := range s.client(t).Runs.Follow(t.Context(), "r1", tt.query) {
				if failed = err; err == nil {
					got = append(got, e.Sequence)
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("events (-want +got):\n%s", d)
			}
			var asked []string
			for _, r := range s.requests() {
				asked = append(asked, r.URL.RawQuery)
			}
			if d := cmp.Diff(tt.asked, asked); d != "" {
				t.Errorf("requests (-want +got):\n%s", d)
			}
			if tt.code == "" && failed != nil || tt.code != "" && !errors.Is(failed, tt.code) {
				t.Errorf("ends with %v", failed)
			}
		})
	}
}

func TestPagesEnd(t *testing.T) {
	t.Parallel()
	s := newStub(t, text(200, `{"data":[{"id":"a","model":{}}],"next_cursor":"same"}`))
	n := 0
	var last error
	for _, err := range s.client(t).Runs.All(t.Context(), evalrouter.RunQuery{}) {
		n++
		last = err
	}
	if n != 3 || !errors.Is(last, api.InvalidResponse) {
		t.Errorf("a list that repeats itself yields %d entries and %v", n, last)
	}
	n = 0
	for range s.client(t).Runs.All(t.Context(), evalrouter.RunQuery{}) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("a loop that stops got %d entries", n)
	}
}

// sum256 of "content", by sha256sum.
const sumOfContent = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73"

func content(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/csv")
	w.Header().Set("X-Result-Version", "3")
	w.Header().Set("X-Content-SHA256", sumOfContent)
	w.Header().Set("Content-Disposition", `attachment; filename="../../run.csv"`)
	io.WriteString(w, "content")
}

func TestExport(t *testing.T) {
	t.Parallel()
	s := newStub(t, content)
	var b strings.Builder
	info, err := s.client(t).Runs.Export(t.Context(), "r1", evalrouter.ExportQuery{Format: "csv", Version: 3}, &b)
	want := evalrouter.ExportInfo{Bytes: 7, SHA256: sumOfContent, ContentType: "text/csv", ResultVersion: 3, FileName: "run.csv"}
	if d := cmp.Diff(want, info); d != "" || err != nil || b.String() != "content" {
		t.Errorf("wrote %q, %v\n%s", b.String(), err, d)
	}
	r := s.requests()[0]
	if r.RequestURI != "/v1/runs/r1/export?format=csv&version=3" || r.Header.Get("Accept") != "*/*" {
		t.Errorf("asked for %s with Accept %s", r.RequestURI, r.Header.Get("Accept"))
	}
}

func TestExportFailures(t *testing.T) {
	t.Parallel()
	cut := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	once := func(first, then http.HandlerFunc) http.HandlerFunc {
		turn := turns()
		return func(w http.ResponseWriter, r *http.Request) {
			if turn() == 1 {
				first(w, r)
				return
			}
			then(w, r)
		}
	}
	lie := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-SHA256", strings.Repeat("0", 64))
		io.WriteString(w, "content")
	}
	tests := []struct {
		name     string
		serve    http.HandlerFunc
		limit    int64
		file     bool
		code     api.Code
		requests int
	}{
		{"file, 503 first", once(text(503, ""), content), 0, true, "", 2},
		{"file, cut first", once(cut, content), 0, true, "", 2},
		{"file, always cut", cut, 0, true, "network_error", 3},
		{"writer, cut first", once(cut, content), 0, false, "network_error", 1},
		{"writer, 503 first", once(text(503, ""), content), 0, false, "", 2},
		{"wrong checksum", lie, 0, true, "invalid_response", 1},
		{"at the limit", content, 7, true, "", 1},
		{"above the limit", content, 6, true, "response_too_large", 1},
		{"not finished", text(409, `{"error":{"code":"run_not_finished","message":"m"}}`), 0, true, "run_not_finished", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStub(t, tt.serve)
			c := s.client(t, func(c *evalrouter.Config) { c.MaxExportBytes = tt.limit })
			dir := t.TempDir()
			file := filepath.Join(dir, "out.csv")
			var err error
			if tt.file {
				_, err = c.Runs.ExportFile(t.Context(), "r1", evalrouter.ExportQuery{Format: "csv"}, file, false)
			} else {
				_, err = c.Runs.Export(t.Context(), "r1", evalrouter.ExportQuery{Format: "csv"}, io.Discard)
			}
			if tt.code == "" && err != nil || tt.code != "" && !errors.Is(err, tt.code) {
				t.Errorf("answers %v, want %s", err, tt.code)
			}
			if s.count() != tt.requests {
				t.Errorf("%d requests, want %d", s.count(), tt.requests)
			}
			wantFiles := []string{}
			if tt.file && tt.code == "" {
				wantFiles = []string{"out.csv"}
				if b, err := os.ReadFile(file); err != nil || string(b) != "content" {
					t.Errorf("the file holds %q (%v)", b, err)
				}
			}
			if d := cmp.Diff(wantFiles, names(t, dir)); d != "" {
				t.Errorf("files (-want +got):\n%s", d)
			}
		})
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestExportFile(t *testing.T) {
	t.Parallel()
	s := newStub(t, content)
	c := s.client(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "out.csv")
	export := func(file string, overwrite bool) error {
		_, err := c.Runs.ExportFile(t.Context(), "r1", evalrouter.ExportQuery{Format: "csv"}, file, overwrite)
		return err
	}
	if err := export(file, false); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v (%v)", st.Mode(), err)
	}
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := s.count()
	if err := export(file, false); !errors.Is(err, api.DestinationExists) || s.count() != before {
		t.Errorf("an existing file answers %v after %d requests", err, s.count()-before)
	}
	if b, _ := os.ReadFile(file); string(b) != "precious" {
		t.Errorf("the existing file became %q", b)
	}
	if err := export(file, true); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(file); string(b) != "content" {
		t.Errorf("overwriting left %q", b)
	}
	if err := export(filepath.Join(dir, "no", "such", "folder"), false); !errors.Is(err, api.ExportWriteFailed) {
		t.Errorf("a missing folder answers %v", err)
	}
	if d := cmp.Diff([]string{"out.csv"}, names(t, dir)); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
}

// What is not a regular file is never replaced, not even on request, and
// nothing is asked of the service for it.
func TestExportFileReplacesRegularFilesOnly(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, want string
		put        func(path string) error
	}{
		{"a dangling link", "a symbolic link", func(p string) error { return os.Symlink(p+"-nowhere", p) }},
		{"a link to a file", "a symbolic link", func(p string) error {
			return errors.Join(os.WriteFile(p+"-target", []byte("precious"), 0o600), os.Symlink(p+"-target", p))
		}},
		{"a folder", "a folder", func(p string) error { return os.Mkdir(p, 0o700) }},
		{"a socket", "a socket", func(p string) error {
			l, err := net.Listen("unix", p)
			if err == nil {
				t.Cleanup(func() { l.Close() })
			}
			return err
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStub(t, content)
			dir, err := os.MkdirTemp("", "x") // short, for the socket
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			file := filepath.Join(dir, "out")
			if err := tt.put(file); err != nil {
				t.Fatal(err)
			}
			mode := modeOf(t, file)
			for _, overwrite := range []bool{false, true} {
				_, err := s.client(t).Runs.ExportFile(t.Context(), "r1", evalrouter.ExportQuery{Format: "csv"}, file, overwrite)
				if !errors.Is(err, api.InvalidInput) || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("overwrite %v answers %v, want %q", overwrite, err, tt.want)
				}
			}
			if got := modeOf(t, file); got != mode || s.count() != 0 {
				t.Errorf("it became %v after %d requests, want %v after none", got, s.count(), mode)
			}
			if b, err := os.ReadFile(file + "-target"); err == nil && string(b) != "precious" {
				t.Errorf("the file behind the link became %q", b)
			}
		})
	}
}

func modeOf(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}

// A file that appears while the export runs is not overwritten either.
func TestExportFileLosesARace(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "out.csv")
	s := newStub(t, func(w http.ResponseWriter, r *http.Request) {
		if err := os.WriteFile(file, []byte("first"), 0o600); err != nil {
			t.Error(err)
		}
		content(w, r)
	})
	_, err := s.client(t).Runs.ExportFile(t.Context(), "r1", evalrouter.ExportQuery{}, file, false)
	if b, _ := os.ReadFile(file); !errors.Is(err, api.DestinationExists) || string(b) != "first" {
		t.Errorf("answers %v and leaves %q", err, b)
	}
}

func TestExportToABrokenWriter(t *testing.T) {
	t.Parallel()
	s := newStub(t, content)
	broken := errors.New("pipe closed")
	_, err := s.client(t).Runs.Export(t.Context(), "r1", evalrouter.ExportQuery{}, writerFunc(func([]byte) (int, error) { return 0, broken }))
	if !errors.Is(err, api.ExportWriteFailed) || !errors.Is(err, broken) || s.count() != 1 {
		t.Errorf("answers %v after %d requests", err, s.count())
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// A large export may take longer than one attempt; its beginning may not.
func TestExportOutlivesTheAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := roundTripper(func(r *http.Request) (*http.Response, error) {
			body := readerFunc(func([]byte) (int, error) {
				select {
				case <-r.Context().Done():
					return 0, r.Context().Err()
				case <-time.After(evalrouter.DefaultAttemptTimeout + time.Second): // of the bubble's clock
					return 0, io.EOF
				}
			})
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(body)}, nil
		})
		c, err := evalrouter.New(evalrouter.Config{BaseURL: "https://api.example.com", HTTPClient: &http.Client{Transport: slow}, Retries: new(0)})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Runs.Export(t.Context(), "r1", evalrouter.ExportQuery{}, io.Discard); err != nil {
			t.Errorf("a slow export answers %v", err)
		}
		if _, err := c.Runs.Get(t.Context(), "r1"); !errors.Is(err, api.RequestTimeout) {
			t.Errorf("a slow record answers %v", err)
		}
	})
}

// A file is made before its first byte is sent: its attempt has the time of the
// whole operation, unless the caller bounds attempts.
func TestExportIsWaitedFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		attempt time.Duration
		ok      bool
	}{{name: "by default", ok: true}, {name: "a bounded attempt", attempt: 40 * time.Second}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				slow := roundTripper(func(r *http.Request) (*http.Response, error) {
					select {
					case <-r.Context().Done():
						return nil, r.Context().Err()
					case <-time.After(90 * time.Second): // of the bubble's clock
						return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("whole"))}, nil
					}
				})
				client, err := evalrouter.New(evalrouter.Config{BaseURL: "https://api.example.com", HTTPClient: &http.Client{Transport: slow}, Retries: new(0), AttemptTimeout: c.attempt})
				if err != nil {
					t.Fatal(err)
				}
				defer client.Close()
				_, err = client.Runs.Export(t.Context(), "r1", evalrouter.ExportQuery{}, io.Discard)
				if c.ok != (err == nil) || err != nil && !strings.Contains(err.Error(), "within 40s") {
					t.Errorf("answers %v", err)
				}
			})
		})
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }
