package str_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

func TestDecodeRune_Surrogates(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		s    string
		want []rune
	}{
		{"lone high", "a\xed\xa0\x80b", []rune{'a', 0xD800, 'b'}},
		{"lone low at the end", "\xed\xbf\xbf", []rune{0xDFFF}},
		{"pair of halves stays two", "\xed\xa0\xbd\xed\xb8\x80", []rune{0xD83D, 0xDE00}},
		{"last code point before the surrogates", "\xed\x9f\xbf", []rune{0xD7FF}},
		{"cut off", "\xed\xa0", []rune{0xFFFD, 0xFFFD}},
		{"invalid bytes", "\xff\x80é", []rune{0xFFFD, 0xFFFD, 'é'}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := str.Runes(tt.s); !slices.Equal(got, tt.want) {
				t.Errorf("Runes(%q) = %x, want %x", tt.s, got, tt.want)
			}
			var back []rune
			for rest := tt.s; rest != ""; {
				r, size := str.DecodeLastRune(rest)
				back = append(back, r)
				rest = rest[:len(rest)-size]
			}
			slices.Reverse(back)
			if !slices.Equal(back, tt.want) {
				t.Errorf("from the end: %x, want %x", back, tt.want)
			}
			if got, want := str.Len(tt.s), len(tt.want); got != want {
				t.Errorf("Len = %d, want %d", got, want)
			}
		})
	}
}

func TestRunes_RoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		runes := rapid.SliceOf(rapid.Int32Range(0, 0x10FFFF)).Draw(t, "runes")
		if got := str.Runes(str.FromRunes(runes)); !slices.Equal(got, runes) {
			t.Fatalf("got %x", got)
		}
	})
}

// Go's tables are newer than Python's, but properties of letters that both
// know do not change: this would catch a database that was read wrongly.
func TestSimpleMappings_AgreeWithGo(t *testing.T) {
	t.Parallel()
	checked := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		info := str.Of(r)
		if info.Category() == "Cn" || info.Category() == "Cs" {
			continue
		}
		if info.Alpha() != unicode.IsLetter(r) {
			t.Errorf("Alpha(%U) = %v", r, info.Alpha())
		}
		if low := unicode.ToLower(r); info.Lower() != low && str.Of(low).Category() != "Cn" {
			t.Errorf("Lower(%U) = %U, want %U", r, info.Lower(), low)
		}
		if unicode.IsUpper(r) != (info.Category() == "Lu") {
			t.Errorf("Category(%U) = %s", r, info.Category())
		}
		checked++
	}
	if checked < 140_000 {
		t.Errorf("checked %d code points only", checked)
	}
}

func TestNumeric(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		r    rune
		want float64
		ok   bool
	}{
		{"digit", '7', 7, true},
		{"vulgar fraction", '½', 0.5, true},
		{"third", '⅓', 1.0 / 3, true},
		{"roman", 'Ⅻ', 12, true},
		{"ideograph", '万', 10000, true},
		{"trillion", '兆', 1e12, true},
		{"negative: tibetan half zero", '\u0F33', -0.5, true},
		{"letter", 'x', 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got, ok := str.Of(tt.r).Numeric(); got != tt.want || ok != tt.ok {
				t.Errorf("Numeric(%U) = %v, %v", tt.r, got, ok)
			}
		})
	}
}

func TestSlice(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		s        string
		from, to int
		want     string
	}{
		{"middle", "aé日😀z", 1, 4, "é日😀"},
		{"negative", "aé日😀z", -3, -1, "日😀"},
		{"past the end", "aé", 1, 9, "é"},
		{"before the start", "aé", -9, 1, "a"},
		{"reversed", "abc", 2, 1, ""},
		{"empty", "", 0, 3, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := str.Slice(tt.s, tt.from, tt.to); got != tt.want {
				t.Errorf("Slice(%q, %d, %d) = %q, want %q", tt.s, tt.from, tt.to, got, tt.want)
			}
		})
	}
}

func TestStripSet(t *testing.T) {
	t.Parallel()
	if got := str.StripSet("日.a.é", "é.日"); got != "a" {
		t.Errorf("got %q", got)
	}
	if got := str.RStripSet("12.500", "0"); got != "12.5" {
		t.Errorf("got %q", got)
	}
}

// Eight bytes at a time must give what one at a time gives.
func TestLower_ASCII(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.Int32Range(0, 0x85)).Draw(t, "s")
		lower, upper := "", ""
		for _, r := range s {
			lower += str.Lower(string(r))
			upper += str.Upper(string(r))
		}
		if got := str.Lower(s); got != lower || strings.ToLower(s) != lower {
			t.Fatalf("Lower(%q) = %q, want %q", s, got, lower)
		}
		if got := str.Upper(s); got != upper || strings.ToUpper(s) != upper {
			t.Fatalf("Upper(%q) = %q, want %q", s, got, upper)
		}
	})
}

// ASCII text is the common case of every grader.
func TestASCII_DoesNotAllocate(t *testing.T) {
	text := "  the answer is 42, as was said before.  "
	dst := make([]string, 0, 16)
	n := testing.AllocsPerRun(100, func() {
		_ = str.Casefold(str.Strip(text))
		dst = str.AppendSplit(dst[:0], text)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkLower(b *testing.B) {
	text := "The Quick Brown Fox Jumps Over The Lazy Dog. "
	text = text + text + text + text
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		_ = str.Lower(text)
	}
}

func BenchmarkSplit(b *testing.B) {
	text := "The Quick Brown Fox Jumps Over The Lazy Dog. "
	text = text + text + text + text
	dst := make([]string, 0, 64)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		dst = str.AppendSplit(dst[:0], text)
	}
}
