package e2e_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/scripts/internal/testpg"
)

// scripts/prove pg sets them higher.
var (
	clusterKills    = flag.Int("e2e.kills", 2, "kills of workers that share a PostgreSQL")
	clusterRestarts = flag.Int("e2e.restarts", 1, "immediate restarts of PostgreSQL under a live run")
	clusterTasks    = flag.Int("e2e.tasks", 1500, "tasks of the run under which PostgreSQL restarts")
)

const (
	clusterWorkers     = 3
	clusterConcurrency = 8
)

// cluster is a PostgreSQL of its own with one process that answers requests
// and some that make calls.
type cluster struct {
	*site
	pg      *testpg.Cluster
	api     *process
	workers []*process
	base    string
	key     string
	lease   []string // flags
}

// process is a running evalrouterd.
type process struct {
	cmd  *exec.Cmd
	gone chan struct{}
	log  *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write adds to it.
func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String is all of it.
func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newCluster(t *testing.T, lease time.Duration, endpoints ...*counting) *cluster {
	t.Helper()
	return newClusterWith(t, lease, 500*time.Millisecond, endpoints...)
}

// newClusterWith has leases and sweeps of that length; 0 for those that
// everybody has.
func newClusterWith(t *testing.T, lease, sweep time.Duration, endpoints ...*counting) *cluster {
	t.Helper()
	s := newSite(t)
	pg := postgres(t)
	c := &cluster{site: s, pg: pg}
	for name, d := range map[string]time.Duration{"--lease": lease, "--sweep": sweep} {
		if d != 0 {
			c.lease = append(c.lease, name, d.String())
		}
	}
	c.env = []string{"EVALROUTERD_DATABASE_URL=" + pg.URL}
	args := []string{"--role", "api", "--addr", "127.0.0.1:0"}
	for _, e := range endpoints {
		args = append(args, "--allow-private", strings.TrimPrefix(e.URL, "http://"))
	}
	c.api = c.launch(c.member("api"), args...)
	address := regexp.MustCompile(`serves http://(127\.0\.0\.1:\d+) `)
	c.until("the service", func() bool { return address.MatchString(c.api.log.String()) })
	c.base = "http://" + address.FindStringSubmatch(c.api.log.String())[1]
	c.key = strings.TrimSpace(c.ok("evalrouterd", "keys", "create", "--data", c.member("api"), "--workspace", "main", "--name", "e2e", "--scopes", "eval:read,eval:write,connections:write").stdout)
	for i := range clusterWorkers {
		c.workers = append(c.workers, c.worker(i, args[4:]...))
	}
	return c
}

// postgres is a PostgreSQL of the test's own.
func postgres(t *testing.T) *testpg.Cluster {
	t.Helper()
	bin, ok := testpg.FindServer(testpg.DebianGlob)
	if !ok {
		t.Skip("PostgreSQL is not installed: " + testpg.InstallHint)
	}
	pg, err := testpg.Start(t.Context(), bin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pg.Stop(); err != nil {
			t.Error(err)
		}
	})
	return pg
}

func (c *cluster) member(name string) string { return filepath.Join(c.home, name) }

// launch starts a process.
func (c *cluster) launch(dir string, args ...string) *process {
	c.t.Helper()
	return c.serve(nil, slices.Concat([]string{"--data", dir}, c.lease, args)...)
}

// serve starts a service of its own, with more in its environment, and ends it
// with the test.
func (s *site) serve(env []string, args ...string) *process {
	s.t.Helper()
	p := &process{gone: make(chan struct{}), log: &lockedBuffer{}}
	p.cmd = s.command(context.Background(), "evalrouterd", append([]string{"serve"}, args...)...)
	p.cmd.Env = append(p.cmd.Env, env...)
	p.cmd.Stderr = p.log
	if err := p.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() {
		defer close(p.gone)
		_ = p.cmd.Wait() // its status is in ProcessState
	}()
	s.t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // gone already, as a rule
		<-p.gone
		if s.t.Failed() {
			text := p.log.String()
			s.t.Logf("%q:\n%s", args, text[max(0, len(text)-3000):])
		}
	})
	return p
}

func (c *cluster) worker(i int, args ...string) *process {
	c.t.Helper()
	dir := c.member("worker-" + strconv.Itoa(i))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		c.t.Fatal(err)
	}
	key, err := os.ReadFile(filepath.Join(c.member("api"), "master.key"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "master.key"), key, 0o600)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return c.launch(dir, append([]string{"--role", "worker"}, args...)...)
}

// until polls a fact about other processes, which cannot signal us.
func (s *site) until(what string, fact func() bool) {
	s.t.Helper()
	s.within(patience, what, fact)
}

