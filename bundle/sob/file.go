package sob

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Quality counts what is wrong with records apart from their answers' content.
type Quality struct {
	ParseFailed       int // json_parse_fail_count
	NotStructured     int // json_non_structured_root_count
	InvalidSchema     int // invalid_schema_input_count
	UnknownDifficulty int // unknown_difficulty_count
	MalformedLines    int // malformed_jsonl_line_count; no record counts here
}

// Count adds a scored record.
func (q *Quality) Count(r *Row) {
	for counter, bad := range map[*int]bool{
		&q.ParseFailed:       r.Scores[ParseSuccess] == 0,
		&q.NotStructured:     r.Scores[RootStructured] == 0,
		&q.InvalidSchema:     r.Scores[SchemaValid] == 0,
		&q.UnknownDifficulty: !r.Known,
	} {
		if bad {
			*counter++
		}
	}
}

// ErrMalformed says that a line of a response file is no JSON. Such a line is
// counted and holds no record.
var ErrMalformed = errors.New("malformed line")

// EvaluateLines scores the records of a response file, one JSON text a line,
// as they are read. Blank lines are passed over. A record that cannot be scored,
// and a malformed line, comes with an error that names its line; the records
// behind it follow. An error of the reader is the last.
func EvaluateLines(r io.Reader, m Modality) iter.Seq2[Evaluation, error] {
	return func(yield func(Evaluation, error) bool) {
		in := bufio.NewReaderSize(r, 1<<16)
		for n := 1; ; {
			text, readErr := in.ReadString('\n')
			if readErr != nil && readErr != io.EOF {
				yield(Evaluation{}, fmt.Errorf("read line %d: %w", n, readErr))
				return
			}
			text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
			for line := range strings.SplitSeq(text, "\r") { // a line end too, as in Python's text files
				if !evaluateLine(n, str.Strip(line), m, yield) {
					return
				}
				n++
			}
			if readErr == io.EOF {
				return
			}
		}
	}
}

// evaluateLine yields what a line holds and reports whether to go on.
func evaluateLine(n int, text string, m Modality, yield func(Evaluation, error) bool) bool {
	if text == "" {
		return true
	}
	e, err := evaluateText(text, m)
	if err != nil {
		err = fmt.Errorf("line %d: %w", n, err)
	}
	return yield(e, err)
}

func evaluateText(text string, m Modality) (Evaluation, error) {
	if !utf8.ValidString(text) {
		return Evaluation{}, pycompat.Raise("UnicodeDecodeError", "the line is not UTF-8")
	}
	record, err := value.Loads(text)
	if pycompat.Class(err) == "JSONDecodeError" {
		return Evaluation{}, ErrMalformed
	}
	if err != nil {
		return Evaluation{}, err
	}
	return EvaluateRecord(record, m)
}

// Report is what SOB's eval_summary file holds.
type Report struct {
	// Source names the response file; the report repeats it.
	Source   string
	Modality Modality
	Models   []string // sorted, each once
	Quality  Quality
	Plain    Summary
	Weighted Summary
	// TopMissingTruth and TopMissingRequired are the paths that most records
	// lack, for images alone.
	TopMissingTruth    []PathCount
	TopMissingRequired []PathCount
}

// PathCount is a path and how many records lack it.
type PathCount struct {
	Path  any // a text, unless a schema was not valid
	Count int
}

// topPaths is how many of the most missed paths a report lists.
const topPaths = 20

// Derive makes the report of scored records, in their order. It is all that a
// report depends on, so one can be derived again from records that were scored
// in several runs.
func Derive(source string, m Modality, scored []Evaluation, malformed int, b Bootstrap) (Report, error) {
	out := Report{Source: source, Modality: m, Quality: Quality{MalformedLines: malformed}}
	rows := make([]Row, len(scored))
	for i := range scored {
		rows[i] = scored[i].Row
		out.Quality.Count(&rows[i])
		name, ok := rows[i].ModelID.(string)
		if !ok {
			return Report{}, fmt.Errorf("derive a report: record %s: %w", value.Str(rows[i].RecordID),
				pycompat.Raise("TypeError", "the model id is of type '%s'", value.TypeName(rows[i].ModelID)))
		}
		out.Models = append(out.Models, name)
	}
	slices.Sort(out.Models)
	out.Models = slices.Compact(out.Models)
	out.Plain = Summarize(rows, false, b)
	out.Weighted = Summarize(rows, true, b)
	if m != Image {
		return out, nil
	}
	var truth, required counter
	for i := range scored {
		for _, p := range scored[i].MissingTruth {
			if err := truth.add(p); err != nil {
				return Report{}, err
			}
		}
		for _, p := range scored[i].MissingRequired {
			if err := required.add(p); err != nil {
				return Report{}, err
			}
		}
	}
	out.TopMissingTruth, out.TopMissingRequired = truth.top(topPaths), required.top(topPaths)
	return out, nil
}

// counter is a Python Counter: equal counts stay in the order of first sight.
type counter struct {
	list []PathCount
	at   map[any]int
}

func (c *counter) add(path any) error {
	key, err := value.Key(path)
	if err != nil {
		return fmt.Errorf("count missing paths: %w", err)
	}
	if c.at == nil {
		c.at = map[any]int{}
	}
	i, ok := c.at[key]
	if !ok {
		i = len(c.list)
		c.at[key] = i
		c.list = append(c.list, PathCount{Path: path})
	}
	c.list[i].Count++
	return nil
}

func (c *counter) top(n int) []PathCount {
	slices.SortStableFunc(c.list, func(a, b PathCount) int { return b.Count - a.Count })
	return c.list[:min(n, len(c.list))]
}
