package daemon_test

import (
	"errors"
	"io/fs"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// practise starts a run of practice tasks and gives its id.
func (l *living) practise(t *testing.T, n, concurrency int) string {
	t.Helper()
	var q, r struct{ ID string }
	l.call(t, "POST", "/v1/quotes", map[string]any{
		"selection": map[string]any{"profile_ids": []string{"arithmetic@1"}}, "model": map[string]any{"kind": "managed", "route_id": "practice.solver-0.8"},
		"coverage": map[string]any{"sample_count": n}, "max_charge_microusd": "10000000", "concurrency": concurrency,
	}, &q)
	if status := l.call(t, "POST", "/v1/runs", map[string]any{"quote_id": q.ID}, &r, "Idempotency-Key", q.ID); status != 200 || r.ID == "" {
		t.Fatalf("the run is answered with %d", status)
	}
	return r.ID
}

func (l *living) decided(t *testing.T, id string) (n int, status string) {
	t.Helper()
	r := l.run(t, id)
	for what, k := range r.Outcomes {
		if what != "pending" {
			n += k
		}
	}
	return n, r.Status
}

// carry copies the master key, as an operator does who moves to another machine.
func carry(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(from, "master.key"))
	if err == nil {
		err = os.WriteFile(filepath.Join(to, "master.key"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestRestore_Elsewhere takes backups at moments of a run and restores each of
// them elsewhere: the record is true, nobody is called before the
// acknowledgement, and the run ends there as restored, while it goes on where it
// was.
func TestRestore_Elsewhere(t *testing.T) {
	t.Parallel()
	l := startLocal(t, t.TempDir())
	const tasks = 80
	endpoint, allow, goOn := rationedEndpoint(t)
	id := l.runOf(t, endpoint, tasks, 4)
	var backups []string
	for i := range rounds(3) {
		allow(20)
		until(t, l, "some answers", func() bool { n, _ := l.decided(t, id); return n == 20*(i+1) })
		file := filepath.Join(t.TempDir(), "backup.db")
		run(t, "backup", "--data", l.dir, file).ok(t)
		backups = append(backups, file)
	}
	for i, file := range backups {
		dir := t.TempDir()
		carry(t, l.dir, dir)
		if got := run(t, "restore", "--data", dir, "--from", file).ok(t); !strings.Contains(got.stdout, "Epoch 2. Runs that were live and have stopped: 1;") {
			t.Errorf("restore %d says %s", i, got.stdout)
		}
		run(t, "audit", "--data", dir).ok(t)
		run(t, "recover", "--ack", "--data", dir).ok(t)
		there := startLocal(t, dir)
		before := 0
		until(t, there, "the end of the run", func() bool {
			var status string
			before, status = there.decided(t, id)
			return status == "partial" || status == "failed"
		})
		var r struct {
			Reason string `json:"terminal_reason"`
		}
		if there.call(t, "GET", "/v1/runs/"+id, nil, &r); r.Reason != "restored" || before < 20*(i+1) || before >= tasks {
			t.Errorf("restore %d ends because of %q with %d tasks decided", i, r.Reason, before)
		}
		there.signal(t, syscall.SIGTERM)
		there.ended(t)
		run(t, "audit", "--data", dir).ok(t)
	}
	goOn()
	until(t, l, "the end of the run", func() bool { n, status := l.decided(t, id); return status == "completed" && n == tasks })
	run(t, "audit", "--data", l.dir).ok(t)
}

// lasts is how long a command takes here today, and a little more: most deaths
// fall into it, and some come too late.
func lasts(t *testing.T, args ...string) time.Duration {
	t.Helper()
	began := time.Now()
	if out, err := program(t, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	took := time.Since(began)
	return took + took/4
}

// killed starts a command and kills it at a moment of its own choice, or lets it
// end if it is faster.
func killed(t *testing.T, random *mathrand.Rand, within time.Duration, args ...string) bool {
	t.Helper()
	cmd := program(t, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(time.Duration(random.Int64N(int64(within))), func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	return cmd.Wait() != nil
}

// TestBackup_Killed kills backups beside a run. What has the backup's name is
// whole, and the run does not notice.
func TestBackup_Killed(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	random := mathrand.New(mathrand.NewPCG(seed, 1))
	l := startLocal(t, t.TempDir())
	id := l.practise(t, 200, 4)
	died, whole := 0, 0
	within := lasts(t, "backup", "--data", l.dir, filepath.Join(t.TempDir(), "backup.db"))
	total := rounds(10)
	for i := range total {
		file := filepath.Join(t.TempDir(), "backup.db")
		if killed(t, random, within, "backup", "--data", l.dir, file) {
			died++
		}
		if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		whole++
		dir := t.TempDir()
		run(t, "restore", "--data", dir, "--from", file).ok(t)
		run(t, "audit", "--data", dir).ok(t)
		if t.Failed() {
			t.Fatalf("seed %d, backup %d", seed, i)
		}
	}
	t.Logf("seed %d: %d of %d died, %d backups came whole", seed, died, total, whole)
	until(t, l, "the end of the run", func() bool { n, status := l.decided(t, id); return status == "completed" && n == 200 })
	run(t, "audit", "--data", l.dir).ok(t)
}

// TestRestore_Killed kills the command that puts a backup back. Whatever it
// leaves, no service begins there that would call anybody, and the command can
// be repeated.
func TestRestore_Killed(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	random := mathrand.New(mathrand.NewPCG(seed, 1))
	l := startLocal(t, t.TempDir())
	endpoint, asked, goOn := slowEndpoint(t)
	l.runOn(t, endpoint)
	<-asked
	file := filepath.Join(t.TempDir(), "backup.db")
	run(t, "backup", "--data", l.dir, file).ok(t)
	l.signal(t, syscall.SIGKILL)
	<-l.gone
	goOn()
	died, again := 0, 0
	within := lasts(t, "restore", "--data", t.TempDir(), "--from", file)
	total := rounds(10)
	for range total {
		dir := t.TempDir()
		carry(t, l.dir, dir)
		if killed(t, random, within, "restore", "--data", dir, "--from", file) {
			died++
		}
		if _, err := os.Lstat(filepath.Join(dir, "evalrouter.db")); errors.Is(err, fs.ErrNotExist) {
			again++
			// In a process of its own: a lock of this one lives on for a moment in
			// whatever another test starts.
			if out, err := program(t, "restore", "--data", dir, "--from", file).CombinedOutput(); err != nil {
				t.Fatalf("seed %d: the repetition: %v: %s", seed, err, out)
			}
		}
		if got := run(t, "local", "--port", "0", "--data", dir); got.status != 2 || !strings.Contains(got.stderr, "(restore_unacknowledged)") {
			t.Fatalf("seed %d: a service begins with %d: %s", seed, got.status, got.stderr)
		}
		if left, err := filepath.Glob(filepath.Join(dir, "*restoring*")); err != nil || len(left) != 0 {
			t.Errorf("seed %d: left behind: %v %v", seed, left, err)
		}
	}
	t.Logf("seed %d: %d of %d died, %d had to be repeated", seed, died, total, again)
	select {
	case <-asked:
		t.Error("the endpoint was asked again")
	default:
	}
}

// TestRestore_Refused refuses a backup that is damaged, and a directory in which
// the newest commits of another database lie.
func TestRestore_Refused(t *testing.T) {
	t.Parallel()
	source := t.TempDir()
	furnish(t, source)
	file := filepath.Join(t.TempDir(), "backup.db")
	run(t, "backup", "--data", source, file).ok(t)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for at := 8192; at < len(b)-4096; at += 4096 * 7 {
		copy(b[at:], make([]byte, 2048))
	}
	bad := filepath.Join(t.TempDir(), "bad.db")
	if err := os.WriteFile(bad, b, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if got := run(t, "restore", "--data", dir, "--from", bad); got.status != 2 || !strings.Contains(got.stderr, "is damaged") {
		t.Errorf("a damaged backup ends with %d: %s", got.status, got.stderr)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "evalrouter.db*")); err != nil || len(left) != 0 {
		t.Errorf("it leaves %v (%v)", left, err)
	}
	for _, beside := range []string{"evalrouter.db-wal", "evalrouter.db-journal"} {
		other := t.TempDir()
		if err := os.WriteFile(filepath.Join(other, beside), []byte("commits"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := run(t, "restore", "--data", other, "--from", file); got.status != 2 || !strings.Contains(got.stderr, "(destination_exists)") {
			t.Errorf("over %s of another database it ends with %d: %s", beside, got.status, got.stderr)
		}
	}
}

// TestRestore_Leftovers repeats a command that died at any of its steps: what it
// had begun is not read into the new copy, a journal of it least of all.
func TestRestore_Leftovers(t *testing.T) {
	t.Parallel()
	source := t.TempDir()
	furnish(t, source)
	file := filepath.Join(t.TempDir(), "backup.db")
	run(t, "backup", "--data", source, file).ok(t)
	dir := t.TempDir()
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.WriteFile(filepath.Join(dir, "evalrouter.db.restoring"+suffix), []byte("begun and not ended"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, "restore", "--data", dir, "--from", file).ok(t)
	run(t, "audit", "--data", dir).ok(t)
	if left, err := filepath.Glob(filepath.Join(dir, "*restoring*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestCluster_RestoredDump reads a dump, taken during a run, into another
// database. The service notices by itself, and begins nothing there before the
// acknowledgement.
func TestCluster_RestoredDump(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"pg_dump", "psql"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed, with which PostgreSQL is backed up", name)
		}
	}
	c := newCrew(t)
	c.worker(0)
	id := c.start(300, 4)
	until(t, c.api, "some answers", func() bool { n, _ := c.api.decided(t, id); return n >= 20 })
	dump := filepath.Join(t.TempDir(), "dump.sql")
	if out, err := exec.CommandContext(t.Context(), "pg_dump", "--no-owner", "--file", dump, c.address).CombinedOutput(); err != nil {
		t.Fatalf("pg_dump: %v: %s", err, out)
	}
	other := &crew{t: t, first: t.TempDir()}
	other.address, other.db = postgres(t)
	carry(t, c.first, other.first)
	if out, err := exec.CommandContext(t.Context(), "psql", "--quiet", "--no-psqlrc", "--set", "ON_ERROR_STOP=1", "--file", dump, other.address).CombinedOutput(); err != nil {
		t.Fatalf("psql: %v: %s", err, out)
	}
	for range 2 {
		if got := other.run("serve", "--data", other.first, "--addr", "127.0.0.1:0"); got.status != 2 || !strings.Contains(got.stderr, "(restore_unacknowledged)") {
			t.Fatalf("a service begins with %d: %s", got.status, got.stderr)
		}
	}
	other.run("audit", "--data", other.first).ok(t)
	if got := other.run("recover", "--ack", "--data", other.first); got.status != 2 || !strings.Contains(got.stderr, "(keys_undecided)") {
		t.Errorf("acknowledged without a word about keys: %d: %s%s", got.status, got.stdout, got.stderr)
	}
	other.run("recover", "--ack", "--keep-keys", "--data", other.first).ok(t)
	there := other.member(other.first, 0, "--addr", "127.0.0.1:0")
	there.awaitAddress(t)
	if err := os.WriteFile(filepath.Join(other.first, "owner.token"), []byte(c.key), 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, there, "the end of the run", func() bool { _, status := there.decided(t, id); return status == "partial" || status == "failed" })
	other.run("audit", "--data", other.first).ok(t)
	until(t, c.api, "the end of the run where it was", func() bool { n, status := c.api.decided(t, id); return status == "completed" && n == 300 })
}
