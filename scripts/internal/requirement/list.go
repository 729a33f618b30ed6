// Package requirement knows which requirement ids exist, which tests name them, and whether one that was proven is
// proven no longer.
//
// An id is an area and a number, RUN-14. A test proves it by carrying it in its name (RUN-14 or RUN14), never by
// mentioning it in a comment, so that the name of a failing test says which promise is broken. Whether the test would
// really fail without the behaviour is for people to judge; this package only keeps the books.
package requirement

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Item is one requirement. Owner is the part that must show it, Kind how it is shown.
type Item struct {
	ID, Owner, Kind string
}

// ParseList reads the committed list: one "ID owner kind" a line, "#" starts a comment line.
func ParseList(text string) ([]Item, error) {
	var items []Item
	seen := map[string]bool{}
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Fields(line)
		if len(f) != 3 || !validID(f[0]) {
			return nil, fmt.Errorf("read requirement list: line %d is not \"ID owner kind\": %q", i+1, line)
		}
		if seen[f[0]] {
			return nil, fmt.Errorf("read requirement list: line %d repeats %s", i+1, f[0])
		}
		seen[f[0]] = true
		items = append(items, Item{f[0], f[1], f[2]})
	}
	return items, nil
}

// ParseSpec reads the requirement text that the list is taken from: lines like "- [ ] RUN-14 [cli,F] sentence".
func ParseSpec(text string) []Item {
	line := regexp.MustCompile(`(?m)^- \[.\] ([A-Z]{3}-\d{2,3}) \[([a-z]+),([A-Z])\]`)
	var items []Item
	for _, m := range line.FindAllStringSubmatch(text, -1) {
		items = append(items, Item{m[1], m[2], m[3]})
	}
	return items
}

// FormatList is the inverse of ParseList.
func FormatList(items []Item) string {
	var b strings.Builder
	b.WriteString("# Every requirement: id, the part that must show it, how it is shown.\n")
	b.WriteString("# Kind: F black-box command line, P pseudo-terminal, S service, U unit, D documentation or packaging.\n")
	for _, it := range items {
		fmt.Fprintf(&b, "%s %s %s\n", it.ID, it.Owner, it.Kind)
	}
	return b.String()
}

// ParseCovered reads the committed list of proven ids, one a line.
func ParseCovered(text string) ([]string, error) {
	var ids []string
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if !validID(line) {
			return nil, fmt.Errorf("read covered ids: line %d is no id: %q", i+1, line)
		}
		ids = append(ids, line)
	}
	return ids, nil
}

// FormatCovered is the inverse of ParseCovered; ids come out sorted.
func FormatCovered(ids []string) string {
	var b strings.Builder
	b.WriteString("# Requirement ids that a test names. Written by scripts/requirements -update; an id never leaves by itself.\n")
	for _, id := range slices.SortedFunc(slices.Values(ids), Compare) {
		b.WriteString(id + "\n")
	}
	return b.String()
}

// Compare orders ids by area, then by number.
func Compare(a, b string) int {
	areaA, numA, _ := strings.Cut(a, "-")
	areaB, numB, _ := strings.Cut(b, "-")
	return cmp.Or(strings.Compare(areaA, areaB), cmp.Compare(number(numA), number(numB)))
}

// number is only called on ids that validID has seen.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

func validID(s string) bool { return regexp.MustCompile(`^[A-Z]{3}-\d{2,3}$`).MatchString(s) }

// Area is the part of an id before the dash.
func Area(id string) string {
	area, _, _ := strings.Cut(id, "-")
	return area
}
