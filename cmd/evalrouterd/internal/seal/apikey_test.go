package seal_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
)

var keyForm = regexp.MustCompile(`^er[ksifadw]_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}$`)

func TestKey_Form(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, kind := range []seal.Kind{seal.APIKey, seal.SessionKey, seal.IngestKey, seal.RefreshKey, seal.CodeKey, seal.DeviceKey, seal.CookieKey} {
		for range 200 {
			k, err := seal.NewKey(kind, rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			s := k.Reveal()
			if !keyForm.MatchString(s) || k.Kind() != kind || k.Prefix() != s[:12] || seen[s] || seen[k.Prefix()] {
				t.Fatalf("%s: kind %s, prefix %s, seen %v", s, k.Kind(), k.Prefix(), seen[s])
			}
			seen[s], seen[k.Prefix()] = true, true
			again, err := seal.ParseKey(s)
			if err != nil || again != k {
				t.Fatalf("%s reads as %s: %v", s, again, err)
			}
		}
	}
}

// Every slip of one character, and every swap of neighbours, is noticed
// without a look into the database.
func TestParseKey_Slips(t *testing.T) {
	t.Parallel()
	k, err := seal.NewKey(seal.APIKey, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := k.Reveal()
	rapid.Check(t, func(rt *rapid.T) {
		i := rapid.IntRange(0, len(s)-1).Draw(rt, "at")
		c := rapid.SampledFrom([]byte("0123456789abcdefXYZ_- \x00\xff")).Draw(rt, "char")
		bad := s[:i] + string(c) + s[i+1:]
		if bad == s {
			return
		}
		if _, err := seal.ParseKey(bad); !errors.Is(err, seal.ErrKeySyntax) {
			rt.Fatalf("%s was accepted", bad)
		}
	})
	for i := range len(s) - 1 {
		swapped := []byte(s)
		swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
		if _, err := seal.ParseKey(string(swapped)); string(swapped) != s && err == nil {
			t.Errorf("swap at %d was accepted", i)
		}
	}
}

func TestParseKey_Refuses(t *testing.T) {
	t.Parallel()
	k, err := seal.NewKey(seal.APIKey, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := k.Reveal()
	for _, c := range []struct{ name, in string }{
		{"nothing", ""}, {"a word", "erk"}, {"cut off", s[:len(s)-1]}, {"one more", s + "0"}, {"space before", " " + s}, {"line break after", s + "\n"},
		{"another kind", "erx" + s[3:]}, {"an OpenAI key", "sk-proj-" + strings.Repeat("a", 60)}, {"other case", strings.ToUpper(s)},
		{"letters outside ASCII", s[:20] + "é" + s[22:]},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := seal.ParseKey(c.in); !errors.Is(err, seal.ErrKeySyntax) {
				t.Errorf("%q: %v", c.in, err)
			}
		})
	}
}

func TestMatches(t *testing.T) {
	t.Parallel()
	m, other := master(t), master(t)
	k, err := seal.NewKey(seal.APIKey, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	k2, err := seal.NewKey(seal.APIKey, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	mac := m.MAC(k)
	for _, c := range []struct {
		name   string
		m      *seal.Master
		k      seal.Key
		stored []byte
		want   bool
	}{
		{"the key", m, k, mac, true},
		{"another key", m, k2, mac, false},
		{"another pepper", other, k, mac, false},
		{"no such key", m, k, nil, false},
		{"a cut MAC", m, k, mac[:31], false},
		{"zeroes", m, k, make([]byte, 32), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := c.m.Matches(c.k, c.stored); got != c.want {
				t.Errorf("Matches = %v", got)
			}
		})
	}
	if strings.Contains(string(mac), k.Reveal()) || len(mac) != 32 {
		t.Errorf("MAC %x", mac)
	}
}

// A successor is the same each time, and another one for each part that it is
// made of.
func TestDerive(t *testing.T) {
	t.Parallel()
	m := master(t)
	draw := func(kind seal.Kind) seal.Key {
		k, err := seal.NewKey(kind, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	derive := func(m *seal.Master, kind seal.Kind, from seal.Key, salt string) string {
		k, err := m.Derive(kind, from, []byte(salt))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := seal.ParseKey(k.Reveal()); err != nil || again.Kind() != kind {
			t.Fatalf("a derived key reads as %s: %v", again, err)
		}
		return k.Reveal()
	}
	a := draw(seal.RefreshKey)
	first := derive(m, seal.RefreshKey, a, "salt")
	if again := derive(m, seal.RefreshKey, a, "salt"); again != first {
		t.Error("the same key and salt derive another successor")
	}
	seen := map[string]string{first: "the first"}
	for name, got := range map[string]string{
		"another salt": derive(m, seal.RefreshKey, a, "salt2"), "another key": derive(m, seal.RefreshKey, draw(seal.RefreshKey), "salt"),
		"another master": derive(master(t), seal.RefreshKey, a, "salt"), "another kind": derive(m, seal.SessionKey, a, "salt"),
	} {
		if got[4:] == first[4:] || seen[got] != "" {
			t.Errorf("%s derives the same", name)
		}
		seen[got] = name
	}
	if bytes.Equal(m.MACText("a", "x"), m.MACText("b", "x")) || bytes.Equal(m.MACText("a", "x"), m.MACText("a", "y")) || bytes.Equal(m.MACText("a", "x"), master(t).MACText("a", "x")) {
		t.Error("MACs of different texts agree")
	}
}

func TestNewKey_Fails(t *testing.T) {
	t.Parallel()
	if _, err := seal.NewKey("sk", rand.Reader); err == nil {
		t.Error("an unknown kind was accepted")
	}
	if _, err := seal.NewKey(seal.APIKey, io.LimitReader(rand.Reader, 40)); err == nil {
		t.Error("a key was made without enough randomness")
	}
}

func FuzzParseKey(f *testing.F) {
	k, err := seal.NewKey(seal.IngestKey, rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(k.Reveal())
	f.Add("erk_00000000_")
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		k, err := seal.ParseKey(s)
		if err == nil && (k.Reveal() != s || !keyForm.MatchString(s)) {
			t.Errorf("%q was accepted", s)
		}
	})
}
