package daemon_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/api"
)

// surfer is a browser without a window: cookies, and no redirect that it is not
// told to follow.
type surfer struct {
	t    *testing.T
	base string
	http.Client
}

func newSurfer(t *testing.T, base string) *surfer {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &surfer{t, base, http.Client{Jar: jar}}
}

// page reads a page.
func (s *surfer) page(path string) (status int, text string, header http.Header) {
	s.t.Helper()
	if !strings.HasPrefix(path, "http") {
		path = s.base + path
	}
	res, err := s.Get(path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(b), res.Header
}

// sees demands a page with words.
func (s *surfer) sees(path string, words ...string) string {
	s.t.Helper()
	status, text, header := s.page(path)
	if status != 200 {
		s.t.Fatalf("%s is answered %d: %s", path, status, text)
	}
	for _, w := range words {
		if !strings.Contains(text, w) {
			s.t.Errorf("%s lacks %q:\n%s", path, w, text)
		}
	}
	if csp := header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; ") || strings.Contains(csp, "unsafe") || strings.Contains(csp, "http") {
		s.t.Errorf("%s has the policy %q", path, csp)
	}
	return text
}

// asks asks the API for something with a token. The same body is the same request.
// A refusal is not decoded.
func (l *living) asks(t *testing.T, token, method, path string, body, into any) int {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	status, b, _ := l.exchange(t, method, path, body, append(bearer(token), "Idempotency-Key", fmt.Sprintf("%x", sha256.Sum256(raw)))...)
	if into != nil && status < 300 {
		if err := json.Unmarshal(b, into); err != nil {
			t.Fatalf("%s: %s", path, b)
		}
	}
	return status
}

type fields = map[string]any

// begun starts a run of so many tasks.
func (l *living) begun(t *testing.T, token, route string, tasks int) string {
	t.Helper()
	var q api.QuoteRecord
	if s := l.asks(t, token, "POST", "/v1/quotes", fields{
		"selection": fields{"profile_ids": []string{"arithmetic@1"}}, "coverage": fields{"mode": "sample", "sample_count": tasks, "seed": 3}, "model": fields{"kind": "managed", "route_id": route}, "max_charge_microusd": "900000",
	}, &q); s != 200 {
		t.Fatalf("the quote is answered %d", s)
	}
	var r api.RunRecord
	if s := l.asks(t, token, "POST", "/v1/runs", fields{"quote_id": q.ID}, &r); s != 200 {
		t.Fatalf("the run is answered %d", s)
	}
	return r.ID
}

func (l *living) finishedRun(t *testing.T, token, run string) (r api.RunRecord) {
	t.Helper()
	until(t, l, "the run's end", func() bool {
		return l.asks(t, token, "GET", "/v1/runs/"+run, nil, &r) == 200 && r.Status.Terminal()
	})
	return r
}

var (
	strongFigure = regexp.MustCompile(`<p class="score"><strong>([0-9.]+ %)</strong> <span>([0-9,]+ of [0-9,]+)</span> <span>95 % interval ([0-9.]+ to [0-9.]+)</span>`)
	spentFigure  = regexp.MustCompile(`<b>(\$[0-9.,]+)</b> of (\$[0-9.,]+)`)
)

