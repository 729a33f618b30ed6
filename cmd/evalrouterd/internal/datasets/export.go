package datasets

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/plain"
)

// Formats of an export.
const (
	JSONL = "jsonl"
	JSON  = "json"
	CSV   = "csv"
)

// line is an item in an export.
type line struct {
	ID       core.ItemID      `json:"id"`
	Input    json.RawMessage  `json:"input"`
	Expected json.RawMessage  `json:"expected"`
	Metadata json.RawMessage  `json:"metadata"`
	Digest   string           `json:"digest"`
	Source   *core.ItemSource `json:"source"`
}

func lineOf(x core.SealedItem) line {
	return line{ID: x.ID, Input: x.Input, Expected: orNull(x.Expected), Metadata: orNull(x.Metadata), Digest: x.Digest, Source: x.Source}
}

func orNull(b json.RawMessage) json.RawMessage {
	if b == nil {
		return json.RawMessage("null")
	}
	return b
}

// Export writes a version. The same version is the same bytes each time.
func Export(w io.Writer, format string, d core.Dataset, v core.DatasetVersion, items iter.Seq2[core.SealedItem, error]) error {
	out := bufio.NewWriterSize(w, 64<<10)
	var err error
	switch format {
	case CSV:
		err = exportCSV(out, items)
	case JSON:
		fmt.Fprintf(out, `{"schema":"evalrouter.dataset_version.v1","dataset_id":%q,"name":%q,"version":%d,"sha256":%q,"item_count":%d,"items":[`, d.ID, d.Name, v.Version, v.SHA256, v.Items)
		if err = exportLines(out, items, ","); err == nil {
			_, err = out.WriteString("]}\n")
		}
	default:
		err = exportLines(out, items, "")
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

// exportLines writes an item a line, with what stands between two.
func exportLines(w io.Writer, items iter.Seq2[core.SealedItem, error], between string) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	first := true
	for x, err := range items {
		if err != nil {
			return err
		}
		if !first {
			if _, err := io.WriteString(w, between); err != nil {
				return err
			}
		}
		first = false
		if err := enc.Encode(lineOf(x)); err != nil {
			return err
		}
	}
	return nil
}

// exportCSV writes texts as they read and other values as JSON. A spreadsheet
// takes none of them for a formula.
func exportCSV(w io.Writer, items iter.Seq2[core.SealedItem, error]) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"id", "input", "expected", "metadata", "digest"}); err != nil {
		return err
	}
	for x, err := range items {
		if err != nil {
			return err
		}
		if err := out.Write([]string{string(x.ID), cell(x.Input), cell(x.Expected), cell(x.Metadata), x.Digest}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func cell(raw json.RawMessage) string {
	s := string(plain.Block(text(raw)))
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

// text is a JSON text as it reads, and any other value as JSON.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// Rows writes a version as a source of a private benchmark: an object a line
// with texts only. input and expected are the whole values; the members of an
// input or expected answer that is an object stand beside them as input_NAME
// and expected_NAME, and of messages the last one of a user is question.
func Rows(w io.Writer, items iter.Seq2[core.SealedItem, error]) error {
	out := bufio.NewWriterSize(w, 64<<10)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for x, err := range items {
		if err != nil {
			return err
		}
		row := map[string]string{"id": string(x.ID), "input": text(x.Input), "expected": text(orEmpty(x.Expected)), "question": question(x.Input)}
		members(row, "input_", x.Input)
		members(row, "expected_", x.Expected)
		if err := enc.Encode(row); err != nil {
			return err
		}
	}
	return out.Flush()
}

func orEmpty(b json.RawMessage) json.RawMessage {
	if b == nil {
		return json.RawMessage(`""`)
	}
	return b
}

func members(row map[string]string, prefix string, raw json.RawMessage) {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return
	}
	for name, v := range m {
		row[prefix+name] = text(v)
	}
}

// question is what a model was asked last, or the whole input where it is no
// list of messages.
func question(raw json.RawMessage) string {
	var list []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return text(raw)
	}
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Role == "user" && list[i].Content != nil {
			return text(list[i].Content)
		}
	}
	return text(raw)
}
