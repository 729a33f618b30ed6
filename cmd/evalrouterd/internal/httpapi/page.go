package httpapi

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/httpapi/optional"
	"github.com/evalrouter/evalrouter/lib/api"
)

// Paging is the part of an input that selects a page.
type Paging struct {
	Cursor string `query:"cursor" doc:"next_cursor of the page before"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
}

// A cursor is opaque to callers: the kind of list and the place in it.
func cursorText(kind string, parts ...string) *string {
	c := base64.RawURLEncoding.EncodeToString([]byte(kind + "\n" + strings.Join(parts, "\n")))
	return &c
}

// cursorParts reads a cursor of a list back; no cursor gives none.
func cursorParts(kind, cursor string, n int) ([]string, error) {
	if cursor == "" {
		return nil, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	parts := strings.Split(string(b), "\n")
	if err != nil || len(cursor) > 512 || core.Storable(string(b)) != string(b) || len(parts) != n+1 || parts[0] != kind {
		return nil, core.Refuse(invalidCursor, "the cursor is not one of this list; start again without it")
	}
	return parts[1:], nil
}

// slicePage pages a list that is read whole, by the name of its last element.
func slicePage[T, R any](kind string, all []T, p Paging, name func(T) string, record func(T) R) (*answer[api.Page[R]], error) {
	after, err := cursorParts(kind, p.Cursor, 1)
	if err != nil {
		return nil, err
	}
	if after != nil {
		at := -1
		for i, v := range all {
			if name(v) == after[0] {
				at = i
			}
		}
		if at < 0 {
			return nil, core.Refuse(invalidCursor, "what the cursor points at is gone; start again without it")
		}
		all = all[at+1:]
	}
	out := api.Page[R]{Data: []R{}}
	for i, v := range all {
		if i == p.Limit {
			out.NextCursor = cursorText(kind, name(all[i-1]))
			break
		}
		out.Data = append(out.Data, record(v))
	}
	return reply(out), nil
}

// SlicePage pages a list that is read whole, by the name of its last element.
func SlicePage[T, R any](kind string, all []T, p Paging, name func(T) string, record func(T) R) (*Answer[api.Page[R]], error) {
	return slicePage(kind, all, p, name, record)
}

// Place is where the page of a list begins that is ordered by time and id; nil
// for the first.
func (p Paging) Place(kind string) (*core.Place, error) {
	at, err := cursorParts(kind, p.Cursor, 2)
	if err != nil || at == nil {
		return nil, err
	}
	t, err := microsOf(at[0])
	return &core.Place{At: t, ID: at[1]}, err
}

// PageOf makes a page of the rows that were read, one more than it shows.
func PageOf[T, R any](kind string, p Paging, rows []T, place func(T) core.Place, record func(T) R) *Answer[api.Page[R]] {
	out := api.Page[R]{Data: []R{}}
	for i, v := range rows {
		if i == p.Limit {
			last := place(rows[i-1])
			out.NextCursor = cursorText(kind, strconv.FormatInt(int64(last.At), 10), last.ID)
			break
		}
		out.Data = append(out.Data, record(v))
	}
	return reply(out)
}

// TimeOf is a time on the wire; MaybeTime is null for one that has not come.
func TimeOf(t core.Micros) time.Time     { return optional.At(t) }
func MaybeTime(t core.Micros) *time.Time { return optional.Time(t) }

func microsOf(text string) (core.Micros, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, core.Refuse(invalidCursor, "the cursor is not one of this list; start again without it")
	}
	return core.Micros(n), nil
}
