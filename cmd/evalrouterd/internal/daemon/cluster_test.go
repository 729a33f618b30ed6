package daemon_test

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/storetest"
)

// postgres makes a database of its own in the server that the test command
// started.
func postgres(t *testing.T) (address string, db *sql.DB) {
	t.Helper()
	address = storetest.Postgres(t)
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return address, db
}

// crew is some processes on one database.
type crew struct {
	t       *testing.T
	address string
	db      *sql.DB
	first   string // the data directory whose master key all have
	api     *living
	key     string
}

// newCrew starts the process that answers requests.
func newCrew(t *testing.T, more ...string) *crew {
	t.Helper()
	c := &crew{t: t, first: t.TempDir()}
	c.address, c.db = postgres(t)
	c.api = c.member(c.first, 0, append([]string{"--role", "api", "--addr", "127.0.0.1:0"}, more...)...)
	address := regexp.MustCompile(`serves http://(127\.0\.0\.1:\d+) `)
	until(t, c.api, "its address", func() bool { return address.MatchString(c.api.stderr.String()) })
	c.api.base = "http://" + address.FindStringSubmatch(c.api.stderr.String())[1]
	c.key = strings.TrimSpace(c.run("keys", "create", "--workspace", "main", "--name", "n", "--scopes", "eval:read,eval:write,billing:read", "--data", c.first).ok(t).stdout)
	c.run("credits", "grant", "main", "100", "--data", c.first).ok(t)
	if err := os.WriteFile(filepath.Join(c.first, "owner.token"), []byte(c.key), 0o600); err != nil { // for the harness alone; serve reads none
		t.Fatal(err)
	}
	return c
}

// member starts a process whose clock is wrong by skew.
func (c *crew) member(dir string, skew time.Duration, more ...string) *living {
	c.t.Helper()
	cmd := watched(c.t, append([]string{"serve", "--data", dir, "--lease", "2s", "--sweep", "300ms"}, more...)...)
	cmd.Env = append(cmd.Env, "EVALROUTERD_DATABASE_URL="+c.address, "EVALROUTERD_TEST_SKEW="+skew.String())
	return begin(c.t, cmd, dir)
}

// worker starts a worker that has the master key.
func (c *crew) worker(skew time.Duration) *living {
	c.t.Helper()
	dir := c.t.TempDir()
	b, err := os.ReadFile(filepath.Join(c.first, "master.key"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "master.key"), b, 0o600)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	w := c.member(dir, skew, "--role", "worker")
	until(c.t, w, "its first word", func() bool { return strings.Contains(w.stderr.String(), " works for ") })
	return w
}

// run runs a command of the installation.
func (c *crew) run(args ...string) ran {
	c.t.Helper()
	file := filepath.Join(c.t.TempDir(), "address")
	if err := os.WriteFile(file, []byte(c.address+"\n"), 0o600); err != nil {
		c.t.Fatal(err)
	}
	return run(c.t, append(args, "--database-file", file)...)
}

// start begins a run of practice tasks that takes a while.
func (c *crew) start(n, concurrency int) string {
	c.t.Helper()
	var q, r struct{ ID string }
	c.api.call(c.t, "POST", "/v1/quotes", map[string]any{
		"selection": map[string]any{"profile_ids": []string{"arithmetic@1"}}, "model": map[string]any{"kind": "managed", "route_id": "practice.solver-0.8"},
		"coverage": map[string]any{"sample_count": n}, "max_charge_microusd": "10000000", "concurrency": concurrency,
	}, &q)
	if status := c.api.call(c.t, "POST", "/v1/runs", map[string]any{"quote_id": q.ID}, &r, "Idempotency-Key", q.ID); status != 200 || r.ID == "" {
		c.t.Fatalf("the run was answered with %d", status)
	}
	return r.ID
}

// owner is the process that has the run's turn, 0 for none.
func (c *crew) owner(run string) int {
	c.t.Helper()
	var name string
	if err := c.db.QueryRow(`SELECT owner FROM runs WHERE id = $1`, run).Scan(&name); err != nil {
		c.t.Fatal(err)
	}
	pid, _, _ := strings.Cut(name, "-")
	n, err := strconv.Atoi(pid)
	if err != nil {
		return 0
	}
	return n
}

func (c *crew) count(q string, args ...any) (n int) {
	c.t.Helper()
	if err := c.db.QueryRow(q, args...).Scan(&n); err != nil {
		c.t.Fatal(err)
	}
	return n
}

