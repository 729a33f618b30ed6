package usd_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/lib/usd"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     usd.Micro
		err      error
	}{
		{"whole", "5", 5 * usd.Dollar, nil},
		{"sign of the dollar", "$5", 5 * usd.Dollar, nil},
		{"cents", "5.25", 5_250_000, nil},
		{"smallest", "0.000001", 1, nil},
		{"no whole part", ".5", 500_000, nil},
		{"leading zeros", "007", 7 * usd.Dollar, nil},
		{"trailing zeros", "1.10000000", 1_100_000, nil},
		{"nothing", "0", 0, nil},
		{"largest", "9999999999.999999", usd.Max, nil},
		{"one more", "10000000000", 0, usd.ErrRange},
		{"far too large", strings.Repeat("9", 400), 0, usd.ErrRange},
		{"seven decimals", "0.0000001", 0, usd.ErrPrecision},
		{"empty", "", 0, usd.ErrSyntax},
		{"dollar alone", "$", 0, usd.ErrSyntax},
		{"point alone", ".", 0, usd.ErrSyntax},
		{"trailing point", "5.", 0, usd.ErrSyntax},
		{"minus", "-5", 0, usd.ErrSyntax},
		{"plus", "+5", 0, usd.ErrSyntax},
		{"exponent", "1e3", 0, usd.ErrSyntax},
		{"separator", "1,000", 0, usd.ErrSyntax},
		{"underscore", "1_000", 0, usd.ErrSyntax},
		{"space", " 5", 0, usd.ErrSyntax},
		{"hex", "0x5", 0, usd.ErrSyntax},
		{"two points", "1.2.3", 0, usd.ErrSyntax},
		{"two dollars", "$$5", 0, usd.ErrSyntax},
		{"other digits", "٥", 0, usd.ErrSyntax},
		{"infinity", "Inf", 0, usd.ErrSyntax},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := usd.Parse(tt.in)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("Parse(%q) = %d, %v, want %d, %v", tt.in, got, err, tt.want, tt.err)
			}
		})
	}
}

func TestParseWire(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     usd.Micro
		err      error
	}{
		{"one dollar", "1000000", usd.Dollar, nil},
		{"nothing", "0", 0, nil},
		{"largest", "9999999999999999", usd.Max, nil},
		{"17 digits", "10000000000000000", 0, usd.ErrRange},
		{"empty", "", 0, usd.ErrSyntax},
		{"leading zero", "01", 0, usd.ErrSyntax},
		{"minus", "-1", 0, usd.ErrSyntax},
		{"plus", "+1", 0, usd.ErrSyntax},
		{"point", "1.0", 0, usd.ErrSyntax},
		{"exponent", "1e6", 0, usd.ErrSyntax},
		{"space", "1 ", 0, usd.ErrSyntax},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := usd.ParseWire(tt.in)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("ParseWire(%q) = %d, %v, want %d, %v", tt.in, got, err, tt.want, tt.err)
			}
		})
	}
}

