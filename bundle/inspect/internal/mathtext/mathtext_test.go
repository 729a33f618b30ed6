package mathtext_test

import (
	"testing"

	"github.com/evalrouter/evalrouter/bundle/inspect/internal/mathtext"
	vt "github.com/evalrouter/evalrouter/bundle/internal/vectortest"
	"github.com/google/go-cmp/cmp"
)

func TestCandidates(t *testing.T) {
	t.Parallel()
	vt.Replay(t, "inspect_math_candidates", func(t *testing.T, c vt.Case) {
		text := vt.Str(c.Input, "text")
		want := vt.Dict(vt.Wrap(c.Expected), "expected")
		tex := mathtext.ReplaceUnicode(text)
		if tex != vt.Str(want, "replace_unicode") {
			t.Errorf("replace_unicode = %q, want %q", tex, vt.Str(want, "replace_unicode"))
		}
		boxes := []string{}
		box, ok, err := mathtext.Box(tex)
		if ok {
			boxes = append(boxes, box)
		}
		if d := cmp.Diff(vt.Texts(want, "boxed"), boxes); d != "" || err != nil {
			t.Errorf("boxed: %v %s", err, d)
		}
		stripped, err := mathtext.StripDelimiters(text)
		if err != nil || stripped != vt.Str(want, "strip_delimiters") {
			t.Errorf("strip_delimiters = %q, %v; want %q", stripped, err, vt.Str(want, "strip_delimiters"))
		}
		got, err := mathtext.Candidates(text)
		if d := cmp.Diff(vt.Texts(want, "answer_candidates"), append([]string{}, got...)); d != "" || err != nil {
			t.Errorf("answer_candidates: %v %s", err, d)
		}
	})
}

func FuzzCandidates(f *testing.F) {
	for _, s := range []string{`\boxed{\boxed{1}}`, "$", "$$$", `\(\)`, "****", "answer is $5", "x\n│5│"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := mathtext.Candidates(s)
		if err != nil {
			return
		}
		for _, c := range got {
			if c == "" {
				t.Errorf("an empty candidate in %q", s)
			}
		}
	})
}
