package jsonl_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/bundle/internal/strict"
	"github.com/evalrouter/evalrouter/bundle/jsonl"
)

// value reads what comes next into the types of encoding/json with UseNumber.
func value(p *jsonl.Parser) any {
	switch p.Kind() {
	case jsonl.String:
		return p.Text().String()
	case jsonl.Number:
		return json.Number(p.Number().String())
	case jsonl.Bool:
		return string(p.Raw()) == "true"
	case jsonl.Object:
		out := map[string]any{}
		p.Object(func(key jsonl.Text) { out[key.String()] = value(p) })
		return out
	case jsonl.Array:
		out := []any{}
		p.Array(func(int) { out = append(out, value(p)) })
		return out
	}
	p.Skip()
	return nil
}

func read(line []byte) (any, *jsonl.Fault) {
	var p jsonl.Parser
	p.Reset(line)
	v := value(&p)
	return v, p.Close()
}

func TestParser(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, code, path string }{
		{"object", ` {"id":"a","input":"x","n":[1,-0,2.5e-3,true,null]} `, "", ""},
		{"carriage return", "{}\r", "", ""},
		{"escapes", `"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"`, "", ""},
		{"key and escaped key", `{"a":1,"\u0061":2}`, jsonl.CodeDuplicate, "a"},
		{"key twice", `{"t":{"a":1,"b":2,"a":3}}`, jsonl.CodeDuplicate, "t.a"},
		{"key twice among many", `{"k0":0,"k1":0,"k2":0,"k3":0,"k4":0,"k5":0,"k6":0,"k7":0,"k8":0,"k9":0,"l0":0,"l1":0,"l2":0,"l3":0,"l4":0,"l5":0,"l6":0,"l7":0,"l6":0}`, jsonl.CodeDuplicate, "l6"},
		{"same key in siblings", `[{"a":1},{"a":{"a":1}}]`, "", ""},
		{"nothing", ``, jsonl.CodeSyntax, ""},
		{"blank", `  `, jsonl.CodeSyntax, ""},
		{"open object", `{"a":1`, jsonl.CodeSyntax, ""},
		{"open array", `{"a":[1`, jsonl.CodeSyntax, "a"},
		{"open text", `{"a":"b`, jsonl.CodeSyntax, "a"},
		{"open escape", `"\`, jsonl.CodeSyntax, ""},
		{"comma at the end of an object", `{"a":1,}`, jsonl.CodeSyntax, ""},
		{"comma at the end of an array", `[1,]`, jsonl.CodeSyntax, "[1]"},
		{"no colon", `{"a" 1}`, jsonl.CodeSyntax, "a"},
		{"key without quotes", `{a:1}`, jsonl.CodeSyntax, ""},
		{"two values", `{} {}`, jsonl.CodeSyntax, ""},
		{"leading zero", `[01]`, jsonl.CodeSyntax, "[0]"},
		{"lone minus", `-`, jsonl.CodeSyntax, ""},
		{"point without digits", `1.`, jsonl.CodeSyntax, ""},
		{"exponent without digits", `1e+`, jsonl.CodeSyntax, ""},
		{"exponent too long", `{"a":1e-10000}`, jsonl.CodeNumber, "a"},
		{"a word cut short", `tru`, jsonl.CodeSyntax, ""},
		{"NaN", `NaN`, jsonl.CodeSyntax, ""},
		{"control character", "\"a\x1fb\"", jsonl.CodeSyntax, ""},
		{"broken UTF-8", "\"a\xc3\"", jsonl.CodeEncoding, ""},
		{"byte order mark", "\xef\xbb\xbf{}", jsonl.CodeSyntax, ""},
		{"high surrogate alone", `["\ud800x"]`, jsonl.CodeEncoding, "[0]"},
		{"low surrogate alone", `"\udc00"`, jsonl.CodeEncoding, ""},
		{"high surrogate twice", `"\ud800\ud800"`, jsonl.CodeEncoding, ""},
		{"64 deep", strings.Repeat("[", 64) + strings.Repeat("]", 64), "", ""},
		{"65 deep", strings.Repeat("[", 65) + strings.Repeat("]", 65), jsonl.CodeDepth, strings.Repeat("[0]", 64)},
		{"deeper than any stack", strings.Repeat("[", 1_000_000), jsonl.CodeDepth, strings.Repeat("[0]", 64)},
		{"odd key", `{"a.b\n":tru}`, jsonl.CodeSyntax, `"a.b\n"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, fault := read([]byte(c.in))
			got := jsonl.Fault{}
			if fault != nil {
				got = *fault
				if fault.Error() == "" || fault.Message == "" {
					t.Error("a fault without words")
				}
			}
			if got.Code != c.code || got.Path != c.path {
				t.Errorf("got %q at %q, want %q at %q", got.Code, got.Path, c.code, c.path)
			}
		})
	}
}

