package identity_test

import (
	"net/mail"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/identity"
)

func TestAddress(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"as it is", "ada@example.org", "ada@example.org"},
		{"spaces and capitals", "  Ada.Lovelace@Example.ORG\n", "ada.lovelace@example.org"},
		{"a tag", "ada+x@example.org", "ada+x@example.org"},
		{"one machine", "root@localhost", "root@localhost"},
		{"nothing", "", ""},
		{"no name", "@example.org", ""},
		{"no place", "ada@", ""},
		{"two places", "ada@a@b", ""},
		{"a list", "ada@a.b,eve@a.b", ""},
		{"a name in front", "Ada <ada@a.b>", ""},
		{"quoted", `"a b"@a.b`, ""},
		{"a header", "ada@a.b\r\nBcc: eve@a.b", ""},
		{"a letter that looks like another", "аda@example.org", ""},
		{"a dot in front", "ada@.org", ""},
		{"a dot at the end", "ada@org.", ""},
		{"too long", strings.Repeat("a", 251) + "@a.b", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := identity.Address(tt.in); got != tt.want {
				t.Errorf("Address(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestCodes(t *testing.T) {
	t.Parallel()
	const code = "BCDFGHJK"
	if got := identity.SpelledCode(code); got != "BCDF-GHJK" {
		t.Errorf("spelled %s", got)
	}
	for _, typed := range []string{code, "BCDF-GHJK", "bcdf ghjk", " b-c-d-f-g-h-j-k "} {
		if got := identity.TypedCode(typed); got != code {
			t.Errorf("%q is read as %q", typed, got)
		}
	}
}

// What is kept of an address is one, in one form, and ends no header.
func FuzzAddress(f *testing.F) {
	for _, s := range []string{"ada@example.org", " A@B.c", "a@b\r\nX: y", "<a@b.c>", "a@[1.2.3.4]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := identity.Address(s)
		if got == "" {
			return
		}
		if again := identity.Address(got); again != got || got != strings.ToLower(got) || strings.ContainsAny(got, "\r\n\t <>,;\"") {
			t.Errorf("%q is kept as %q, and that as %q", s, got, again)
		}
		if a, err := mail.ParseAddress(got); err == nil && a.Address != got {
			t.Errorf("%q is %q to a mail server", got, a.Address)
		}
	})
}
