package pack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"unicode"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/jsonl"
)

// eachLine calls use with every line of a file, and reports what makes a line
// unreadable. It ends early only with an error of the reader or errStop.
func (v *validator) eachLine(prefix, path string, in io.Reader, use func(line []byte, number int) (*jsonl.Fault, error)) error {
	lines := jsonl.NewLines(in)
	for {
		line, err := lines.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, jsonl.ErrLong):
			v.add(prefix+"_line_too_long", path, lines.Number(), "", "the line is longer than %d bytes; the lines after it were not read", jsonl.MaxLine)
			return nil
		case err != nil:
			return err
		case blankLine(line):
			v.add(prefix+"_line_blank", path, lines.Number(), "", "the line is empty")
			continue
		}
		fault, err := use(line, lines.Number())
		if err != nil {
			return err
		}
		if fault != nil {
			v.add(prefix+"_"+fault.Code, path, lines.Number(), fault.Path, "%s", fault.Message)
		}
	}
}

func blankLine(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

func (v *validator) tasks(m Manifest, path string, in io.Reader) error {
	r := &taskReader{template: m.Template}
	const shortLine = 512 // a guess that keeps the set from growing step by step
	v.ids = make(map[string]struct{}, min(MaxTasks, m.Component(RoleDataset).Bytes/shortLine))
	n, before := 0, v.rep.Errors
	err := v.eachLine("task", path, in, func(line []byte, number int) (*jsonl.Fault, error) {
		if n++; n > MaxTasks {
			v.add("tasks_too_many", path, number, "", "more than %d tasks", MaxTasks)
			return nil, errStop
		}
		t, fault := r.read(line)
		if fault != nil {
			return fault, nil
		}
		known := len(v.ids) // one walk through the set tells whether the id is new
		if v.ids[t.id.String()] = struct{}{}; len(v.ids) == known {
			v.add("task_id_duplicate", path, number, "id", "an earlier task has the same id")
			return nil, nil
		}
		v.rep.Tasks++
		return nil, nil
	})
	if errors.Is(err, errStop) {
		return nil
	}
	if err == nil && n == 0 && v.rep.Errors == before {
		v.add("tasks_none", path, 0, "", "the file has no tasks")
	}
	v.idsKnown = err == nil && v.rep.Errors == before
	return err
}

func (v *validator) fixtures(path string, in io.Reader) error {
	var p jsonl.Parser
	n := 0
	err := v.eachLine("fixture", path, in, func(line []byte, number int) (*jsonl.Fault, error) {
		if n++; n > MaxFixtures {
			v.add("fixtures_too_many", path, number, "", "more than %d fixtures", MaxFixtures)
			return nil, errStop
		}
		f, fault := readFixture(&p, line)
		if fault != nil {
			return fault, nil
		}
		if _, ok := v.ids[f.Task]; !ok && v.idsKnown {
			return &jsonl.Fault{Code: "task_unknown", Path: "task", Message: "the dataset has no such task"}, nil
		}
		v.rep.Fixtures++
		return nil, nil
	})
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

// paper checks a text for people.
func (v *validator) paper(path string, in io.Reader) error {
	raw, err := io.ReadAll(io.LimitReader(in, MaxPaperBytes+1))
	if err != nil {
		return err
	}
	if len(raw) > MaxPaperBytes {
		v.add("paper_too_large", path, 0, "", "the text is longer than %d bytes", MaxPaperBytes)
		return nil
	}
	line, blank := 1, true
	for len(raw) > 0 {
		r, n := utf8.DecodeRune(raw)
		switch {
		case r == utf8.RuneError && n == 1, r != '\n' && r != '\r' && r != '\t' && unicode.IsControl(r):
			v.add("paper_encoding", path, line, "", "not plain UTF-8 text")
			return nil
		case r == '\n':
			line++
		}
		blank = blank && unicode.IsSpace(r)
		raw = raw[n:]
	}
	if blank {
		v.add("paper_blank", path, 0, "", "the text is blank")
	}
	return nil
}

// Tasks streams the tasks of a valid package in their order. An error ends it;
// for a package that Validate has passed there is none but of reading.
func Tasks(ctx context.Context, fsys fs.FS, m Manifest) iter.Seq2[bundle.Task, error] {
	prompt := Prompt{}
	if m.Prompt != nil {
		prompt = *m.Prompt
	}
	return func(yield func(bundle.Task, error) bool) {
		r := &taskReader{template: m.Template}
		err := componentLines(ctx, fsys, m, RoleDataset, func(line []byte, number int) error {
			t, fault := r.read(line)
			if fault != nil {
				return fmt.Errorf("line %d: %w", number, fault)
			}
			if !yield(t.task(prompt), nil) {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(bundle.Task{}, err)
		}
	}
}

// TasksOf reads the tasks of a valid package that are wanted, by their ids.
func TasksOf(ctx context.Context, fsys fs.FS, m Manifest, wanted func(id string) bool) (map[string]bundle.Task, error) {
	all := map[string]bundle.Task{}
	for t, err := range Tasks(ctx, fsys, m) {
		if err != nil {
			return nil, err
		}
		if wanted(t.ID) {
			all[t.ID] = t
		}
	}
	return all, nil
}

// Fixtures streams the fixtures of a valid package in their order.
func Fixtures(ctx context.Context, fsys fs.FS, m Manifest) iter.Seq2[Fixture, error] {
	return func(yield func(Fixture, error) bool) {
		var p jsonl.Parser
		err := componentLines(ctx, fsys, m, RoleFixtures, func(line []byte, number int) error {
			f, fault := readFixture(&p, line)
			if fault != nil {
				return fmt.Errorf("line %d: %w", number, fault)
			}
			f.Line = number
			if !yield(f, nil) {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(Fixture{}, err)
		}
	}
}

func componentLines(ctx context.Context, fsys fs.FS, m Manifest, role string, use func(line []byte, number int) error) error {
	c := m.Component(role)
	if c == nil {
		return fmt.Errorf("read %s: the package has none", role)
	}
	f, err := fsys.Open(c.Path)
	if err != nil {
		return fmt.Errorf("open %s: %w", c.Path, err)
	}
	defer f.Close() // read only
	lines := jsonl.NewLines(f)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = use(line, lines.Number())
		}
		if errors.Is(err, errStop) {
			return err
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", c.Path, err)
		}
	}
}
