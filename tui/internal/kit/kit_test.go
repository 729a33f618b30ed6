package kit_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, typed, text string
		want              int
	}{
		{"nothing typed", "", "anything", 2},
		{"a part", "sm8", "gsm8k@2", 2},
		{"any case", "GSM", "gsm8k@2", 2},
		{"two words", "math gsm", "gsm8k grade math", 2},
		{"letters in order", "gs8", "gsm8k@2", 1},
		{"not in order", "g8s", "gsm8k@2", 0},
		{"another beginning", "sk", "gsm8k", 0},
		{"over two words", "gm", "gas mask", 0},
		{"one word missing", "gsm zzz", "gsm8k", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := kit.Match(tt.typed, tt.text); got != tt.want {
				t.Errorf("Match(%q, %q) = %d, want %d", tt.typed, tt.text, got, tt.want)
			}
		})
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		width      int
		want       []plain.Safe
	}{
		{"short", "one two", 10, []plain.Safe{"one two"}},
		{"at a space", "one two three", 8, []plain.Safe{"one two", "three"}},
		{"a long word", "abcdefghij", 4, []plain.Safe{"abcd", "efgh", "ij"}},
		{"wide characters", "漢字漢字", 5, []plain.Safe{"漢字", "漢字"}},
		{"its own lines", "a\n\nb", 5, []plain.Safe{"a", "", "b"}},
		{"no room", "ab", 0, []plain.Safe{"a", "b"}},
		{"wider than the room", "漢字", 1, []plain.Safe{"漢", "字"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := kit.Wrap(plain.Line(tt.text), tt.width); tt.text != "a\n\nb" && fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("%q", got)
			}
			if got := kit.Wrap(plain.Block(tt.text), tt.width); fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("%q", got)
			}
		})
	}
}

// A wide character that is half overwritten leaves no half behind.
func TestCanvasWide(t *testing.T) {
	t.Parallel()
	for x := range 6 {
		c := kit.NewCanvas(6, 1)
		c.Text(0, 0, kit.Plain, "漢字漢")
		c.Text(x, 0, kit.Plain, "x")
		if got := plain.Width(plain.Line(c.Part(0, 0, 6))); got != 6 {
			t.Errorf("with x at %d the row %q has %d columns", x, c.Part(0, 0, 6), got)
		}
	}
	c := kit.NewCanvas(5, 1)
	c.Text(0, 0, kit.Plain, "漢字漢")
	if got := c.Row(0); got != "漢字" {
		t.Errorf("cut to %q", got)
	}
}

func big(n int) kit.Table {
	t := kit.NewTable(kit.Column{Name: "TASK"}, kit.Column{Name: "OUTCOME"}, kit.Column{Name: "SAID"})
	rows, keys := make([]kit.Row, n), make([]string, n)
	for i := range rows {
		keys[i] = fmt.Sprintf("task-%06d", i)
		rows[i] = kit.Row{plain.Line(keys[i]), plain.Line([]string{"right", "wrong"}[i%2]), plain.Line(fmt.Sprint(i * 7))}
	}
	return t.With(rows, keys).Sized(20)
}

func TestTableKeepsItsRow(t *testing.T) {
	t.Parallel()
	tab := big(100)
	for range 30 {
		tab, _ = tab.Update(kit.Press{Key: kit.Down})
	}
	if tab.Selected() != 30 {
		t.Fatalf("row %d", tab.Selected())
	}
	// Other rows come in front, as new runs do.
	rows, keys := []kit.Row{{"new", "", ""}}, []string{"new"}
	for i := range 100 {
		keys = append(keys, fmt.Sprintf("task-%06d", i))
		rows = append(rows, kit.Row{plain.Line(keys[i+1]), "", ""})
	}
	tab = tab.With(rows, keys)
	if tab.Selected() != 31 {
		t.Errorf("the cursor went to row %d", tab.Selected())
	}
	c := kit.NewCanvas(80, 22)
	tab.View(c)
	found := false
	for y := range 22 {
		found = found || strings.HasPrefix(c.Row(y), " ▸ task-000030")
	}
	if !found {
		t.Error("the row is not marked")
	}
}

