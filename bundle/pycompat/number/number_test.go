package number_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/internal/vector"
	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
)

// read is float(repr), for inputs that are the repr of a float.
func read(t *testing.T, s string) float64 {
	t.Helper()
	f, err := number.ParseFloat(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestVectors_FloatFormat(t *testing.T) {
	t.Parallel()
	vector.Shared(t, "py_float_format", 45, func(t *testing.T, c vector.Case) {
		x := read(t, c.Input["x"].(string))
		rounded, err := number.Round(x, 2)
		if err != nil {
			t.Fatal(err)
		}
		for name, got := range map[string]string{
			"repr": number.Repr(x), "g5": number.FormatG(x, 5), "f4": number.FormatF(x, 4), "round2": number.Repr(rounded),
		} {
			if want := c.Field(name); got != want {
				t.Errorf("%s(%v) = %s, want %v", name, x, got, want)
			}
		}
	})
}

func TestCPython_Format(t *testing.T) {
	t.Parallel()
	vector.Committed(t, "format", func(t *testing.T, c vector.Case) {
		x := read(t, c.Input["x"].(string))
		round := func(digits int) string {
			f, err := number.Round(x, digits)
			if err != nil {
				t.Fatal(err)
			}
			return number.Repr(f)
		}
		for name, got := range map[string]string{
			"repr": number.Repr(x), "g5": number.FormatG(x, 5), "g0": number.FormatG(x, 0), "g12": number.FormatG(x, 12),
			"f0": number.FormatF(x, 0), "f2": number.FormatF(x, 2), "f4": number.FormatF(x, 4), "e3": number.FormatE(x, 3),
			"round0": round(0), "round2": round(2), "round5": round(5), "roundm1": round(-1), "roundm3": round(-3),
		} {
			if want := c.Field(name); got != want {
				t.Errorf("%s(%v) = %s, want %v", name, x, got, want)
			}
		}
	})
}

func TestVectors_FloatParse(t *testing.T) {
	t.Parallel()
	vector.Shared(t, "py_float_parse", 94, func(t *testing.T, c vector.Case) {
		checkParse(t, c.Input["s"].(string), c.Params["type"].(string), c.Expected)
	})
}

func TestCPython_Parse(t *testing.T) {
	t.Parallel()
	vector.Committed(t, "parse", func(t *testing.T, c vector.Case) {
		for _, kind := range []string{"float", "int"} {
			checkParse(t, c.Input["s"].(string), kind, c.Field(kind))
		}
	})
}

func checkParse(t *testing.T, s, kind string, want any) {
	t.Helper()
	var got string
	var err error
	if kind == "float" {
		var f float64
		f, err = number.ParseFloat(s)
		got = number.Repr(f)
	} else if n, e := number.ParseInt(s); e != nil {
		err = e
	} else {
		got = n.String()
	}
	if m, ok := want.(map[string]any); ok {
		if class := m["$raises"]; pycompat.Class(err) != class {
			t.Errorf("%s(%+q) = %q, %v, want %v", kind, s, got, err, class)
		}
		return
	}
	if err != nil || got != want {
		t.Errorf("%s(%+q) = %q, %v, want %v", kind, s, got, err, want)
	}
}

func TestVectors_Sums(t *testing.T) {
	t.Parallel()
	vector.Shared(t, "py_numpy_stats", 9, func(t *testing.T, c vector.Case) {
		xs := vector.Floats(t, c.Input["values"])
		mean, err := number.Mean(xs)
		if err != nil {
			t.Fatal(err)
		}
		median, err := number.Median(xs)
		if err != nil {
			t.Fatal(err)
		}
		for name, got := range map[string]float64{
			"sum312": number.Sum(xs), "sum311": number.PlainSum(xs), "statistics_mean": mean, "statistics_median": median,
		} {
			if want := vector.Float(t, c.Field(name)); got != want {
				t.Errorf("%s = %v, want %v", name, got, want)
			}
		}
	})
}

func TestCPython_ExactSums(t *testing.T) {
	t.Parallel()
	vector.Committed(t, "exact", func(t *testing.T, c vector.Case) {
		var xs []float64
		for _, s := range vector.Strings(c.Input["values"]) {
			xs = append(xs, read(t, s))
		}
		for name, f := range map[string]func([]float64) (float64, error){
			"fsum": number.FSum, "mean": number.Mean, "median": number.Median,
		} {
			want, ok := c.Expected.(map[string]any)[name]
			if !ok {
				continue
			}
			got, err := f(xs)
			if m, ok := want.(map[string]any); ok {
				if pycompat.Class(err) != m["$raises"] {
					t.Errorf("%s = %v, %v, want %v", name, got, err, m)
				}
			} else if err != nil || number.Repr(got) != want {
				t.Errorf("%s = %v, %v, want %v", name, got, err, want)
			}
		}
	})
}

func TestSum_NothingAndNegativeZero(t *testing.T) {
	t.Parallel()
	for _, xs := range [][]float64{nil, {math.Copysign(0, -1)}} {
		if got := number.Sum(xs); got != 0 || math.Signbit(got) {
			t.Errorf("Sum(%v) = %v, want 0", xs, got)
		}
	}
	if _, err := number.Mean(nil); pycompat.Class(err) != "StatisticsError" {
		t.Errorf("Mean of nothing: %v", err)
	}
	if _, err := number.Median(nil); pycompat.Class(err) != "StatisticsError" {
		t.Errorf("Median of nothing: %v", err)
	}
}

func TestRound_Overflow(t *testing.T) {
	t.Parallel()
	if _, err := number.Round(math.MaxFloat64, -308); pycompat.Class(err) != "OverflowError" {
		t.Errorf("got %v", err)
	}
}

func TestRepr_ReadsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		if got, err := number.ParseFloat(number.Repr(f)); err != nil || got != f {
			t.Fatalf("repr %s reads as %v, %v", number.Repr(f), got, err)
		}
	})
}