// ended waits for the end of a run.
func (c *crew) ended(run string) (status string, outcomes map[string]int) {
	c.t.Helper()
	var r struct {
		Status   string
		Outcomes map[string]int
	}
	until(c.t, c.api, "the end of the run", func() bool {
		c.api.call(c.t, "GET", "/v1/runs/"+run, nil, &r)
		return r.Status == "completed" || r.Status == "partial" || r.Status == "failed" || r.Status == "cancelled"
	})
	return r.Status, r.Outcomes
}

func (c *crew) clean() {
	c.t.Helper()
	if r := c.run("audit", "--data", c.first); r.status != 0 {
		c.t.Errorf("audit: %s%s", r.stdout, r.stderr)
	}
}

// Three workers whose clocks are five minutes apart share a database. The one
// that works on a run is killed: another goes on, no graded task is lost, and
// no more is unresolved than was in flight.
func TestCluster_WorkerDies(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	workers := map[int]*living{}
	for _, skew := range []time.Duration{-5 * time.Minute, 0, 5 * time.Minute} {
		w := c.worker(skew)
		workers[w.cmd.Process.Pid] = w
	}
	const tasks, concurrency = 500, 4
	id := c.start(tasks, concurrency)
	graded := func() int {
		return c.count(`SELECT count(*) FROM samples WHERE run = (SELECT num FROM runs WHERE id = $1) AND state = 'graded'`, id)
	}
	killed := 0
	for range 2 {
		was := graded()
		until(t, c.api, "some progress", func() bool { return graded() >= was+20 })
		pid := c.owner(id)
		w := workers[pid]
		if w == nil {
			t.Fatalf("process %d works on the run; it is none of %v", pid, workers)
		}
		before := c.list(`SELECT idx || ' ' || outcome FROM samples WHERE run = (SELECT num FROM runs WHERE id = $1) AND state = 'graded' ORDER BY idx`, id)
		w.signal(t, syscall.SIGKILL)
		<-w.gone
		killed++
		after := map[string]bool{}
		for _, s := range c.list(`SELECT idx || ' ' || outcome FROM samples WHERE run = (SELECT num FROM runs WHERE id = $1) AND state = 'graded' ORDER BY idx`, id) {
			after[s] = true
		}
		for _, s := range before {
			if !after[s] {
				t.Errorf("the graded task %s was lost", s)
			}
		}
		until(t, c.api, "another worker", func() bool { n := c.owner(id); return n != 0 && n != pid })
	}
	status, outcomes := c.ended(id)
	unresolved := outcomes["provider_error"]
	if total := unresolved + outcomes["right"] + outcomes["wrong"]; total != tasks || unresolved > killed*concurrency || status != "completed" && status != "partial" {
		t.Errorf("after %d kills the run is %s with %v", killed, status, outcomes)
	}
	if n := c.count(`SELECT count(*) FROM calls WHERE run = (SELECT num FROM runs WHERE id = $1) AND state = 'unknown'`, id); n != unresolved {
		t.Errorf("%d unknown calls and %d unresolved tasks", n, unresolved)
	}
	if n := c.count(`SELECT count(*) FROM (SELECT idx FROM calls WHERE run = (SELECT num FROM runs WHERE id = $1) AND sent_at > 0 AND state <> 'rejected' AND state <> 'voided' GROUP BY idx HAVING count(*) > 1) twice`, id); n != 0 {
		t.Errorf("%d tasks were asked twice", n)
	}
	c.clean()
}