// One key in a list of 100,000 rows: filter, draw.
func BenchmarkKeyInHugeList(b *testing.B) {
	tab := big(100_000)
	c := kit.NewCanvas(80, 24)
	for i := 0; b.Loop(); i++ {
		k := kit.Press{Key: kit.Char, Rune: '7'}
		if i%2 == 1 {
			k = kit.Press{Key: kit.Backspace}
		}
		tab, _ = tab.Update(k)
		tab.View(c)
	}
}

func BenchmarkMoveInHugeList(b *testing.B) {
	tab := big(100_000)
	c := kit.NewCanvas(80, 24)
	for b.Loop() {
		tab, _ = tab.Update(kit.Press{Key: kit.PgDn})
		tab.View(c)
	}
}

// A filter that is typed letter by letter shows what the same text shows that
// comes at once, in the same order.
func TestTableFiltersAsIfAtOnce(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 11))
	letters := []rune("abc ")
	text := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteRune(letters[r.IntN(len(letters))])
		}
		return b.String()
	}
	for range 300 {
		rows, keys := make([]kit.Row, 40), make([]string, 40)
		for i := range rows {
			rows[i], keys[i] = kit.Row{plain.Line(text(8))}, fmt.Sprint(i)
		}
		table := kit.NewTable(kit.Column{Name: "X"}).With(rows, keys)
		typed := table
		word := text(1 + r.IntN(5))
		for i, c := range word {
			typed, _ = typed.Update(kit.Press{Key: kit.Char, Rune: c})
			atOnce := table
			for _, c := range word[:i+1] {
				atOnce, _ = atOnce.Update(kit.Press{Key: kit.Char, Rune: c})
				atOnce = atOnce.With(rows, keys) // filters all of it anew
			}
			got, _ := typed.Shown()
			want, _ := atOnce.Shown()
			if !slices.Equal(got, want) {
				t.Fatalf("%q typed shows %v, at once %v", word[:i+1], got, want)
			}
		}
	}
}

// A table of which one row was drawn anew is as if all of them had been.
func TestTableRedraws(t *testing.T) {
	t.Parallel()
	rows := []kit.Row{{"[ ]", "alpha"}, {"[ ]", "beta"}, {"[ ]", "gamma"}}
	keys := []string{"a", "b", "c"}
	of := func(rows []kit.Row) kit.Rows {
		return kit.Rows{N: len(rows), Row: func(i int) kit.Row { return rows[i] }, Key: func(i int) string { return keys[i] }}
	}
	lines := func(tab kit.Table) string { return fmt.Sprint(tab.Lines(40)) }
	before := kit.NewTable(kit.Column{Name: ""}, kit.Column{Name: "MODEL"}).Of(of(rows)).At(1)
	changed := slices.Clone(rows)
	changed[1] = kit.Row{"[x]", "beta with a longer name"}
	got := before.Redrawn(of(changed), 1)
	if want := before.Of(of(changed)); lines(got) != lines(want) || got.Selected() != want.Selected() || got.Selected() != 1 {
		t.Errorf("redrawn, row %d:\n%s\nwant, row %d:\n%s", got.Selected(), lines(got), want.Selected(), lines(want))
	}
	for _, c := range "longer" {
		got, _ = got.Update(kit.Press{Key: kit.Char, Rune: c})
		before, _ = before.Update(kit.Press{Key: kit.Char, Rune: c})
	}
	if n, _ := got.Count(); n != 1 {
		t.Errorf("the filter finds %d rows by their new text", n)
	}
	if n, _ := before.Count(); n != 0 {
		t.Errorf("the table as it was finds %d rows by a text that came later", n)
	}
}
