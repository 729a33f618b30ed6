// Package table prints lists: a compact table that fits the terminal, made of
// columns that a person can choose, sort and filter.
package table

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/lib/plain"
)

// Column is one column of a list of T.
type Column[T any] struct {
	// Name selects the column on the command line; its capitals are the head.
	Name string
	// Text is the cell.
	Text func(T) string
	// Sort orders rows; nil orders by Text, numbers as numbers.
	Sort func(a, b T) int
	// Right aligns numbers.
	Right bool
	// Wide columns show only with --wide or by name.
	Wide bool
	// Drop says how early a column is left out when the terminal is narrow: the
	// highest first, 0 never.
	Drop int
	// Whole cells are never cut, as ids are useless in part.
	Whole bool
	// Fold continues a cell that is too long in its column on the next lines,
	// where others are cut: for paths, which are useless in part too.
	Fold bool
}

// View is what a person asked of a list.
type View struct {
	Wide    bool
	Columns []string
	// Sort names a column; a leading "-" reverses.
	Sort string
	// Filters are KEY=VALUE; all must hold.
	Filters []string
	// Limit is the greatest number of rows, 0 for all.
	Limit int
}

// Error names a column or filter that does not exist.
type Error struct {
	What  string // what was wrong, without the typed value
	Valid []string
}

// Error says what was wrong.
func (e *Error) Error() string { return e.What }

// Apply filters, sorts and limits rows. cut is how many rows the limit left out.
func Apply[T any](rows []T, cols []Column[T], v View) (out []T, cut int, err error) {
	out = slices.Clone(rows)
	for _, f := range v.Filters {
		name, want, ok := strings.Cut(f, "=")
		c := find(cols, name)
		if !ok || c == nil {
			return nil, 0, &Error{What: "a filter is COLUMN=VALUE, and there is no such column", Valid: Names(cols)}
		}
		out = slices.DeleteFunc(out, func(r T) bool { return !matches(c.Text(r), want) })
	}
	if v.Sort != "" {
		name, down := strings.CutPrefix(v.Sort, "-")
		c := find(cols, name)
		if c == nil {
			return nil, 0, &Error{What: "there is no such column to sort by", Valid: Names(cols)}
		}
		out = sorted(out, c, down)
	}
	if v.Limit > 0 && len(out) > v.Limit {
		cut = len(out) - v.Limit
		out = out[:v.Limit]
	}
	return out, cut, nil
}

// sorted orders rows by a column, those that are equal in it as they were. It sorts
// their places: sorting rows would put a sort of its own into the program for
// every kind of row.
func sorted[T any](rows []T, by *Column[T], down bool) []T {
	at := make([]int, len(rows))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(i, j int) int {
		if down {
			i, j = j, i
		}
		if by.Sort != nil {
			return by.Sort(rows[i], rows[j])
		}
		return compare(by.Text(rows[i]), by.Text(rows[j]))
	})
	out := make([]T, len(rows))
	for i, place := range at {
		out[i] = rows[place]
	}
	return out
}

// matches compares without case, and with any one of the words of a cell that
// lists several.
func matches(cell, want string) bool {
	if strings.EqualFold(cell, want) {
		return true
	}
	for part := range strings.SplitSeq(cell, ",") {
		if strings.EqualFold(strings.TrimSpace(part), want) {
			return true
		}
	}
	return false
}

func compare(a, b string) int {
	x, errA := number(a)
	y, errB := number(b)
	if errA == nil && errB == nil {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(strings.ToLower(a), strings.ToLower(b))
}

func number(s string) (float64, error) {
	return strconv.ParseFloat(strings.NewReplacer(",", "", "$", "", "%", "", " ", "").Replace(s), 64)
}

// Names are the names of all columns.
func Names[T any](cols []Column[T]) (out []string) {
	for _, c := range cols {
		out = append(out, c.Name)
	}
	return out
}

func find[T any](cols []Column[T], name string) *Column[T] {
	for i := range cols {
		if strings.EqualFold(cols[i].Name, name) {
			return &cols[i]
		}
	}
	return nil
}

// choose is the columns to show, before the width is known.
func choose[T any](cols []Column[T], v View) ([]Column[T], error) {
	if len(v.Columns) > 0 {
		var out []Column[T]
		for _, name := range v.Columns {
			c := find(cols, strings.TrimSpace(name))
			if c == nil {
				return nil, &Error{What: "there is no such column", Valid: Names(cols)}
			}
			c2 := *c
			c2.Drop = 0
			out = append(out, c2)
		}
		return out, nil
	}
	return slices.DeleteFunc(slices.Clone(cols), func(c Column[T]) bool { return c.Wide && !v.Wide }), nil
}

// Check says whether the view names existing columns only.
func Check[T any](cols []Column[T], v View) error {
	if _, err := choose(cols, v); err != nil {
		return err
	}
	_, _, err := Apply(nil, cols, v)
	return err
}

const gap = 2

// Render lays rows out in at most width cells. Columns are left out, then
// cut, before a line would wrap. Where even that is not enough, as in a
// terminal of less than 40 cells, every field gets a line.
func Render[T any](rows []T, cols []Column[T], v View, width int) ([]plain.Safe, error) {
	show, err := choose(cols, v)
	if err != nil {
		return nil, err
	}
	if width < 40 {
		return blocks(rows, show), nil
	}
	cells := func() [][]plain.Safe { return grid(rows, show) }
	g := cells()
	for total(widths(g)) > width {
		worst := -1
		for i, c := range show {
			if c.Drop > 0 && (worst < 0 || c.Drop > show[worst].Drop) {
				worst = i
			}
		}
		if worst < 0 || v.Wide {
			break
		}
		show = slices.Delete(slices.Clone(show), worst, worst+1)
		g = cells()
	}
	w := widths(g)
	if shrink(w, show, width); total(w) > width {
		return blocks(rows, show), nil // a row that wraps is no table any more
	}
	out := make([]plain.Safe, 0, len(g))
	for _, row := range g {
		out = append(out, lay(row, show, w)...)
	}
	return out, nil
}

func grid[T any](rows []T, show []Column[T]) [][]plain.Safe {
	head := make([]plain.Safe, len(show))
	for i, c := range show {
		head[i] = plain.Line(strings.ToUpper(c.Name))
	}
	out := [][]plain.Safe{head}
	for _, r := range rows {
		line := make([]plain.Safe, len(show))
		for i, c := range show {
			line[i] = plain.Line(c.Text(r))
		}
		out = append(out, line)
	}
	return out
}

func widths(g [][]plain.Safe) []int {
	w := make([]int, len(g[0]))
	for _, row := range g {
		for i, c := range row {
			w[i] = max(w[i], plain.Width(c))
		}
	}
	return w
}

func total(w []int) int {
	n := gap * (len(w) - 1)
	for _, x := range w {
		n += x
	}
	return n
}

// shrink takes cells from the widest column that may be cut until all fit.
func shrink[T any](w []int, show []Column[T], width int) {
	for total(w) > width {
		widest := -1
		for i := range w {
			if !show[i].Whole && w[i] > 8 && (widest < 0 || w[i] > w[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		w[widest]--
	}
}

func blocks[T any](rows []T, show []Column[T]) (out []plain.Safe) {
	for i, r := range rows {
		if i > 0 {
			out = append(out, "")
		}
		for _, c := range show {
			out = append(out, plain.Line(fmt.Sprintf("%s: %s", c.Name, c.Text(r))))
		}
	}
	return out
}