// TestPages_Local: a service where nobody signs in shows a run and a group to the
// browser that has a link, and nothing beside it. The figures are those of the
// report, of Markdown and of the record.
func TestPages_Local(t *testing.T) {
	t.Parallel()
	l := startLocal(t, t.TempDir())
	token := l.token(t)
	run, other := l.begun(t, token, "practice.solver-0.8", 30), l.begun(t, token, "practice.echo", 5)
	rec := l.finishedRun(t, token, run)
	l.finishedRun(t, token, other)
	s := newSurfer(t, l.base)
	if status, text, _ := s.page("/runs/" + run); status != 404 || !strings.Contains(text, "There is nothing here for this browser") {
		t.Errorf("without a link the run is answered %d: %s", status, text)
	}
	var link api.Link
	if got := l.asks(t, token, "POST", "/v1/runs/"+run+"/links", fields{"purpose": "report"}, &link); got != 200 || !strings.HasPrefix(link.URL, l.base+"/open/") {
		t.Fatalf("the link is answered %d: %+v", got, link)
	}
	page := s.sees(link.URL, "arithmetic@1", "Provenance", "Limits and warnings")
	for _, path := range []string{"/runs", "/groups", "/benchmarks", "/runs/" + other, "/runs/" + run + "/export?format=json", "/settings", "/login"} {
		if status, text, _ := s.page(path); status != 404 {
			t.Errorf("with the link of one run %s is answered %d: %s", path, status, text)
		}
	}
	if status, _, _ := s.page(link.URL[:len(link.URL)-3] + "abc"); status != 404 {
		t.Errorf("a changed link is answered %d", status)
	}
	m, money := strongFigure.FindStringSubmatch(page), spentFigure.FindStringSubmatch(page)
	if m == nil || money == nil {
		t.Fatalf("the page has no figures:\n%s", page)
	}
	for format, mark := range map[string]string{"html": "<strong>" + m[1] + "</strong>", "md": "**" + m[1] + "**"} {
		_, file, _ := l.export(t, token, run, format)
		for _, want := range []string{mark, m[2], m[3], money[1], money[2]} {
			if !strings.Contains(file, want) {
				t.Errorf("the export as %s lacks %q, which the page has", format, want)
			}
		}
	}
	h := rec.Headline
	if want := []string{fmt.Sprintf("%.1f %%", 100*h.Value), fmt.Sprintf("%d of %d", rec.Outcomes["right"], h.Denominator), fmt.Sprintf("%.1f to %.1f", 100*h.Interval.Lower, 100*h.Interval.Upper)}; strings.Join(m[1:], "|") != strings.Join(want, "|") {
		t.Errorf("the page says %q, the record %q", m[1:], want)
	}
	task := regexp.MustCompile(`href="(/runs/[^"]+/tasks/0)"`).FindStringSubmatch(page)
	if task == nil {
		t.Fatal("no task is listed")
	}
	s.sees(task[1], "Asked (user)", "Expected", "Answer", "Next task")
}

func (l *living) export(t *testing.T, token, run, format string) (int, string, http.Header) {
	t.Helper()
	status, b, header := l.exchange(t, "GET", "/v1/runs/"+run+"/export?format="+format, nil, bearer(token)...)
	return status, string(b), header
}