// A value of the wrong type is a fault, and nothing is called after it.
func TestParser_WrongType(t *testing.T) {
	t.Parallel()
	var p jsonl.Parser
	p.Reset([]byte(`{"id":7,"input":"x"}`))
	keys := 0
	p.Object(func(jsonl.Text) {
		keys++
		if s := p.Text(); s.String() != "" {
			t.Errorf("read %q from a number", s)
		}
	})
	if f := p.Close(); keys != 1 || f == nil || f.Code != jsonl.CodeType || f.Path != "id" {
		t.Errorf("%d keys, fault %v", keys, f)
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", jsonl.MaxLine)
	for _, c := range []struct {
		name, in string
		want     []string
		err      error
	}{
		{"none", "", nil, io.EOF},
		{"one without an end", "a", []string{"a"}, io.EOF},
		{"empty lines", "a\n\nb\n", []string{"a", "", "b"}, io.EOF},
		{"as long as may be", "a\n" + long + "\nb", []string{"a", long, "b"}, io.EOF},
		{"too long", "a\n" + long + "x\nb", []string{"a"}, jsonl.ErrLong},
		{"too long at the end", long + "x", nil, jsonl.ErrLong},
	} {
		for how, wrap := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "halves": iotest.HalfReader, "data with the error": iotest.DataErrReader,
		} {
			t.Run(c.name+"/"+how, func(t *testing.T) {
				t.Parallel()
				l := jsonl.NewLines(wrap(strings.NewReader(c.in)))
				var got []string
				var err error
				for {
					var line []byte
					if line, err = l.Next(); err != nil {
						break
					}
					got = append(got, string(line))
					if l.Number() != len(got) {
						t.Fatalf("line %d has number %d", len(got), l.Number())
					}
				}
				if !errors.Is(err, c.err) {
					t.Errorf("ended with %v, want %v", err, c.err)
				}
				if d := cmp.Diff(c.want, got); d != "" {
					t.Error(d)
				}
			})
		}
	}
}

// A reader that fails is not taken for one that ended.
func TestLines_ReadError(t *testing.T) {
	t.Parallel()
	l := jsonl.NewLines(io.MultiReader(strings.NewReader("a\nhalf a li"), iotest.ErrReader(errors.New("disk"))))
	if line, err := l.Next(); err != nil || string(line) != "a" {
		t.Fatalf("%q, %v", line, err)
	}
	if line, err := l.Next(); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("%q, %v", line, err)
	}
}

// agree holds the parser to encoding/json for one text.
func agree(t interface {
	Helper()
	Errorf(string, ...any)
}, raw []byte) {
	t.Helper()
	got, fault := read(raw)
	var want any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	err := dec.Decode(&want)
	valid := err == nil && json.Valid(raw)
	if fault == nil {
		if !valid {
			t.Errorf("read %q, which encoding/json refuses: %v", raw, err)
		} else if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q (-encoding/json +jsonl):\n%s", raw, d)
		}
		return
	}
	if _, prob := strict.Parse(raw); !valid || prob != nil {
		if prob != nil && valid && prob.Code != fault.Code {
			t.Errorf("%q: %s, and the slow reader says %s", raw, fault.Code, prob.Code)
		}
		return
	}
	// What is left is what this package alone refuses.
	switch {
	case fault.Code == jsonl.CodeEncoding && bytes.Contains(bytes.ToLower(raw), []byte(`\ud`)):
	case fault.Code == jsonl.CodeNumber && bytes.ContainsAny(raw, "eE"):
	case fault.Code == jsonl.CodeDepth && bytes.Count(raw, []byte("["))+bytes.Count(raw, []byte("{")) > 64:
	default:
		t.Errorf("refused %q: %v", raw, fault)
	}
}

