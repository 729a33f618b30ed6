package bundle

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/internal/strict"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// maker turns rows into tasks and remembers the ids it has given out.
type maker struct {
	m       Manifest
	parts   []templatePart
	target  *regexp.Regexp
	choice  *regexp.Regexp
	seen    map[string]bool
	rows    int
	problem *Finding // the first of the current row
}

func newMaker(m Manifest) (*maker, error) {
	mk := &maker{m: m, parts: splitTemplate(m.Prompt.Template), seen: map[string]bool{}}
	for _, p := range []struct {
		to   **regexp.Regexp
		text string
	}{{&mk.target, m.TargetPattern}, {&mk.choice, m.ChoicePattern}} {
		if p.text == "" {
			continue
		}
		re, err := regexp.Compile(p.text)
		if err != nil {
			return nil, fmt.Errorf("read pattern of manifest %s: %w", m.Slug, err)
		}
		if re.NumSubexp() != 1 {
			return nil, fmt.Errorf("read pattern of manifest %s: want exactly one group", m.Slug)
		}
		*p.to = re
	}
	return mk, nil
}

// task makes the task of the next row.
func (mk *maker) task(x row) (Task, *Finding) {
	mk.rows++
	mk.problem = x.wrong
	if mk.rows > MaxRows {
		mk.problem = &Finding{Code: "rows_too_many", Message: fmt.Sprintf("the file has more than %d rows", MaxRows)}
	}
	var t Task
	if mk.problem == nil {
		t = mk.make(x.node)
	}
	if mk.problem != nil {
		f := *mk.problem
		f.Row, f.Line = mk.rows, x.line
		return Task{}, &f
	}
	return t, nil
}

func (mk *maker) wrong(code, column, format string, args ...any) {
	if mk.problem == nil {
		mk.problem = &Finding{Code: code, Path: column, Message: fmt.Sprintf(format, args...)}
	}
}

func (mk *maker) make(n *strict.Node) Task {
	c := mk.m.Columns
	t := Task{ID: mk.id(n), Choices: mk.choices(n)}
	t.Target = mk.targets(n, t.Choices)
	if c.Group != "" {
		t.Group = mk.scalar(n, c.Group)
	}
	if c.Schema != "" {
		t.Schema = mk.schema(n)
	}
	if mk.m.Prompt.System != "" {
		t.Input = append(t.Input, Message{System, mk.m.Prompt.System})
	}
	text := render(mk.parts, func(name string) string {
		if name == choicesPlaceholder && len(c.Choices) > 0 {
			return LetterChoices(t.Choices)
		}
		if name == c.Schema {
			return mk.shown(t.Schema)
		}
		s := mk.scalar(n, name)
		if strings.TrimSpace(s) == "" {
			mk.wrong("row_blank", name, "the column is blank")
		}
		return s
	})
	t.Input = append(t.Input, Message{User, text})
	return t
}

// idShape has no length in it: a pattern that counts to 200 takes every program
// milliseconds to compile at its start.
var idShape = regexp.MustCompile(`^[A-Za-z0-9_.:@+-]+$`)

const maxID = 200

func (mk *maker) id(n *strict.Node) string {
	column := mk.m.Columns.ID
	if column == "" {
		return fmt.Sprintf("%06d", mk.rows-1)
	}
	id := mk.scalar(n, column)
	switch {
	case mk.problem != nil:
	case len(id) > maxID || !idShape.MatchString(id):
		mk.wrong("row_id_invalid", column, "want 1 to 200 characters of letters, digits and _.:@+-")
	case mk.seen[id]:
		mk.wrong("row_id_duplicate", column, "an earlier row has the same id")
	}
	mk.seen[id] = true
	return id
}

// find takes a column out of a row: a key, or a JSON Pointer (RFC 6901) where
// the name starts with a slash. nil if there is none.
func find(n *strict.Node, column string) *strict.Node {
	if !strings.HasPrefix(column, "/") {
		return n.Get(column)
	}
	for part := range strings.SplitSeq(column[1:], "/") {
		if n == nil {
			return nil
		}
		n = n.Get(strings.NewReplacer("~1", "/", "~0", "~").Replace(part))
	}
	return n
}

// schema reads the column of JSON Schemas: an object, or its text.
func (mk *maker) schema(n *strict.Node) json.RawMessage {
	column := mk.m.Columns.Schema
	v := find(n, column)
	if v != nil && v.Kind == strict.String {
		inner, prob := strict.Parse([]byte(v.Text))
		if prob != nil {
			mk.wrong("row_json", column, "not JSON: %s", prob.Message)
			return nil
		}
		v = inner
	}
	switch {
	case v == nil:
		mk.wrong("row_column_missing", column, "the row lacks the column")
	case v.Kind != strict.Object:
		mk.wrong("row_column_type", column, "want a JSON object, got %s", v.Kind)
	default:
		return strict.Written(v)
	}
	return nil
}

