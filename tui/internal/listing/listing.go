// Package listing is the list page: read, filter as you type, open. It has the
// four states that every list has: reading, empty, failed, and there.
package listing

import (
	"context"
	"iter"
	"time"

	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

// Spec is what one list is about.
type Spec[T any] struct {
	// What is the plural of the rows: "benchmarks".
	What    string
	Columns []kit.Column
	Load    func(ctx context.Context, fresh bool) ([]T, error)
	Row     func(T) kit.Row
	Key     func(T) string
	// Empty is what stands there when there are no rows.
	Empty []plain.Safe
}

// Collect keeps something of each record, and nothing of a walk that broke off.
func Collect[T, K any](all iter.Seq2[T, error], keep func(T) K) (out []K, err error) {
	for v, err := range all {
		if err != nil {
			return nil, err
		}
		out = append(out, keep(v))
	}
	return out, nil
}

// Listing is a list with its state.
type Listing[T any] struct {
	Spec[T]
	table   kit.Table
	all     []T
	items   []T // of all, those to show
	keep    func(T) bool
	err     error
	loaded  bool
	reading bool
	quiet   bool // reads without being asked
}

// loaded is what a load brings.
type loaded[T any] struct {
	items []T
	err   error
}

// New has read nothing yet.
func New[T any](s Spec[T]) Listing[T] {
	return Listing[T]{Spec: s, table: kit.NewTable(s.Columns...)}
}

// Read reads the list. What was read before stays until the answer is there.
func (l Listing[T]) Read(fresh bool) (Listing[T], kit.Effect) {
	l.reading, l.quiet = true, false
	load := l.Load
	return l, kit.Load{Name: "list", Do: func(ctx context.Context) kit.Msg {
		items, err := load(ctx, fresh)
		return loaded[T]{items, err}
	}}
}

// Again reads the list once more without a word about it.
func (l Listing[T]) Again() (Listing[T], kit.Effect) {
	l, e := l.Read(false)
	l.quiet = true
	return l, e
}

// Update says whether the message was about the list.
func (l Listing[T]) Update(m kit.Msg) (Listing[T], []kit.Effect, bool) {
	switch m := m.(type) {
	case loaded[T]:
		l.reading, l.err = false, m.err
		if m.err == nil {
			l = l.with(m.items)
		}
		return l, nil, true
	case kit.Resize:
		l.table = l.table.Sized(m.H)
		return l, nil, true
	case kit.Press:
		if m.Key == kit.Refresh {
			l, e := l.Read(true)
			return l, kit.Do(e), true
		}
	}
	if !l.loaded {
		return l, nil, false
	}
	t, ok := l.table.Update(m)
	l.table = t
	return l, nil, ok
}

func (l Listing[T]) with(all []T) Listing[T] {
	items := all
	if l.keep != nil {
		items = nil
		for _, it := range all {
			if l.keep(it) {
				items = append(items, it)
			}
		}
	}
	l.all, l.items, l.loaded = all, items, true
	l.table = l.table.Of(l.rows())
	return l
}

func (l Listing[T]) rows() kit.Rows {
	items, row, key := l.items, l.Row, l.Key
	return kit.Rows{N: len(items), Row: func(i int) kit.Row { return row(items[i]) }, Key: func(i int) string { return key(items[i]) }}
}

// Keep shows only some of what was read; nil shows all of it.
func (l Listing[T]) Keep(keep func(T) bool) Listing[T] {
	l.keep = keep
	if !l.loaded {
		return l
	}
	return l.with(l.all)
}

// Drawn draws the rows anew, in another way. row is kept: it must not hold a
// list, which would keep every one that there ever was.
func (l Listing[T]) Drawn(row func(T) kit.Row) Listing[T] {
	l.Row = row
	if !l.loaded {
		return l
	}
	return l.with(l.all)
}

// DrawnHere is Drawn where only the row under the cursor changes.
func (l Listing[T]) DrawnHere(row func(T) kit.Row) Listing[T] {
	l.Row = row
	if i := l.table.Selected(); l.loaded && i >= 0 {
		l.table = l.table.Redrawn(l.rows(), i)
	}
	return l
}

// Hidden is how many rows Keep leaves out.
func (l Listing[T]) Hidden() int { return len(l.all) - len(l.items) }

// Items are the rows that the list has.
func (l Listing[T]) Items() []T { return l.items }

// Selected is the row under the cursor.
func (l Listing[T]) Selected() (T, bool) {
	i := l.table.Selected()
	if !l.loaded || i < 0 {
		var none T
		return none, false
	}
	return l.items[i], true
}

// Shown are the rows that pass the filter, in their order, and which of them is
// under the cursor.
func (l Listing[T]) Shown() (items []T, at int) {
	rows, at := l.table.Shown()
	for _, i := range rows {
		items = append(items, l.items[i])
	}
	return items, at
}

// Filtering says that something was typed.
func (l Listing[T]) Filtering() bool { return l.table.Filtering() }

// Note is the message about the list's state, "" when there is nothing to say.
func (l Listing[T]) Note() plain.Safe {
	switch {
	case l.reading && l.loaded && !l.quiet:
		return "Reading again…"
	case l.err != nil && l.loaded:
		return "Could not read it again; this is what was read before. F5 tries again"
	case l.loaded && len(l.items) > 0:
		if n, _ := l.table.Count(); n == 0 {
			return "Nothing fits the filter. Ctrl+U empties it"
		}
	}
	return ""
}

// View draws the list or its state.
func (l Listing[T]) View(c kit.Canvas) {
	switch {
	case l.loaded && len(l.items) > 0:
		l.table.View(c)
	case l.loaded:
		for y, t := range l.Empty {
			c.Text(1, y, kit.Plain, t)
		}
		c.Cursor(1, 0)
	case l.err != nil:
		kit.Scroll{}.View(c, show.Problem(show.F(" The %s could not be read.", l.What), l.err, true))
		c.Cursor(1, 0)
	default:
		c.Text(1, 0, kit.Plain, show.F("Reading %s…", l.What))
		c.Cursor(1, 0)
	}
}

// IsBack says that a key press leaves a page: Escape, or Left where no text is
// edited.
func IsBack(m kit.Msg, editing bool) bool {
	p, ok := m.(kit.Press)
	return ok && (p.Key == kit.Esc || p.Key == kit.Left && !editing)
}

// IsEnter says that a key press opens the row, or a second click does.
func IsEnter(m kit.Msg) bool {
	p, ok := m.(kit.Press)
	return ok && p.Key == kit.Enter
}

// Opens remembers clicks: a second one on the same row within half a second
// opens it.
type Opens struct {
	y  int
	at time.Time
}

// Click says whether this click is the second one.
func (o Opens) Click(m kit.Msg) (Opens, bool) {
	k, ok := m.(kit.Mouse)
	if !ok || k.Kind != kit.Click {
		return o, false
	}
	if !o.at.IsZero() && k.Y == o.y && k.At.Sub(o.at) <= 500*time.Millisecond {
		return Opens{}, true
	}
	return Opens{y: k.Y, at: k.At}, false
}
