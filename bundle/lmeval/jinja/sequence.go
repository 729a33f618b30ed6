package jinja

import (
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// lookupSequence returns the filters of sequences.
func lookupSequence(name string) filterFunc {
	switch name {
	case "length", "count":
		return func(_ *env, v any, a given) (any, error) {
			if _, _, err := a.bind(); err != nil {
				return nil, err
			}
			return length(v)
		}
	case "list":
		return whole(func(items []any) (any, error) { return slices.Clone(items), nil })
	case "first":
		return whole(func(items []any) (any, error) { return edge(items, 0) })
	case "last":
		return last
	case "reverse":
		return reverse
	case "random":
		return func(*env, any, given) (any, error) { return nil, unsupported("the filter random") }
	case "join":
		return joinFilter
	case "sort":
		return sorted
	case "unique":
		return unique
	case "sum":
		return sum
	case "min", "max":
		return extreme(name == "max")
	case "map":
		return mapped
	case "select", "reject":
		return selected(name == "select", false)
	case "selectattr", "rejectattr":
		return selected(name == "selectattr", true)
	}
	return nil
}

// whole is a filter of all items without arguments.
func whole(f func([]any) (any, error)) filterFunc {
	return func(_ *env, v any, a given) (any, error) {
		if _, _, err := a.bind(); err != nil {
			return nil, err
		}
		items, err := iterate(v)
		if err != nil {
			return nil, err
		}
		return f(items)
	}
}

func edge(items []any, at int) (any, error) {
	if len(items) == 0 {
		return undefined("there is no item"), nil
	}
	return items[at], nil
}

func last(_ *env, v any, a given) (any, error) {
	if _, ok := v.(*stream); ok {
		return nil, pycompat.Raise("TypeError", "a generator cannot be reversed")
	}
	return whole(func(items []any) (any, error) { return edge(items, len(items)-1) })(nil, v, a)
}

func reverse(e *env, v any, a given) (any, error) {
	if s, ok := v.(string); ok {
		runes := str.Runes(s)
		slices.Reverse(runes)
		_, _, err := a.bind()
		return str.FromRunes(runes), err
	}
	return whole(func(items []any) (any, error) {
		items = slices.Clone(items)
		slices.Reverse(items)
		return &stream{items: items}, nil
	})(e, v, a)
}

// member reads an attribute path such as "a.b.0" of an item.
func member(v any, path any) (any, error) {
	if n, ok := index(path); ok {
		return getItem(v, n)
	}
	s, ok := path.(string)
	if !ok {
		return nil, unsupported("an attribute of type %s", value.TypeName(path))
	}
	for part := range strings.SplitSeq(s, ".") {
		var at any = part
		if str.IsDecimal(part) {
			n, err := number.ParseInt(part)
			if err != nil {
				return nil, err
			}
			at = value.Int(n)
		}
		var err error
		if v, err = getItem(v, at); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// members applies member to all items, unless there is no path.
func members(items []any, path any) ([]any, error) {
	if path == nil {
		return items, nil
	}
	out := make([]any, len(items))
	for i, x := range items {
		var err error
		if out[i], err = member(x, path); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func joinFilter(_ *env, v any, a given) (any, error) {
	args, ok, err := a.bind("d", "attribute")
	if err != nil {
		return nil, err
	}
	sep := ""
	if ok[0] {
		if sep, err = toText(args[0]); err != nil {
			return nil, err
		}
	}
	items, err := iterate(v)
	if err != nil {
		return nil, err
	}
	if items, err = members(items, args[1]); err != nil {
		return nil, err
	}
	parts := make([]string, len(items))
	for i, x := range items {
		if parts[i], err = toText(x); err != nil {
			return nil, err
		}
	}
	return joined(parts, sep)
}

// keys are what items are compared by: an attribute, and text in lower case
// unless case counts.
func keys(items []any, path any, caseSensitive bool) ([]any, error) {
	raw, err := members(items, path)
	if err != nil {
		return nil, err
	}
	out := make([]any, len(raw))
	for i, x := range raw {
		if err := plainThrough(x, 0); err != nil {
			return nil, err
		}
		if s, ok := x.(string); ok && !caseSensitive {
			x = str.Lower(s)
		}
		out[i] = x
	}
	return out, nil
}

func sorted(_ *env, v any, a given) (any, error) {
	args, _, err := a.bind("reverse", "case_sensitive", "attribute")
	if err != nil {
		return nil, err
	}
	if s, ok := args[2].(string); ok && strings.Contains(s, ",") {
		return nil, unsupported("sorting by several attributes")
	}
	items, err := iterate(v)
	if err != nil {
		return nil, err
	}
	by, err := keys(items, args[2], value.Truth(args[1]))
	if err != nil {
		return nil, err
	}
	at := make([]int, len(items))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(i, j int) int {
		c, known, fault := order(by[i], by[j])
		if fault != nil {
			err = fault
		} else if !known {
			err = unsupported("sorting NaN")
		}
		if value.Truth(args[0]) {
			return -c
		}
		return c
	})
	out := make([]any, len(items))
	for i, j := range at {
		out[i] = items[j]
	}
	return out, err
}

func unique(_ *env, v any, a given) (any, error) {
	args, _, err := a.bind("case_sensitive", "attribute")
	if err != nil {
		return nil, err
	}
	items, err := iterate(v)
	if err != nil {
		return nil, err
	}
	by, err := keys(items, args[1], value.Truth(args[0]))
	if err != nil {
		return nil, err
	}
	seen := map[any]bool{}
	out := &stream{}
	for i, k := range by {
		key, err := value.Key(k)
		if err != nil {
			return nil, err
		}
		if !seen[key] {
			seen[key] = true
			out.items = append(out.items, items[i])
		}
	}
	return out, nil
}

func sum(_ *env, v any, a given) (any, error) {
	args, ok, err := a.bind("attribute", "start")
	if err != nil {
		return nil, err
	}
	items, err := iterate(v)
	if err != nil {
		return nil, err
	}
	if items, err = members(items, args[0]); err != nil {
		return nil, err
	}
	total := any(int64(0))
	if ok[1] {
		total = args[1]
	}
	for _, x := range items {
		if _, float := x.(float64); float {
			return nil, unsupported("the sum of floats, whose last digits depend on the version of Python")
		}
		if err := need(x); err != nil {
			return nil, err
		}
		if total, err = arithmetic("+", total, x); err != nil {
			return nil, err
		}
	}
	return total, nil
}

func extreme(largest bool) filterFunc {
	return func(_ *env, v any, a given) (any, error) {
		args, _, err := a.bind("case_sensitive", "attribute")
		if err != nil {
			return nil, err
		}
		items, err := iterate(v)
		if err != nil {
			return nil, err
		}
		by, err := keys(items, args[1], value.Truth(args[0]))
		if err != nil {
			return nil, err
		}
		best := 0
		for i := range by {
			c, known, err := order(by[i], by[best])
			switch {
			case err != nil && i > 0:
				return nil, err
			case !known && i > 0:
				return nil, unsupported("the extreme of NaN")
			case largest && c > 0 || !largest && c < 0:
				best = i
			}
		}
		return edge(items, best)
	}
}

// mapped is map('filter', ...) and map(attribute='x').
func mapped(e *env, v any, a given) (any, error) {
	if some, err := truth(v); err != nil || !some {
		return &stream{}, err // of nothing, whatever the arguments say
	}
	items, err := iterate(v)
	if err != nil {
		return nil, err
	}
	out := &stream{items: make([]any, len(items))}
	if path, ok := a.named["attribute"]; ok && len(a.items) == 0 {
		fallback, hasFallback := a.named["default"]
		if len(a.named) > 1 && !hasFallback || len(a.named) > 2 {
			return nil, pycompat.Raise("FilterArgumentError", "map with an unknown argument")
		}
		for i, x := range items {
			if out.items[i], err = member(x, path); err != nil {
				return nil, err
			}
			if hasFallback && absent(out.items[i]) {
				out.items[i] = fallback
			}
		}
		return out, nil
	}
	if len(a.items) == 0 {
		return nil, pycompat.Raise("FilterArgumentError", "map requires a filter argument")
	}
	name, _ := a.items[0].(string)
	f := lookupFilter(name)
	if f == nil {
		return nil, unsupported("the filter %s", name)
	}
	rest := given{items: a.items[1:], named: a.named, order: a.order}
	for i, x := range items {
		if err := e.step(); err != nil {
			return nil, err
		}
		if out.items[i], err = f(e, x, rest); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// selected is select and selectattr, or reject and rejectattr.
func selected(keep, byAttribute bool) filterFunc {
	return func(e *env, v any, a given) (any, error) {
		if some, err := truth(v); err != nil || !some {
			return &stream{}, err
		}
		items, err := iterate(v)
		if err != nil {
			return nil, err
		}
		args := a.items
		var path any
		if byAttribute {
			if len(args) == 0 {
				return nil, pycompat.Raise("FilterArgumentError", "an attribute is missing")
			}
			path, args = args[0], args[1:]
		}
		test := func(v any, _ given) (bool, error) { return truth(v) }
		if len(args) > 0 {
			name, _ := args[0].(string)
			if test = lookupTest(name); test == nil {
				return nil, unsupported("the test %s", name)
			}
			args = args[1:]
		}
		out := &stream{}
		for _, x := range items {
			if err := e.step(); err != nil {
				return nil, err
			}
			y := x
			if byAttribute {
				if y, err = member(x, path); err != nil {
					return nil, err
				}
			}
			yes, err := test(y, given{items: args, named: a.named})
			if err != nil {
				return nil, err
			}
			if yes == keep {
				out.items = append(out.items, x)
			}
		}
		return out, nil
	}
}
