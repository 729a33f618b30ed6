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
	// Least is to what width it is cut before a column goes; 0 is not at all.
	Least int
	// Drop says in which order columns go when there is no room: the highest
	// first; 0 stays.
	Drop int
	// Role gives a cell its look; nil is Plain.
	Role func(plain.Safe) Role
}

// Row is the cells of one row.
type Row []plain.Safe

// Packed is a row in one piece, as a long list keeps it.
type Packed string

// between stands between two cells; no safe text has it.
const between = "\x00"

// Pack makes one piece of the cells.
func (r Row) Pack() Packed {
	var b strings.Builder
	for i, cell := range r {
		if i > 0 {
			b.WriteString(between)
		}
		b.WriteString(string(cell))
	}
	return Packed(b.String())
}

// Row is the cells.
func (p Packed) Row() Row {
	out := make(Row, 0, strings.Count(string(p), between)+1)
	for cell := range strings.SplitSeq(string(p), between) {
		out = append(out, plain.Safe(cell)) // it was safe when it was packed
	}
	return out
}

// Rows are rows that are made when they are shown. A key names its row.
type Rows struct {
	N   int
	Row func(i int) Row
	Key func(i int) string
}

// Table is a list that filters as you type. It keeps the place of the cursor
// by row while the rows change.
type Table struct {
	Columns []Column
	filter  Input
	rows    Rows
	hay     []string // of each row, what a filter looks at
	widths  []int
	every   []int32 // indices of all rows
	shown   []int32 // indices into rows: those that hold what was typed, then looser ones
	whole   int     // how many of shown hold it
	cursor  int     // index into shown
	top     int
	height  int
}

// NewTable has no rows yet.
func NewTable(columns ...Column) Table { return Table{Columns: columns, height: 10} }

// With shows other rows. keys name them, so that the cursor stays on its row.
func (t Table) With(rows []Row, keys []string) Table {
	return t.Of(Rows{N: len(rows), Row: func(i int) Row { return rows[i] }, Key: func(i int) string { return keys[i] }})
}

// Of is With for rows that are not kept. What makes them must go on making the
// same ones.
func (t Table) Of(rows Rows) Table {
	at := t.key()
	t.rows = rows
	t.hay, t.widths = looked(t.Columns, rows)
	t.every = make([]int32, rows.N)
	for i := range t.every {
		t.every[i] = int32(i)
	}
	return t.back(at)
}

// Redrawn is Of where only row i differs from before.
func (t Table) Redrawn(rows Rows, i int) Table {
	at := t.key()
	one, widths := looked(t.Columns, Rows{N: 1, Row: func(int) Row { return rows.Row(i) }})
	t.rows, t.hay, t.widths = rows, slices.Clone(t.hay), slices.Clone(t.widths)
	t.hay[i] = one[0]
	for j, w := range widths {
		t.widths[j] = max(t.widths[j], w)
	}
	return t.back(at)
}

// back filters anew, with the cursor on the row of a key if that is shown.
func (t Table) back(at string) Table {
	t = t.refilter(t.every)
	t.cursor = 0
	if at != "" {
		t.cursor = max(slices.IndexFunc(t.shown, func(r int32) bool { return t.rows.Key(int(r)) == at }), 0)
	}
	return t.follow()
}

// together is how many rows share one piece of memory: one of its own for each
// would be a third more.
const together = 256

// looked is what a filter looks at in each row, and how wide the columns are.
func looked(columns []Column, rows Rows) (hay []string, widths []int) {
	hay, widths = make([]string, rows.N), make([]int, len(columns))
	for i, c := range columns {
		widths[i] = plain.Width(c.Name)
	}
	var text []byte
	var ends [together]int
	for from := 0; from < rows.N; from += together {
		n := min(together, rows.N-from)
		text = text[:0]
		for k := range n {
			for j, cell := range rows.Row(from + k) {
				widths[j] = max(widths[j], plain.Width(cell))
				text = append(append(text, strings.ToLower(string(cell))...), ' ')
			}
			ends[k] = len(text)
		}
		start, whole := 0, string(text)
		for k := range n {
			hay[from+k], start = whole[start:ends[k]], ends[k]
		}
	}
	return hay, widths
}

func (t Table) key() string {
	if i := t.Selected(); i >= 0 {
		return t.rows.Key(i)
	}
	return ""
}

// Selected is the row under the cursor, -1 without one.
func (t Table) Selected() int {
	if t.cursor < 0 || t.cursor >= len(t.shown) {
		return -1
	}
	return int(t.shown[t.cursor])
}

// At puts the cursor on a row that is shown, or on none of them past the last.
func (t Table) At(i int) Table {
	t = t.follow()
	t.cursor = i
	return t
}

// Shown are the rows that pass the filter, in their order, and which of them is
// under the cursor.
func (t Table) Shown() (rows []int32, at int) { return t.shown, t.cursor }

// Filtering says that something was typed.
func (t Table) Filtering() bool { return !t.filter.Empty() }

// Count is how many rows are shown, of how many.
func (t Table) Count() (shown, all int) { return len(t.shown), t.rows.N }

// refilter shows those of the candidates that fit what was typed.
func (t Table) refilter(candidates []int32) Table {
	typed := words(t.filter.Text())
	if len(typed) == 0 {
		t.shown, t.whole = candidates, len(candidates)
		return t
	}
	// Those that hold it from the front, looser ones from the back: one piece of
	// memory for a key, of which long lists would otherwise leave the most behind.
	out := make([]int32, len(candidates))
	whole, loose := 0, len(out)
	for _, i := range candidates {
		switch match(typed, t.hay[i]) {
		case 2:
			out[whole] = i
			whole++
		case 1:
			loose--
			out[loose] = i
		}
	}
	slices.Reverse(out[loose:])
	out = out[:whole+copy(out[whole:], out[loose:])]
	if len(out) < cap(out)/4 {
		out = slices.Clone(out)
	}
	t.shown, t.whole = out, whole
	return t
}

// candidates are the rows that can fit a text: where it goes on from what was
// typed before, none but those that fitted that, in the order of the rows.
func (t Table) candidates(before string) []int32 {
	if before == "" || !strings.HasPrefix(t.filter.Text(), before) {
		return t.every
	}
	a, b := t.shown[:t.whole], t.shown[t.whole:]
	out := make([]int32, 0, len(t.shown))
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
