package metric

import (
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// floats reads every item as a number.
func floats(items []any) ([]float64, error) {
	out := make([]float64, len(items))
	for i, item := range items {
		f, ok := value.Float(item)
		if !ok {
			return nil, pycompat.Raise("TypeError", "item %d is of type %s", i, value.TypeName(item))
		}
		out[i] = f
	}
	return out, nil
}

// pair reads an item of two members.
func pair(item any) (a, b any, err error) {
	var list []any
	switch v := item.(type) {
	case []any:
		list = v
	case value.Tuple:
		list = v
	}
	if len(list) != 2 {
		return nil, nil, pycompat.Raise("ValueError", "an item of type %s is no pair", value.TypeName(item))
	}
	return list[0], list[1], nil
}

// columns splits pairs into their first and second members.
func columns(items []any) (first, second []any, err error) {
	if len(items) == 0 {
		return nil, nil, pycompat.Raise("IndexError", "no items")
	}
	for _, item := range items {
		a, b, err := pair(item)
		if err != nil {
			return nil, nil, err
		}
		first, second = append(first, a), append(second, b)
	}
	return first, second, nil
}

// whole reads a class label.
func whole(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}
