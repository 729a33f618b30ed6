package requirement

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Plan says which step of the work owns an id, and which steps are closed. A step that is closed owes nothing.
type Plan struct {
	area   map[string]int
	id     map[string]int // before the area
	closed map[int]bool
}

// ParsePlan reads lines of "step N AREA...", "later N ID..." and "closed N...". A # starts a comment. "later" gives ids
// to another step than that of their area: their subject is built there.
func ParsePlan(text string) (Plan, error) {
	p := Plan{area: map[string]int{}, id: map[string]int{}, closed: map[int]bool{}}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if err := p.line(f); err != nil {
			return Plan{}, fmt.Errorf("read plan, line %d: %w", n, err)
		}
	}
	return p, nil
}

func (p Plan) line(f []string) error {
	if f[0] == "closed" {
		for _, s := range f[1:] {
			n, err := strconv.Atoi(s)
			if err != nil {
				return fmt.Errorf("%q is no step", s)
			}
			p.closed[n] = true
		}
		return nil
	}
	if f[0] != "step" && f[0] != "later" || len(f) < 3 {
		return fmt.Errorf("want step N AREA..., later N ID... or closed N...")
	}
	n, err := strconv.Atoi(f[1])
	if err != nil {
		return fmt.Errorf("%q is no step", f[1])
	}
	into := p.area
	if f[0] == "later" {
		into = p.id
	}
	for _, name := range f[2:] {
		if _, twice := into[name]; twice {
			return fmt.Errorf("%s stands twice", name)
		}
		into[name] = n
	}
	return nil
}

// Owner is the step that proves an id, 0 when the plan does not say.
func (p Plan) Owner(id string) int {
	if n, ok := p.id[id]; ok {
		return n
	}
	return p.area[Area(id)]
}

// Owed are the ids of a step that no test names.
func (p Plan) Owed(r Report, step int) (out []string) {
	for _, it := range r.Items {
		if p.Owner(it.ID) == step && !r.now[it.ID] {
			out = append(out, it.ID)
		}
	}
	return out
}

// Faults are the broken promises: an id of a closed step that no test names, and names that are no requirement.
func (p Plan) Faults(r Report) (out []string) {
	known := map[string]bool{}
	for _, it := range r.Items {
		known[it.ID], known[Area(it.ID)] = true, true
		if n := p.Owner(it.ID); p.closed[n] && !r.now[it.ID] {
			out = append(out, fmt.Sprintf("%s belongs to step %d, which is closed, and no test names it", it.ID, n))
		}
	}
	for _, names := range []map[string]int{p.area, p.id} {
		for name := range names {
			if !known[name] {
				out = append(out, fmt.Sprintf("the plan names %s, which is no requirement", name))
			}
		}
	}
	slices.Sort(out)
	return out
}
