package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/evalrouter/evalrouter/bundle/pack"
	"github.com/evalrouter/evalrouter/bundle/pack/lint"

	"github.com/evalrouter/evalrouter/cmd/evalrouter-bench/internal/argv"
)

func (a *App) validateCommand() *argv.Command {
	return &argv.Command{
		Name: "validate", Args: "DIR_OR_BUNDLE", Short: "Say whether a package is valid, and what is wrong", Operands: [2]int{1, 1},
		Long:     "The same validator decides on the service, which runs it again: passing here is\nno admission.",
		Examples: []string{Program + " validate ./my-benchmark", Program + " validate ./my-benchmark.zip --json"},
		Run: func(ctx context.Context, operands []string) error {
			rep, err := report(ctx, operands[0])
			if err != nil {
				return err
			}
			if err := a.value(rep, func() { a.report(rep, operands[0]) }); err != nil {
				return err
			}
			if !rep.Valid {
				return &ended{exitRejected}
			}
			return nil
		},
	}
}

// report validates a folder or bundle. A zip file that is refused as such has
// a report too.
func report(ctx context.Context, path string) (pack.Report, error) {
	s, err := open(path)
	var refused *pack.Refusal
	if errors.As(err, &refused) {
		return refused.Report, nil
	}
	if err != nil {
		return pack.Report{}, err
	}
	rep, err := pack.Validate(ctx, s, options(s.sealed))
	return rep, errors.Join(err, s.close())
}

func (a *App) report(rep pack.Report, path string) {
	a.findings(rep.Findings, rep.Errors+rep.Warnings)
	if !rep.Valid {
		a.line("Not valid: %s", count(rep.Errors, "error", rep.Warnings))
		return
	}
	a.line("%s/%s %s is valid: %s", rep.Namespace, rep.Name, rep.Version, count(rep.Errors, "error", rep.Warnings))
	a.line("  %d tasks, %d fixtures", rep.Tasks, rep.Fixtures)
	a.line("  package sha256 %s", rep.Package)
	for _, c := range rep.Components {
		a.line("  %-14s %-13s %9d bytes  sha256 %s", c.Path, c.Role, c.Bytes, c.SHA256)
	}
	a.line("Next: %s lint %s", Program, shellWord(path))
	a.line("  or: %s bundle %s", Program, shellWord(path))
}

func count(errors int, word string, warnings int) string {
	return plural(errors, word) + ", " + plural(warnings, "warning")
}

func plural(n int, word string) string {
	switch n {
	case 0:
		return "no " + word + "s"
	case 1:
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// findings prints what was found, each with its remedy.
func (a *App) findings(all []pack.Finding, total int) {
	for _, f := range all {
		task := ""
		if f.Task != "" {
			task = " task " + f.Task
		}
		a.line("%-7s %s%s", f.Severity, f, task)
		a.line("        %s", f.Remedy)
	}
	if total > len(all) {
		a.line("... and %d more", total-len(all))
	}
}

func (a *App) lintCommand() *argv.Command {
	strict := false
	return &argv.Command{
		Name: "lint", Args: "DIR_OR_BUNDLE", Short: "Say whether a valid package is a good benchmark", Operands: [2]int{1, 1},
		Long: "It looks for golds that the grader does not accept, tasks that stand twice or\ngive their answer away, options and answers that can be guessed, missing papers,\nand fixtures that would not notice a broken grader.",
		Flags: []argv.Flag{
			argv.Switch(&strict, "strict", "exit 2 for warnings too"),
		},
		Examples: []string{Program + " lint ./my-benchmark", Program + " lint ./my-benchmark --strict --json"},
		Run: func(ctx context.Context, operands []string) error {
			rep, err := runLint(ctx, operands[0])
			if err != nil {
				return err
			}
			if err := a.value(rep, func() { a.lint(rep, operands[0]) }); err != nil {
				return err
			}
			if rep.Errors > 0 || strict && rep.Warnings > 0 {
				return &ended{exitRejected}
			}
			return nil
		},
	}
}

func runLint(ctx context.Context, path string) (lint.Report, error) {
	s, err := open(path)
	if err != nil {
		return lint.Report{}, err
	}
	rep, err := lint.Run(ctx, s, options(s.sealed))
	return rep, errors.Join(err, s.close())
}

func (a *App) lint(rep lint.Report, path string) {
	a.findings(rep.Findings, rep.Errors+rep.Warnings)
	if !rep.Package.Valid {
		a.line("Not valid, so not linted: %s", count(rep.Errors, "error", rep.Warnings))
		return
	}
	a.line("%d tasks, %d fixtures: %s", rep.Package.Tasks, rep.Package.Fixtures, count(rep.Errors, "error", rep.Warnings))
	a.line("The fixtures notice %d of %d broken graders.", rep.Mutation.Killed, rep.Mutation.Total)
	for _, s := range rep.Mutation.Survivors {
		a.line("  not noticed: %s", s)
	}
	a.line("Next: %s preview %s", Program, shellWord(path))
}
