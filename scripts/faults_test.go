package scripts_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// faultRow is a line of docs/public-faults.md.
var faultRow = regexp.MustCompile(`(?m)^\| ([A-J])(\d+) \| [^|]+ \| (.+) \|$`)

// Every public fault has a test that is there, or a reason; and every fault of
// the list has a line.
func TestPublicFaults_EachIsHeld(t *testing.T) {
	t.Parallel()
	held := map[string]bool{}
	for _, row := range faultRow.FindAllStringSubmatch(page(t, "docs/public-faults.md"), -1) {
		fault := row[1] + row[2]
		if held[fault] {
			t.Errorf("%s has two lines", fault)
		}
		held[fault] = true
		if reason, ok := strings.CutPrefix(row[3], "cannot occur: "); ok {
			if len(reason) < 40 {
				t.Errorf("%s: %q is no reason", fault, reason)
			}
			continue
		}
		for _, m := range strings.Split(row[3], "; ") {
			parts := regexp.MustCompile("^`([^`]+)`: `([^`]+)`$").FindStringSubmatch(m)
			if parts == nil {
				t.Errorf("%s: %q is no test", fault, m)
				continue
			}
			if text := page(t, parts[1]); !strings.Contains(text, parts[2]) {
				t.Errorf("%s: %s does not hold %s any more", fault, parts[1], parts[2])
			}
			if !strings.HasSuffix(parts[1], "_test.go") && !strings.Contains(parts[1], "/testdata/") {
				t.Errorf("%s: %s is no test", fault, parts[1])
			}
		}
	}
	root := os.Getenv("EVALROUTER_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "shared")
	}
	list, err := os.ReadFile(filepath.Join(root, "bugs", "publicbugs.md"))
	if err != nil {
		t.Skip("../shared is not there, so that the list of public faults cannot be read")
	}
	section, number := "", regexp.MustCompile(`^(\d+)\. `)
	asked := 0
	for line := range strings.Lines(string(list)) {
		if m := regexp.MustCompile(`^### (?:([A-I])\.|Ten)`).FindStringSubmatch(line); m != nil {
			if section = m[1]; section == "" {
				section, number = "J", regexp.MustCompile(`(1\d\d)\. `)
			}
		}
		for _, m := range number.FindAllStringSubmatch(line, -1) {
			if section == "" {
				continue
			}
			if asked++; !held[section+m[1]] {
				t.Errorf("%s%s has no line in docs/public-faults.md", section, m[1])
			}
		}
	}
	if asked != len(held) {
		t.Errorf("the list has %d faults, the page %d", asked, len(held))
	}
}
