package datafile

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// rowsAtOnce is how many rows are held.
const rowsAtOnce = 64

// errMost says that the rows come to more than a data file may.
var errMost = fault("data_too_large", "the rows come to more than %d bytes as JSON lines", bundle.MaxDataBytes)

var errBroken = fault("parquet_broken", "the file is not a readable Parquet file")

// Lines writes the rows of a Parquet file as JSON lines, one Write a row, and
// answers its columns. Text, numbers, truth values, lists of them and groups
// of all these are read, columns of other types are left out. A value that is
// absent is null.
func Lines(ctx context.Context, r io.ReaderAt, size int64, w io.Writer) (columns []string, err error) {
	defer func() {
		// The library indexes into pages by what they say of themselves. What a
		// broken page makes it do is a fault of the file.
		if p := recover(); p != nil {
			err = errBroken
		}
	}()
	f, err := openParquet(r, size)
	if err != nil {
		return nil, err
	}
	shape, err := shapeOf(f.Root())
	if err != nil {
		return nil, err
	}
	if f.NumRows() > core.MaxSourceRows {
		return nil, fault("rows_too_many", "the file has more than %d rows", core.MaxSourceRows)
	}
	out := &lineWriter{w: w, left: bundle.MaxDataBytes}
	for _, g := range f.RowGroups() {
		if err := writeGroup(ctx, g, shape, out); err != nil {
			return nil, err
		}
	}
	return shape.names(), nil
}

