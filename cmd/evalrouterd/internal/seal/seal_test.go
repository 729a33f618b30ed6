package seal_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
)

func master(t *testing.T) *seal.Master {
	t.Helper()
	m, err := seal.LoadOrCreate(filepath.Join(t.TempDir(), "master.key"), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func binding() seal.Binding {
	return seal.Binding{Workspace: "w-1", Connection: "c-1", BaseURL: "https://api.example/v1", Version: 1}
}

func TestSeal_Opens(t *testing.T) {
	t.Parallel()
	m := master(t)
	rapid.Check(t, func(rt *rapid.T) {
		key := rapid.String().Draw(rt, "key")
		sealed, err := m.Seal(binding(), provider.NewSecret(key))
		if err != nil {
			rt.Fatal(err)
		}
		if len(key) > 3 && bytes.Contains(sealed, []byte(key)) {
			rt.Fatal("the key stands in the sealed bytes")
		}
		got, err := m.Open(binding(), sealed)
		if err != nil || got.Reveal() != key {
			rt.Fatalf("opened %q, %v; sealed %q", got.Reveal(), err, key)
		}
	})
}

func TestSeal_NeverTwiceTheSame(t *testing.T) {
	t.Parallel()
	m, seen := master(t), map[string]bool{}
	for range 100 {
		b, err := m.Seal(binding(), provider.NewSecret("sk-1"))
		if err != nil {
			t.Fatal(err)
		}
		if seen[string(b[1:17])] || seen[string(b)] {
			t.Fatal("a salt came twice")
		}
		seen[string(b[1:17])], seen[string(b)] = true, true
	}
}

// Only the row that a key was sealed for opens it.
func TestOpen_Binding(t *testing.T) {
	t.Parallel()
	m := master(t)
	sealed, err := m.Seal(binding(), provider.NewSecret("sk-secret"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(*seal.Binding)
		opens  bool
	}{
		{"unchanged", func(*seal.Binding) {}, true},
		{"another path on the same origin", func(b *seal.Binding) { b.BaseURL = "https://api.example/v2/" }, true},
		{"default port written out", func(b *seal.Binding) { b.BaseURL = "https://API.example:443/v1" }, true},
		{"row of another connection", func(b *seal.Binding) { b.Connection = "c-2" }, false},
		{"row of another workspace", func(b *seal.Binding) { b.Workspace = "w-2" }, false},
		{"parts run together", func(b *seal.Binding) { b.Workspace, b.Connection = "w-1c", "-1" }, false},
		{"base URL of another host", func(b *seal.Binding) { b.BaseURL = "https://evil.example/v1" }, false},
		{"another port", func(b *seal.Binding) { b.BaseURL = "https://api.example:8443/v1" }, false},
		{"without TLS", func(b *seal.Binding) { b.BaseURL = "http://api.example/v1" }, false},
		{"http on the TLS port", func(b *seal.Binding) { b.BaseURL = "http://api.example:443/v1" }, false},
		{"an older version", func(b *seal.Binding) { b.Version = 0 }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := binding()
			c.change(&b)
			got, err := m.Open(b, sealed)
			if c.opens != (err == nil) || c.opens != (got.Reveal() == "sk-secret") {
				t.Errorf("opened %v: %v", got.Reveal() != "", err)
			}
			if !c.opens && !errors.Is(err, seal.ErrUnopenable) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestOpen_Altered(t *testing.T) {
	t.Parallel()
	m := master(t)
	sealed, err := m.Seal(binding(), provider.NewSecret("sk-secret"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range sealed {
		bad := bytes.Clone(sealed)
		bad[i] ^= 1
		if _, err := m.Open(binding(), bad); !errors.Is(err, seal.ErrUnopenable) {
			t.Errorf("byte %d changed: %v", i, err)
		}
	}
	for n := range sealed {
		if _, err := m.Open(binding(), sealed[:n]); !errors.Is(err, seal.ErrUnopenable) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
	if _, err := master(t).Open(binding(), sealed); !errors.Is(err, seal.ErrUnopenable) {
		t.Errorf("another installation: %v", err)
	}
}

func TestSeal_NoOrigin(t *testing.T) {
	t.Parallel()
	b := binding()
	b.BaseURL = "not a url"
	if _, err := master(t).Seal(b, provider.NewSecret("k")); err == nil {
		t.Error("sealed without an origin")
	}
}

func TestMaster_FileStaysAndIsPrivate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secrets", "master.key")
	if _, err := seal.Load(path, rand.Reader); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	first, err := seal.LoadOrCreate(path, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := first.Seal(binding(), provider.NewSecret("sk"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := seal.LoadOrCreate(path, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := again.Open(binding(), sealed); err != nil || got.Reveal() != "sk" {
		t.Errorf("reloaded master opens %v", err)
	}
	st, err := os.Stat(path)
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestMaster_CreatedOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "master.key")
	macs := make([]string, 16)
	key, err := seal.NewKey(seal.APIKey, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range macs {
		wg.Go(func() {
			m, err := seal.LoadOrCreate(path, rand.Reader)
			if err != nil {
				t.Error(err)
				return
			}
			macs[i] = string(m.MAC(key))
		})
	}
	wg.Wait()
	for _, mac := range macs {
		if mac != macs[0] {
			t.Fatal("two masters were made")
		}
	}
}

func TestMaster_Refuses(t *testing.T) {
	t.Parallel()
	good := filepath.Join(t.TempDir(), "master.key")
	if _, err := seal.LoadOrCreate(good, rand.Reader); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	write := func(mode fs.FileMode, b []byte) func(string) error {
		return func(path string) error { return errors.Join(os.WriteFile(path, b, 0o600), os.Chmod(path, mode)) }
	}
	for _, c := range []struct {
		name string
		make func(path string) error
	}{
		{"symlink to a good file", func(path string) error { return os.Symlink(good, path) }},
		{"dangling symlink", func(path string) error { return os.Symlink(good+".gone", path) }},
		{"folder", func(path string) error { return os.Mkdir(path, 0o700) }},
		{"readable by the group", write(0o640, content)},
		{"readable by all", write(0o644, content)},
		{"executable", write(0o700, content)},
		{"empty", write(0o600, nil)},
		{"no JSON", write(0o600, []byte("key"))},
		{"another format", write(0o600, bytes.Replace(content, []byte("v1"), []byte("v2"), 1))},
		{"short key", write(0o600, []byte(`{"format":"evalrouter.master_key.v1","key":"AAAA","pepper":"AAAA"}`))},
		{"huge", write(0o600, append(bytes.Clone(content), bytes.Repeat([]byte(" "), 1<<20)...))},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "master.key")
			if err := c.make(path); err != nil {
				t.Fatal(err)
			}
			before, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := seal.LoadOrCreate(path, rand.Reader); err == nil {
				t.Error("accepted")
			}
			after, err := os.Lstat(path)
			if err != nil || after.Mode() != before.Mode() || after.Size() != before.Size() {
				t.Errorf("it was touched: %v, %v", after, err)
			}
		})
	}
}

func TestSecrets_DoNotPrint(t *testing.T) {
	t.Parallel()
	m := master(t)
	key, err := seal.NewKey(seal.APIKey, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	secret := strings.SplitN(key.Reveal(), "_", 3)[2]
	j, err := json.Marshal(map[string]any{"m": m, "k": key})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{fmt.Sprint(m, key), fmt.Sprintf("%v %+v %#v %s %q %x %d %t", key, key, key, key, key, key, key, key), fmt.Sprintf("%v %+v %#v %x %d", m, m, m, m, m), string(j)} {
		if strings.Contains(s, secret) {
			t.Errorf("the secret is printed: %s", s)
		}
	}
	if got := fmt.Sprintf("%#v", m); got != "[redacted]" {
		t.Errorf("master prints %s", got)
	}
}
