package traces_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/web/traces"
)

func span(id, parent string, start, end int64) core.Span {
	return core.Span{ID: id, ParentID: parent, Start: start, End: end}
}

func TestWaterfall(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		spans []core.Span
		want  string // id@depth:x+w, ! for an orphan
	}{
		{"none", nil, ""},
		{"a tree", []core.Span{span("r", "", 0, 100), span("a", "r", 10, 60), span("b", "r", 50, 100), span("c", "a", 20, 30)}, "r@0:0+1000 a@1:100+500 c@2:200+100 b@1:500+500"},
		{"what goes on reaches to the end", []core.Span{span("r", "", 0, 0), span("a", "r", 50, 100)}, "r@0:0+1000 a@1:500+500"},
		{"the shortest is seen", []core.Span{span("r", "", 0, 100_000), span("a", "r", 100_000, 100_000)}, "r@0:0+1000 a@1:996+4"},
		{"no time at all", []core.Span{span("r", "", 5, 5)}, "r@0:0+1000"},
		{"a parent that has not come", []core.Span{span("a", "x", 0, 10), span("b", "a", 0, 5)}, "a@0:0+1000! b@1:0+500"},
		{"a circle", []core.Span{span("a", "b", 0, 10), span("b", "a", 0, 10)}, "a@0:0+1000 b@1:0+1000"},
		{"deep", []core.Span{span("0", "", 0, 9), span("1", "0", 0, 9), span("2", "1", 0, 9), span("3", "2", 0, 9), span("4", "3", 0, 9), span("5", "4", 0, 9), span("6", "5", 0, 9), span("7", "6", 0, 9), span("8", "7", 0, 9), span("9", "8", 0, 9)},
			"0@0:0+1000 1@1:0+1000 2@2:0+1000 3@3:0+1000 4@4:0+1000 5@5:0+1000 6@6:0+1000 7@7:0+1000 8@8:0+1000 9@8:0+1000"},
	} {
		var got []string
		for _, s := range traces.Waterfall(tt.spans) {
			got = append(got, fmt.Sprintf("%s@%d:%d+%d%s", s.ID, s.Depth, s.X, s.W, map[bool]string{true: "!"}[s.Orphan]))
		}
		if text := strings.Join(got, " "); text != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, text, tt.want)
		}
	}
}

// Whatever came: each step is drawn once, within the drawing.
func TestWaterfall_DrawsEachOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "n")
		var spans []core.Span
		for i := range n {
			start := rapid.Int64Range(0, 50).Draw(t, "start")
			end := rapid.SampledFrom([]int64{0, start, start + 7, 1 << 60}).Draw(t, "end")
			spans = append(spans, span(fmt.Sprint(i), fmt.Sprint(rapid.IntRange(-1, n).Draw(t, "parent")), start, end))
		}
		seen := map[string]bool{}
		for _, s := range traces.Waterfall(spans) {
			if seen[s.ID] || s.X < 0 || s.W < 4 || s.X+s.W > 1000 {
				t.Fatalf("%+v of %+v", s, spans)
			}
			seen[s.ID] = true
		}
		if len(seen) != n {
			t.Fatalf("%d of %d steps are drawn", len(seen), n)
		}
	})
}
