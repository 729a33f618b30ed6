package scripts_test

import (
	"regexp"
	"strings"
	"testing"
)

// place names a text in a file of the repository, as tables of the pages do.
var place = regexp.MustCompile("`([^` ]+\\.go)`: `([^`]+)`")

// stands fails when one of the places that a cell names is not there, and gives
// how many it names.
func stands(t *testing.T, cell string, tests bool) int {
	t.Helper()
	named := place.FindAllStringSubmatch(cell, -1)
	for _, m := range named {
		if strings.HasSuffix(m[1], "_test.go") != tests {
			t.Errorf("%s is in the wrong column", m[1])
		}
		text := m[2]
		if strings.HasPrefix(text, "func ") {
			text += "(" // the whole name
		}
		if !strings.Contains(page(t, m[1]), text) {
			t.Errorf("%s does not hold %q any more", m[1], m[2])
		}
	}
	return len(named)
}

// table is the cells of the rows below a heading of a page.
func table(t *testing.T, name, heading string) [][]string {
	t.Helper()
	_, text, found := strings.Cut(page(t, name), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("%s has no %q", name, heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	var rows [][]string
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(l); strings.HasPrefix(l, "| ") {
			rows = append(rows, strings.Split(strings.Trim(l, "| "), " | "))
		}
	}
	return rows[1:] // the head
}

// Every limit of the service has the value in the source that the page says, and
// a test.
func TestLimits_EachIsHeld(t *testing.T) {
	t.Parallel()
	rows := table(t, "docs/hosting.md", "Limits")
	if len(rows) < 24 {
		t.Errorf("%d limits are named", len(rows))
	}
	for _, row := range rows {
		if len(row) != 4 || stands(t, row[2], false) != 1 {
			t.Errorf("%q names no line of the source", row)
			continue
		}
		if stands(t, row[3], true) == 0 && row[3] != "nothing drops one earlier" {
			t.Errorf("%s has no test", row[0])
		}
	}
}

// Every hazard of the register that is tested here has tests that are there.
func TestHazards_EachIsHeld(t *testing.T) {
	t.Parallel()
	of := map[string]int{}
	for _, row := range table(t, "docs/reliability.md", "Sign-in, secrets and tenancy") {
		if len(row) != 3 || stands(t, row[2], true) == 0 && row[2] != "the table of [hosting.md](hosting.md#limits)" {
			t.Errorf("%q names no test", row)
			continue
		}
		of[row[0]]++
	}
	for _, section := range []string{"6.1", "6.2", "6.5", "6.6", "6.7"} {
		if of[section] == 0 {
			t.Errorf("%s has no line", section)
		}
	}
}
