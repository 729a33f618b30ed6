// Package lint says whether a valid package is a good benchmark.
//
// pack.Validate decides whether a package can be used. This package looks for
// what makes its scores mean less than they seem to: golds that their own
// grader does not accept, questions that stand twice or give their answer
// away, options that cannot be told apart, answers that can be guessed,
// fixtures that would not notice a broken grader, and papers that are missing.
//
// Decisions:
//
//   - Everything is computed from the package and its grader; nothing is
//     asked of a model or a network.
//   - A finding is an error where a score would be wrong, and a warning where
//     a person must look: what is suspicious in one benchmark is meant in
//     another.
//   - Statistics warn only where chance is no explanation (3.5 standard
//     deviations), so that a small good benchmark is left alone.
//   - Nearly equal questions are found by their words, and only where numbers
//     and answers are equal too: tasks that a template made with other numbers
//     are different tasks.
//   - Fixtures are judged by breaking the grader on purpose: the mutation
//     score is the share of broken graders that some fixture notices.
package lint

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/pack"
)

// Report is what Run found.
type Report struct {
	Clean bool `json:"clean"`
	// Package is the report of the validation; nothing else is looked at
	// unless it is valid.
	Package pack.Report `json:"package"`
	// Findings are the first hundred, warnings of the validation among them;
	// Errors and Warnings count all.
	Findings []pack.Finding `json:"findings"`
	Errors   int            `json:"errors"`
	Warnings int            `json:"warnings"`
	// Outcomes counts the fixtures by the outcome that they expect.
	Outcomes map[bundle.Outcome]int `json:"fixture_outcomes"`
	Mutation Mutation               `json:"mutation"`
}

// Mutation is how many broken graders the fixtures notice.
type Mutation struct {
	Killed    int      `json:"killed"`
	Total     int      `json:"total"`
	Survivors []string `json:"survivors"`
}

// Run validates a package and looks at it. The error is for what kept it from
// looking.
func Run(ctx context.Context, fsys fs.FS, o pack.Options) (Report, error) {
	rep := Report{Findings: []pack.Finding{}, Outcomes: map[bundle.Outcome]int{}, Mutation: Mutation{Survivors: []string{}}}
	var err error
	if rep.Package, err = pack.Validate(ctx, fsys, o); err != nil {
		return rep, err
	}
	if !rep.Package.Valid {
		rep.Errors, rep.Warnings, rep.Findings = rep.Package.Errors, rep.Package.Warnings, rep.Package.Findings
		return rep, nil
	}
	m, err := pack.Open(fsys, o)
	if err != nil {
		return rep, err
	}
	g, err := o.Graders(m.Config())
	if err != nil {
		return rep, fmt.Errorf("make the grader: %w", err)
	}
	l := &linter{ctx: ctx, fsys: fsys, m: m, g: g, graders: o.Graders, rep: &rep}
	for _, f := range rep.Package.Findings {
		l.keep(f)
	}
	err = l.all()
	rep.Clean = rep.Errors+rep.Warnings == 0
	return rep, err
}

type linter struct {
	ctx     context.Context // lives for one Run
	fsys    fs.FS
	m       pack.Manifest
	g       bundle.Grader
	graders pack.MakeGrader
	rep     *Report
}

func (l *linter) all() error {
	if err := l.papers(); err != nil {
		return err
	}
	if err := l.tasks(); err != nil {
		return err
	}
	return l.fixtures()
}

// keep counts a finding.
func (l *linter) keep(f pack.Finding) {
	if f.Severity == pack.Error {
		l.rep.Errors++
	} else {
		l.rep.Warnings++
	}
	if len(l.rep.Findings) < pack.MaxFindings {
		l.rep.Findings = append(l.rep.Findings, f)
	}
}

func (l *linter) add(rule string, f pack.Finding, format string, args ...any) {
	r := ruleOf(rule)
	f.Rule, f.Severity, f.Remedy, f.Message = r.ID, r.Severity, r.Remedy, fmt.Sprintf(format, args...)
	l.keep(f)
}

// at is the place of a task.
func (l *linter) at(line int, id, field string) pack.Finding {
	return pack.Finding{Path: l.m.Component(pack.RoleDataset).Path, Line: line, Task: id, Field: field}
}