func FuzzFloatRoundTrip(f *testing.F) {
	for _, bits := range []uint64{0, 1 << 63, 0x3FF0000000000000, 0x7FEFFFFFFFFFFFFF, 1, 0x4341C37937E08000, 0x3F1A36E2EB1C432D} {
		f.Add(bits, 5)
	}
	f.Fuzz(func(t *testing.T, bits uint64, precision int) {
		x := math.Float64frombits(bits)
		text := number.Repr(x)
		back, err := number.ParseFloat(text)
		if err != nil || back != x && !math.IsNaN(x) {
			t.Fatalf("%x: repr %q reads as %v, %v", bits, text, back, err)
		}
		precision = min(max(precision, 0), 400)
		for _, s := range []string{number.FormatG(x, precision), number.FormatF(x, precision), number.FormatE(x, precision)} {
			if _, err := number.ParseFloat(s); err != nil {
				t.Fatalf("%x, precision %d: %q does not read: %v", bits, precision, s, err)
			}
		}
		if g, err := number.ParseFloat(number.FormatG(x, 17)); err != nil || g != x && !math.IsNaN(x) {
			t.Fatalf("%x: 17 digits read as %v, %v", bits, g, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"1", " 1_0.5e-3 ", "inf", "٣", "\u00a01", "0x1", "1__0", "nan\x1c", "\x7f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, errInt := number.ParseInt(s)
		x, errFloat := number.ParseFloat(s)
		if errInt != nil {
			return
		}
		// What int() reads, float() reads too, to the nearest double.
		if errFloat != nil {
			t.Fatalf("int(%q) = %s but float raises %v", s, n, errFloat)
		}
		if want, _ := n.Float64(); x != want {
			t.Fatalf("float(%q) = %v, want %v", s, x, want)
		}
	})
}

func BenchmarkParseFloat(b *testing.B) {
	for b.Loop() {
		if _, err := number.ParseFloat("1234.5"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFormatG(b *testing.B) {
	for b.Loop() {
		number.FormatG(1234.5678, 5)
	}
}

func BenchmarkSum(b *testing.B) {
	xs := make([]float64, 10_000)
	for i := range xs {
		xs[i] = float64(i%7) / 7
	}
	b.SetBytes(int64(8 * len(xs)))
	for b.Loop() {
		number.Sum(xs)
	}
}
