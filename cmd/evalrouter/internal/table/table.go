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

// head is what a column is apart from its rows, and at is its place in the list.
// What is done with heads and numbers of rows is compiled once, not for every T.
type head struct {
	name                     string
	right, wide, whole, fold bool
	drop, at                 int
}

func heads[T any](cols []Column[T]) (out []head) {
	for i, c := range cols {
		out = append(out, head{c.Name, c.Right, c.Wide, c.Whole, c.Fold, c.Drop, i})
	}
	return out
}

// list is rows by number: the text of a cell, and how two rows compare by a
// column, nil where they do by its text.
type list struct {
	cols    []head
	rows    int
	text    func(row, col int) string
	compare func(col int) func(a, b int) int
}

func of[T any](rows []T, cols []Column[T]) list {
	return list{
		cols: heads(cols), rows: len(rows),
		text: func(row, col int) string { return cols[col].Text(rows[row]) },
		compare: func(col int) func(a, b int) int {
			by := cols[col].Sort
			if by == nil {
				return nil
			}
			return func(a, b int) int { return by(rows[a], rows[b]) }
		},
	}
}

// Apply filters, sorts and limits rows. cut is how many rows the limit left out.
func Apply[T any](rows []T, cols []Column[T], v View) (out []T, cut int, err error) {
	chosen, cut, err := of(rows, cols).apply(v)
	if err != nil {
		return nil, 0, err
	}
	out = make([]T, 0, len(chosen))
	for _, i := range chosen {
		out = append(out, rows[i])
	}
	return out, cut, nil
}

func (l list) apply(v View) (out []int, cut int, err error) {
	for i := range l.rows {
		out = append(out, i)
	}
	for _, f := range v.Filters {
		name, want, ok := strings.Cut(f, "=")
		c := find(l.cols, name)
		if !ok || c == nil {
			return nil, 0, &Error{What: "a filter is COLUMN=VALUE, and there is no such column", Valid: names(l.cols)}
		}
		out = slices.DeleteFunc(out, func(row int) bool { return !matches(l.text(row, c.at), want) })
	}
	if v.Sort != "" {
		name, down := strings.CutPrefix(v.Sort, "-")
		c := find(l.cols, name)
		if c == nil {
			return nil, 0, &Error{What: "there is no such column to sort by", Valid: names(l.cols)}
		}
		l.sort(out, c.at, down)
	}
	if v.Limit > 0 && len(out) > v.Limit {
		cut = len(out) - v.Limit
		out = out[:v.Limit]
	}
	return out, cut, nil
}

// sort orders rows by a column; rows that are equal stay as they stand.
func (l list) sort(rows []int, col int, down bool) {
	by := l.compare(col)
	if by == nil {
		by = func(a, b int) int { return compare(l.text(a, col), l.text(b, col)) }
	}
	slices.SortStableFunc(rows, func(a, b int) int {
		if down {
			a, b = b, a
		}
		return by(a, b)
	})
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
func Names[T any](cols []Column[T]) []string { return names(heads(cols)) }

func names(cols []head) (out []string) {
	for _, c := range cols {
		out = append(out, c.name)
	}
	return out
}

func find(cols []head, name string) *head {
	for i := range cols {
		if strings.EqualFold(cols[i].name, name) {
			return &cols[i]
		}
	}
	return nil
}

// choose is the columns to show, before the width is known.
func choose(cols []head, v View) ([]head, error) {
	if len(v.Columns) > 0 {
		var out []head
		for _, name := range v.Columns {
			c := find(cols, strings.TrimSpace(name))
			if c == nil {
				return nil, &Error{What: "there is no such column", Valid: names(cols)}
			}
			named := *c
			named.drop = 0
			out = append(out, named)
		}
		return out, nil
	}
	return slices.DeleteFunc(slices.Clone(cols), func(c head) bool { return c.wide && !v.Wide }), nil
}

// Check says whether the view names existing columns only.
func Check[T any](cols []Column[T], v View) error {
	l := of(nil, cols)
	if _, err := choose(l.cols, v); err != nil {
		return err
	}
	_, _, err := l.apply(v)
	return err
}

const gap = 2

// Render lays rows out in at most width cells. Columns are left out, then
// cut, before a line would wrap. Where even that is not enough, as in a
// terminal of less than 40 cells, every field gets a line.
func Render[T any](rows []T, cols []Column[T], v View, width int) ([]plain.Safe, error) {
	return of(rows, cols).render(v, width)
}

func (l list) render(v View, width int) ([]plain.Safe, error) {
	show, err := choose(l.cols, v)
	if err != nil {
		return nil, err
	}
	if width < 40 {
		return l.blocks(show), nil
	}
	g := l.grid(show)
	for total(widths(g)) > width {
		worst := -1
		for i, c := range show {
			if c.drop > 0 && (worst < 0 || c.drop > show[worst].drop) {
				worst = i
			}
		}
		if worst < 0 || v.Wide {
			break
		}
		show = slices.Delete(slices.Clone(show), worst, worst+1)
		g = l.grid(show)
	}
	w := widths(g)
	if shrink(w, show, width); total(w) > width {
		return l.blocks(show), nil // a row that wraps is no table any more
	}
	out := make([]plain.Safe, 0, len(g))
	for _, row := range g {
		out = append(out, lay(row, show, w)...)
	}
	return out, nil
}

func (l list) grid(show []head) [][]plain.Safe {
	top := make([]plain.Safe, len(show))
	for i, c := range show {
		top[i] = plain.Line(strings.ToUpper(c.name))
	}
	out := [][]plain.Safe{top}
	for row := range l.rows {
		line := make([]plain.Safe, len(show))
		for i, c := range show {
			line[i] = plain.Line(l.text(row, c.at))
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
func shrink(w []int, show []head, width int) {
	for total(w) > width {
		widest := -1
		for i := range w {
			if !show[i].whole && w[i] > 8 && (widest < 0 || w[i] > w[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		w[widest]--
	}
}

func (l list) blocks(show []head) (out []plain.Safe) {
	for row := range l.rows {
		if row > 0 {
			out = append(out, "")
		}
		for _, c := range show {
			out = append(out, plain.Line(fmt.Sprintf("%s: %s", c.name, l.text(row, c.at))))
		}
	}
	return out
}