func (s *site) within(limit time.Duration, what string, fact func() bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !fact() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			s.t.Fatalf("%s did not come", what)
		}
	}
}

// call asks the service; it is asked again while it cannot answer, as a client
// does while a database restarts.
func (c *cluster) call(method, path string, body, into any, header ...string) {
	c.t.Helper()
	sent, err := json.Marshal(body)
	if err != nil {
		c.t.Fatal(err)
	}
	var status int
	var got []byte
	c.until(method+" "+path, func() bool {
		req, err := http.NewRequest(method, c.base+path, bytes.NewReader(sent))
		if err != nil {
			c.t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+c.key)
		req.Header.Set("Content-Type", "application/json")
		if len(header) == 2 {
			req.Header.Set(header[0], header[1])
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		defer res.Body.Close()
		got, err = io.ReadAll(res.Body)
		status = res.StatusCode
		return err == nil && status < 500 && status != http.StatusTooManyRequests
	})
	if status >= 300 {
		c.t.Fatalf("%s %s answers %d: %s", method, path, status, got)
	}
	if err := json.Unmarshal(got, into); err != nil {
		c.t.Fatalf("%s %s: %v: %s", method, path, err, got)
	}
}

// start begins a run of a whole benchmark on an endpoint.
func (c *cluster) start(e *counting, profile string, concurrency int) string {
	c.t.Helper()
	var made, q, r struct{ ID string }
	c.call("POST", "/v1/connections", map[string]any{"name": e.URL, "base_url": e.URL + "/v1", "model_id": "m", "api_key": "sk-cluster-test-01",
		"price_in_microusd": "500000", "price_out_microusd": "1500000"}, &made, "Idempotency-Key", "connect-"+e.URL)
	c.call("POST", "/v1/quotes", map[string]any{"selection": map[string]any{"profile_ids": []string{profile}}, "model": map[string]any{"kind": "connection", "connection_id": made.ID},
		"coverage": map[string]any{"mode": "full"}, "max_charge_microusd": "100000000", "concurrency": concurrency}, &q)
	c.call("POST", "/v1/runs", map[string]any{"quote_id": q.ID}, &r, "Idempotency-Key", q.ID)
	return r.ID
}

func (c *cluster) ended(id string) (r run) {
	c.t.Helper()
	after := 0
	c.within(patience+time.Duration(*clusterTasks)*20*time.Millisecond, "the end of run "+id, func() bool {
		// Waiting for an event spares the service and its rate limit.
		var page struct {
			Next int `json:"next_sequence"`
		}
		c.call("GET", fmt.Sprintf("/v1/runs/%s/events?after=%d&limit=200&type=run.progress&wait_seconds=1", id, after), nil, &page)
		after = page.Next
		c.call("GET", "/v1/runs/"+id, nil, &r)
		return r.Status == "completed" || r.Status == "partial" || r.Status == "failed" || r.Status == "cancelled"
	})
	return r
}

// sums adds a benchmark of n different questions and gives its id.
func (c *cluster) sums(n int) string {
	c.t.Helper()
	var data bytes.Buffer
	for i := range n {
		fmt.Fprintf(&data, `{"question":"Sum %d. What is %d + %d?","expected":"%d"}`+"\n", i, i, 7*i, 8*i)
	}
	manifest := fmt.Sprintf(`{
		"schema": "evalrouter.benchmark_manifest.v1", "slug": "sums", "version": "1", "name": "Sums", "description": "Sums.", "category": "mathematics", "family": "generic",
		"data": {"file": "sums.jsonl", "format": "jsonl", "sha256": "%x", "bytes": %d},
		"source": {"url": "https://example.com/sums", "revision": "1", "path": "sums.jsonl"},
		"license": {"data": "MIT", "code": "MIT", "url": "https://example.com/license"},
		"columns": {"input": ["question"], "target": "expected"}, "prompt": {"template": "{{question}}"},
		"grader": {"kind": "numeric", "options": {"take": "last", "percent": "face"}}, "max_output_tokens": 64, "metrics": ["accuracy"]}`,
		sha256.Sum256(data.Bytes()), data.Len())
	for name, text := range map[string][]byte{"sums.jsonl": data.Bytes(), "sums.json": []byte(manifest)} {
		if err := os.WriteFile(filepath.Join(c.home, name), text, 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
	c.ok("evalrouterd", "catalog", "add", "--data", c.member("api"), "--manifest", filepath.Join(c.home, "sums.json"), "--file", filepath.Join(c.home, "sums.jsonl"))
	return "sums@1"
}

func (c *cluster) auditDatabase() {
	c.t.Helper()
	if out := c.run("evalrouterd", "audit", "--data", c.member("api")); out.code != 0 {
		c.t.Errorf("audit: exit %d\n%s%s", out.code, out.stdout, out.stderr)
	}
}

// counting is an endpoint that answers every question alike and counts them.
type counting struct {
	*httptest.Server
	mu     sync.Mutex
	asked  map[string]int
	total  int
	doubly int
}

func serveCounting(t *testing.T, latency time.Duration) *counting {
	e := &counting{asked: map[string]int{}}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Messages json.RawMessage }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		e.mu.Lock()
		e.total++
		if e.asked[string(body.Messages)]++; e.asked[string(body.Messages)] > 1 {
			e.doubly++
		}
		e.mu.Unlock()
		pause := time.NewTimer(latency)
		defer pause.Stop()
		select {
		case <-pause.C:
		case <-r.Context().Done():
		}
		fmt.Fprint(w, `{"model":"m","choices":[{"message":{"content":"ANSWER: 1"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`)
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *counting) seen() (total, doubly int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.total, e.doubly
}

// Three workers share three runs, and workers are killed while they make
// calls: every task is graded as one worker alone grades it, or unresolved
// because its call was in flight; no question is asked twice.
func TestCluster_WorkersAreKilled(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d, %d kills", seed, *clusterKills)
	random := rand.New(rand.NewPCG(seed, 2))
	endpoints := make([]*counting, 3)
	for i := range endpoints {
		endpoints[i] = serveCounting(t, 10*time.Millisecond)
	}
	c := newCluster(t, 3*time.Second, endpoints...)
	tasks := 400 + 120**clusterKills
	profile := c.sums(tasks)
	var runs []string
	for _, e := range endpoints {
		runs = append(runs, c.start(e, profile, clusterConcurrency))
	}
	asked := func() (n int) {
		for _, e := range endpoints {
			total, _ := e.seen()
			n += total
		}
		return n
	}
	for k := range *clusterKills {
		goal := asked() + 60 + random.IntN(150)
		c.within(2*patience, "more questions", func() bool { return asked() >= goal || asked() >= 3*tasks-200 })
		i := random.IntN(len(c.workers))
		if err := c.workers[i].cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatalf("kill %d: %v", k+1, err)
		}
		<-c.workers[i].gone
		c.workers[i] = c.worker(i, "--allow-private", strings.TrimPrefix(endpoints[0].URL, "http://"), "--allow-private", strings.TrimPrefix(endpoints[1].URL, "http://"),
			"--allow-private", strings.TrimPrefix(endpoints[2].URL, "http://"))
	}
	total, unresolved := 0, 0
	for i, id := range runs {
		r := c.ended(id)
		lost := r.Outcomes["provider_error"]
		unresolved += lost
		total += r.GradedCount + lost
		if r.Status != "completed" && r.Status != "partial" || r.GradedCount+lost != tasks {
			t.Errorf("run %d ended as %s (%s) with %v of %d tasks", i, r.Status, r.TerminalReason, r.Outcomes, tasks)
		}
		if _, twice := endpoints[i].seen(); twice != 0 {
			t.Errorf("endpoint %d saw %d questions twice", i, twice)
		}
	}
	t.Logf("%d tasks, %d unresolved after %d kills", total, unresolved, *clusterKills)
	if most := *clusterKills * clusterConcurrency * len(runs); unresolved > most {
		t.Errorf("%d unresolved; at most %d were in flight at the kills", unresolved, most)
	}
	c.auditDatabase()
}

// PostgreSQL is ended as by a crash, and started again, while a run goes on:
// the run ends, nothing is lost and nothing is asked twice.
func TestCluster_DatabaseRestarts(t *testing.T) {
	t.Parallel()
	e := serveCounting(t, 2*time.Millisecond)
	c := newCluster(t, 30*time.Second, e)
	id := c.start(e, c.sums(*clusterTasks), 64)
	for i := range *clusterRestarts {
		goal := *clusterTasks * (i + 1) / (*clusterRestarts + 2)
		c.until("questions", func() bool { total, _ := e.seen(); return total >= goal })
		if err := c.pg.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	r := c.ended(id)
	_, twice := e.seen()
	t.Logf("%s after %d restarts: %v", r.Status, *clusterRestarts, r.Outcomes)
	if r.Status != "completed" || r.GradedCount != *clusterTasks || twice != 0 {
		t.Errorf("the run is %s (%s) with %v of %d tasks; %d questions were asked twice", r.Status, r.TerminalReason, r.Outcomes, *clusterTasks, twice)
	}
	c.auditDatabase()
}
