// Command requirements reports which requirement ids the tests name, area by area.
//
// It fails when an id that a test named before is named no longer, when a test names an id that does not exist, when
// the covered list is behind the tests, and, where the requirement text stands beside the repository, when the
// committed list of ids differs from it. -update writes docs/requirements-covered.txt anew; -sync writes
// docs/requirements.txt from the requirement text; -missing adds the ids that no test names; -where ID prints the
// tests that name it; -owed N prints the ids of a step of the work that no test names. docs/requirements-steps.txt says
// which step owns which id and which steps are closed; a closed step that owes an id fails.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/scripts/internal/requirement"
)

func main() {
	os.Exit(run(os.Args[1:], os.Getenv("EVALROUTER_SHARED"), os.Stdout, os.Stderr))
}

type command struct {
	root, list, covered, spec, plan string
	update, missing, sync           bool
	where                           string
	owed                            int
}

// run returns 0 when the books are right, 1 when they are not, 2 for wrong usage. shared is the folder of reference
// data, empty for the one beside the root.
func run(args []string, shared string, stdout, stderr io.Writer) int {
	var c command
	flags := flag.NewFlagSet("scripts/requirements", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&c.root, "root", ".", "root of the repository")
	flags.BoolVar(&c.update, "update", false, "write the covered list anew")
	flags.BoolVar(&c.missing, "missing", false, "list the ids that no test names")
	flags.BoolVar(&c.sync, "sync", false, "write the list of ids from the requirement text first")
	flags.IntVar(&c.owed, "owed", 0, "print the ids of this step that no test names")
	flags.StringVar(&c.where, "where", "", "print the tests that name this id")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	c.list = filepath.Join(c.root, "docs", "requirements.txt")
	c.plan = filepath.Join(c.root, "docs", "requirements-steps.txt")
	c.covered = filepath.Join(c.root, "docs", "requirements-covered.txt")
	if shared == "" {
		shared = filepath.Join(c.root, "..", "shared")
	}
	c.spec = filepath.Join(shared, "spec", "requirements.md")
	ok, err := c.run(stdout)
	if err != nil {
		fmt.Fprintln(stderr, "requirements:", err)
	}
	if err != nil || !ok {
		return 1
	}
	return 0
}

func (c command) run(out io.Writer) (bool, error) {
	if c.sync {
		if err := c.syncList(); err != nil {
			return false, err
		}
	}
	text, err := os.ReadFile(c.list)
	if err != nil {
		return false, fmt.Errorf("read requirement list: %w", err)
	}
	items, err := requirement.ParseList(string(text))
	if err != nil {
		return false, err
	}
	covered, err := c.readCovered()
	if err != nil {
		return false, err
	}
	var areas []string
	for _, it := range items {
		if a := requirement.Area(it.ID); !slices.Contains(areas, a) {
			areas = append(areas, a)
		}
	}
	places, err := requirement.Scanner{Root: c.root, Areas: areas}.Scan()
	if err != nil {
		return false, err
	}
	if c.where != "" {
		return printPlaces(out, c.where, places[c.where]), nil
	}
	report := requirement.Compile(items, covered, places)
	plan, err := c.readPlan()
	if err != nil {
		return false, err
	}
	if c.owed != 0 {
		for _, id := range plan.Owed(report, c.owed) {
			fmt.Fprintln(out, id)
		}
		return true, nil
	}
	report.Print(out, c.missing)
	specOK, err := c.compareSpec(out, items)
	if err != nil {
		return false, err
	}
	if c.update {
		return specOK && c.unknownOK(out, report, places), c.writeCovered(out, report)
	}
	return c.judge(out, report, places) && printFaults(out, plan.Faults(report)) && specOK, nil
}

func (c command) syncList() error {
	text, err := os.ReadFile(c.spec)
	if err != nil {
		return fmt.Errorf("read requirement text: %w", err)
	}
	items := requirement.ParseSpec(string(text))
	if len(items) == 0 {
		return fmt.Errorf("read requirement text: no requirement in %s", c.spec)
	}
	if err := os.WriteFile(c.list, []byte(requirement.FormatList(items)), 0o644); err != nil {
		return fmt.Errorf("write requirement list: %w", err)
	}
	return nil
}

func (c command) readCovered() ([]string, error) {
	text, err := os.ReadFile(c.covered)
	if errors.Is(err, fs.ErrNotExist) && c.update {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read covered ids: %w", err)
	}
	return requirement.ParseCovered(string(text))
}

// readPlan gives an empty plan where there is no file: then no step is closed.
func (c command) readPlan() (requirement.Plan, error) {
	text, err := os.ReadFile(c.plan)
	if errors.Is(err, fs.ErrNotExist) {
		return requirement.Plan{}, nil
	}
	if err != nil {
		return requirement.Plan{}, fmt.Errorf("read plan: %w", err)
	}
	return requirement.ParsePlan(string(text))
}

func printFaults(out io.Writer, faults []string) bool {
	for _, f := range faults {
		fmt.Fprintln(out, f)
	}
	return len(faults) == 0
}

func (c command) writeCovered(out io.Writer, r requirement.Report) error {
	if err := os.WriteFile(c.covered, []byte(requirement.FormatCovered(r.Covered())), 0o644); err != nil {
		return fmt.Errorf("write covered ids: %w", err)
	}
	for _, id := range r.Lost {
		fmt.Fprintf(out, "dropped %s, which no test names any more\n", id)
	}
	fmt.Fprintf(out, "wrote %d ids to docs/%s\n", len(r.Covered()), filepath.Base(c.covered))
	return nil
}

func (c command) judge(out io.Writer, r requirement.Report, places map[string][]requirement.Place) bool {
	ok := c.unknownOK(out, r, places)
	for _, id := range r.Lost {
		ok = false
		fmt.Fprintf(out, "%s was named by a test and is no longer\n", id)
	}
	if len(r.Gained) > 0 {
		ok = false
		fmt.Fprintf(out, "tests name ids that the covered list lacks: %s; run scripts/requirements -update and commit the result\n",
			strings.Join(r.Gained, " "))
	}
	return ok
}

func (c command) unknownOK(out io.Writer, r requirement.Report, places map[string][]requirement.Place) bool {
	for _, id := range r.Unknown {
		fmt.Fprintf(out, "%s is no requirement, but a test names it:\n", id)
		printPlaces(out, id, places[id])
	}
	return len(r.Unknown) == 0
}

// compareSpec is only possible where the requirement text is; elsewhere the committed list stands for it.
func (c command) compareSpec(out io.Writer, items []requirement.Item) (bool, error) {
	text, err := os.ReadFile(c.spec)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintln(out, "the requirement text is not beside the repository; docs/requirements.txt was not compared with it")
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("read requirement text: %w", err)
	}
	differences := requirement.Diff(items, requirement.ParseSpec(string(text)))
	for _, d := range differences {
		fmt.Fprintln(out, d)
	}
	return len(differences) == 0, nil
}

func printPlaces(out io.Writer, id string, places []requirement.Place) bool {
	for _, p := range places {
		fmt.Fprintf(out, "  %s: %s\n", p.File, p.Name)
	}
	if len(places) == 0 {
		fmt.Fprintf(out, "no test names %s\n", id)
	}
	return len(places) > 0
}
