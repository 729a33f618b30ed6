package numeral_test

import (
	"testing"

	"github.com/evalrouter/evalrouter/bundle/inspect/internal/numeral"
	vt "github.com/evalrouter/evalrouter/bundle/internal/vectortest"
)

func TestUnicode(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_unicode_number", func(t *testing.T, c vt.Case) {
		got, err := numeral.Unicode(vt.Str(c.Input, "s"))
		if !vt.Raised(t, c, err) {
			vt.Exact(t, "number", got, vt.Float(t, c.Expected))
		}
	})
}

func TestPlain(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_str_to_float", func(t *testing.T, c vt.Case) {
		got, err := numeral.Plain(vt.Str(c.Input, "s"))
		if !vt.Raised(t, c, err) {
			vt.Exact(t, "number", got, vt.Float(t, c.Expected))
		}
	})
}

func TestNormalize(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_normalize_number", func(t *testing.T, c vt.Case) {
		s := vt.Str(c.Input, "s")
		text, is, err := numeral.Normalize(s)
		if err != nil {
			t.Fatal(err)
		}
		d := vt.Dict(vt.Wrap(c.Expected), "expected")
		for _, f := range []struct {
			name      string
			got, want any
		}{
			{"normalize_number", text, vt.Str(d, "normalize_number")},
			{"is_number", is, vt.Flag(d, "is_number")},
			{"strip_numeric_punctuation", numeral.StripDecoration(s), vt.Str(d, "strip_numeric_punctuation")},
			{"is_finite_number", numeral.Finite(s), vt.Flag(d, "is_finite_number")},
			{"strip_punctuation", numeral.StripPunctuation(s), vt.Str(d, "strip_punctuation")},
		} {
			if f.got != f.want {
				t.Errorf("%s(%q) = %v, want %v", f.name, s, f.got, f.want)
			}
		}
	})
}

// A number that no float holds is an exception in the reference and must stay
// one, not become "no number".
func TestOverflowIsRaised(t *testing.T) {
	t.Parallel()
	long := ""
	for range 400 {
		long += "九"
	}
	if _, _, err := numeral.Parse(long); err == nil {
		t.Error("400 Chinese nines are read without an error")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"42", "½", "-2²", "1.234,56", "一亿二千万", "1e−5", "2⁻", "٣٫١٤", "0⁻¹", "\\$1,0_0.5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, ok, err := numeral.Parse(s)
		if ok && (v-v != 0 || err != nil) {
			t.Errorf("Parse(%q) = %v, %v", s, v, err)
		}
		text, is, _ := numeral.Normalize(s)
		if is {
			again, _, _ := numeral.Normalize(text)
			if again != text {
				t.Errorf("Normalize(%q) = %q, of that %q", s, text, again)
			}
		}
		_, _ = numeral.Plain(s)
		if d := numeral.StripDecoration(s); len(d) > len(s) {
			t.Errorf("StripDecoration(%q) = %q is longer", s, d)
		}
	})
}