// What is shown is dollars; what is sent is whole micro-dollars in a string.
func TestMoney_OUT11_ShownAndSent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		m     usd.Micro
		shown string
		sent  string
	}{
		{"nothing", 0, "$0.00", `"0"`},
		{"one dollar", usd.Dollar, "$1.00", `"1000000"`},
		{"cents", 5_250_000, "$5.25", `"5250000"`},
		{"tenth", 100_000, "$0.10", `"100000"`},
		{"as many decimals as it needs", 4_200, "$0.0042", `"4200"`},
		{"smallest", 1, "$0.000001", `"1"`},
		{"thousands", 1_234_567_890_000, "$1234567.89", `"1234567890000"`},
		{"taken away", -5_500_000, "-$5.50", `"-5500000"`},
		{"most negative", math.MinInt64, "-$9223372036854.775808", `"-9223372036854775808"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.m.String(); got != tt.shown {
				t.Errorf("shown as %s, want %s", got, tt.shown)
			}
			if got, err := json.Marshal(tt.m); err != nil || string(got) != tt.sent {
				t.Errorf("sent as %s (%v), want %s", got, err, tt.sent)
			}
		})
	}
}

func TestJSONRefusals(t *testing.T) {
	t.Parallel()
	for _, in := range []string{`1000000`, `1.5`, `"1.5"`, `"1e6"`, `""`, `" 1"`, `"+1"`, `"--1"`, `"01"`, `"-01"`, `true`, `{}`, `"99999999999999999"`} {
		m := usd.Micro(7)
		if err := json.Unmarshal([]byte(in), &m); err == nil || m != 7 {
			t.Errorf("JSON %s was read as %d (%v)", in, m, err)
		}
	}
}

func TestRoundTrips(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := usd.Micro(rapid.Int64Range(-int64(usd.Max), int64(usd.Max)).Draw(t, "m"))
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var back usd.Micro
		if err := json.Unmarshal(b, &back); err != nil || back != m {
			t.Fatalf("%d was sent as %s and read as %d (%v)", m, b, back, err)
		}
		if m < 0 {
			return
		}
		if shown, err := usd.Parse(m.String()); err != nil || shown != m {
			t.Fatalf("%d is shown as %s and read as %d (%v)", m, m, shown, err)
		}
		if wire, err := usd.ParseWire(m.Wire()); err != nil || wire != m {
			t.Fatalf("%d has the wire form %s, read as %d (%v)", m, m.Wire(), wire, err)
		}
	})
}

func TestAdd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
		want := new(big.Int).Add(big.NewInt(a), big.NewInt(b))
		got, err := usd.Micro(a).Add(usd.Micro(b))
		switch {
		case want.IsInt64() && (err != nil || int64(got) != want.Int64()):
			t.Fatalf("%d + %d = %d, %v", a, b, got, err)
		case !want.IsInt64() && !errors.Is(err, usd.ErrRange):
			t.Fatalf("%d + %d = %d, %v, but it does not fit", a, b, got, err)
		}
	})
}

func TestCost(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		terms []usd.Term
		want  usd.Micro
		err   error
	}{
		{"nothing", nil, 0, nil},
		{"a million at a dollar", []usd.Term{{1_000_000, 1_000_000}}, usd.Dollar, nil},
		{"rounded up", []usd.Term{{1, 1}}, 1, nil},
		{"rounded up once", []usd.Term{{1, 400_000}, {1, 400_000}}, 1, nil},
		{"no rounding", []usd.Term{{2, 500_000}}, 1, nil},
		{"free", []usd.Term{{1_000_000, 0}}, 0, nil},
		{"negative units", []usd.Term{{-1, 1}}, 0, usd.ErrRange},
		{"negative price", []usd.Term{{1, -1}}, 0, usd.ErrRange},
		{"beyond int64", []usd.Term{{math.MaxInt64, 1_000_001}}, 0, usd.ErrRange},
		{"wraps when it is rounded up", []usd.Term{{2_000_000, math.MaxInt64}, {1, 1_500_000}}, 0, usd.ErrRange},
		{"just within", []usd.Term{{math.MaxInt64, 1_000_000}}, math.MaxInt64, nil},
		{"beyond 128 bits", []usd.Term{{math.MaxInt64, math.MaxInt64}, {math.MaxInt64, math.MaxInt64}, {math.MaxInt64, math.MaxInt64}, {math.MaxInt64, math.MaxInt64}, {math.MaxInt64, math.MaxInt64}}, 0, usd.ErrRange},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := usd.Cost(tt.terms...)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("Cost(%v) = %d, %v, want %d, %v", tt.terms, got, err, tt.want, tt.err)
			}
		})
	}
}

// Cost against exact rationals: the ceiling of the sum, or ErrRange when that
// does not fit.
func TestCostIsTheExactCeiling(t *testing.T) {
	t.Parallel()
	amount := rapid.OneOf(rapid.Int64Range(0, 1_000), rapid.Int64Range(0, 1e12), rapid.Int64Range(0, math.MaxInt64))
	rapid.Check(t, func(t *rapid.T) {
		var terms []usd.Term
		sum := new(big.Rat)
		for range rapid.IntRange(0, 6).Draw(t, "terms") {
			units, price := amount.Draw(t, "units"), amount.Draw(t, "price")
			terms = append(terms, usd.Term{Units: units, Price: usd.PerMillion(price)})
			one := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(units), big.NewInt(price)), big.NewInt(1_000_000))
			sum.Add(sum, one)
		}
		up := new(big.Int).Add(sum.Num(), new(big.Int).Sub(sum.Denom(), big.NewInt(1)))
		want := up.Div(up, sum.Denom())
		got, err := usd.Cost(terms...)
		switch {
		case want.IsInt64() && (err != nil || int64(got) != want.Int64()):
			t.Fatalf("Cost(%v) = %d, %v, want %s", terms, got, err, want)
		case !want.IsInt64() && !errors.Is(err, usd.ErrRange):
			t.Fatalf("Cost(%v) = %d, %v, but %s does not fit", terms, got, err, want)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"5", "$0.25", ".5", "9999999999.999999", "0.0000001", "1e3", "٥", "5.", "00000000000000000000.1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := usd.Parse(s)
		if err != nil {
			if m != 0 {
				t.Fatalf("Parse(%q) = %d beside %v", s, m, err)
			}
			return
		}
		want, ok := new(big.Rat).SetString(strings.TrimPrefix(s, "$"))
		if !ok || want.Mul(want, big.NewRat(1_000_000, 1)).Cmp(big.NewRat(int64(m), 1)) != 0 {
			t.Fatalf("Parse(%q) = %d micro-dollars", s, m)
		}
		if m < 0 || m > usd.Max {
			t.Fatalf("Parse(%q) = %d is out of range", s, m)
		}
	})
}

func FuzzParseWire(f *testing.F) {
	for _, s := range []string{"0", "1000000", "9999999999999999", "01", "-1", "1.0", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := usd.ParseWire(s)
		if err == nil && (m < 0 || m > usd.Max || m.Wire() != s) {
			t.Fatalf("ParseWire(%q) = %d", s, m)
		}
	})
}

// What somebody else charged comes with any number of decimals and counts up
// to the next micro-dollar.
func TestParseCeil(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in   string
		want usd.Micro
		err  error
	}{
		{in: "0.03212", want: 32_120},
		{in: "0", want: 0},
		{in: "0.0000000", want: 0},
		{in: "0.0000001", want: 1},
		{in: "0.0000010", want: 1},
		{in: "0.00000100000000000001", want: 2},
		{in: "1.5e-05", want: 15},
		{in: "1.23E-7", want: 1},
		{in: "2e1", want: 20_000_000},
		{in: "12.5e0", want: 12_500_000},
		{in: "9999999999.999999", want: usd.Max},
		{in: "9999999999.9999991", err: usd.ErrRange},
		{in: "1e11", err: usd.ErrRange},
		{in: "1e999999999", err: usd.ErrRange},
		{in: "1e-41", err: usd.ErrRange},
		{in: "", err: usd.ErrSyntax},
		{in: "-1", err: usd.ErrSyntax},
		{in: "+1", err: usd.ErrSyntax},
		{in: ".5", err: usd.ErrSyntax},
		{in: "1.", err: usd.ErrSyntax},
		{in: "1e", err: usd.ErrSyntax},
		{in: "0x1p2", err: usd.ErrSyntax},
		{in: "1_0", err: usd.ErrSyntax},
		{in: "NaN", err: usd.ErrSyntax},
		{in: "0." + strings.Repeat("0", 50), err: usd.ErrSyntax},
	} {
		t.Run(tt.in, func(t *testing.T) {
			t.Parallel()
			if got, err := usd.ParseCeil(tt.in); got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("got %d, %v; want %d, %v", got, err, tt.want, tt.err)
			}
		})
	}
}

// ParseCeil is the exact ceiling of the number.
func FuzzParseCeil(f *testing.F) {
	for _, s := range []string{"0.03212", "1.5e-05", "1e3", "9999999999.999999", "0.0000001", "1e-40", "00.5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := usd.ParseCeil(s)
		if err != nil {
			return
		}
		exact, ok := new(big.Rat).SetString(s)
		if !ok {
			t.Fatalf("%q is read as %d", s, got)
		}
		exact.Mul(exact, big.NewRat(1_000_000, 1))
		q, r := new(big.Int).QuoRem(exact.Num(), exact.Denom(), new(big.Int))
		if r.Sign() > 0 {
			q.Add(q, big.NewInt(1))
		}
		if !q.IsInt64() || q.Int64() != int64(got) {
			t.Fatalf("%q is %d, exactly %s", s, got, q)
		}
	})
}
