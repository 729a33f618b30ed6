package group

import (
	"fmt"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Group is a node of a tree whose leaves are tasks.
type Group struct {
	Name, Alias string
	Tasks       []string // leaves right below
	Groups      []Group
	Aggregate   []Rule
}

// Rule says how one metric of the leaves becomes one of the group.
type Rule struct {
	Metric  string
	Filters []string // empty means every filter found
	Unsized bool     // every task counts the same, whatever its size
}

// leaves are all tasks below g, nearest first.
func (g Group) leaves() []string {
	out := slices.Clone(g.Tasks)
	for _, sub := range g.Groups {
		for _, task := range sub.leaves() {
			if !slices.Contains(out, task) {
				out = append(out, task)
			}
		}
	}
	return out
}

// Results aggregates over all leaves below g. The results of groups in between
// play no part. A leaf without a metric is left out of that metric.
func (g Group) Results(tasks map[string]*value.Dict) (*value.Dict, error) {
	var found []*value.Dict
	samples := 0
	for _, name := range g.leaves() {
		r, ok := tasks[name]
		if !ok {
			return nil, fmt.Errorf("aggregate group %s: no results of task %s", g.Name, name)
		}
		n, err := size(r)
		if err != nil {
			return nil, fmt.Errorf("aggregate group %s: task %s: %w", g.Name, name, err)
		}
		samples += n
		found = append(found, r)
	}
	alias := g.Alias
	if alias == "" {
		alias = g.Name
	}
	out := value.DictOf("alias", alias, "name", g.Name, "sample_len", int64(samples))
	counts := value.DictOf()
	for _, rule := range g.Aggregate {
		for _, filter := range rule.filters(found) {
			if err := rule.apply(found, filter, out, counts); err != nil {
				return nil, fmt.Errorf("aggregate group %s: %s: %w", g.Name, rule.Metric, err)
			}
		}
	}
	if counts.Len() > 0 {
		set(out, "sample_count", counts)
	}
	return out, nil
}

func size(r *value.Dict) (int, error) {
	v, _ := r.Get("sample_len")
	n, ok := v.(int64)
	if !ok || n < 0 {
		return 0, fmt.Errorf("sample_len is no count")
	}
	return int(n), nil
}

// filters are those of the rule, or those under which any task has the metric,
// sorted.
func (r Rule) filters(tasks []*value.Dict) []string {
	if len(r.Filters) > 0 {
		return r.Filters
	}
	var out []string
	for _, t := range tasks {
		for k := range t.All() {
			name, filter, ok := strings.Cut(value.Str(k), ",")
			if ok && name == r.Metric && !slices.Contains(out, filter) {
				out = append(out, filter)
			}
		}
	}
	slices.Sort(out)
	return out
}

func (r Rule) apply(tasks []*value.Dict, filter string, out, counts *value.Dict) error {
	var figures, stderrs []float64
	var sizes []int
	known := true
	total := 0
	for _, t := range tasks {
		v, ok := t.Get(key(r.Metric, "", filter))
		if !ok {
			continue
		}
		f, ok := value.Float(v)
		if !ok {
			return fmt.Errorf("the figure of a task is no number")
		}
		n, err := size(t)
		if err != nil {
			return err
		}
		figures, sizes, total = append(figures, f), append(sizes, n), total+n
		se, _ := t.Get(key(r.Metric, "_stderr", filter))
		x, ok := value.Float(se)
		stderrs, known = append(stderrs, x), known && ok
	}
	if len(figures) == 0 {
		return nil
	}
	mean, err := Weighted(figures, sizes, !r.Unsized)
	if err != nil {
		return err
	}
	var pooled float64
	if known {
		if pooled, err = PooledStderr(stderrs, sizes); err != nil {
			return err
		}
	}
	set(out, key(r.Metric, "", filter), mean)
	set(out, key(r.Metric, "_stderr", filter), orNotKnown(pooled, known))
	set(counts, key(r.Metric, "", filter), int64(total))
	return nil
}