func writeGroup(ctx context.Context, g parquet.RowGroup, shape *node, out *lineWriter) (err error) {
	rows := g.Rows()
	defer func() { err = errors.Join(err, rows.Close()) }()
	batch := make([]parquet.Row, rowsAtOnce)
	for {
		n, err := rows.ReadRows(batch)
		for _, row := range batch[:n] {
			if err := out.row(shape, row); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil || n == 0:
			return errBroken
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
}

// lineWriter writes rows as lines, up to a size.
type lineWriter struct {
	w    io.Writer
	left int64
	rows int
	line []byte
}

func (o *lineWriter) row(shape *node, row parquet.Row) error {
	if o.rows++; o.rows > core.MaxSourceRows {
		return fault("rows_too_many", "the file has more than %d rows", core.MaxSourceRows)
	}
	values := map[int][]parquet.Value{}
	row.Range(func(column int, v []parquet.Value) bool {
		values[column] = v
		return true
	})
	line, err := shape.appendTo(o.line[:0], values)
	if err != nil {
		return fault("row_value", "row %d: %s", o.rows, err)
	}
	o.line = append(line, '\n')
	if len(line) > bundle.MaxRowBytes {
		return fault("row_too_large", "row %d is longer than %d bytes as JSON", o.rows, bundle.MaxRowBytes)
	}
	if o.left -= int64(len(o.line)); o.left < 0 {
		return errMost
	}
	_, err = o.w.Write(o.line)
	return err
}

// node is a part of the schema that is read: a group, a value, or a list of
// values.
type node struct {
	name   string
	fields []*node // of a group
	column int     // of a leaf
	list   bool
	kind   parquet.Kind
	// unsigned integers are kept as signed ones.
	unsigned bool
	// Of a list: the definition levels from which on it is there, and has an
	// element.
	listed, filled int
}

// maxDepth bounds groups in groups.
const maxDepth = 8

func shapeOf(root *parquet.Column) (*node, error) {
	top := &node{}
	for _, c := range root.Columns() {
		if c.Name() == "" || len(c.Name()) > 200 || !utf8.ValidString(c.Name()) || slices.ContainsFunc(top.fields, func(n *node) bool { return n.name == c.Name() }) {
			return nil, fault("column_name", "the names of columns are different texts of 1 to 200 bytes")
		}
		if n := read(c, 1); n != nil {
			top.fields = append(top.fields, n)
		}
	}
	if len(top.fields) > core.MaxSourceColumns {
		return nil, fault("columns_too_many", "the file has more than %d columns", core.MaxSourceColumns)
	}
	return top, nil
}

// read is the node of a column; nil for one that is left out.
func read(c *parquet.Column, depth int) *node {
	switch {
	case depth > maxDepth:
		return nil
	case c.Leaf():
		return leaf(c, c.Name(), 0, c.MaxDefinitionLevel())
	case c.MaxRepetitionLevel() > 0:
		return nil
	}
	if only := c.Columns(); len(only) == 1 && only[0].MaxRepetitionLevel() == 1 {
		inner := only[0]
		if !inner.Leaf() && len(inner.Columns()) == 1 { // the three levels of a list
			inner = inner.Columns()[0]
		}
		if inner.Leaf() {
			return leaf(inner, c.Name(), c.MaxDefinitionLevel(), only[0].MaxDefinitionLevel())
		}
		return nil
	}
	n := &node{name: c.Name(), column: -1}
	for _, f := range c.Columns() {
		if inner := read(f, depth+1); inner != nil && utf8.ValidString(inner.name) {
			n.fields = append(n.fields, inner)
		}
	}
	if len(n.fields) == 0 {
		return nil
	}
	return n
}

func leaf(c *parquet.Column, name string, listed, filled int) *node {
	n := &node{name: name, column: c.Index(), list: c.MaxRepetitionLevel() == 1, kind: c.Type().Kind(), listed: listed, filled: filled}
	if c.MaxRepetitionLevel() > 1 || !readable(c.Type(), n) {
		return nil
	}
	return n
}

// readable says whether values of a type are read: those that JSON has.
func readable(t parquet.Type, n *node) bool {
	logical := t.LogicalType()
	what := ""
	if logical != nil && logical.Value != nil {
		what = logical.String()
	}
	switch n.kind {
	case parquet.Boolean, parquet.Float, parquet.Double:
		return what == ""
	case parquet.ByteArray:
		return what == "STRING" || what == "JSON" || what == "ENUM"
	case parquet.Int32, parquet.Int64:
		n.unsigned = len(what) > 4 && what[len(what)-6:] == "false)"
		return what == "" || len(what) > 3 && what[:3] == "INT"
	}
	return false
}

func (n *node) names() []string {
	out := make([]string, len(n.fields))
	for i, f := range n.fields {
		out[i] = f.name
	}
	return out
}

func (n *node) appendTo(b []byte, values map[int][]parquet.Value) ([]byte, error) {
	if n.fields == nil {
		return n.appendLeaf(b, values[n.column])
	}
	b = append(b, '{')
	for i, f := range n.fields {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendText(b, f.name); err != nil {
			return nil, err
		}
		b = append(b, ':')
		if b, err = f.appendTo(b, values); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func (n *node) appendLeaf(b []byte, values []parquet.Value) ([]byte, error) {
	if !n.list {
		if len(values) != 1 {
			return nil, errValues
		}
		return n.appendValue(b, values[0])
	}
	// A list without elements has one value, which is not there.
	switch {
	case len(values) == 0:
		return nil, errValues
	case values[0].DefinitionLevel() < n.listed:
		return append(b, "null"...), nil
	case values[0].DefinitionLevel() < n.filled:
		return append(b, "[]"...), nil
	}
	b = append(b, '[')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = n.appendValue(b, v); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

var (
	errValues = errors.New("a column has not one value")
	errFinite = errors.New("a number is not finite")
	errText   = errors.New("a text is not valid UTF-8")
)

func (n *node) appendValue(b []byte, v parquet.Value) ([]byte, error) {
	if v.IsNull() {
		return append(b, "null"...), nil
	}
	switch n.kind {
	case parquet.Boolean:
		return strconv.AppendBool(b, v.Boolean()), nil
	case parquet.Int32:
		if n.unsigned {
			return strconv.AppendUint(b, uint64(v.Uint32()), 10), nil
		}
		return strconv.AppendInt(b, int64(v.Int32()), 10), nil
	case parquet.Int64:
		if n.unsigned {
			return strconv.AppendUint(b, v.Uint64(), 10), nil
		}
		return strconv.AppendInt(b, v.Int64(), 10), nil
	case parquet.Float:
		return appendNumber(b, float64(v.Float()), 32)
	case parquet.Double:
		return appendNumber(b, v.Double(), 64)
	}
	return appendText(b, string(v.ByteArray()))
}

// appendNumber writes a whole number without a point, as a person would.
func appendNumber(b []byte, f float64, bits int) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, errFinite
	}
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return strconv.AppendInt(b, int64(f), 10), nil
	}
	return strconv.AppendFloat(b, f, 'g', -1, bits), nil
}

func appendText(b []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return nil, errText
	}
	text, err := json.Marshal(s)
	return append(b, text...), err
}