func (c *crew) list(q string, args ...any) (out []string) {
	c.t.Helper()
	rows, err := c.db.Query(q, args...)
	if err != nil {
		c.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			c.t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

// A worker that is stopped gives its run back at once, and a request to cancel
// reaches the worker wherever it came in.
func TestCluster_HandsOverAndCancels(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	first := c.worker(0)
	id := c.start(1000, 2)
	until(t, first, "the claim", func() bool { return c.owner(id) == first.cmd.Process.Pid })
	second := c.worker(0)
	first.signal(t, syscall.SIGTERM)
	if status := first.ended(t); status != 0 {
		t.Errorf("after SIGTERM the status is %d: %s", status, first.stderr)
	}
	until(t, second, "the second worker", func() bool { return c.owner(id) == second.cmd.Process.Pid })
	if n := c.count(`SELECT count(*) FROM calls WHERE run = (SELECT num FROM runs WHERE id = $1) AND state = 'unknown'`, id); n != 0 {
		t.Errorf("%d calls are unknown after an orderly end", n)
	}
	// A follower elsewhere hears of what a worker writes.
	var page struct {
		NextSequence int64 `json:"next_sequence"`
	}
	c.api.call(t, "GET", "/v1/runs/"+id+"/events?tail=true&limit=1", nil, &page)
	var more struct{ Data []json.RawMessage }
	c.api.call(t, "GET", fmt.Sprintf("/v1/runs/%s/events?after=%d&wait_seconds=20", id, page.NextSequence), nil, &more)
	if len(more.Data) == 0 {
		t.Error("a follower waited for nothing")
	}
	if status := c.api.call(t, "POST", "/v1/runs/"+id+"/cancel", map[string]any{}, nil, "Idempotency-Key", "cancel"); status != 200 && status != 202 {
		t.Fatalf("cancel answers %d", status)
	}
	if status, _ := c.ended(id); status != "cancelled" {
		t.Errorf("the run ended as %s", status)
	}
	c.clean()
}

// Jobs of the queue may vanish or be there twice: runs end all the same.
func TestCluster_QueueIsOnlyAWakeUp(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	var runs []string
	for range 4 {
		runs = append(runs, c.start(20, 4))
	}
	if _, err := c.db.Exec(`DELETE FROM river_job`); err != nil {
		t.Fatal(err)
	}
	c.worker(0)
	c.worker(0)
	for range 3 {
		if _, err := c.db.Exec(`INSERT INTO river_job (state, args, kind, max_attempts, queue, priority) SELECT 'available', json_build_object('run', id, 'workspace', workspace_id, 'sweep', 0), 'run.tick', 5, 'default', 1 FROM runs`); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range runs {
		if status, outcomes := c.ended(id); status != "completed" {
			t.Errorf("%s is %s with %v", id, status, outcomes)
		}
	}
	c.clean()
}

// Every process needs the same master key, and nothing but PostgreSQL with
// its durability is accepted.
func TestCluster_Refusals(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	env := []string{"EVALROUTERD_DATABASE_URL=" + c.address}
	password := strings.Replace(c.address, "postgres://", "postgres://", 1)
	readable := filepath.Join(t.TempDir(), "address")
	if err := os.WriteFile(readable, []byte(c.address), 0o644); err != nil {
		t.Fatal(err)
	}
	wrong := t.TempDir()
	run(t, "keys", "reset", "--data", furnished(t, wrong)).ok(t)
	for _, tt := range []struct {
		name string
		args []string
		data string // empty is a directory of its own
		code string
	}{
		{"a password among the arguments", []string{"serve", "--database", password}, "", "secret_in_arguments"},
		{"a file that others can read", []string{"serve", "--database-file", readable}, "", "others can read it"},
		{"not an address", []string{"audit", "--database", "mysql://x/y"}, "", "invalid_input"},
		{"a worker of its own", []string{"serve", "--role", "worker"}, "", "needs a PostgreSQL"},
		{"no such role", []string{"serve", "--role", "boss"}, "", "invalid_input"},
		{"no master key", []string{"serve", "--addr", "127.0.0.1:0"}, "", "master_key_missing"},
		{"another master key", []string{"serve", "--addr", "127.0.0.1:0"}, wrong, "master_key_wrong"},
		{"nobody there", []string{"serve", "--database", "postgres://nobody@127.0.0.1:1/x"}, "", "database_unreachable"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd := program(t, append(tt.args, "--data", cmp.Or(tt.data, t.TempDir()))...)
			if tt.name != "a worker of its own" {
				cmd.Env = append(cmd.Env, env...)
			}
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), tt.code) {
				t.Errorf("%v: %s", err, out)
			}
			u, err := url.Parse(c.address)
			if err != nil {
				t.Fatal(err)
			}
			if secret, _ := u.User.Password(); strings.Contains(string(out), secret) {
				t.Errorf("the password is shown: %s", out)
			}
		})
	}
}

func furnished(t *testing.T, dir string) string {
	t.Helper()
	furnish(t, dir)
	return dir
}

// liteOf opens the database of a directory beside the program.
func liteOf(t *testing.T, dir string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "evalrouter.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}
