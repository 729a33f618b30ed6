package dialect_test

import (
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/dialect"
)

// asJSON checks that what parse reads is what encoding/json reads, and that it
// gives up on nothing that is usual.
func asJSON(t interface{ Fatalf(string, ...any) }, s string) {
	got, ok := dialect.Parse(s)
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var want any
	err := d.Decode(&want)
	if err == nil {
		if _, end := d.Token(); end != io.EOF {
			err = io.ErrUnexpectedEOF
		}
	}
	if usual := err == nil && utf8.ValidString(s) && strings.Count(s, "[")+strings.Count(s, "{") < 100; ok && err != nil || usual && !ok {
		t.Fatalf("%q: read %v, encoding/json says %v", s, ok, err)
	}
	if ok && !reflect.DeepEqual(want, got) {
		t.Fatalf("%q\nis %#v,\nread %#v", s, want, got)
	}
}

func TestParse_IsEncodingJSON(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"{", "}", "[", "]", ",", ":", " ", "\n", `"`, `"a"`, `"é\n"`, `"\u00e9\ud83d\ude00"`, `"\ud83d"`, `"\x"`, `"\`, "\"\t\"", "\"\xff\"", "0", "-", "01", "1.5e+3", "1.", "true", "nul", "null",
		`{"a":[1,{"b":"c\\"}],"a":2}`, `[]`, `{}`, `[[{}]]`, "\u2028",
	}
	rapid.Check(t, func(t *rapid.T) {
		asJSON(t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(t, "pieces"), ""))
	})
	for _, s := range []string{strings.Repeat("[", 99) + strings.Repeat("]", 99), strings.Repeat("[", 200) + strings.Repeat("]", 200), `{"a":1}]`, ` [1 , 2 ] `} {
		asJSON(t, s)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"a":["\u00e9",-0.5e1,null]}`)
	f.Fuzz(func(t *testing.T, s string) { asJSON(t, s) })
}
