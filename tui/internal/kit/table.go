package kit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/lib/plain"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Column is one column of a Table.
type Column struct {
	Name  plain.Safe
	Right bool
	// Whole is never cut: a number that lost its end is another number.
	Whole bool
	// Drop says in which order columns go when there is no room: the highest
	// first; 0 stays.
	Drop int
	// Role gives a cell its look; nil is Plain.
	Role func(plain.Safe) Role
}

// Row is the cells of one row.
type Row []plain.Safe

// Table is a list that filters as you type. It keeps the place of the cursor
// by row while the rows change.
type Table struct {
	Columns []Column
	filter  Input
	rows    []Row
	hay     []string
	keys    []string
	widths  []int
	every   []int // indices of all rows
	shown   []int // indices into rows: those that hold what was typed, then looser ones
	whole   int   // how many of shown hold it
	cursor  int   // index into shown
	top     int
	height  int
}

// NewTable has no rows yet.
func NewTable(columns ...Column) Table { return Table{Columns: columns, height: 10} }

// With shows other rows. keys name them, so that the cursor stays on its row.
func (t Table) With(rows []Row, keys []string) Table {
	at := t.key()
	t.rows, t.keys = rows, keys
	t.hay = make([]string, len(rows))
	t.widths = make([]int, len(t.Columns))
	for i, c := range t.Columns {
		t.widths[i] = plain.Width(c.Name)
	}
	t.every = make([]int, len(rows))
	for i, r := range rows {
		t.every[i] = i
		var b strings.Builder
		for j, cell := range r {
			t.widths[j] = max(t.widths[j], plain.Width(cell))
			b.WriteString(strings.ToLower(string(cell)))
			b.WriteByte(' ')
		}
		t.hay[i] = b.String()
	}
	t = t.refilter(t.every)
	t.cursor = 0
	for i, r := range t.shown {
		if at != "" && t.keys[r] == at {
			t.cursor = i
		}
	}
	return t.follow()
}

func (t Table) key() string {
	if i := t.Selected(); i >= 0 {
		return t.keys[i]
	}
	return ""
}

// Selected is the row under the cursor, -1 without one.
func (t Table) Selected() int {
	if t.cursor < 0 || t.cursor >= len(t.shown) {
		return -1
	}
	return t.shown[t.cursor]
}

// At puts the cursor on a row that is shown, or on none of them past the last.
func (t Table) At(i int) Table {
	t = t.follow()
	t.cursor = i
	return t
}

// Shown are the rows that pass the filter, in their order, and which of them is
// under the cursor.
func (t Table) Shown() (rows []int, at int) { return t.shown, t.cursor }

// Filtering says that something was typed.
func (t Table) Filtering() bool { return !t.filter.Empty() }

// Count is how many rows are shown, of how many.
func (t Table) Count() (shown, all int) { return len(t.shown), len(t.rows) }

// refilter shows those of the candidates that fit what was typed.
func (t Table) refilter(candidates []int) Table {
	typed := words(t.filter.Text())
	if len(typed) == 0 {
		t.shown, t.whole = candidates, len(candidates)
		return t
	}
	var whole, loose []int
	for _, i := range candidates {
		switch match(typed, t.hay[i]) {
		case 2:
			whole = append(whole, i)
		case 1:
			loose = append(loose, i)
		}
	}
	t.shown, t.whole = append(whole, loose...), len(whole)
	return t
}

// candidates are the rows that can fit a text: where it goes on from what was
// typed before, none but those that fitted that, in the order of the rows.
func (t Table) candidates(before string) []int {
	if before == "" || !strings.HasPrefix(t.filter.Text(), before) {
		return t.every
	}
	a, b := t.shown[:t.whole], t.shown[t.whole:]
	out := make([]int, 0, len(t.shown))
	for len(a) > 0 && len(b) > 0 {
		if a[0] < b[0] {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// Update moves the cursor or edits the filter. It says whether the message was
// about the table. Left with an empty filter and Enter are the page's.
func (t Table) Update(m Msg) (Table, bool) {
	switch m := m.(type) {
	case Resize:
		return t, false
	case Paste:
		return t.edit(m)
	case Mouse:
		return t.mouse(m)
	case Press:
		if moved, ok := t.move(m.Key); ok {
			return moved, true
		}
		if m.Key == Left && t.filter.Empty() || m.Key == Right && t.filter.Empty() {
			return t, false
		}
		return t.edit(m)
	}
	return t, false
}

func (t Table) move(k Key) (Table, bool) {
	switch k {
	case Up:
		t.cursor--
	case Down:
		t.cursor++
	case PgUp:
		t.cursor -= max(t.height-1, 1)
	case PgDn:
		t.cursor += max(t.height-1, 1)
	case Home:
		t.cursor = 0
	case End:
		t.cursor = len(t.shown) - 1
	default:
		return t, false
	}
	return t.follow(), true
}

func (t Table) edit(m Msg) (Table, bool) {
	in, ok := t.filter.Update(m)
	if !ok {
		return t, false
	}
	before := t.filter.Text()
	changed := !slices.Equal(in.text, t.filter.text)
	t.filter = in
	if changed {
		t = t.refilter(t.candidates(before))
		t.cursor = 0
	}
	return t.follow(), true
}

// mouse selects by the row as View draws it: the filter and the names of the
// columns stand above.
func (t Table) mouse(m Mouse) (Table, bool) {
	switch m.Kind {
	case WheelUp:
		t.cursor -= 3
	case WheelDown:
		t.cursor += 3
	case Click:
		i := t.top + m.Y - headRows
		if m.Y < headRows || i >= len(t.shown) || m.Y-headRows >= t.height {
			return t, false
		}
		t.cursor = i
	default:
		return t, false
	}
	return t.follow(), true
}

// Sized tells the table how many rows a body of this height shows.
func (t Table) Sized(body int) Table {
	t.height = max(body-headRows, 1)
	return t.follow()
}

func (t Table) follow() Table {
	t.cursor = max(min(t.cursor, len(t.shown)-1), 0)
	if t.cursor < t.top {
		t.top = t.cursor
	}
	if t.cursor >= t.top+t.height {
		t.top = t.cursor - t.height + 1
	}
	t.top = max(min(t.top, len(t.shown)-t.height), 0)
	return t
}

// headRows stand above the rows: the filter and the names of the columns.
const headRows = 2
