package seal_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"flag"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

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

// compared are the ways in which a comparison ends. Whoever measures it may not tell
// them apart.
func compared(t *testing.T) map[string]func() bool {
	t.Helper()
	m := master(t)
	k, err := seal.NewKey(seal.APIKey, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	other, err := seal.NewKey(seal.APIKey, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	good, last := m.MAC(k), m.MAC(k)
	last[len(last)-1] ^= 1
	out := map[string]func() bool{}
	for name, stored := range map[string][]byte{"the key": good, "another key": m.MAC(other), "all but a bit": last, "no such key": nil} {
		out[name] = func() bool { return m.Matches(k, stored) }
	}
	return out
}

// TestMatches_SameWork counts what a comparison allocates, which is the same for a
// key that is known and for one that is not: no way through it is shorter. It is not
// parallel, for others would be counted too.
func TestMatches_SameWork(t *testing.T) {
	ways := compared(t)
	want := testing.AllocsPerRun(200, func() { ways["the key"]() })
	if want == 0 {
		t.Fatal("nothing is counted")
	}
	for name, way := range ways {
		if got := testing.AllocsPerRun(200, func() { way() }); got != want {
			t.Errorf("%s: %v allocations, the key %v", name, got, want)
		}
	}
}

var timingRounds = flag.Int("timing.rounds", 0, "measure so many comparisons of each kind")

// TestMatches_Timing measures comparisons of each kind in turn, five times. The
// middle half of each is compared, which no scheduler disturbs. A kind is told apart
// when its mean lies on the same side of the key's by four standard errors of their
// difference each time: noise of the machine takes sides, and changes them.
func TestMatches_Timing(t *testing.T) {
	if *timingRounds == 0 {
		t.Skip("a measurement: scripts/prove timing runs it")
	}
	ways, sides := compared(t), map[string]int{}
	for range 5 {
		took := measured(ways, *timingRounds)
		hit, hit2 := mean(took["the key"])
		for name := range ways {
			m, e2 := mean(took[name])
			sigma := (m - hit) / math.Sqrt(hit2+e2)
			t.Logf("%-14s %.0f ns, %+.1f standard errors from the key", name, m, sigma)
			if sigma > 4 {
				sides[name]++
			} else if sigma < -4 {
				sides[name]--
			}
		}
	}
	for name, n := range sides {
		if n == 5 || n == -5 {
			t.Errorf("%s is told apart from the key", name)
		}
	}
}

// measured is what each way took each time, in nanoseconds.
func measured(ways map[string]func() bool, rounds int) map[string][]float64 {
	took := map[string][]float64{}
	for range rounds {
		for name, way := range ways {
			began := time.Now()
			way()
			took[name] = append(took[name], float64(time.Since(began).Nanoseconds()))
		}
	}
	return took
}

// mean is that of the middle half, and the square of its standard error.
func mean(v []float64) (m, err2 float64) {
	slices.Sort(v)
	v = v[len(v)/4 : 3*len(v)/4]
	for _, x := range v {
		m += x / float64(len(v))
	}
	for _, x := range v {
		err2 += (x - m) * (x - m) / float64(len(v)-1) / float64(len(v))
	}
	return m, err2
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
