package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// mutant is one way to break the code: in File, Old becomes New. Tests are
// the packages of which one must fail. Survives, when set, says why no test
// can: another defence catches it first.
type mutant struct {
	Name     string   `json:"name"`
	File     string   `json:"file"`
	Old      string   `json:"old"`
	New      string   `json:"new"`
	Tests    []string `json:"tests"`
	Survives string   `json:"survives,omitempty"`
}

const mutantsFile = "scripts/mutants.jsonl"

// shareToKill is how many of a hundred mutants must be killed.
const shareToKill = 95

// mutants tries at most limit of the mutants whose file or name holds only.
func mutants(limit int, only string) error {
	all, err := readMutants()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(m mutant) bool { return !strings.Contains(m.File+" "+m.Name, only) })
	if limit > 0 && limit < len(all) {
		all = all[:limit]
	}
	killed, survived := 0, []string{}
	for _, m := range all {
		verdict, err := m.try()
		if err != nil {
			return fmt.Errorf("mutant %q: %w", m.Name, err)
		}
		fmt.Printf("%-9s %s\n", verdict, m.Name)
		if verdict == "killed" {
			killed++
			continue
		}
		if m.Survives != "" {
			fmt.Printf("          explained: %s\n", m.Survives)
			continue
		}
		survived = append(survived, m.Name)
	}
	fmt.Printf("%d of %d mutants killed\n", killed, len(all))
	if len(survived) > 0 || killed*100 < len(all)*shareToKill {
		return fmt.Errorf("survivors: %s", strings.Join(survived, "; "))
	}
	return nil
}

func readMutants() ([]mutant, error) {
	f, err := os.Open(mutantsFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []mutant
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		var m mutant
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return nil, fmt.Errorf("%s line %d: %w", mutantsFile, n, err)
		}
		all = append(all, m)
	}
	return all, lines.Err()
}

// try builds the mutant beside the tree, by an overlay, and runs its tests.
func (m mutant) try() (string, error) {
	src, err := os.ReadFile(m.File)
	if err != nil {
		return "", err
	}
	if n := bytes.Count(src, []byte(m.Old)); n != 1 {
		return "", fmt.Errorf("its text stands %d times in %s; it must stand once", n, m.File)
	}
	dir, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	broken := filepath.Join(dir, "broken.go")
	if err := os.WriteFile(broken, bytes.Replace(src, []byte(m.Old), []byte(m.New), 1), 0o600); err != nil {
		return "", err
	}
	abs, err := filepath.Abs(m.File)
	if err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {abs: broken}})
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return "", err
	}
	verdict, err := m.test(list)
	return verdict, errors.Join(err, m.tidy())
}

// tidy removes what property tests note beside themselves about the failures
// of a mutant: they are none of the code's. Nothing of the kind is committed.
func (m mutant) tidy() error {
	var all error
	for _, pkg := range m.Tests {
		all = errors.Join(all, os.RemoveAll(filepath.Join(pkg, "testdata", "rapid")))
	}
	return all
}

func (m mutant) test(overlay string) (string, error) {
	build := exec.Command("go", append([]string{"vet", "-overlay", overlay}, m.Tests...)...)
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("it does not build: %s", firstLines(out, 5))
	}
	cmd := exec.Command("go", append([]string{"test", "-overlay", overlay, "-count=1", "-timeout=2m", "-failfast"}, m.Tests...)...)
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "SURVIVED", nil
	case errors.As(err, &exit) && !bytes.Contains(out, []byte("[build failed]")):
		return "killed", nil
	}
	return "", fmt.Errorf("%w: %s", err, firstLines(out, 5))
}

func firstLines(b []byte, n int) string {
	lines := strings.SplitN(strings.TrimSpace(string(b)), "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], " | ")
}