// heldModel is a model server that answers when it is let to.
func heldModel(t *testing.T) (address string, let chan struct{}) {
	t.Helper()
	let = make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-let:
		case <-r.Context().Done():
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"choices":[{"message":{"content":"ANSWER: 4"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6}}`)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, let
}

// TestPages_Live: a run that goes on is told as it grows; a browser that comes
// back with what it saw last is told what is newer, and the end.
func TestPages_Live(t *testing.T) {
	t.Parallel()
	l := startLocal(t, t.TempDir())
	token := l.token(t)
	address, let := heldModel(t)
	var c struct{ ID string }
	if s := l.asks(t, token, "POST", "/v1/connections", fields{"name": "held", "base_url": address + "/v1", "model_id": "m"}, &c); s != 200 {
		t.Fatalf("the connection is answered %d", s)
	}
	var q api.QuoteRecord
	if s := l.asks(t, token, "POST", "/v1/quotes", fields{
		"selection": fields{"profile_ids": []string{"arithmetic@1"}}, "coverage": fields{"mode": "sample", "sample_count": 6, "seed": 3}, "model": fields{"kind": "connection", "connection_id": c.ID}, "max_charge_microusd": "900000",
	}, &q); s != 200 {
		t.Fatalf("the quote is answered %d", s)
	}
	var r api.RunRecord
	if s := l.asks(t, token, "POST", "/v1/runs", fields{"quote_id": q.ID}, &r); s != 200 {
		t.Fatalf("the run is answered %d", s)
	}
	var link api.Link
	l.asks(t, token, "POST", "/v1/runs/"+r.ID+"/links", fields{"purpose": "live"}, &link)
	s := newSurfer(t, l.base)
	page := s.sees(link.URL, `<div id="live" data-stream="/runs/`+r.ID+`/stream?after=`, `<noscript><meta http-equiv="refresh" content="5"></noscript>`, "nothing is graded so far", "not decided yet")
	if strings.Count(page, "<script") != 1 || !strings.Contains(page, `<script src="/evals.js" defer></script>`) {
		t.Error("the page has another script than the one of the service")
	}
	let <- struct{}{} // one task
	first := s.stream(t, "/runs/"+r.ID+"/stream", "")
	var last string
	for e := range first {
		if last = e.id; strings.Contains(e.data, "1 of 6 tasks are decided") {
			break
		}
	}
	close(let)
	l.finishedRun(t, token, r.ID)
	for e := range s.stream(t, "/runs/"+r.ID+"/stream", last) {
		if e.kind == "end" {
			s.sees("/runs/"+r.ID, "Provenance", "Finished", "<b>6</b> of 6 planned")
			return
		}
	}
	t.Error("the stream of a run that has ended does not say so")
}

type told struct{ id, kind, data string }

// stream follows a page from what was seen last on.
func (s *surfer) stream(t *testing.T, path, last string) func(func(told) bool) {
	t.Helper()
	return func(yield func(told) bool) {
		req, err := http.NewRequestWithContext(t.Context(), "GET", s.base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if last != "" {
			req.Header.Set("Last-Event-ID", last)
		}
		res, err := s.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if kind := res.Header.Get("Content-Type"); kind != "text/event-stream" {
			t.Fatalf("the stream is %s", kind)
		}
		var e told
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "id":
				e.id = value
			case "event":
				e.kind = value
			case "data":
				e.data = value
			case "":
				if lines.Text() == "" && e.kind != "" && !yield(e) {
					return
				}
				if lines.Text() == "" {
					e.kind, e.data = "", ""
				}
			}
		}
	}
}

// TestPages_People: whoever signs in finds runs, groups and the catalog; other
// people's runs read as missing, and a link ends with what its maker may.
func TestPages_People(t *testing.T) {
	t.Parallel()
	l := startTeam(t)
	s := newSurfer(t, l.base)
	if status, text, _ := s.page("/runs"); status != 200 || !strings.Contains(text, "Sign in") {
		t.Errorf("the list of runs is answered %d without a sign-in", status)
	}
	s.sees("/benchmarks", "arithmetic@1")
	s.sees("/benchmarks/arithmetic", "Manifest SHA-256")
	s.sees("/models", "practice.solver-0.8")
	s.sees("/models/practice.solver-0.8", "simulated")
	l.enters(t, s, "ada@example.org")
	s.sees("/runs", "No run was begun yet", `aria-current="page">Runs</a>`)
	s.sees("/groups", "No group was begun yet")
	s.sees("/runs?status=failed&workspace=", "is failed")
	if status, _, _ := s.page("/runs/00000000-0000-4000-8000-00000000dead"); status != 404 {
		t.Errorf("a run that is not there is answered %d", status)
	}
}

// enters registers a person and signs in.
func (l *living) enters(t *testing.T, s *surfer, mail string) {
	t.Helper()
	form := func(path string, v url.Values) string {
		t.Helper()
		_, text := s.sends(path, path, v)
		return text
	}
	form("/register", url.Values{"email": {mail}, "name": {"Ada"}, "password": {browserPassword}})
	run(t, "accounts", "approve", mail, "--data", l.dir).ok(t)
	form("/login", url.Values{"email": {mail}, "password": {browserPassword}})
	if text := form("/setup", url.Values{"name": {"Ada's"}}); !strings.Contains(text, "No run was begun yet") {
		t.Fatalf("after the setup the page says:\n%s", text)
	}
}
