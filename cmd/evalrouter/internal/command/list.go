package command

import (
	"context"
	"iter"
	"strings"

	evalrouter "github.com/evalrouter/evalrouter/lib"
	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/argv"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/table"
	"github.com/evalrouter/evalrouter/cmd/evalrouter/internal/term"
)

const defaultRows = 50

// ListFlags are the flags of every list.
type ListFlags struct {
	view    table.View
	columns string
	limit   int
	cursor  string
}

// Declare adds the flags to a command.
func (l *ListFlags) Declare(fs *argv.Flags) {
	fs.Bool(&l.view.Wide, "wide", "all columns").WithShort('w')
	fs.String(&l.columns, "columns", "A,B", "these columns, in this order").Rare()
	fs.String(&l.view.Sort, "sort", "COL", "order by a column; --sort=-COL reverses").Rare()
	fs.Strings(&l.view.Filters, "filter", "COL=VALUE", "only rows with this value; repeatable")
	fs.Int(&l.limit, "limit", "N", "at most N rows (50)", 1, 10000)
	fs.String(&l.cursor, "cursor", "CURSOR", "go on from a next_cursor").Rare()
}

// View is what was asked for.
func (l *ListFlags) View() table.View {
	v := l.view
	if l.columns != "" {
		v.Columns = strings.Split(l.columns, ",")
	}
	v.Limit = l.limit
	if v.Limit == 0 {
		v.Limit = defaultRows
	}
	return v
}

// rearranged says that all rows are needed before any can be shown.
func (l *ListFlags) rearranged() bool { return l.view.Sort != "" || len(l.view.Filters) > 0 }

// Source gives a list's rows, a page at a time or all of them.
type Source[T any] struct {
	Page func(evalrouter.Paging) (api.Page[T], error)
	All  func(evalrouter.Paging) iter.Seq2[T, error]
	// Keep leaves rows out that are not asked for; nil keeps all.
	Keep func(T) bool
}

// Fetch reads what a view needs: one page when the service's order is good
// enough, everything when rows must be compared.
func Fetch[T any](l *ListFlags, s Source[T]) (api.Page[T], error) {
	if !l.rearranged() && s.Keep == nil {
		return s.Page(evalrouter.Paging{Cursor: l.cursor, Limit: min(l.View().Limit, 200)})
	}
	page := api.Page[T]{Data: []T{}}
	for row, err := range s.All(evalrouter.Paging{Cursor: l.cursor, Limit: 200}) {
		if err != nil {
			return page, err
		}
		if s.Keep == nil || s.Keep(row) {
			page.Data = append(page.Data, row)
		}
	}
	return page, nil
}

// listing is a page of the wire. Truncated says that there is more: behind the
// cursor, or rows that --limit left out.
type listing[T any] struct {
	api.Page[T]
	Truncated bool `json:"truncated"`
}

// Hints are the lines below a table.
type Hints struct {
	// Empty says why there is nothing.
	Empty string
	// Note is one more fact, "" for none.
	Note string
	// Next is the one command that a reader is likely to want.
	Next string
}

// PrintList prints rows as a table for people, or as the page of the wire when
// JSON is asked for or nobody is looking.
func PrintList[T any](a *App, l *ListFlags, cols []table.Column[T], page api.Page[T], h Hints) error {
	v := l.View()
	rows, cut, err := table.Apply(page.Data, cols, v)
	if err != nil {
		return err
	}
	if err := table.Check(cols, v); err != nil {
		return err
	}
	page.Data = rows
	if a.forPrograms() {
		if cut > 0 {
			a.Note("%s of %s shown; --limit shows more", Thousands(len(rows)), Thousands(len(rows)+cut))
		}
		return a.document(listing[T]{page, cut > 0 || page.NextCursor != nil})
	}
	lines, err := table.Render(rows, cols, v, a.Term.Columns())
	if err != nil {
		return err
	}
	p := a.Term.OutPage()
	if len(rows) == 0 {
		p.Line("%s", h.Empty)
	} else {
		ShowTable(p, lines)
	}
	switch {
	case cut > 0:
		p.Line("%s of %s shown; --limit shows more", Thousands(len(rows)), Thousands(len(rows)+cut))
	case page.NextCursor != nil:
		p.Line("%s shown and there are more; --limit, or --cursor %s", Thousands(len(rows)), *page.NextCursor)
	}
	if h.Note != "" {
		p.Line("%s", h.Note)
	}
	p.Next(h.Next)
	return p.Failure()
}

// ShowTable prints the lines of a table, the first of which is its head.
func ShowTable(p *term.Page, lines []plain.Safe) {
	for i, line := range lines {
		if i == 0 {
			p.Head(line)
			continue
		}
		p.Line("%s", line)
	}
}

// forPrograms says that a list is printed as its page of the wire.
func (a *App) forPrograms() bool { return a.WantsJSON() || !a.Term.OutTTY }

func paged[T any](ctx context.Context, list func(context.Context, evalrouter.Paging) (api.Page[T], error)) func(evalrouter.Paging) (api.Page[T], error) {
	return func(p evalrouter.Paging) (api.Page[T], error) { return list(ctx, p) }
}

func walked[T any](ctx context.Context, all func(context.Context, evalrouter.Paging) iter.Seq2[T, error]) func(evalrouter.Paging) iter.Seq2[T, error] {
	return func(p evalrouter.Paging) iter.Seq2[T, error] { return all(ctx, p) }
}

// Unique is the shortest length, at least 6, at which the ids of a list differ.
func Unique[T any](rows []T, id func(T) string) int {
	for n := 6; n < 36; n++ {
		seen := map[string]bool{}
		for _, r := range rows {
			s := id(r)
			seen[s[:min(n, len(s))]] = true
		}
		if len(seen) == len(rows) {
			return n
		}
	}
	return 36
}
