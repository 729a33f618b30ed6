package requirement

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Report compares what exists, what was proven when the covered list was written, and what tests name now.
type Report struct {
	Items   []Item
	Lost    []string // covered before, named by no test now
	Gained  []string // named by a test, not in the covered list
	Unknown []string // named by a test, but no requirement
	now     map[string]bool
}

// Compile makes the report. places is the result of Scan.
func Compile(items []Item, covered []string, places map[string][]Place) Report {
	known := map[string]bool{}
	for _, it := range items {
		known[it.ID] = true
	}
	r := Report{Items: items, now: map[string]bool{}}
	for _, id := range slices.SortedFunc(maps.Keys(places), Compare) {
		switch {
		case !known[id]:
			r.Unknown = append(r.Unknown, id)
		default:
			r.now[id] = true
			if !slices.Contains(covered, id) {
				r.Gained = append(r.Gained, id)
			}
		}
	}
	for _, id := range covered {
		if !r.now[id] {
			r.Lost = append(r.Lost, id)
		}
	}
	return r
}

// Covered returns the ids that tests name now, sorted.
func (r Report) Covered() []string { return slices.SortedFunc(maps.Keys(r.now), Compare) }

// Print writes one line an area, with the ids that no test names when missing is set, and the total.
func (r Report) Print(out io.Writer, missing bool) {
	var areas []string
	all, open := map[string]int{}, map[string][]string{}
	for _, it := range r.Items {
		area := Area(it.ID)
		if all[area] == 0 {
			areas = append(areas, area)
		}
		all[area]++
		if !r.now[it.ID] {
			open[area] = append(open[area], strings.TrimPrefix(it.ID, area+"-"))
		}
	}
	for _, area := range areas {
		fmt.Fprintf(out, "%s %3d of %3d", area, all[area]-len(open[area]), all[area])
		if missing && len(open[area]) > 0 {
			fmt.Fprintf(out, "  no test names %s", strings.Join(open[area], " "))
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "%d of %d requirements are named by a test\n", len(r.now), len(r.Items))
}

// Diff names what differs between the committed list and the requirement text, empty when they are equal.
func Diff(list, spec []Item) []string {
	var found []string
	for _, it := range spec {
		if !slices.Contains(list, it) {
			found = append(found, fmt.Sprintf("%s [%s,%s] is in the requirement text only", it.ID, it.Owner, it.Kind))
		}
	}
	for _, it := range list {
		if !slices.Contains(spec, it) {
			found = append(found, fmt.Sprintf("%s [%s,%s] is in the committed list only", it.ID, it.Owner, it.Kind))
		}
	}
	return found
}
