package seal_test

import (
	"crypto/rand"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/seal"
)

var keyForm = regexp.MustCompile(`^er[ksi]_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}$`)

func TestKey_Form(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, kind := range []seal.Kind{seal.APIKey, seal.SessionKey, seal.IngestKey} {
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
