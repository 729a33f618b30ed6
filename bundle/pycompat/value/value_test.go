package value_test

import (
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/internal/vector"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

func TestVectors_JSONLoads(t *testing.T) {
	t.Parallel()
	vector.Shared(t, "py_json_loads", 46, func(t *testing.T, c vector.Case) {
		v, err := value.Loads(c.Input["text"].(string))
		if class := c.Raises(); class != "" {
			if pycompat.Class(err) != class {
				t.Errorf("loads = %v, %v, want %s", v, err, class)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := value.Dump{SortKeys: true, Unicode: true}.Dumps(v)
		if err != nil || got != c.Field("dumps") {
			t.Errorf("dumps = %s, %v, want %s", got, err, c.Field("dumps"))
		}
	})
}

func TestCPython_JSON(t *testing.T) {
	t.Parallel()
	vector.Committed(t, "json", func(t *testing.T, c vector.Case) {
		text := c.Input["text"].(string)
		v, err := value.Loads(text)
		if class := c.Raises(); class != "" {
			if pycompat.Class(err) != class {
				t.Errorf("loads(%.80q) = %v, %v, want %s", text, v, err, class)
			}
			return
		}
		if err != nil {
			t.Fatalf("loads(%.80q): %v", text, err)
		}
		for name, o := range map[string]value.Dump{
			"dumps": {}, "unicode": {Unicode: true}, "compact": {Compact: true, SortKeys: true}, "indent": {Indent: 2},
		} {
			got, err := o.Dumps(v)
			if want := c.Field(name); err != nil || markLone(got) != want {
				t.Errorf("%s of %.80q = %s, %v, want %s", name, text, got, err, want)
			}
		}
		if got := value.Repr(v); got != c.Field("repr") {
			t.Errorf("repr = %s, want %s", got, c.Field("repr"))
		}
		if got := value.TypeName(v); got != c.Field("type") {
			t.Errorf("type = %s, want %s", got, c.Field("type"))
		}
		if got := value.Truth(v); got != c.Field("truth") {
			t.Errorf("bool = %v, want %v", got, c.Field("truth"))
		}
	})
}

// markLone writes lone surrogates as the corpus does, which is UTF-8.
func markLone(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == 0xED && i+2 < len(s) && s[i+1] >= 0xA0 {
			r := 0xD000 | int(s[i+1]&0x3F)<<6 | int(s[i+2]&0x3F)
			b.WriteString("<" + strconv.FormatInt(int64(r), 16) + ">")
			i += 2
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func TestVectors_LiteralEval(t *testing.T) {
	t.Parallel()
	vector.Shared(t, "py_literal_eval", 28, func(t *testing.T, c vector.Case) {
		v, err := value.LiteralEval(c.Input["s"].(string))
		if class := c.Raises(); class != "" {
			if pycompat.Class(err) != class {
				t.Errorf("got %v, %v, want %s", v, err, class)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := value.TypeName(v); got != c.Field("type") {
			t.Errorf("type = %s, want %s", got, c.Field("type"))
		}
		want, err := json.Marshal(c.Field("value"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := value.Dump{Unicode: true, Compact: true}.Dumps(v)
		if err != nil || got != string(want) {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	})
}

func TestCPython_LiteralEval(t *testing.T) {
	t.Parallel()
	// These are expressions to Python, and syntax errors here: see LiteralEval.
	coarse := []string{"1 if x else y", "lambda: 1", "[x for x in y]", "...", "[...]", "not 1", "x for x in y"}
	// Python has types for these that we do not.
	unsupported := []string{"1j", "1+2j", "b'x'", "{1, 2}", "{'a'}"}
	vector.Committed(t, "literal", func(t *testing.T, c vector.Case) {
		s := c.Input["s"].(string)
		v, err := value.LiteralEval(s)
		switch class := c.Raises(); {
		case slices.Contains(unsupported, s):
			if pycompat.Class(err) != "ValueError" {
				t.Errorf("literal_eval(%q) = %v, %v, want ValueError", s, v, err)
			}
		case slices.Contains(coarse, s):
			if got := pycompat.Class(err); got != "SyntaxError" && got != "ValueError" {
				t.Errorf("literal_eval(%q) = %v, %v", s, v, err)
			}
		case class != "":
			if pycompat.Class(err) != class {
				t.Errorf("literal_eval(%.80q) = %v, %v, want %s", s, v, err, class)
			}
		case err != nil:
			t.Errorf("literal_eval(%.80q): %v, want %v", s, err, c.Field("repr"))
		case value.Repr(v) != c.Field("repr"):
			t.Errorf("literal_eval(%.80q) = %s, want %s", s, value.Repr(v), c.Field("repr"))
		}
	})
}

// python reads the repr of a test value; floats that repr cannot give back as
// literals are spelled out.
func python(t *testing.T, s string) any {
	t.Helper()
	if s == "inf" {
		return math.Inf(1)
	}
	if s == "-inf" {
		return math.Inf(-1)
	}
	v, err := value.LiteralEval(s)
	if err != nil {
		t.Fatalf("read %q: %v", s, err)
	}
	return v
}

func TestCPython_EqualAndKey(t *testing.T) {
	t.Parallel()
	vector.Committed(t, "equal", func(t *testing.T, c vector.Case) {
		a, b := python(t, c.Input["a"].(string)), python(t, c.Input["b"].(string))
		if got, want := value.Equal(a, b), c.Field("eq").(bool); got != want {
			t.Errorf("%s == %s is %v, want %v", value.Repr(a), value.Repr(b), got, want)
		}
		ka, errA := value.Key(a)
		kb, errB := value.Key(b)
		if want, ok := c.Field("hash").(bool); ok {
			if errA != nil || errB != nil || (ka == kb) != want {
				t.Errorf("keys %v and %v (%v, %v), want equal: %v", ka, kb, errA, errB, want)
			}
		} else if errA == nil && errB == nil {
			t.Errorf("%s and %s are both hashable", value.Repr(a), value.Repr(b))
		}
	})
}

func TestEqual_NaN(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	if value.Equal(nan, nan) {
		t.Error("NaN == NaN")
	}
	if !value.Equal([]any{nan}, []any{nan}) {
		t.Error("[NaN] != [NaN]: Python finds the same object in both")
	}
	if value.Equal([]any{nan}, []any{nil}) || value.Equal([]any{int64(1)}, []any{nan}) {
		t.Error("NaN equals another value")
	}
}

func TestCPython_Sum(t *testing.T) {
	t.Parallel()
	vector.Committed(t, "sum", func(t *testing.T, c vector.Case) {
		var vs []any
		for _, s := range vector.Strings(c.Input["values"]) {
			vs = append(vs, python(t, s))
		}
		got, err := value.Sum(vs)
		if m, ok := c.Field("sum").(map[string]any); ok {
			if pycompat.Class(err) != m["$raises"] {
				t.Errorf("sum(%v) = %v, %v, want %v", vs, got, err, m)
			}
		} else if err != nil || value.Repr(got) != c.Field("sum") {
			t.Errorf("sum(%v) = %s, %v, want %s", vs, value.Repr(got), err, c.Field("sum"))
		}
	})
}

func TestCPython_Divide(t *testing.T) {
	t.Parallel()
	vector.Committed(t, "divide", func(t *testing.T, c vector.Case) {
		a, b := python(t, c.Input["a"].(string)), python(t, c.Input["b"].(string))
		got, err := value.Divide(a, b)
		if class := c.Raises(); class != "" {
			if pycompat.Class(err) != class {
				t.Errorf("%s / %s = %v, %v, want %s", value.Repr(a), value.Repr(b), got, err, class)
			}
		} else if err != nil || value.Repr(got) != c.Expected {
			t.Errorf("%s / %s = %s, %v, want %s", value.Repr(a), value.Repr(b), value.Repr(got), err, c.Expected)
		}
	})
}

func TestDict(t *testing.T) {
	t.Parallel()
	for _, size := range []int{3, 40} { // below and above the size that gets an index
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			t.Parallel()
			d := &value.Dict{}
			for i := range size {
				if err := d.Set(strconv.Itoa(i), int64(i)); err != nil {
					t.Fatal(err)
				}
			}
			set := func(k, v any) {
				if err := d.Set(k, v); err != nil {
					t.Fatal(err)
				}
			}
			set(int64(1), "int")
			set(1.0, "float")
			set(true, "bool")
			set("1", "one")
			if got, _ := d.Get(1.0); got != "bool" {
				t.Errorf("d[1.0] = %v", got)
			}
			if k, _ := d.At(size); k != int64(1) {
				t.Errorf("the key is %v, want the first that was set", k)
			}
			if k, v := d.At(1); k != "1" || v != "one" {
				t.Errorf("position 1 holds %v: %v", k, v)
			}
			big1 := new(big.Int).Lsh(big.NewInt(1), 100)
			set(big1, "big")
			if got, _ := d.Get(math.Ldexp(1, 100)); got != "big" {
				t.Errorf("d[2.0**100] = %v", got)
			}
			set(value.Tuple{int64(1), "x"}, "tuple")
			if got, _ := d.Get(value.Tuple{true, "x"}); got != "tuple" {
				t.Errorf("d[(True, 'x')] = %v", got)
			}
			if err := d.Set([]any{}, 1); pycompat.Class(err) != "TypeError" {
				t.Errorf("a list as key: %v", err)
			}
			if _, ok := d.Get([]any{}); ok {
				t.Error("found a list as key")
			}
			c := d.Copy()
			d.Delete("0")
			if _, ok := d.Get("0"); ok || d.Len() != size+2 || c.Len() != size+3 {
				t.Errorf("after Delete: %d and %d keys", d.Len(), c.Len())
			}
			if got, _ := d.Get("2"); got != int64(2) {
				t.Errorf("after Delete d['2'] = %v", got)
			}
			n := 0
			for range d.All() {
				n++
			}
			if n != d.Len() {
				t.Errorf("All yields %d of %d", n, d.Len())
			}
		})
	}
}

func TestDumps_Keys(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		v     any
		o     value.Dump
		want  string
		class string
	}{
		{"scalars become text", value.DictOf(int64(1), "a", true, "b", nil, "c", 1.5, "d"), value.Dump{}, `{"1": "b", "null": "c", "1.5": "d"}`, ""},
		{"numbers sort by value", value.DictOf(int64(10), 1.0, 2.5, 2.0, int64(-1), 3.0), value.Dump{SortKeys: true}, `{"-1": 3.0, "2.5": 2.0, "10": 1.0}`, ""},
		{"mixed keys do not sort", value.DictOf("a", nil, int64(1), nil), value.Dump{SortKeys: true}, "", "TypeError"},
		{"tuple as key", value.DictOf(value.Tuple{}, nil), value.Dump{}, "", "TypeError"},
		{"tuple as value", value.Tuple{int64(1), "x"}, value.Dump{Compact: true}, `[1,"x"]`, ""},
		{"indent with compact", []any{int64(1), value.DictOf("a", int64(2))}, value.Dump{Indent: 1, Compact: true}, "[\n 1,\n {\n  \"a\":2\n }\n]", ""},
		{"another type", []any{struct{}{}}, value.Dump{}, "", "TypeError"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.o.Dumps(tt.v)
			if pycompat.Class(err) != tt.class || got != tt.want {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
}

func TestLoads_Depth(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	if _, err := value.Loads(deep(990)); err != nil {
		t.Errorf("990 levels: %v", err)
	}
	if _, err := value.Loads(deep(100_000)); pycompat.Class(err) != "RecursionError" {
		t.Errorf("100,000 levels: %v", err)
	}
}

func FuzzLoads(f *testing.F) {
	for _, s := range []string{
		`{"a": [1, 1.0, -0, 1e5, NaN, "\ud83d\ude00 \ud83d x"], "a": null}`, "[1,]", `"\u00`, "-Infinity", "123456789012345678901234567890", "\ufeff1", "{\"\xff\":\"\xed\xa0\x80\"}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := value.Loads(text)
		if err != nil {
			if pycompat.Class(err) == "" {
				t.Fatalf("%q: error without a class: %v", text, err)
			}
			// encoding/json is stricter than Python, so that it must refuse too;
			// integers and nesting have limits of our own.
			if json.Valid([]byte(text)) && pycompat.Class(err) == "JSONDecodeError" {
				t.Fatalf("%q is valid JSON: %v", text, err)
			}
			return
		}
		for _, o := range []value.Dump{{}, {Unicode: true, Compact: true}, {Indent: 2, SortKeys: true}} {
			out, err := o.Dumps(v)
			if err != nil {
				t.Fatalf("%q does not print: %v", text, err)
			}
			back, err := value.Loads(out)
			if err != nil {
				t.Fatalf("%q prints as %q, which does not read: %v", text, out, err)
			}
			again, err := o.Dumps(back)
			if err != nil || again != out {
				t.Fatalf("%q prints as %q, then as %q (%v)", text, out, again, err)
			}
		}
		if plain, _ := (value.Dump{}).Dumps(v); !strings.Contains(plain, "NaN") && !strings.Contains(plain, "Infinity") && !json.Valid([]byte(plain)) {
			t.Fatalf("%q prints as %q, which is not JSON", text, plain)
		}
	})
}

func FuzzLiteralEval(f *testing.F) {
	for _, s := range []string{"['a', 'b']", "{'a': (1, 2.5, -3)}", "'\\x41' \"b\"", "1+1", "a.b(c)", "'''x\n'''", "0x_f", "-(1)", "[1 # c\n]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := value.LiteralEval(text)
		if err != nil {
			if pycompat.Class(err) == "" {
				t.Fatalf("%q: error without a class: %v", text, err)
			}
			return
		}
		printed := value.Repr(v)
		if strings.Contains(printed, "inf") || strings.Contains(printed, "nan") {
			return // the repr of these floats is a name
		}
		back, err := value.LiteralEval(printed)
		if err != nil || value.Repr(back) != printed {
			t.Fatalf("%q has repr %q, which reads as %v, %v", text, printed, back, err)
		}
	})
}

const record = `{"id": "r-17", "answer": {"items": [{"name": "Acme Corp.", "total": 1234.5, "paid": true, "lines": 12}, {"name": "Beta \"GmbH\"", "total": 0.1, "paid": false, "lines": null}], "note": "übergeben am 3. März"}}`

func BenchmarkLoads(b *testing.B) {
	b.SetBytes(int64(len(record)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := value.Loads(record); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDumps(b *testing.B) {
	v, err := value.Loads(record)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var buf []byte
	for b.Loop() {
		if buf, err = (value.Dump{SortKeys: true, Compact: true, Unicode: true}).Append(buf[:0], v); err != nil {
			b.Fatal(err)
		}
	}
}
