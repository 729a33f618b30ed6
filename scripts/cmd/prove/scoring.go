package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// proof is one row of what scoring must show: tests, and what they are held to.
type proof struct {
	row, what string
	packages  []string
	run       string
	args      []string
	// cases sums up the cases of the shared vector files.
	cases bool
}

func scoringProofs() []proof {
	return []proof{
		{"a", "vector files", []string{"./bundle/...", "./lib/stat/..."}, "", nil, true},
		{"b", "published SOB records and summaries, to the last bit", []string{"./bundle/sob"}, "TestPublished", nil, false},
		{"c", "GSM8K: all labels and bit strings, and the counts of the shipped profiles", []string{"./bundle/inspect", "./bundle/lmeval", "./bundle/manifests"},
			"TestGSM8K|TestGrade_ReproducesGSM8K", nil, false},
		{"d", "Inspect logs re-scored, and exported logs read back", []string{"./bundle/inspect/evallog", "./cmd/evalrouterd/internal/httpapi"}, "TestRescore|TestStream|TestBuildRoundTrips|TestExportInspect", nil, false},
		{"e", "public faults, family and generic answer side by side", []string{"./bundle/families"}, "TestPublicFaults", nil, false},
		{"f", "gold of every shipped benchmark, laws and outcomes", []string{"./bundle/...", "./cmd/evalrouterd/internal/core"},
			"TestCheck_RealData|TestGold|TestReply|TestLaws|TestGrade_OutcomesAndReasoning|TestConclude_OutcomesAddUpToPlanned|Fuzz", nil, false},
		{"g", "null simulations, 20,000 draws", []string{"./lib/stat"}, "Size|Coverage", []string{"-stat.draws=20000"}, false},
	}
}

// scoring runs the proofs and prints what the tests say about their figures.
func scoring() error {
	var failed []string
	for _, p := range scoringProofs() {
		fmt.Printf("row %s: %s\n", p.row, p.what)
		if err := p.prove(); err != nil {
			fmt.Printf("  FAILED: %v\n", err)
			failed = append(failed, p.row)
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("rows %s failed", strings.Join(failed, ", "))
	}
	return nil
}

// event is a line of go test -json.
type event struct{ Action, Package, Test, Output string }

func (p proof) prove() error {
	args := append([]string{"test", "-json", "-count=1", "-timeout=24h", "-run=" + p.run}, p.packages...)
	cmd := exec.Command("go", append(args, p.args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	n := tally{vectors: map[string]int{}}
	sc := bufio.NewScanner(out)
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		var e event
		if json.Unmarshal(sc.Bytes(), &e) == nil {
			n.add(e)
		}
	}
	err = errors.Join(sc.Err(), cmd.Wait())
	n.print(p.cases)
	return err
}

// tally counts what tests did.
type tally struct {
	passed, failed, skipped int
	vectors                 map[string]int // cases of shared vector files, by file
}

func (n *tally) add(e event) {
	switch e.Action {
	case "pass":
		if e.Test == "" {
			return
		}
		n.passed++
	case "fail":
		if e.Test != "" {
			n.failed++
			fmt.Printf("  FAIL %s %s\n", e.Package, e.Test)
		}
	case "skip":
		n.skipped++
		fmt.Printf("  skipped %s %s\n", e.Package, e.Test)
	case "output":
		_, figure, ok := strings.Cut(e.Output, "figure ")
		if !ok {
			return
		}
		// A file may be replayed by two tests: in parts, or by two packages.
		if f := strings.Fields(figure); len(f) > 3 && f[0] == "a:" && strings.TrimSuffix(f[3], ",") == "cases" {
			k, _ := strconv.Atoi(f[2]) // 0 for what is no number
			n.vectors[f[1]] = max(n.vectors[f[1]], k)
			return
		}
		fmt.Print("  " + figure)
	}
}

func (n *tally) print(cases bool) {
	line := strconv.Itoa(n.passed) + " tests and cases passed, " + strconv.Itoa(n.failed) + " failed, " + strconv.Itoa(n.skipped) + " skipped"
	if cases {
		sum := 0
		for _, k := range n.vectors {
			sum += k
		}
		line += fmt.Sprintf("; %d cases of %d shared vector files", sum, len(n.vectors))
	}
	fmt.Println("  " + line)
}
