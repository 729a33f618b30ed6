package core_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

func TestStorable(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"text", "a\tb\n\u2028 é 😀 \uFFFD", "a\tb\n\u2028 é 😀 \uFFFD"},
		{"NUL", "a\x00b\x00", "a\uFFFDb\uFFFD"},
		{"no UTF-8", "a\xff\xfeb", "a\uFFFDb"},
		{"half a surrogate pair", "\xed\xa0\xbd", "\uFFFD"},
		{"both", "\x00\xff", "\uFFFD\uFFFD"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := core.Storable(tt.text); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// FuzzStorable holds what is kept to what both databases take, and leaves what
// they take as it is.
func FuzzStorable(f *testing.F) {
	for _, s := range []string{"", "a", "a\x00b", "\xff", "é\x00\xc3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := core.Storable(s)
		if strings.Contains(got, "\x00") || !utf8.ValidString(got) {
			t.Fatalf("%q became %q", s, got)
		}
		if utf8.ValidString(s) && strings.ReplaceAll(s, "\x00", "\uFFFD") != got {
			t.Fatalf("%q became %q", s, got)
		}
	})
}
