package table_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/table"
	"github.com/evalrouter/evalrouter/lib/plain"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type row struct {
	id, name, tags string
	n              int
}

func columns() []table.Column[row] {
	return []table.Column[row]{
		{Name: "id", Whole: true, Text: func(r row) string { return r.id }},
		{Name: "n", Right: true, Text: func(r row) string { return fmt.Sprint(r.n) }},
		{Name: "name", Drop: 1, Text: func(r row) string { return r.name }},
		{Name: "tags", Drop: 2, Text: func(r row) string { return r.tags }},
		{Name: "more", Wide: true, Text: func(r row) string { return "more of " + r.id }},
	}
}

func rows() []row {
	return []row{{"bb", "Second", "x, y", 9}, {"aa", "first", "y", 10}, {"cc", "Third", "z", 100}}
}

func ids(rs []row) (out string) {
	for _, r := range rs {
		out += r.id + " "
	}
	return strings.TrimSpace(out)
}

func TestApply(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		view table.View
		want string
		cut  int
	}{
		{"as it comes", table.View{}, "bb aa cc", 0},
		{"LST-10 ascending", table.View{Sort: "id"}, "aa bb cc", 0},
		{"LST-11 descending", table.View{Sort: "-id"}, "cc bb aa", 0},
		{"numbers as numbers", table.View{Sort: "n"}, "bb aa cc", 0},
		{"without case", table.View{Sort: "name"}, "aa bb cc", 0},
		{"LST-12 a filter", table.View{Filters: []string{"name=FIRST"}}, "aa", 0},
		{"one of several words", table.View{Filters: []string{"tags=y"}}, "bb aa", 0},
		{"two filters", table.View{Filters: []string{"tags=y", "n=9"}}, "bb", 0},
		{"LST-13 a limit", table.View{Sort: "id", Limit: 2}, "aa bb", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, cut, err := table.Apply(rows(), columns(), tt.view)
			if err != nil || ids(got) != tt.want || cut != tt.cut {
				t.Errorf("rows %q, %d cut, %v; want %q, %d", ids(got), cut, err, tt.want, tt.cut)
			}
		})
	}
}

func TestUnknownColumns(t *testing.T) {
	t.Parallel()
	for _, v := range []table.View{{Sort: "x"}, {Filters: []string{"x=1"}}, {Filters: []string{"id"}}, {Columns: []string{"x"}}} {
		err := table.Check(columns(), v)
		e, ok := err.(*table.Error)
		if !ok {
			t.Errorf("LST-14 %+v: %v", v, err)
			continue
		}
		if diff := cmp.Diff([]string{"id", "n", "name", "tags", "more"}, e.Valid); diff != "" {
			t.Errorf("LST-14 %+v names (-want +got):\n%s", v, diff)
		}
	}
}

func render(t *testing.T, v table.View, width int) string {
	t.Helper()
	lines, err := table.Render(rows(), columns(), v, width)
	if err != nil {
		t.Fatal(err)
	}
	out := ""
	for _, l := range lines {
		out += string(l) + "\n"
	}
	return out
}

func TestRender(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		view  table.View
		width int
		want  string
	}{
		{"all", table.View{}, 80, "ID    N  NAME    TAGS\nbb    9  Second  x, y\naa   10  first   y\ncc  100  Third   z\n"},
		{"LST-08 wide", table.View{Wide: true}, 80, "ID    N  NAME    TAGS  MORE\nbb    9  Second  x, y  more of bb\naa   10  first   y     more of aa\ncc  100  Third   z     more of cc\n"},
		{"LST-09 chosen", table.View{Columns: []string{"more", "id"}}, 80, "MORE        ID\nmore of bb  bb\nmore of aa  aa\nmore of cc  cc\n"},
		{"too narrow for a table", table.View{Columns: []string{"id", "n"}}, 30, "id: bb\nn: 9\n\nid: aa\nn: 10\n\nid: cc\nn: 100\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, render(t, tt.view, tt.width)); diff != "" {
				t.Errorf("table (-want +got):\n%s", diff)
			}
		})
	}
}

// OUT-05: whatever the texts, no line is wider than the terminal, no line has a
// control character, and ids stay whole.
func TestRenderFits_S3(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var rs []row
		for range rapid.IntRange(0, 5).Draw(t, "rows") {
			rs = append(rs, row{
				id:   rapid.StringMatching(`[a-z0-9]{1,12}`).Draw(t, "id"),
				name: rapid.String().Draw(t, "name"), tags: rapid.String().Draw(t, "tags"), n: rapid.IntRange(0, 1e6).Draw(t, "n"),
			})
		}
		width := rapid.IntRange(40, 120).Draw(t, "width")
		lines, err := table.Render(rs, columns(), table.View{}, width)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range lines {
			if plain.Width(l) > width {
				t.Fatalf("%d cells in a terminal of %d: %q", plain.Width(l), width, l)
			}
			if l != plain.Line(string(l)) {
				t.Fatalf("unsafe: %q", l)
			}
			if i > 0 && !strings.HasPrefix(string(l), rs[i-1].id) {
				t.Fatalf("id %q is not whole in %q", rs[i-1].id, l)
			}
		}
	})
}

// A table whose uncut columns do not fit is no table: every field gets a line,
// and nothing is lost.
func TestRenderGivesUpTheTable_S3(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 55)
	lines, err := table.Render([]row{{id: long, name: "first", n: 1}}, columns(), table.View{Columns: []string{"id", "n", "name"}}, 60)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]plain.Safe{plain.Safe("id: " + long), "n: 1", "name: first"}, lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func folding() []table.Column[row] {
	return []table.Column[row]{
		{Name: "id", Whole: true, Text: func(r row) string { return r.id }},
		{Name: "name", Fold: true, Text: func(r row) string { return r.name }},
		{Name: "tags", Whole: true, Text: func(r row) string { return r.tags }},
	}
}

// A folded cell goes on below itself, broken where a path is.
func TestRenderFolds(t *testing.T) {
	t.Parallel()
	lines, err := table.Render([]row{
		{id: "a", name: "/home/dana/.local/state/evalrouter", tags: "flag"}, {id: "b", name: "short", tags: "default"},
		{id: "c", name: strings.Repeat("x", 30), tags: "default"},
	}, folding(), table.View{}, 40)
	if err != nil {
		t.Fatal(err)
	}
	want := []plain.Safe{
		"ID  NAME                         TAGS",
		"a   /home/dana/.local/state/     flag",
		"    evalrouter",
		"b   short                        default",
		"c   " + plain.Safe(strings.Repeat("x", 27)) + "  default",
		"    xxx",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Whatever the text, a folded cell is all there and no line is too wide.
func TestRenderFoldsWhole_S3(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z/ \\]{0,300}`)).Draw(t, "name")
		width := rapid.IntRange(40, 90).Draw(t, "width")
		lines, err := table.Render([]row{{id: "id", name: name, tags: "t"}}, folding()[:2], table.View{}, width)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for i, l := range lines {
			if plain.Width(l) > width {
				t.Fatalf("%d cells in a terminal of %d: %q", plain.Width(l), width, l)
			}
			if i > 0 && len(l) > 4 {
				got.WriteString(string(l[4:]))
			}
		}
		// The ends of lines have no blanks.
		if want := strings.ReplaceAll(string(plain.Line(name)), " ", ""); strings.ReplaceAll(got.String(), " ", "") != want {
			t.Fatalf("%q, want %q", got.String(), want)
		}
	})
}