func jsonText() *rapid.Generator[string] {
	part := rapid.SampledFrom([]string{
		`a`, `é`, `漢`, `😀`, `\n`, `\"`, `\\`, `\u0041`, `\ud83d\ude00`, `\ud800`, `\udc00`, `\x`, "\x01", "\x7f", "\xff", `12345678`, `"`, ` `,
	})
	return rapid.Custom(func(t *rapid.T) string {
		return `"` + strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), "") + `"`
	})
}

func jsonValue(depth int) *rapid.Generator[string] {
	leaf := rapid.OneOf(jsonText(), rapid.SampledFrom([]string{
		"0", "-0", "1", "-12.50", "1e5", "1E-400", "1e99999", "01", "1.", "-", "true", "false", "null", "nul", "", "+1", ".5",
	}))
	if depth == 0 {
		return leaf
	}
	inner := jsonValue(depth - 1)
	space := rapid.SampledFrom([]string{"", "", " ", "\t", "\r", "\v"})
	list := func(open, end string, item *rapid.Generator[string]) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			return open + space.Draw(t, "space") + strings.Join(rapid.SliceOfN(item, 0, 5).Draw(t, "items"), ",") + end
		})
	}
	member := rapid.Custom(func(t *rapid.T) string {
		key := rapid.OneOf(rapid.SampledFrom([]string{`"a"`, `"b"`, `"\u0061"`, `"A"`}), jsonText()).Draw(t, "key")
		return key + space.Draw(t, "space") + ":" + inner.Draw(t, "value")
	})
	return rapid.OneOf(leaf, list("[", "]", inner), list("{", "}", member), list("{", "", member))
}

func TestAgreesWithEncodingJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { agree(t, []byte(jsonValue(3).Draw(t, "text"))) })
}

// The eight-byte steps see every byte at every place.
func TestText_EveryByteAtEveryPlace(t *testing.T) {
	t.Parallel()
	for at := range 20 {
		for c := range 256 {
			raw := []byte(`"` + strings.Repeat("é", at/2) + strings.Repeat("x", 20-at/2*2) + `"`)
			raw[1+at] = byte(c)
			agree(t, raw)
		}
	}
}

func FuzzParser(f *testing.F) {
	for _, s := range []string{
		`{"id":"a","input":"x","target":["1"]}`, `{"a":1,"a":2}`, `"\ud83d\ude00"`, `"\ud800"`, `1e99999`, `[1,]`, "\xff", `[[[[`, `{"":{}}`, ` -0.0E-1 `,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { agree(t, raw) })
}

// FuzzLines: the lines are those of bytes.Split.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\n\nb"), uint8(3))
	f.Add([]byte("\r\n"), uint8(1))
	f.Fuzz(func(t *testing.T, raw []byte, step uint8) {
		l := jsonl.NewLines(&stepper{bytes.NewReader(raw), int(step)%7 + 1})
		want := bytes.Split(raw, []byte("\n"))
		if len(want[len(want)-1]) == 0 {
			want = want[:len(want)-1]
		}
		for i, w := range want {
			got, err := l.Next()
			if err != nil || !bytes.Equal(got, w) {
				t.Fatalf("line %d: %q, %v; want %q", i+1, got, err, w)
			}
		}
		if _, err := l.Next(); !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	})
}

type stepper struct {
	r io.Reader
	n int
}

func (s *stepper) Read(p []byte) (int, error) { return s.r.Read(p[:min(s.n, len(p))]) }

func BenchmarkSkip(b *testing.B) {
	line := fmt.Appendf(nil, `{"id":"task-000123","input":%q,"target":"42"}`, strings.Repeat("A train leaves at nine and arrives at ten. ", 15))
	b.SetBytes(int64(len(line)))
	var p jsonl.Parser
	for b.Loop() {
		p.Reset(line)
		p.Skip()
		if f := p.Close(); f != nil {
			b.Fatal(f)
		}
	}
}
