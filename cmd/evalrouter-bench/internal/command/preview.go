package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/families"
	"github.com/evalrouter/evalrouter/bundle/pack"
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/cmd/evalrouter-bench/internal/argv"
)

// previewFlags are what a person chooses to see.
type previewFlags struct {
	tasks   []string
	limit   int
	outputs string
}

func (a *App) previewCommand() *argv.Command {
	f := previewFlags{limit: 3}
	return &argv.Command{
		Name: "preview", Args: "DIR_OR_BUNDLE", Short: "Show what a model is asked and how answers are graded", Operands: [2]int{1, 1},
		Long: "Without --outputs the answers are the package's fixtures. An output is a line of\nJSON: {\"task\": ID, \"output\": TEXT, \"finish\": \"stop\" or \"length\"}.",
		Flags: []argv.Flag{
			{Long: "task", Value: "ID", Usage: "a task to show; may be repeated", Repeat: true, Set: func(s string) error { f.tasks = append(f.tasks, s); return nil }},
			{Long: "limit", Value: "N", Usage: "how many tasks to show, 0 for none (3)", Set: func(s string) (err error) {
				if f.limit, err = strconv.Atoi(s); err != nil || f.limit < 0 || f.limit > 1000 {
					return errors.New("want a whole number from 0 to 1000")
				}
				return nil
			}},
			argv.Text(&f.outputs, "outputs", "FILE", "answers to grade, - for stdin"),
		},
		Examples: []string{Program + " preview ./my-benchmark --limit 1", Program + " preview ./my-benchmark --outputs answers.jsonl --json"},
		Run:      func(ctx context.Context, operands []string) error { return a.preview(ctx, operands[0], f) },
	}
}

// preview is the document that is shown.
type preview struct {
	Tasks    []shownTask            `json:"tasks"`
	Graded   int                    `json:"graded"`
	Right    int                    `json:"right"`
	Outcomes map[bundle.Outcome]int `json:"outcomes"`
	Grader   bundle.Identity        `json:"grader"`
}

type shownTask struct {
	bundle.Task
	Grades []shownGrade `json:"grades"`
}

type shownGrade struct {
	Line   int            `json:"line"`
	Output string         `json:"output"`
	Finish bundle.Finish  `json:"finish"`
	Expect bundle.Outcome `json:"expect,omitempty"`
	bundle.Verdict
}

func (a *App) preview(ctx context.Context, path string, f previewFlags) (err error) {
	s, err := open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	m, _, err := s.manifest(ctx)
	if err != nil {
		return err
	}
	g, err := families.Grader(m.Config())
	if err != nil {
		return err
	}
	outputs, err := a.outputs(ctx, s, m, f.outputs)
	if err != nil {
		return err
	}
	p, err := grade(ctx, s, m, g, outputs, f)
	if err != nil {
		return err
	}
	return a.value(p, func() { a.showPreview(p, len(f.tasks) > 0 || f.limit > 0) })
}

// outputs are the answers by their tasks, in order.
func (a *App) outputs(ctx context.Context, s *source, m pack.Manifest, file string) (map[string][]pack.Fixture, error) {
	all := map[string][]pack.Fixture{}
	seq := pack.Fixtures(ctx, s, m)
	switch file {
	case "":
	case "-":
		seq = pack.ReadOutputs("stdin", a.In)
	default:
		in, err := os.Open(file)
		if err != nil {
			return nil, &failure{code: codeInput, message: file + ": " + cause(err), facts: []string{"nothing was graded"}}
		}
		defer in.Close() // read only
		seq = pack.ReadOutputs(file, io.Reader(in))
	}
	for f, err := range seq {
		if err != nil {
			return nil, err
		}
		all[f.Task] = append(all[f.Task], f)
	}
	return all, nil
}

// grade goes through the tasks once: it grades every output and keeps the
// tasks that are shown.
func grade(ctx context.Context, s *source, m pack.Manifest, g bundle.Grader, outputs map[string][]pack.Fixture, f previewFlags) (preview, error) {
	p := preview{Tasks: []shownTask{}, Outcomes: map[bundle.Outcome]int{}, Grader: g.Identity()}
	found := map[string]bool{}
	for t, err := range pack.Tasks(ctx, s, m) {
		if err != nil {
			return p, err
		}
		shown := shownTask{Task: t, Grades: []shownGrade{}}
		for _, o := range outputs[t.ID] {
			v, err := g.Grade(t, o.Answer)
			if err != nil {
				return p, &failure{code: codePackage, message: "task " + t.ID + " cannot be graded: " + err.Error(), next: []string{Program + " lint " + shellWord(s.path)}}
			}
			p.Graded++
			p.Outcomes[v.Outcome]++
			if v.Outcome == bundle.Right {
				p.Right++
			}
			shown.Grades = append(shown.Grades, shownGrade{Line: o.Line, Output: o.Answer.Text, Finish: o.Answer.Finish, Expect: o.Expect, Verdict: v})
		}
		delete(outputs, t.ID)
		found[t.ID] = true
		if len(f.tasks) > 0 && slices.Contains(f.tasks, t.ID) || len(f.tasks) == 0 && len(p.Tasks) < f.limit {
			p.Tasks = append(p.Tasks, shown)
		}
	}
	for _, id := range f.tasks {
		if !found[id] {
			return p, &failure{code: codeInput, message: "the package has no task " + id}
		}
	}
	for id, all := range outputs {
		return p, &failure{code: codeInput, message: fmt.Sprintf("line %d of the outputs names the task %s, which the package does not have", all[0].Line, id)}
	}
	return p, nil
}

func (a *App) showPreview(p preview, tasks bool) {
	for _, t := range p.Tasks {
		a.line("Task %s", t.ID)
		for _, m := range t.Input {
			a.line("  %s:", m.Role)
			a.block("    ", m.Text)
		}
		a.line("  target: %s", strings.Join(t.Target, " | "))
		for _, g := range t.Grades {
			a.line("  line %d: %s%s, %s", g.Line, g.Outcome, expectation(g), g.Rule)
			a.block("    ", g.Output)
		}
		a.line("")
	}
	if tasks && len(p.Tasks) == 0 {
		a.line("No tasks to show.")
	}
	a.line("Graded %d answers with %s: %d right", p.Graded, p.Grader.ID, p.Right)
	for _, o := range append(pack.Outcomes(), bundle.Refused) {
		if n := p.Outcomes[o]; n > 0 {
			a.line("  %-18s %d", o, n)
		}
	}
}

func expectation(g shownGrade) string {
	if g.Expect == "" || g.Expect == g.Outcome {
		return ""
	}
	return " (expected " + string(g.Expect) + ")"
}

// block writes a text of several lines, each behind the same indent.
func (a *App) block(indent, text string) {
	for l := range strings.Lines(string(plain.Block(text))) {
		a.write(strings.TrimRight(indent+l, " \n") + "\n")
	}
}
