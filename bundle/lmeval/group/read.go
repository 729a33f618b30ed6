package group

import (
	"errors"
	"fmt"

	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Read checks a group file that has been parsed (package task). Its tasks are
// names, which may be those of other groups; whoever has them all resolves
// that. What the file says beyond this package is refused: tasks with changes
// of their own, and aggregations other than the mean.
func Read(d *value.Dict) (Group, error) { return read(d, 0) }

const maxDepth = 20

func read(d *value.Dict, depth int) (Group, error) {
	var g Group
	if depth > maxDepth {
		return g, errors.New("read group: groups are nested too deeply")
	}
	var errs []error
	for k, v := range d.All() {
		var err error
		switch key := value.Str(k); key {
		case "group":
			g.Name, err = text(key, v)
		case "group_alias":
			g.Alias, err = text(key, v)
		case "task":
			err = g.readTasks(v, depth)
		case "aggregate_metric_list":
			err = g.readRules(v)
		case "metadata":
		default:
			err = fmt.Errorf("%s is not supported", key)
		}
		errs = append(errs, err)
	}
	if g.Name == "" {
		errs = append(errs, errors.New("group is missing"))
	}
	if len(g.Tasks)+len(g.Groups) == 0 {
		errs = append(errs, errors.New("task names nothing"))
	}
	if err := errors.Join(errs...); err != nil {
		return g, fmt.Errorf("read group %s: %w", g.Name, err)
	}
	return g, nil
}

func text(key string, v any) (string, error) {
	s, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("%s is not text", key)
	}
	return s, nil
}

func (g *Group) readTasks(v any, depth int) error {
	items, ok := v.([]any)
	if !ok {
		items = []any{v}
	}
	for i, item := range items {
		switch item := item.(type) {
		case string:
			g.Tasks = append(g.Tasks, item)
		case *value.Dict:
			if _, ok := item.Get("group"); !ok {
				return fmt.Errorf("task[%d] changes a task, which is not supported", i)
			}
			sub, err := read(item, depth+1)
			if err != nil {
				return err
			}
			g.Groups = append(g.Groups, sub)
		default:
			return fmt.Errorf("task[%d] is neither a name nor a group", i)
		}
	}
	return nil
}

func (g *Group) readRules(v any) error {
	items, ok := v.([]any)
	if !ok {
		items = []any{v}
	}
	for i, item := range items {
		d, ok := item.(*value.Dict)
		if !ok {
			return fmt.Errorf("aggregate_metric_list[%d] is no mapping", i)
		}
		r, err := readRule(d)
		if err != nil {
			return fmt.Errorf("aggregate_metric_list[%d]: %w", i, err)
		}
		g.Aggregate = append(g.Aggregate, r)
	}
	return nil
}

func readRule(d *value.Dict) (Rule, error) {
	var r Rule
	for k, v := range d.All() {
		var err error
		switch key := value.Str(k); key {
		case "metric":
			r.Metric, err = text(key, v)
		case "aggregation":
			if v != "mean" {
				err = errors.New("only the mean is supported as aggregation")
			}
		case "weight_by_size":
			by, ok := v.(bool)
			if !ok {
				err = errors.New("weight_by_size is neither true nor false")
			}
			r.Unsized = !by
		case "filter_list":
			r.Filters, err = filters(v)
		default:
			err = fmt.Errorf("%s is not supported", key)
		}
		if err != nil {
			return r, err
		}
	}
	if r.Metric == "" {
		return r, errors.New("metric is missing")
	}
	return r, nil
}

// filters reads a name, a list of names, or null for all.
func filters(v any) ([]string, error) {
	items, ok := v.([]any)
	if !ok && v != nil {
		items = []any{v}
	}
	var out []string
	for _, item := range items {
		s, err := text("filter_list", item)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}
