package bundle

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/bundle/internal/strict"
)

// row is one data row with its place. A row that could not be read has a
// finding instead of a value.
type row struct {
	node  *strict.Node
	line  int
	wrong *Finding
}

// errStop ends reading because the consumer wants no more.
var errStop = errors.New("stop")

// readRows streams the rows of a data file to yield. A *Finding as error means
// that the rest of the file cannot be read.
func readRows(ctx context.Context, d Data, r io.Reader, yield func(row) error) error {
	br := bufio.NewReaderSize(r, 64<<10)
	head, err := br.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		if _, err := br.Discard(3); err != nil {
			return err
		}
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return &Finding{Code: "data_encoding", Message: "the file is UTF-16; convert it to UTF-8"}
	}
	checked := func(x row) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return yield(x)
	}
	switch d.Format {
	case "csv":
		return readCSV(br, checked)
	case "json":
		return readArray(br, d.Rows, checked)
	}
	return readLines(br, checked)
}

// readLines reads JSONL. Lines of white space are passed over.
func readLines(r *bufio.Reader, yield func(row) error) error {
	for line := 1; ; line++ {
		text, err := boundedLine(r)
		if err != nil && !errors.Is(err, io.EOF) {
			return lineError(err, line)
		}
		if len(bytes.TrimSpace(text)) > 0 {
			if err := yield(objectRow(text, line)); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

var errLong = errors.New("line too long")

func boundedLine(r *bufio.Reader) ([]byte, error) {
	var out []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(out)+len(part) > MaxRowBytes+1 {
			return nil, errLong
		}
		out = append(out, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return out, err
		}
	}
}

func lineError(err error, line int) error {
	if errors.Is(err, errLong) {
		return &Finding{Code: "row_too_large", Line: line, Message: fmt.Sprintf("the line is longer than %d bytes", MaxRowBytes)}
	}
	return err
}

func objectRow(text []byte, line int) row {
	n, prob := strict.Parse(text)
	if prob == nil && n.Kind != strict.Object {
		prob = &strict.Problem{Code: strict.CodeType, Message: "want an object, got " + n.Kind.String()}
	}
	if prob != nil {
		return row{line: line, wrong: &Finding{Code: "row_" + prob.Code, Line: line, Path: prob.Path, Message: prob.Message}}
	}
	return row{node: n, line: line}
}

// readArray reads a JSON array of objects, or the array under one key of a
// root object whose other values are passed over.
func readArray(r io.Reader, key string, yield func(row) error) error {
	dec := json.NewDecoder(r)
	broken := func(code, message string) error {
		return &Finding{Code: code, Message: fmt.Sprintf("%s, near byte %d", message, dec.InputOffset())}
	}
	open := func(want json.Delim) error {
		t, err := dec.Token()
		if err != nil {
			return tokenError(err, broken)
		}
		if t != want {
			return broken("data_shape", "want the data to be an array of objects"+underKey(key))
		}
		return nil
	}
	if key != "" {
		if err := open('{'); err != nil {
			return err
		}
		if err := seek(dec, key, broken); err != nil {
			return err
		}
	}
	if err := open('['); err != nil {
		return err
	}
	for dec.More() {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return tokenError(err, broken)
		}
		if len(raw) > MaxRowBytes {
			return broken("row_too_large", fmt.Sprintf("the row is longer than %d bytes", MaxRowBytes))
		}
		if err := yield(objectRow(raw, 0)); err != nil {
			return err
		}
	}
	return finishArray(dec, key, broken)
}

func underKey(key string) string {
	if key == "" {
		return ""
	}
	return " under the declared key"
}

// seek moves to the value of key in the object that dec stands in.
func seek(dec *json.Decoder, key string, broken func(string, string) error) error {
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return tokenError(err, broken)
		}
		if t == key {
			return nil
		}
		var skipped json.RawMessage
		if err := dec.Decode(&skipped); err != nil {
			return tokenError(err, broken)
		}
	}
	return broken("data_shape", "the root object lacks the declared key")
}

// finishArray reads what follows the rows, so that a cut file is not taken for
// a whole one and a second array under the same key is refused.
func finishArray(dec *json.Decoder, key string, broken func(string, string) error) error {
	if _, err := dec.Token(); err != nil {
		return tokenError(err, broken)
	}
	if key != "" {
		if err := seek(dec, key, broken); err == nil {
			return broken("data_shape", "the declared key stands twice")
		}
		if _, err := dec.Token(); err != nil {
			return tokenError(err, broken)
		}
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return broken("data_syntax", "there is more text after the JSON value")
	}
	return nil
}

func tokenError(err error, broken func(string, string) error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return broken("data_syntax", "not valid JSON")
	}
	return err
}

// readCSV reads a header line and rows of as many cells.
func readCSV(r io.Reader, yield func(row) error) error {
	cr := csv.NewReader(r)
	header, err := cr.Read()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return csvError(err)
	}
	seen := map[string]bool{}
	for _, h := range header {
		if seen[h] {
			return &Finding{Code: "data_shape", Line: 1, Message: "two columns have the same name"}
		}
		seen[h] = true
	}
	for {
		cells, err := cr.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return csvError(err)
		}
		line, _ := cr.FieldPos(0)
		if err := yield(cellRow(header, cells, line)); err != nil {
			return err
		}
	}
}

func cellRow(header, cells []string, line int) row {
	n := &strict.Node{Kind: strict.Object}
	size := 0
	for i, c := range cells {
		size += len(c)
		if !utf8.ValidString(c) {
			return row{line: line, wrong: &Finding{Code: "row_json_encoding", Line: line, Path: strict.Join("", header[i]), Message: "the text is not valid UTF-8"}}
		}
		n.Members = append(n.Members, strict.Member{Key: header[i], Value: &strict.Node{Path: strict.Join("", header[i]), Kind: strict.String, Text: c}})
	}
	if size > MaxRowBytes {
		return row{line: line, wrong: &Finding{Code: "row_too_large", Line: line, Message: fmt.Sprintf("the row is longer than %d bytes", MaxRowBytes)}}
	}
	return row{node: n, line: line}
}

func csvError(err error) error {
	var p *csv.ParseError
	if !errors.As(err, &p) {
		return err
	}
	message := "not valid CSV"
	if errors.Is(p.Err, csv.ErrFieldCount) {
		message = "the row has another number of cells than the header"
	}
	return &Finding{Code: "data_syntax", Line: p.Line, Message: message}
}
