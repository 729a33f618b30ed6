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
	line := make([]string, 0, 24)
	for _, c := range csvColumns(metric) {
		line = append(line, cell(c))
	}
	writeLine(w, line)
	for row, err := range s.Rows(ctx, r, 0) {
		if err != nil {
			return err
		}
		a, err := s.Answer(ctx, r, row)
		if err != nil {
			return err
		}
		writeLine(w, csvLine(line[:0], r, row, a))
	}
	return w.Flush()
}

func csvLine(line []string, r Run, row Row, a Answer) []string {
	score, in, out := "", "", ""
	if row.Score != nil {
		score = strconv.FormatFloat(*row.Score, 'g', -1, 64)
	}
	if a.Usage != nil {
		in, out = strconv.FormatInt(a.Usage.InputTokens(), 10), strconv.FormatInt(a.Usage.OutputTokens(), 10)
	}
	text, withheld := "", ""
	if a.Text != nil {
		text = *a.Text
	}
	if a.Expired {
		withheld = "expired"
	}
	graderID, graderVersion := graderOf(row)
	return append(line,
		cell(string(r.Quote.Profile.ID)), cell(row.TaskID), strconv.Itoa(row.Attempt), cell(row.Status), cell(string(row.Outcome)), cell(row.Code),
		score, cell(text), cell(withheld), cell(a.SHA256), in, out, row.Charge.Wire(), cell(a.Finish), cell(graderID), cell(graderVersion),
		cell(string(originOf(r, row))), strconv.FormatBool(reused(row)))
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

func writeLine(w *bufio.Writer, cells []string) {
	w.WriteString(strings.Join(cells, ","))
	w.WriteString("\r\n")
}

// cell quotes text with its line breaks, as the hash beside it is of all of it.
// Characters that move a cursor, hide or reorder text stand visibly in their
// place: the file is read in terminals too. Text that a spreadsheet would take
// for a formula gets a leading apostrophe: a model's answer must not become a
// program on the desk of whoever opens the file.
func cell(s string) string {
	risky := formula(s) // before invisible characters get a face
	// Block would make one break of CR LF, which another hash belongs to.
	lines := strings.Split(s, "\r\n")
	for i, l := range lines {
		lines[i] = string(plain.Block(l))
	}
	s = strings.Join(lines, "\r\n")
	if risky || formula(s) {
		s = "'" + s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
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
