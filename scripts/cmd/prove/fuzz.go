package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// target is one fuzz target: the folder of its package and its function.
type target struct{ dir, name string }

func (t target) String() string { return t.dir + "." + t.name }

// scoringTargets are the targets of the scoring proof: between them they reach
// every parser and every grader. The other targets are for one parser each;
// their corpora run with the tests, and -target takes any.
func scoringTargets() []target {
	return []target{
		{"bundle", "FuzzLoad"},
		{"bundle/families", "FuzzGrade"},
		{"bundle/inspect/evallog", "FuzzRead"},
		{"bundle/lmeval/jinja", "FuzzTemplate"},
		{"bundle/lmeval/task", "FuzzLoad"},
		{"bundle/pycompat/re", "FuzzRegex"},
		{"bundle/pycompat/value", "FuzzLoads"},
		{"bundle/sob", "FuzzEvaluate"},
	}
}

// minimize bounds the work that go test puts into making an interesting input
// shorter. By default that is a minute for each, in which nothing is tried: a
// run of minutes would try a few thousand inputs.
const minimize = "10x"

// fuzz runs targets one after another, each for a while, and tells of all that
// found something.
func fuzz(each time.Duration, wanted string) error {
	targets := scoringTargets()
	if wanted != "" {
		all, err := fuzzTargets(".")
		if err != nil {
			return err
		}
		targets = slices.DeleteFunc(all, func(t target) bool { return !strings.Contains(t.String(), wanted) })
		if len(targets) == 0 {
			return fmt.Errorf("no target has %q in its name; they are %v", wanted, all)
		}
	}
	var failed []string
	for _, t := range targets {
		fmt.Printf("fuzz %s for %s\n", t, each)
		cmd := exec.Command("go", "test", "./"+t.dir, "-run=^$", "-fuzz=^"+t.name+"$", "-fuzztime="+each.String(), "-fuzzminimizetime="+minimize, "-timeout=24h")
		out, err := cmd.CombinedOutput()
		if err != nil {
			failed = append(failed, t.String())
			fmt.Printf("%s\n", out)
		}
		fmt.Println("  " + lastProgress(string(out)))
	}
	if len(failed) > 0 {
		return fmt.Errorf("found something in %s; the inputs are in testdata/fuzz beside the tests", strings.Join(failed, ", "))
	}
	fmt.Printf("%d targets, %s each, no finding\n", len(targets), each)
	return nil
}

// lastProgress is the last line in which go test says how far it is.
func lastProgress(out string) string {
	last := "no progress was printed"
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "fuzz: elapsed") {
			last = strings.TrimSpace(line)
		}
	}
	return last
}

// fuzzTargets finds every fuzz target below a folder.
func fuzzTargets(root string) ([]target, error) {
	var all []target
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		sc := bufio.NewScanner(f)
		sc.Buffer(nil, 1<<20)
		for sc.Scan() {
			if rest, ok := strings.CutPrefix(sc.Text(), "func Fuzz"); ok && strings.Contains(rest, "*testing.F)") {
				name, _, _ := strings.Cut(rest, "(")
				all = append(all, target{filepath.ToSlash(filepath.Dir(path)), "Fuzz" + name})
			}
		}
		return errors.Join(sc.Err(), f.Close())
	})
	return all, err
}