// shown is a schema in a prompt: indented by two and in ASCII, as SOB shows it.
func (mk *maker) shown(schema json.RawMessage) string {
	v, err := value.Loads(string(schema))
	if err == nil {
		var text string
		if text, err = (value.Dump{Indent: 2}).Dumps(v); err == nil {
			return text
		}
	}
	mk.wrong("row_json", mk.m.Columns.Schema, "the schema cannot be shown: %v", err)
	return ""
}

// scalar reads a column as text: a number as it is written, true or false.
func (mk *maker) scalar(n *strict.Node, column string) string {
	v := find(n, column)
	switch {
	case v == nil:
		mk.wrong("row_column_missing", column, "the row lacks the column")
	case v.Kind == strict.String || v.Kind == strict.Number || v.Kind == strict.Bool:
		return v.Text
	default:
		mk.wrong("row_column_type", column, "want text or a number, got %s", v.Kind)
	}
	return ""
}

func (mk *maker) list(n *strict.Node, column string) []string {
	v := find(n, column)
	if v == nil {
		mk.wrong("row_column_missing", column, "the row lacks the column")
		return nil
	}
	if v.Kind != strict.Array {
		mk.wrong("row_column_type", column, "want an array, got %s", v.Kind)
		return nil
	}
	var out []string
	for _, it := range v.Items {
		if it.Kind != strict.String && it.Kind != strict.Number && it.Kind != strict.Bool {
			mk.wrong("row_column_type", column, "want an array of texts or numbers")
			return nil
		}
		out = append(out, it.Text)
	}
	return out
}

func (mk *maker) choices(n *strict.Node) []string {
	columns := mk.m.Columns.Choices
	var all []string
	switch len(columns) {
	case 0:
		return nil
	case 1:
		all = mk.list(n, columns[0])
	default:
		for _, c := range columns {
			all = append(all, mk.scalar(n, c))
		}
	}
	for i, s := range all {
		s = strings.TrimSpace(mk.cut(mk.choice, s, "choice_pattern"))
		if s == "" {
			mk.wrong("row_blank", columns[min(i, len(columns)-1)], "an option is blank")
		}
		all[i] = s
	}
	if len(all) < 2 || len(all) > 26 {
		mk.wrong("row_choices", columns[0], "want 2 to 26 options, got %d", len(all))
	}
	return all
}

// cut takes the group of the last match of re out of s.
func (mk *maker) cut(re *regexp.Regexp, s, field string) string {
	if re == nil {
		return s
	}
	all := re.FindAllStringSubmatch(s, -1)
	if len(all) == 0 {
		mk.wrong("row_pattern", field, "the pattern matches nothing in the row")
		return ""
	}
	return all[len(all)-1][1]
}

func (mk *maker) targets(n *strict.Node, choices []string) []string {
	c := mk.m.Columns
	var all []string
	switch c.TargetFormat {
	case "json":
		v := find(n, c.Target)
		switch {
		case v == nil:
			mk.wrong("row_column_missing", c.Target, "the row lacks the column")
		case v.Kind == strict.String: // JSON inside text, as CSV needs it
			all = []string{v.Text}
		case c.Schema != "": // SOB sums over the leaves in the order written
			all = []string{string(strict.Written(v))}
		default:
			all = []string{string(strict.Canonical(v))}
		}
	case "list":
		all = mk.list(n, c.Target)
	default:
		all = []string{mk.scalar(n, c.Target)}
	}
	for i, s := range all {
		all[i] = strings.TrimSpace(mk.cut(mk.target, s, "target_pattern"))
		if all[i] == "" {
			mk.wrong("row_blank", c.Target, "the target is blank")
		}
	}
	if len(all) == 0 {
		mk.wrong("row_blank", c.Target, "the row has no target")
	}
	if len(choices) > 0 && len(all) == 1 {
		all[0] = mk.optionLetter(all[0], choices)
	}
	return all
}

// optionLetter turns a target into the letter of an option.
func (mk *maker) optionLetter(s string, choices []string) string {
	found := -1
	switch mk.m.Columns.TargetFormat {
	case "index":
		if i, err := strconv.Atoi(s); err == nil && i >= 0 && i < len(choices) {
			found = i
		}
	case "choice":
		for i, c := range choices {
			if c == s && found >= 0 {
				found = -1
				break
			}
			if c == s {
				found = i
			}
		}
	default:
		if len(s) == 1 && s[0] >= 'A' && int(s[0]-'A') < len(choices) {
			found = int(s[0] - 'A')
		}
	}
	if found < 0 {
		mk.wrong("row_target_no_choice", mk.m.Columns.Target, "the target does not name exactly one option")
		return ""
	}
	return Letter(found)
}
