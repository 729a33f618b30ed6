package dataset

import (
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// CSV reads comma-separated values by the rules of Python's csv module: quotes
// matter at the start of a field only, a doubled quote is a quote, and what
// follows a closing quote is taken as it is. Rows without a value are left out.
func (r Reader) CSV(data []byte) ([]Sample, error) {
	text, err := decode(data)
	if err != nil {
		return nil, err
	}
	delimiter := r.Delimiter
	if delimiter == 0 {
		delimiter = ','
	}
	rows := parseCSV(text, delimiter)
	names := r.Names
	if names == nil {
		for len(rows) > 0 && len(rows[0]) == 0 {
			rows = rows[1:]
		}
		if len(rows) == 0 {
			return nil, nil
		}
		names, rows = rows[0], rows[1:]
	}
	var records []*value.Dict
	for i, row := range rows {
		if len(row) == 0 {
			continue
		}
		rec, blank, err := record(names, row)
		if err != nil {
			return nil, fmt.Errorf("read row %d: %w", i+1, err)
		}
		if !blank {
			records = append(records, rec)
		}
	}
	return r.samples(records)
}

// record joins a row with the column names. Missing values at the end are
// null, and a blank row with missing or surplus values raises AttributeError,
// as looking for a value among them does in the reference.
func record(names, row []string) (rec *value.Dict, blank bool, err error) {
	rec, blank = value.DictOf(), true
	for i, name := range names {
		var v any
		if i < len(row) {
			v = row[i]
			blank = blank && str.Strip(row[i]) == ""
		}
		if err := rec.Set(name, v); err != nil {
			return nil, false, err
		}
	}
	if blank && len(names) != len(row) {
		return nil, false, pycompat.Raise("AttributeError", "a blank row has %d values for %d columns", len(row), len(names))
	}
	return rec, blank, nil
}

// parseCSV splits text into rows of fields; an empty line is a row of none.
func parseCSV(text string, delimiter rune) [][]string {
	var rows [][]string
	var row []string
	var field strings.Builder
	const (
		start = iota
		bare
		quoted
		closed // behind a quote inside a quoted field
	)
	state, any := start, false
	endField := func() {
		row = append(row, field.String())
		field.Reset()
		state = start
	}
	endRow := func() {
		if any {
			endField()
		}
		rows = append(rows, row)
		row, any, state = nil, false, start
	}
	for _, c := range text {
		switch {
		case state == quoted && c == '"':
			state = closed
		case state == quoted:
			field.WriteRune(c)
		case c == '\n':
			endRow()
		case c == delimiter:
			any = true
			endField()
		case state == closed && c == '"':
			field.WriteRune(c)
			state = quoted
		case state == start && c == '"':
			any, state = true, quoted
		default:
			any, state = true, bare
			field.WriteRune(c)
		}
	}
	if any {
		endRow()
	}
	return rows
}
