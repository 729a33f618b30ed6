package export

import (
	"bufio"
	"context"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/plain"
)

// CSVText says in an HTTP header how text stands in the file.
const CSVText = "line breaks of an answer stand in its quoted cell; controls and bidirectional marks shown as \\x1b or <U+202E>; a leading apostrophe before = + - @; answer_sha256 is of the unchanged answer"

// csvColumns is the header line. Columns that hold text are made safe to show
// (see cell); the numeric ones are numbers. answer_sha256 is the hash of the
// answer as it came, which the JSON export holds unchanged.
func csvColumns(metric string) []string {
	return []string{
		"profile_id", "task_id", "attempt", "status", "outcome", "error_code", "score_" + metric, "answer", "answer_withheld", "answer_sha256",
		"input_tokens", "output_tokens", "charge_microusd", "finish_reason", "grader_id", "grader_version", "origin_run_id", "reused",
	}
}

// CSV writes one line a planned task, after RFC 4180 with every text quoted.
// The same run gives the same bytes.
func (s Source) CSV(ctx context.Context, r Run, metric string, out io.Writer) error {
	w := bufio.NewWriterSize(out, 64<<10)
	var line []byte
	for i, c := range csvColumns(metric) {
		if i > 0 {
			line = append(line, ',')
		}
		line = cell(line, c)
	}
	w.Write(append(line, "\r\n"...))
	reader := s.Reader(r)
	for row, err := range s.Brief(ctx, r) {
		if err != nil {
			return err
		}
		a, err := reader.Answer(ctx, row)
		if err != nil {
			return err
		}
		line = append(csvLine(line[:0], r, row, a), "\r\n"...)
		w.Write(line)
	}
	return w.Flush()
}

func csvLine(b []byte, r Run, row Row, a Answer) []byte {
	text, withheld := "", ""
	if a.Text != nil {
		text = *a.Text
	}
	if a.Expired {
		withheld = "expired"
	}
	graderID, graderVersion := graderOf(row)
	b = append(cell(b, string(r.Quote.Profile.ID)), ',')
	b = append(cell(b, row.TaskID), ',')
	b = append(strconv.AppendInt(b, int64(row.Attempt), 10), ',')
	b = append(cell(b, row.Status), ',')
	b = append(cell(b, string(row.Outcome)), ',')
	b = append(cell(b, row.Code), ',')
	if row.Score != nil {
		b = strconv.AppendFloat(b, *row.Score, 'g', -1, 64)
	}
	b = append(cell(append(b, ','), text), ',')
	b = append(cell(b, withheld), ',')
	b = append(cell(b, a.SHA256), ',')
	if a.Usage != nil {
		b = append(strconv.AppendInt(b, a.Usage.InputTokens(), 10), ',')
		b = strconv.AppendInt(b, a.Usage.OutputTokens(), 10)
	} else {
		b = append(b, ',')
	}
	b = append(append(append(b, ','), row.Charge.Wire()...), ',')
	b = append(cell(b, a.Finish), ',')
	b = append(cell(b, graderID), ',')
	b = append(cell(b, graderVersion), ',')
	b = append(cell(b, string(originOf(r, row))), ',')
	return strconv.AppendBool(b, reused(row))
}

// originOf is the run in which a task was asked.
func originOf(r Run, row Row) core.RunID {
	if row.Origin == core.OriginReused || row.Origin == core.OriginSaved {
		return row.OriginRun
	}
	return r.ID
}

func reused(row Row) bool { return row.Origin == core.OriginReused }

// graderOf is what graded a task, "" for nothing.
func graderOf(row Row) (id, version string) {
	id, version, _ = strings.Cut(row.Grader, "@")
	return id, version
}

// cell quotes text with its line breaks, as the hash beside it is of all of it.
// Characters that move a cursor, hide or reorder text stand visibly in their
// place: the file is read in terminals too. Text that a spreadsheet would take
// for a formula gets a leading apostrophe: a model's answer must not become a
// program on the desk of whoever opens the file.
func cell(b []byte, s string) []byte {
	b = append(b, '"')
	if harmless(s) {
		return append(append(b, s...), '"')
	}
	risky := formula(s) // before invisible characters get a face
	// Block would make one break of CR LF, which another hash belongs to.
	lines := strings.Split(s, "\r\n")
	for i, l := range lines {
		lines[i] = string(plain.Block(l))
	}
	s = strings.Join(lines, "\r\n")
	if risky || formula(s) {
		b = append(b, '\'')
	}
	return append(append(b, strings.ReplaceAll(s, `"`, `""`)...), '"')
}

// harmless says that text stands in a cell as it is: letters, marks and line
// breaks of ASCII that begin with a letter or a digit.
func harmless(s string) bool {
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		case i == 0, c == '"', c != '\n' && c < ' ', c > '~':
			return false
		}
	}
	return true
}

// formula says that text begins, after space and invisible characters, with a
// sign that starts a formula, in its usual or its full width.
func formula(s string) bool {
	for _, r := range s {
		switch r {
		case '=', '+', '-', '@', '\t', '\r', '\uFF1D', '\uFF0B', '\uFF0D', '\uFF20':
			return true
		}
		if !unicode.IsSpace(r) && !unicode.In(r, unicode.Cf, unicode.Cc) {
			return false
		}
	}
	return false
}
