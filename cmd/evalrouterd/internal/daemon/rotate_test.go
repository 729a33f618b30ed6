package daemon_test

import (
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/connection"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
)

// sealKeys makes connections with a key in a directory that nobody has open.
func sealKeys(t *testing.T, dir string, n int) {
	t.Helper()
	m, err := seal.LoadOrCreate(filepath.Join(dir, "master.key"), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	withStore(t, dir, func(st *store.Store) {
		if _, err := st.CreateWorkspace(t.Context(), core.WorkspaceInfo{ID: "w", Slug: "w", Name: "W"}); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			c := core.ConnectionInfo{
				ID: core.ConnectionID(fmt.Sprintf("c%04d", i)), Workspace: "w", Name: fmt.Sprint(i), BaseURL: "https://api.example/v1", ModelID: "m", Protocol: core.OpenAIChat,
				Revision: 1, KeyVersion: 1, MaxOutputTokens: 1, ContextWindow: 2,
			}
			if c.SealedKey, err = m.Seal(connection.Binding(c), provider.NewSecret(fmt.Sprintf("sk-%d", i))); err != nil {
				t.Fatal(err)
			}
			if err := st.InsertConnection(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func withStore(t *testing.T, dir string, do func(*store.Store)) {
	t.Helper()
	st, err := store.Open(t.Context(), store.Options{Path: filepath.Join(dir, "evalrouter.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	do(st)
}

// openable counts the keys that the file in the directory opens.
func openable(t *testing.T, dir string) (n int, m *seal.Master) {
	t.Helper()
	m, err := seal.Load(filepath.Join(dir, "master.key"), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	withStore(t, dir, func(st *store.Store) {
		all, err := st.Connections(t.Context(), core.Scope{Workspace: "w"})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			if key, err := m.Open(connection.Binding(c), c.SealedKey); err == nil && key.Reveal() == "sk-"+c.Name {
				n++
			}
		}
	})
	return n, m
}

// TestRotateMaster_Killed kills the command at moments of its own choice. After
// each death every key can be opened, and the last command finishes.
func TestRotateMaster_Killed(t *testing.T) {
	t.Parallel()
	keys := 100 * rounds(5)
	dir := t.TempDir()
	furnish(t, dir)
	sealKeys(t, dir, keys)
	seed := uint64(time.Now().UnixNano())
	random := mathrand.New(mathrand.NewPCG(seed, 1))
	died := 0
	total := rounds(12)
	for range total {
		cmd := program(t, "keys", "rotate-master", "--data", dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(random.Int64N(int64(200*time.Millisecond))), func() { _ = cmd.Process.Kill() })
		if cmd.Wait() != nil {
			died++
		}
		timer.Stop()
		if n, _ := openable(t, dir); n != keys {
			t.Fatalf("seed %d: after %d deaths %d of %d keys can be opened", seed, died, n, keys)
		}
	}
	t.Logf("seed %d: %d of %d died", seed, died, total)
	r := run(t, "keys", "rotate-master", "--data", dir).ok(t)
	if want := fmt.Sprintf("Provider keys sealed with it: %d.", keys); !strings.Contains(r.stdout, want) {
		t.Errorf("it says %s", r.stdout)
	}
	if n, m := openable(t, dir); n != keys || m.Rotating() {
		t.Errorf("at the end %d keys can be opened, and the old key is there: %v", n, m.Rotating())
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".master-*")); err != nil || len(left) != 0 {
		t.Errorf("deaths left keys behind: %v %v", left, err)
	}
}

// TestRotateMaster_Shared rotates the key of a database that processes share:
// not while one of them serves, and none starts with the old file afterwards.
func TestRotateMaster_Shared(t *testing.T) {
	t.Parallel()
	c := newCrew(t)
	beside := t.TempDir()
	b, err := os.ReadFile(filepath.Join(c.first, "master.key"))
	if err == nil {
		err = os.WriteFile(filepath.Join(beside, "master.key"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if r := c.run("keys", "rotate-master", "--data", beside); r.status != 2 || !strings.Contains(r.stderr, "database_in_use") {
		t.Errorf("beside a service it ends with %d: %s", r.status, r.stderr)
	}
	c.api.signal(t, syscall.SIGTERM)
	c.api.ended(t)
	if r := c.run("keys", "rotate-master", "--data", c.first).ok(t); !strings.Contains(r.stdout, "every process") {
		t.Errorf("it says %s", r.stdout)
	}
	if r := c.run("serve", "--data", beside, "--addr", "127.0.0.1:0"); r.status != 2 || !strings.Contains(r.stderr, "master_key_wrong") {
		t.Errorf("with the old file a service ends with %d: %s", r.status, r.stderr)
	}
	again := c.member(c.first, 0, "--role", "api", "--addr", "127.0.0.1:0")
	again.awaitAddress(t)
	again.dir = c.first
	if status := again.call(t, "GET", "/v1/runs", nil, nil); status != 200 {
		t.Errorf("an API key of before is answered %d", status)
	}

	// The key is lost in every process: another one is made only while nobody
	// serves, and is the one that the database needs from then on.
	path := filepath.Join(c.first, "master.key")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if r := c.run("keys", "reset", "--data", beside); r.status != 2 || !strings.Contains(r.stderr, "nothing was reset") {
		t.Errorf("where a key is, reset ends with %d: %s", r.status, r.stderr)
	}
	elsewhere := furnished(t, t.TempDir())
	if r := c.run("keys", "reset", "--data", elsewhere); r.status != 2 || !strings.Contains(r.stderr, "database_in_use") {
		t.Errorf("beside a service, reset ends with %d: %s", r.status, r.stderr)
	}
	again.signal(t, syscall.SIGTERM)
	again.ended(t)
	if r := c.run("serve", "--data", c.first, "--addr", "127.0.0.1:0"); r.status != 2 || !strings.Contains(r.stderr, "keys reset") {
		t.Errorf("without the key a service ends with %d: %s", r.status, r.stderr)
	}
	if r := c.run("keys", "reset", "--data", c.first).ok(t); !strings.Contains(r.stdout, "every process") {
		t.Errorf("it says %s", r.stdout)
	}
	if r := c.run("serve", "--data", beside, "--addr", "127.0.0.1:0"); r.status != 2 || !strings.Contains(r.stderr, "master_key_wrong") {
		t.Errorf("with the old file a service ends with %d: %s", r.status, r.stderr)
	}
	// Whoever dies in the middle leaves a database that names no key, without the
	// new file or with it: the command is repeated, or the service takes the file.
	unnamed := func() {
		t.Helper()
		if _, err := c.db.Exec(`UPDATE meta SET v = '' WHERE k = 'master_key_check'`); err != nil {
			t.Fatal(err)
		}
	}
	unnamed()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	c.run("keys", "reset", "--data", c.first).ok(t)
	unnamed()
	fresh := c.member(c.first, 0, "--role", "api", "--addr", "127.0.0.1:0")
	fresh.awaitAddress(t)
	fresh.dir = c.first
	if status := fresh.call(t, "GET", "/v1/runs", nil, nil); status != 401 {
		t.Errorf("an API key of the lost master key is answered %d", status)
	}
}

func TestRotateMaster_Refused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	furnish(t, dir)
	if r := run(t, "keys", "rotate-master", "--data", dir); r.status != 2 || !strings.Contains(r.stderr, "master_key_missing") {
		t.Errorf("without a master key it ends with %d: %s", r.status, r.stderr)
	}
	startLocal(t, dir)
	if r := run(t, "keys", "rotate-master", "--data", dir); r.status != 2 || !strings.Contains(r.stderr, "data_dir_in_use") {
		t.Errorf("beside a service it ends with %d: %s", r.status, r.stderr)
	}
}
