package rekey_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/connection"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/rekey"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/sealed"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/storetest"
)

// keys is how many connections have one, and batch how many are sealed anew in
// one transaction.
const (
	keys  = 10
	batch = 3
)

// onEach runs a test on both databases.
func onEach(t *testing.T, fn func(*testing.T, *store.Store)) {
	t.Helper()
	open := func(t *testing.T, o store.Options) *store.Store {
		st, err := store.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { st.Close() })
		return st
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		fn(t, open(t, store.Options{Path: filepath.Join(t.TempDir(), "test.db"), Now: time.Now}))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		fn(t, open(t, store.Options{Postgres: storetest.Migrated(t), Now: time.Now, ServerClock: true}))
	})
}

// installation is a store with keys sealed by the master key of a file.
type installation struct {
	t     *testing.T
	store *store.Store
	path  string
	needs string // what the database says about its key
}

const workspace = core.WorkspaceID("w")

func install(t *testing.T, st *store.Store) *installation {
	t.Helper()
	in := &installation{t: t, store: st, path: filepath.Join(t.TempDir(), "master.key")}
	m, err := seal.LoadOrCreate(in.path, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	in.needs = m.Check()
	if _, err := st.CreateWorkspace(t.Context(), core.WorkspaceInfo{ID: workspace, Slug: "w", Name: "W"}); err != nil {
		t.Fatal(err)
	}
	for i := range keys {
		c := core.ConnectionInfo{
			ID: core.ConnectionID(fmt.Sprintf("c%02d", i)), Workspace: workspace, Name: fmt.Sprint(i), BaseURL: "https://api.example/v1", ModelID: "m", Protocol: core.OpenAIChat,
			Revision: 1, KeyVersion: 1, MaxOutputTokens: 1, ContextWindow: 2,
		}
		if i != keys-1 { // the last one has no key
			if c.SealedKey, err = m.Seal(connection.Binding(c), provider.NewSecret(secret(i))); err != nil {
				t.Fatal(err)
			}
		}
		if err := st.InsertConnection(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	return in
}

func secret(i int) string { return fmt.Sprintf("sk-%d", i) }

// opens says how many keys a service that starts now can open.
func (in *installation) opens(m *seal.Master) (n int) {
	in.t.Helper()
	for i := range keys {
		c, err := in.store.Connection(in.t.Context(), core.Scope{Workspace: workspace}, core.ConnectionID(fmt.Sprintf("c%02d", i)))
		if err != nil {
			in.t.Fatal(err)
		}
		if key, err := m.Open(connection.Binding(c), c.SealedKey); err == nil && key.Reveal() == secret(i) {
			n++
		}
	}
	return n
}

func (in *installation) load() *seal.Master {
	in.t.Helper()
	m, err := seal.Load(in.path, rand.Reader)
	if err != nil {
		in.t.Fatal(err)
	}
	return m
}

// death ends a rotation at its n-th step, before what the step does or after.
type death struct {
	*installation
	at    int
	after bool
	step  int
}

var errDead = errors.New("the process died here")

func (d *death) do(step func() error) error {
	d.step++
	if d.step == d.at && !d.after {
		return errDead
	}
	if err := step(); err != nil {
		return err
	}
	if d.step == d.at {
		return errDead
	}
	return nil
}

func (d *death) Rotate() (m *seal.Master, err error) {
	err = d.do(func() error { m, err = seal.Rotate(d.path, rand.Reader); return err })
	return m, err
}

func (d *death) Retire() error {
	return d.do(func() error { return seal.Retire(d.path, rand.Reader) })
}

func (d *death) Sealed(ctx context.Context, after core.ConnectionID, limit int) ([]core.ConnectionInfo, error) {
	return d.store.Seals().Sealed(ctx, after, limit)
}

func (d *death) Replace(ctx context.Context, all []sealed.Replacement) error {
	return d.do(func() error { return d.store.Seals().Replace(ctx, all) })
}

func (d *death) run() (rekey.Report, error) {
	return rekey.Rotation{File: d, Seals: d, Batch: batch, Needs: func(_ context.Context, check string) error {
		return d.do(func() error { d.needs = check; return nil })
	}}.Run(d.t.Context())
}

// TestRotation_DiesAnywhere ends the rotation before and after each of its
// steps. Whenever it has ended, a service that starts opens every key, with a
// file that the database accepts or that follows the one it names; and a
// repetition finishes.
func TestRotation_DiesAnywhere(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, st *store.Store) {
		in := install(t, st)
		for at := 1; ; at++ {
			last := false
			for _, after := range []bool{false, true} {
				old := in.load()
				d := &death{installation: in, at: at, after: after}
				_, err := d.run()
				if err != nil && !errors.Is(err, errDead) {
					t.Fatal(err)
				}
				m := in.load()
				if n := in.opens(m); n != keys-1 {
					t.Errorf("dead at step %d (after: %v), a service opens %d keys", at, after, n)
				}
				if in.needs != m.Check() && !m.Follows(in.needs) {
					t.Errorf("dead at step %d (after: %v), the database refuses the file", at, after)
				}
				again := &death{installation: in}
				rep, err := again.run()
				if err != nil || rep.Resealed+rep.Already != keys-1 || len(rep.Void) != 0 {
					t.Fatalf("dead at step %d (after: %v), the repetition says %+v, %v", at, after, rep, err)
				}
				m = in.load()
				if m.Rotating() || in.opens(m) != keys-1 || in.needs != m.Check() {
					t.Errorf("dead at step %d (after: %v), the repetition leaves the old key: %v, opens %d", at, after, m.Rotating(), in.opens(m))
				}
				if n := in.opens(old); n != 0 {
					t.Errorf("dead at step %d (after: %v), the old key opens %d", at, after, n)
				}
				last = d.step < at
			}
			if last {
				if at < 6 {
					t.Errorf("the rotation has %d steps only", at-1)
				}
				return
			}
		}
	})
}

// TestRotation_Void rotates over a key that nothing opens: it stays, and is
// named. API keys and their pepper are as before.
func TestRotation_Void(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, st *store.Store) {
		in := install(t, st)
		c := core.ConnectionInfo{ID: "b", Workspace: workspace, Name: "b", BaseURL: "https://api.example/v1", ModelID: "m", Protocol: core.OpenAIChat, Revision: 1, KeyVersion: 1, SealedKey: []byte("sealed elsewhere")}
		if err := st.InsertConnection(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		key, err := seal.NewKey(seal.APIKey, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		mac := in.load().MAC(key)
		rep, err := (&death{installation: in}).run()
		if err != nil || rep.Resealed != keys-1 || len(rep.Void) != 1 || rep.Void[0] != "b" {
			t.Errorf("it says %+v, %v", rep, err)
		}
		if !in.load().Matches(key, mac) {
			t.Error("an API key is void")
		}
		got, err := st.Connection(t.Context(), core.Scope{Workspace: workspace}, "b")
		if err != nil || string(got.SealedKey) != "sealed elsewhere" || got.Revision != 1 {
			t.Errorf("the connection is %+v, %v", got, err)
		}
	})
}

// TestRotation_File looks at the file between the steps: private, with two keys
// and then with one.
func TestRotation_File(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "master.key")
	if _, err := seal.LoadOrCreate(path, rand.Reader); err != nil {
		t.Fatal(err)
	}
	look := func(previous bool) {
		t.Helper()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 || strings.Contains(string(b), "previous") != previous {
			t.Errorf("the file (%v, %v) has the key before: %v", info.Mode(), err, !previous)
		}
		left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
		if err != nil || len(left) != 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	}
	look(false)
	first, err := seal.Rotate(path, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	look(true)
	again, err := seal.Rotate(path, rand.Reader)
	if err != nil || again.Check() != first.Check() {
		t.Errorf("a second beginning is another rotation (%v)", err)
	}
	if err := seal.Retire(path, rand.Reader); err != nil {
		t.Fatal(err)
	}
	look(false)
	if m, err := seal.Load(path, rand.Reader); err != nil || m.Check() != first.Check() || m.Rotating() {
		t.Errorf("after it the file has another key (%v)", err)
	}
}
