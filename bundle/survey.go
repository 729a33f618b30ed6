package bundle

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/internal/strict"
)

// MaxColumns is how many columns the rows of a file may have between them.
const MaxColumns = 1_000

// maxColumnName bounds the name of a column, in bytes.
const maxColumnName = 200

// Survey is what a data file holds, before anybody says what it means.
type Survey struct {
	Rows int
	// Columns are the names in the order in which they first stand.
	Columns []string
}

// Look reads a whole data file as Load would, whatever its columns mean. It
// fails with a *Finding for the first thing that is wrong with it.
func (d Data) Look(ctx context.Context, r io.Reader) (Survey, error) {
	var s Survey
	seen := map[string]bool{}
	err := readRows(ctx, d, r, func(x row) error {
		s.Rows++
		if x.wrong != nil {
			f := *x.wrong
			f.Row = s.Rows
			return &f
		}
		if s.Rows > MaxRows {
			return &Finding{Code: "rows_too_many", Row: s.Rows, Line: x.line, Message: fmt.Sprintf("the file has more than %d rows", MaxRows)}
		}
		for _, m := range x.node.Members {
			if seen[m.Key] {
				continue
			}
			if f := nameColumn(m, len(s.Columns)); f != nil {
				f.Row, f.Line = s.Rows, x.line
				return f
			}
			name := strings.Clone(m.Key)
			seen[name] = true
			s.Columns = append(s.Columns, name)
		}
		return nil
	})
	switch {
	case err != nil:
		return s, err
	case s.Rows == 0:
		return s, &Finding{Code: "rows_none", Message: "the file has no rows"}
	}
	return s, nil
}

func nameColumn(m strict.Member, before int) *Finding {
	switch {
	case m.Key == "" || len(m.Key) > maxColumnName:
		return &Finding{Code: "column_name", Message: fmt.Sprintf("the name of a column has 1 to %d bytes", maxColumnName)}
	case before >= MaxColumns:
		return &Finding{Code: "columns_too_many", Message: fmt.Sprintf("the rows have more than %d columns between them", MaxColumns)}
	}
	return nil
}
