package password_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"golang.org/x/crypto/argon2"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/password"
)

var cheap = password.Costs{KiB: 64, Passes: 1}

func TestHash(t *testing.T) {
	t.Parallel()
	ctx, h := context.Background(), password.New(cheap, rand.Reader)
	a, err := h.Hash(ctx, "correct horse battery")
	if err != nil {
		t.Fatal(err)
	}
	b, err := h.Hash(ctx, "correct horse battery")
	if err != nil {
		t.Fatal(err)
	}
	if a == b || strings.Contains(a, "horse") || !strings.HasPrefix(a, "$argon2id$v=19$m=64,t=1,p=1$") {
		t.Errorf("hashes %s and %s", a, b)
	}
	other := password.New(password.Costs{KiB: 128, Passes: 2}, rand.Reader) // reads what was made at other costs
	for _, tt := range []struct {
		name, pw, hash string
		want           bool
	}{
		{"right", "correct horse battery", a, true},
		{"wrong", "correct horse batterz", a, false},
		{"cut", "correct horse", a, false},
		{"nothing", "", a, false},
		{"no account", "correct horse battery", "", false},
		{"no account, the zero password", "", "", false},
		{"too long", strings.Repeat("x", password.MaxLen+1), a, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got, err := other.Check(ctx, tt.pw, tt.hash); err != nil || got != tt.want {
				t.Errorf("Check = %v, %v", got, err)
			}
		})
	}
	for _, bad := range []string{"x", "$argon2i$v=19$m=64,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$" + strings.Repeat("A", 43), strings.Replace(a, "t=1", "t=0", 1), strings.Replace(a, "m=64", "m=99999999", 1), a + "$"} {
		if ok, err := h.Check(ctx, "correct horse battery", bad); err == nil || ok {
			t.Errorf("%s was read", bad)
		}
	}
}

// The hash is the one of the library that others know, with our costs.
func TestHash_IsArgon2id(t *testing.T) {
	t.Parallel()
	h := password.New(password.Usual(), strings.NewReader("0123456789abcdef"))
	got, err := h.Hash(context.Background(), "pw of the test")
	if err != nil {
		t.Fatal(err)
	}
	if want := argon2.IDKey([]byte("pw of the test"), []byte("0123456789abcdef"), 2, 19456, 1, 32); len(want) != 32 || !strings.HasPrefix(got, "$argon2id$v=19$m=19456,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$") {
		t.Errorf("hash %s", got)
	}
	if _, err := h.Hash(context.Background(), "pw"); err == nil {
		t.Error("a hash was made without randomness")
	}
}

func TestCheck_GivesUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	h := password.New(cheap, rand.Reader)
	for range 50 { // either way is fine while there is room; the error must be the context's
		if _, err := h.Check(ctx, "x", ""); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
}

func TestFit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, pw string
		fits     bool
	}{
		{"long enough", "abcdefghij", true}, {"too short", "abcdefghi", false}, {"ten letters of another script", "пароль пар", true},
		{"too long", strings.Repeat("ab", 129), false}, {"the address", "ADA@example.org", false}, {"one letter", strings.Repeat("a", 20), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := password.Fit(tt.pw, "ada@example.org"); (got == "") != tt.fits {
				t.Errorf("Fit says %q", got)
			}
		})
	}
}
