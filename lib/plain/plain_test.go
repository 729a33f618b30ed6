package plain_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/lib/plain"
)

func TestClean(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, line, block string }{
		{"empty", "", "", ""},
		{"ascii", "plain text ~", "plain text ~", "plain text ~"},
		{"letters", "Zürich 東京 🙂", "Zürich 東京 🙂", "Zürich 東京 🙂"},
		{"breaks", "a\nb\tc", "a b c", "a\nb\tc"},
		{"crlf", "a\r\nb", "a b", "a\nb"},
		{"lone return", "safe\rEVIL", `safe\x0dEVIL`, `safe\x0dEVIL`},
		{"colour", "\x1b[31mred", `\x1b[31mred`, `\x1b[31mred`},
		{"clipboard", "\x1b]52;c;ZXZpbA==\x07", `\x1b]52;c;ZXZpbA==\x07`, `\x1b]52;c;ZXZpbA==\x07`},
		{"nul and delete", "\x00\x7f", `\x00\x7f`, `\x00\x7f`},
		{"c1 rune", "a\u009b31mb", `a\x9b31mb`, `a\x9b31mb`},
		{"c1 byte", "a\x9b31mb", `a\x9b31mb`, `a\x9b31mb`},
		{"invalid byte", "a\xffb\xc3", "a\uFFFDb\uFFFD", "a\uFFFDb\uFFFD"},
		{"replacement character itself", "a\uFFFDb", "a\uFFFDb", "a\uFFFDb"},
		{"bidi", "a\u202Eb\u2066c\u061C\u200F", "a<U+202E>b<U+2066>c<U+061C><U+200F>", "a<U+202E>b<U+2066>c<U+061C><U+200F>"},
		{"zero width", "a\u200Bb\u200Dc\u2060\uFEFF", "a<U+200B>b<U+200D>c<U+2060><U+FEFF>", "a<U+200B>b<U+200D>c<U+2060><U+FEFF>"},
		{"tags", "x\U000E0041\U000E007F", "x<U+E0041><U+E007F>", "x<U+E0041><U+E007F>"},
		{"separators", "a\u2028b\u2029c", "a<U+2028>b<U+2029>c", "a<U+2028>b<U+2029>c"},
		{"filler", "a\u3164b", "a<U+3164>b", "a<U+3164>b"},
		{"four marks stay", "e\u0301\u0302\u0303\u0304", "e\u0301\u0302\u0303\u0304", "e\u0301\u0302\u0303\u0304"},
		{"more marks go", "e" + strings.Repeat("\u0301", 50) + "x", "e" + strings.Repeat("\u0301", 4) + "x", "e" + strings.Repeat("\u0301", 4) + "x"},
		{"number sign of Arabic stays", "\u06DD12", "\u06DD12", "\u06DD12"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tt.line, plain.Line(tt.in).String()); d != "" {
				t.Errorf("Line (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.block, plain.Block(tt.in).String()); d != "" {
				t.Errorf("Block (-want +got):\n%s", d)
			}
		})
	}
}

// assertSafe is what a terminal needs, written independently of the cleaner.
func assertSafe(t interface {
	Helper()
	Fatalf(string, ...any)
}, s string, block bool) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Fatalf("%q is not UTF-8", s)
	}
	marks := 0
	for _, r := range s {
		if unicode.IsControl(r) && !(block && (r == '\n' || r == '\t')) {
			t.Fatalf("%q holds control %U", s, r)
		}
		if unicode.Is(unicode.Bidi_Control, r) || unicode.In(r, unicode.Zl, unicode.Zp) || r >= 0x200B && r <= 0x200D ||
			r == 0x2060 || r == 0xFEFF || r >= 0xE0000 && r <= 0xE007F {
			t.Fatalf("%q holds %U", s, r)
		}
		if marks++; !unicode.IsMark(r) {
			marks = 0
		}
		if marks > 4 {
			t.Fatalf("%q holds a pile of marks", s)
		}
	}
}

func hostile() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.String(),
		rapid.StringOf(rapid.RuneFrom(nil, unicode.Cc, unicode.Cf, unicode.M, unicode.Zl, unicode.Zp)),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.SampledFrom([]string{"\x1b[2J", "\x1b]8;;http://x\x1b\\", "\x1bP1;1|x\x1b\\", "\x9b6n", "\r\n", "\t", "\u202E", "e\u0301", "漢", "🙂"}),
	)
	return rapid.Map(rapid.SliceOf(piece), func(p []string) string { return strings.Join(p, "") })
}

func TestCleanProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := hostile().Draw(t, "s")
		line, block := plain.Line(s), plain.Block(s)
		assertSafe(t, line.String(), false)
		assertSafe(t, block.String(), true)
		if again := plain.Line(line.String()); again != line {
			t.Fatalf("Line is not stable: %q then %q", line, again)
		}
		if again := plain.Block(block.String()); again != block {
			t.Fatalf("Block is not stable: %q then %q", block, again)
		}
	})
}

func TestJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := map[string]any{hostile().Draw(t, "key"): hostile().Draw(t, "value")}
		in, err := json.MarshalIndent(want, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		out := plain.JSON(in)
		for _, r := range string(out) {
			if unicode.IsControl(r) && r != '\n' && r != '\t' || plain.Hidden(r) {
				t.Fatalf("%q holds %U", out, r)
			}
		}
		var before, after any
		if err := json.Unmarshal(in, &before); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out, &after); err != nil {
			t.Fatalf("%q is not JSON: %v", out, err)
		}
		if !reflect.DeepEqual(before, after) {
			t.Fatalf("the meaning changed: %s", cmp.Diff(before, after))
		}
	})
}

func TestJSONKeepsTheRest(t *testing.T) {
	t.Parallel()
	in := "{\r\n\t\"a\u009b\U000E0041\": \"ü\xff\"}"
	want := "{ \n\t\"a\\u009b\\udb40\\udc41\": \"ü\\ufffd\"}"
	if d := cmp.Diff(want, string(plain.JSON([]byte(in)))); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestWidth(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		in   plain.Safe
		want int
	}{
		{"ascii", "abc", 3}, {"latin", "Zürich", 6}, {"composed", "e\u0301", 1}, {"han", "東京", 4},
		{"hangul", "한국", 4}, {"full width", "ＡＢ", 4}, {"half width kana", "ｱｲ", 2}, {"emoji", "🙂x", 3},
		{"flag", "🇨🇭", 2}, {"ellipsis", "…", 1}, {"box", "─│", 2}, {"cyrillic", "привет", 6}, {"new emoji", "\U0001FAE8", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := plain.Width(tt.in); got != tt.want {
				t.Errorf("Width(%q) = %d, want %d", tt.in, got, tt.want)
			}
		})
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		in    plain.Safe
		cells int
		want  plain.Safe
	}{
		{"fits", "abc", 3, "abc"}, {"cut", "abcd", 3, "ab…"}, {"one cell", "abcd", 1, "…"}, {"none", "abcd", 0, ""},
		{"wide fits", "東京", 4, "東京"}, {"wide cut", "東京都", 4, "東…"}, {"wide leaves a cell", "東京都", 3, "東…"},
		{"a mark alone needs no cell", "\u0300", 0, "\u0300"}, {"a mark and no cell for its character", "\u0300a", 0, ""}, {"less than none", "\u0300", -1, ""},
		{"marks stay", "ae\u0301bcd", 3, "ae\u0301…"}, {"last is marked", "abe\u0301", 3, "abe\u0301"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := plain.Cut(tt.in, tt.cells); got != tt.want {
				t.Errorf("Cut(%q, %d) = %q, want %q", tt.in, tt.cells, got, tt.want)
			}
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		s := plain.Line(hostile().Draw(t, "s"))
		n := rapid.IntRange(0, 30).Draw(t, "cells")
		cut := plain.Cut(s, n)
		if plain.Width(cut) > n {
			t.Fatalf("Cut(%q, %d) = %q is %d wide", s, n, cut, plain.Width(cut))
		}
		if plain.Width(s) <= n && cut != s {
			t.Fatalf("Cut(%q, %d) = %q, but it fits", s, n, cut)
		}
		if w := plain.Width(plain.Pad(s, n)); w != n {
			t.Fatalf("Pad(%q, %d) is %d wide", s, n, w)
		}
	})
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "\x1b]0;title\x07", "\x9b31m", "\xe2\x80", "e\u0301\u0301\u0301\u0301\u0301", "a\r\nb\rc", "\x1b[201~"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		line, block := plain.Line(s), plain.Block(s)
		assertSafe(t, line.String(), false)
		assertSafe(t, block.String(), true)
		if plain.Line(line.String()) != line || plain.Block(block.String()) != block {
			t.Fatalf("cleaning %q twice differs from once", s)
		}
		plain.Cut(line, len(s)/2)
	})
}
