package fault_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/evalrouter/evalrouter/scripts/internal/fault"
)

// target records what reached it.
type target struct {
	mu   sync.Mutex
	seen []string
}

func (s *target) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.seen = append(s.seen, r.Method+" "+r.URL.RequestURI()+" "+string(body)+" at "+r.Host)
	s.mu.Unlock()
	w.Header().Set("X-From", "target")
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write([]byte("done"))
}

type bench struct {
	base, host string
	target     *target
	log        *bytes.Buffer
}

func setup(t *testing.T, rules ...fault.Rule) bench {
	t.Helper()
	b := bench{target: &target{}, log: &bytes.Buffer{}}
	server := httptest.NewServer(b.target)
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(fault.New(u, rules, b.log))
	t.Cleanup(proxy.Close)
	b.base, b.host = proxy.URL, u.Host
	return b
}

// send returns the status and body, or "lost" when the connection closed without an answer.
func (b bench) send(t *testing.T, method, path, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, b.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "lost"
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return "lost"
	}
	return resp.Status + " " + resp.Header.Get("X-From") + " " + strings.TrimSpace(string(data))
}

func rule(t *testing.T, kind fault.Kind, match string, times int) fault.Rule {
	t.Helper()
	r, err := fault.ParseMatch(match)
	if err != nil {
		t.Fatal(err)
	}
	r.Kind, r.Times = kind, times
	return r
}

const created = "201 Created target done"

func TestDropLosesTheAnswerOnly(t *testing.T) {
	t.Parallel()
	b := setup(t, rule(t, fault.Drop, "POST /v1/runs", 1))
	got := []string{
		b.send(t, "GET", "/v1/runs?x=1", ""),
		b.send(t, "POST", "/v1/runs", "first"),
		b.send(t, "POST", "/v1/runs", "second"),
	}
	if diff := cmp.Diff([]string{created, "lost", created}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	want := []string{"GET /v1/runs?x=1  at " + b.host, "POST /v1/runs first at " + b.host, "POST /v1/runs second at " + b.host}
	if diff := cmp.Diff(want, b.target.seen); diff != "" {
		t.Errorf("the target saw (-want +got):\n%s", diff)
	}
	if got := b.log.String(); got != "drop POST /v1/runs (1)\n" {
		t.Errorf("log %q", got)
	}
}

func TestRefuseKeepsTheTargetOut(t *testing.T) {
	t.Parallel()
	b := setup(t, rule(t, fault.Refuse, "GET /v1/*", 2))
	got := []string{b.send(t, "GET", "/v1/a", ""), b.send(t, "GET", "/v1/b", ""), b.send(t, "GET", "/v1/c", ""), b.send(t, "GET", "/v2", "")}
	want := []string{"503 Service Unavailable  refused on purpose", "503 Service Unavailable  refused on purpose", created, created}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if len(b.target.seen) != 2 {
		t.Errorf("the target saw %q", b.target.seen)
	}
}

func TestZeroTimesMeansAlways(t *testing.T) {
	t.Parallel()
	b := setup(t, rule(t, fault.Drop, "POST /x", 0))
	for range 3 {
		if got := b.send(t, "POST", "/x", ""); got != "lost" {
			t.Errorf("answer %q", got)
		}
	}
}

func TestDelay(t *testing.T) {
	t.Parallel()
	r := rule(t, fault.Delay, "GET /x", 1)
	r.By = 150 * time.Millisecond
	b := setup(t, r)
	start := time.Now()
	if got := b.send(t, "GET", "/x", ""); got != created || time.Since(start) < r.By {
		t.Errorf("answer %q after %s, want it after %s", got, time.Since(start), r.By)
	}
}

func TestDeadTarget(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	server.Close()
	w := httptest.NewRecorder()
	fault.New(u, nil, io.Discard).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if w.Code != http.StatusBadGateway {
		t.Errorf("status %d", w.Code)
	}
}

func TestParseMatchRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "POST", "POST v1", "post /v1", "/v1/runs"} {
		if _, err := fault.ParseMatch(s); err == nil {
			t.Errorf("%q was accepted", s)
		}
	}
}
