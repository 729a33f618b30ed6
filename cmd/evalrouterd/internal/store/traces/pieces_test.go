package traces_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/store/traces"
)

func drawJSON(t *rapid.T, depth int) any {
	kinds := 4
	if depth == 0 {
		kinds = 2
	}
	switch rapid.IntRange(0, kinds).Draw(t, "kind") {
	case 0:
		return rapid.Int().Draw(t, "number")
	case 1:
		return rapid.String().Draw(t, "text")
	case 2:
		return strings.Repeat(rapid.SampledFrom([]string{"ab", `"`, `\`, "]}", "é"}).Draw(t, "part"), rapid.IntRange(0, 300).Draw(t, "times"))
	case 3:
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any { return drawJSON(t, depth-1) }), 0, 4).Draw(t, "list")
	}
	return rapid.MapOfN(rapid.String(), rapid.Custom(func(t *rapid.T) any { return drawJSON(t, depth-1) }), 0, 4).Draw(t, "object")
}

// Whatever the value: its pieces are it, byte for byte.
func TestPieces_ComeTogether(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		value, err := json.Marshal(drawJSON(rt, 4))
		if err != nil {
			rt.Fatal(err)
		}
		whole(rt, value)
	})
}

type failer interface{ Fatalf(string, ...any) }

func whole(t failer, value []byte) (stored []byte, contents map[[16]byte][]byte) {
	stored, contents, err := traces.Cut(value)
	if err != nil {
		t.Fatalf("%v", err)
	}
	back, err := traces.Join(stored, contents)
	if err != nil || !bytes.Equal(back, value) {
		t.Fatalf("%q came back as %q, %v", value, back, err)
	}
	return stored, contents
}

// What lists repeat is one content each, wherever the list stands.
func TestPieces_OfHistories(t *testing.T) {
	t.Parallel()
	turn := func(i int) string {
		return `{"content":"` + strings.Repeat(string(rune('a'+i)), 300) + `","role":"user"}`
	}
	for _, c := range []struct {
		name, value string
		contents    int
	}{
		{"a list", "[" + turn(0) + "," + turn(1) + "]", 2},
		{"a list in an object", `{"model":"m","messages":[` + turn(0) + "," + turn(1) + `,{"role":"x"}]}`, 2},
		{"a list in a list", `{"messages":[[` + turn(0) + "," + turn(1) + "," + turn(0) + `]]}`, 2},
		{"no list", `{"text":"` + strings.Repeat("z", 500) + `"}`, 0},
		{"a list of one", "[" + turn(0) + "]", 0},
		{"a long text", `"` + strings.Repeat(`\"`, 500) + `"`, 0},
		{"little", `["a","b"]`, 0},
		{"a list of little", "[" + strings.Repeat(`"word",`, 100) + `"word"]`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, contents := whole(t, []byte(c.value)); len(contents) != c.contents {
				t.Errorf("%d contents, want %d", len(contents), c.contents)
			}
		})
	}
	if stored, _, err := traces.Cut(nil); stored != nil || err != nil {
		t.Errorf("nothing became %q, %v", stored, err)
	}
	if back, err := traces.Join(nil, nil); back != nil || err != nil {
		t.Errorf("nothing came back as %q, %v", back, err)
	}
}

// A text in which nothing comes twice is packed too: letters are not all as
// likely as each other.
func TestPacked_TextThatRepeatsNothing(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for b.Len() < 1_000 {
		for range 3 + r.IntN(6) {
			b.WriteByte("etaoinshrdlucmfw"[r.IntN(16)])
		}
		b.WriteByte(' ')
	}
	n, err := traces.Packed([]byte(b.String()))
	if err != nil || n > b.Len()*2/3 {
		t.Errorf("%d bytes of %d, %v", n, b.Len(), err)
	}
}

// What is not JSON is kept whole as well, and what is damaged is an error.
func FuzzPieces(f *testing.F) {
	for _, s := range []string{`[{"a":1}]`, `{"a":[`, `{"a"`, `[[[[`, `"\`, "", `{"a":1,}`, `[1,,2]`, "{" + strings.Repeat(`"k":"v",`, 60), "[" + strings.Repeat(`"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" `, 20)} {
		f.Add([]byte(s))
		f.Add([]byte(s + strings.Repeat(" ", 200)))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		if len(value) > 0 {
			whole(t, value)
		}
		_, _ = traces.Join(value, nil) // must not panic
	})
}
