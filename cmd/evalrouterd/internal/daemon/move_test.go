package daemon_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// inFile puts an address where --database-file finds it.
func inFile(t *testing.T, address string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "address")
	if err := os.WriteFile(file, []byte(address), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// An installation with a run that was cut off moves to PostgreSQL: the run goes
// on there, and the directory can never work on it again.
func TestMigrate(t *testing.T) {
	t.Parallel()
	address, db := postgres(t)
	file := inFile(t, address)
	dir := t.TempDir()
	l := startLocal(t, dir)
	var q, r struct{ ID string }
	l.call(t, "POST", "/v1/quotes", map[string]any{
		"selection": map[string]any{"profile_ids": []string{"arithmetic@1"}}, "model": map[string]any{"kind": "managed", "route_id": "practice.solver-0.8"},
		"coverage": map[string]any{"sample_count": 200}, "max_charge_microusd": "10000000", "concurrency": 4,
	}, &q)
	l.call(t, "POST", "/v1/runs", map[string]any{"quote_id": q.ID}, &r, "Idempotency-Key", "k")
	until(t, l, "some answers", func() bool {
		n := 0
		for _, k := range l.run(t, r.ID).Outcomes {
			n += k
		}
		return n >= 20
	})
	if got := run(t, "migrate-to", "--data", dir, "--database-file", file); got.status != 2 || !strings.Contains(got.stderr, "(data_dir_in_use)") {
		t.Errorf("beside a running service: status %d: %s", got.status, got.stderr)
	}
	l.signal(t, syscall.SIGKILL)
	<-l.gone
	if got := run(t, "migrate-to", address, "--data", dir); got.status != 2 || !strings.Contains(got.stderr, "(secret_in_arguments)") {
		t.Errorf("a password among the arguments: status %d: %s", got.status, got.stderr)
	}
	got := run(t, "migrate-to", "--data", dir, "--database-file", file).ok(t)
	if !strings.Contains(got.stdout, "counted and audited") || !strings.Contains(got.stdout, " runs\n") {
		t.Errorf("the move says %s", got.stdout)
	}
	for _, args := range [][]string{{"local", "--port", "0"}, {"serve", "--addr", "127.0.0.1:0"}, {"credits", "grant", "local", "1"}, {"migrate-to", "--database-file", file}} {
		if got := run(t, append(args, "--data", dir)...); got.status != 2 || !strings.Contains(got.stderr, "(installation_moved)") {
			t.Errorf("%v after the move: status %d: %s", args, got.status, got.stderr)
		}
	}
	if a := run(t, "audit", "--data", dir).ok(t); !strings.Contains(a.stdout, "has moved to postgres://") { // can still be looked at
		t.Errorf("the audit of what stayed says %s", a.stdout)
	}
	if a := run(t, "audit", "--json", "--data", dir).ok(t); !strings.Contains(a.stdout, `"moved_to":"postgres://`) {
		t.Errorf("the audit of what stayed says %s", a.stdout)
	}
	if !strings.Contains(got.stdout, "--providers") {
		t.Errorf("the move does not say where the routes come from: %s", got.stdout)
	}
	cmd := watched(t, "serve", "--data", dir, "--addr", "127.0.0.1:0", "--lease", "2s", "--sweep", "300ms")
	cmd.Env = append(cmd.Env, "EVALROUTERD_DATABASE_URL="+address)
	s := begin(t, cmd, dir)
	until(t, s, "the end of the run", func() bool {
		var state string
		if err := db.QueryRow(`SELECT state FROM runs WHERE id = $1`, r.ID).Scan(&state); err != nil {
			t.Fatal(err)
		}
		return state == "completed" || state == "partial"
	})
	run(t, "audit", "--data", dir, "--database-file", file).ok(t)
	var unresolved, graded int
	if err := db.QueryRow(`SELECT count(*) FILTER (WHERE state = 'unresolved'), count(*) FILTER (WHERE state = 'graded') FROM samples WHERE run = (SELECT num FROM runs WHERE id = $1)`, r.ID).Scan(&unresolved, &graded); err != nil {
		t.Fatal(err)
	}
	if unresolved > 4 || graded+unresolved != 200 {
		t.Errorf("%d graded and %d unresolved of 200", graded, unresolved)
	}
}

// A move that was cut off is finished by its repetition, whether the copy had
// been committed or not; meanwhile nobody works here.
func TestMigrate_CutOff(t *testing.T) {
	t.Parallel()
	address, db := postgres(t)
	file := inFile(t, address)
	dir := t.TempDir()
	furnish(t, dir)
	lite := liteOf(t, dir)
	if _, err := lite.Exec(`INSERT INTO meta (k, v) VALUES ('moving_to', 'postgres://elsewhere/x')`); err != nil {
		t.Fatal(err)
	}
	if got := run(t, "local", "--port", "0", "--data", dir); got.status != 2 || !strings.Contains(got.stderr, "(installation_moving)") {
		t.Errorf("status %d: %s", got.status, got.stderr)
	}
	run(t, "migrate-to", "--data", dir, "--database-file", file).ok(t)
	// As if the process had died between the commit there and the mark here.
	if _, err := lite.Exec(`DELETE FROM meta WHERE k = 'moved_to'`); err != nil {
		t.Fatal(err)
	}
	if got := run(t, "migrate-to", "--data", dir, "--database-file", file).ok(t); !strings.Contains(got.stdout, "had arrived") {
		t.Errorf("the repetition says %s", got.stdout)
	}
	// Another installation does not mix with it.
	other := t.TempDir()
	furnish(t, other)
	if got := run(t, "migrate-to", "--data", other, "--database-file", file); got.status != 2 || !strings.Contains(got.stderr, "(destination_exists)") {
		t.Errorf("into an occupied database: status %d: %s", got.status, got.stderr)
	}
	run(t, "catalog", "list", "--data", other).ok(t) // and stays usable
	var n int
	if err := db.QueryRow(`SELECT count(*) FROM meta WHERE k = 'installation'`).Scan(&n); err != nil || n != 1 {
		t.Errorf("%d installations, %v", n, err)
	}
}

// A restored database makes no call before its operator acknowledges it, and
// then ends what was live with the reason that it was restored.
func TestRestore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := startLocal(t, dir)
	endpoint, asked, goOn := slowEndpoint(t)
	id := l.runOn(t, endpoint)
	<-asked
	backup := filepath.Join(t.TempDir(), "backup.db")
	took := run(t, "backup", "--data", dir, backup).ok(t) // beside the service
	l.signal(t, syscall.SIGKILL)
	<-l.gone
	goOn()
	b, err := os.ReadFile(backup)
	if sum := fmt.Sprintf("%x  %s\n", sha256.Sum256(b), backup); err != nil || took.stdout != sum {
		t.Errorf("backup prints %q, %v; want %q", took.stdout, err, sum)
	}
	if info, err := os.Stat(backup); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup has mode %v, %v", info.Mode(), err)
	}
	if left, err := os.ReadDir(filepath.Dir(backup)); err != nil || len(left) != 1 {
		t.Errorf("beside the backup: %v, %v", left, err)
	}
	if got := run(t, "backup", "--data", dir, backup); got.status != 2 || !strings.Contains(got.stderr, "(destination_exists)") {
		t.Errorf("over a backup: status %d: %s", got.status, got.stderr)
	}
	if got := run(t, "restore", "--data", dir, "--from", backup); got.status != 2 || !strings.Contains(got.stderr, "(destination_exists)") {
		t.Errorf("over a database: status %d: %s", got.status, got.stderr)
	}
	fresh := t.TempDir()
	note := filepath.Join(t.TempDir(), "note.txt")
	if err := os.WriteFile(note, []byte("this is no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := run(t, "restore", "--data", fresh, "--from", note); got.status != 2 || !strings.Contains(got.stderr, "no backup of a database; nothing was restored") {
		t.Errorf("from a note: status %d: %s", got.status, got.stderr)
	}
	got := run(t, "restore", "--data", fresh, "--from", backup).ok(t)
	if !strings.Contains(got.stdout, "Runs that were live and have stopped: 1; calls of theirs whose outcome nobody knows: 1.") {
		t.Errorf("restore says %s", got.stdout)
	}
	key, err := os.ReadFile(filepath.Join(dir, "master.key"))
	if err == nil {
		err = os.WriteFile(filepath.Join(fresh, "master.key"), key, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := run(t, "local", "--port", "0", "--data", fresh); got.status != 2 || !strings.Contains(got.stderr, "(restore_unacknowledged)") {
			t.Errorf("before the acknowledgement: status %d: %s", got.status, got.stderr)
		}
		if got := run(t, "recover", "--data", fresh).ok(t); !strings.Contains(got.stdout, "evalrouterd recover --ack") {
			t.Errorf("recover says %s", got.stdout)
		}
	}
	run(t, "audit", "--data", fresh).ok(t)
	run(t, "recover", "--ack", "--data", fresh).ok(t)
	again := startLocal(t, fresh)
	until(t, again, "the end of the run", func() bool { s := again.run(t, id).Status; return s == "failed" || s == "partial" })
	var r struct {
		Reason string `json:"terminal_reason"`
	}
	if again.call(t, "GET", "/v1/runs/"+id, nil, &r); r.Reason != "restored" {
		t.Errorf("it ended because of %q", r.Reason)
	}
	select {
	case <-asked:
		t.Error("the endpoint was asked again")
	default:
	}
}

// Sessions of the database are killed all the time while a run goes on.
func TestCluster_SessionsAreKilled(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	workers := []*living{c.worker(0), c.worker(0)}
	id := c.start(300, 8)
	kills := 0
	tick := time.NewTicker(150 * time.Millisecond)
	defer tick.Stop()
	for c.count(`SELECT count(*) FROM runs WHERE id = $1 AND state IN ('queued', 'running')`, id) > 0 && kills < 40 {
		<-tick.C
		c.count(`SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
		kills++
	}
	status, outcomes := c.ended(id)
	t.Logf("%s with %v after %d rounds of kills", status, outcomes, kills)
	if status != "completed" || outcomes["right"]+outcomes["wrong"] != 300 {
		t.Errorf("%s with %v", status, outcomes)
		for _, w := range workers {
			for line := range strings.Lines(w.stderr.String()) {
				if strings.Contains(line, id) {
					t.Log(strings.TrimSpace(line))
				}
			}
		}
	}
	if n := c.count(`SELECT count(*) FROM (SELECT idx FROM calls WHERE run = (SELECT num FROM runs WHERE id = $1) AND state IN ('responded', 'unknown', 'late') GROUP BY idx HAVING count(*) > 1) twice`, id); n != 0 {
		t.Errorf("%d tasks were asked twice", n)
	}
	c.clean()
}

// A command that looks at a database which holds no installation says so and
// leaves it as it is: an audit that finds nothing there would be an assurance.
func TestAudit_EmptyPostgreSQL(t *testing.T) {
	t.Parallel()
	address, db := postgres(t)
	file := inFile(t, address)
	for _, command := range [][]string{{"audit"}, {"recover"}, {"catalog", "list"}} {
		args := append(slices.Clone(command), "--data", t.TempDir(), "--database-file", file)
		if got := run(t, args...); got.status != 2 || !strings.Contains(got.stderr, "(installation_missing)") {
			t.Errorf("%v: status %d: %s%s", command, got.status, got.stdout, got.stderr)
		}
	}
	var tables int
	if err := db.QueryRow(`SELECT count(*) FROM pg_tables WHERE schemaname = 'public'`).Scan(&tables); err != nil || tables != 0 {
		t.Errorf("%d tables were made, %v", tables, err)
	}
}
