package str_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/evalrouter/evalrouter/bundle/pycompat/internal/vector"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

func TestVectors_Case(t *testing.T) {
	t.Parallel()
	vector.Shared(t, "py_str_case", 35, checkCase)
}

func TestCPython_Case(t *testing.T) {
	t.Parallel()
	vector.Committed(t, "case", checkCase)
}

func checkCase(t *testing.T, c vector.Case) {
	s := c.Input["s"].(string)
	for name, f := range map[string]func(string) string{
		"lower": str.Lower, "upper": str.Upper, "casefold": str.Casefold, "capitalize": str.Capitalize,
	} {
		if got, want := f(s), c.Field(name).(string); got != want {
			t.Errorf("%s(%+q) = %+q, want %+q", name, s, got, want)
		}
	}
}

func TestVectors_SplitStrip(t *testing.T) {
	t.Parallel()
	vector.Shared(t, "py_str_split_strip", 21, checkSplitStrip)
}

func TestCPython_SplitStrip(t *testing.T) {
	t.Parallel()
	vector.Committed(t, "split", checkSplitStrip)
}

func checkSplitStrip(t *testing.T, c vector.Case) {
	s := c.Input["s"].(string)
	for name, f := range map[string]func(string) string{"strip": str.Strip, "lstrip": str.LStrip, "rstrip": str.RStrip} {
		if got, want := f(s), c.Field(name).(string); got != want {
			t.Errorf("%s(%+q) = %+q, want %+q", name, s, got, want)
		}
	}
	for name, f := range map[string]func(string) []string{
		"split": str.Split, "splitlines": str.SplitLines, "splitlines_keep": str.SplitLinesKeep,
	} {
		if want, ok := c.Field(name).([]any); ok {
			if diff := cmp.Diff(vector.Strings(want), f(s), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s(%+q): -want +got\n%s", name, s, diff)
			}
		}
	}
	if got, want := str.IsSpace(s), c.Field("isspace").(bool); got != want {
		t.Errorf("isspace(%+q) = %v, want %v", s, got, want)
	}
}

func TestVectors_UnicodeTables(t *testing.T) {
	t.Parallel()
	tables := map[string]func(str.Rune) bool{
		"re_w": str.Rune.Word, "re_s": str.Rune.Space, "isspace": str.Rune.Space, "cat_P": str.Rune.Punct,
		"re_d": func(r str.Rune) bool { _, ok := r.Decimal(); return ok },
	}
	vector.Shared(t, "py_unicode_tables", 5, func(t *testing.T, c vector.Case) {
		name := c.Input["table"].(string)
		has, ok := tables[name]
		if !ok {
			t.Fatalf("no check for table %q", name)
		}
		want := map[rune]bool{}
		for _, r := range c.Expected.([]any) {
			ends := vector.Ints(t, r)
			for cp := ends[0]; cp <= ends[1]; cp++ {
				want[rune(cp)] = true
			}
		}
		wrong := 0
		for cp := rune(0); cp <= 0x10FFFF; cp++ {
			if has(str.Of(cp)) != want[cp] {
				if wrong++; wrong <= 5 {
					t.Errorf("%s has %U: %v, want %v", name, cp, !want[cp], want[cp])
				}
			}
		}
		if wrong > 0 {
			t.Errorf("%s: %d code points differ", name, wrong)
		}
	})
}

func TestCPython_Predicates(t *testing.T) {
	t.Parallel()
	vector.Committed(t, "is", func(t *testing.T, c vector.Case) {
		s := c.Input["s"].(string)
		for name, f := range map[string]func(string) bool{
			"isspace": str.IsSpace, "isalpha": str.IsAlpha, "isalnum": str.IsAlnum, "isdecimal": str.IsDecimal,
			"isdigit": str.IsDigit, "isnumeric": str.IsNumeric, "islower": str.IsLower, "isupper": str.IsUpper,
			"isidentifier": str.IsIdentifier,
		} {
			if got, want := f(s), c.Field(name).(bool); got != want {
				t.Errorf("%s(%+q) = %v, want %v", name, s, got, want)
			}
		}
		if got, want := str.Repr(s), c.Field("repr").(string); got != want {
			t.Errorf("repr(%+q) = %s, want %s", s, got, want)
		}
		n, err := c.Field("len").(json.Number).Int64()
		if err != nil || str.Len(s) != int(n) {
			t.Errorf("len(%+q) = %d, want %d", s, str.Len(s), n)
		}
	})
}
