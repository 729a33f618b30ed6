package draft7

import (
	"math"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// equal compares as const and uniqueItems do: numbers by value, a bool equal to
// a bool alone, at every depth.
func equal(a, b any) bool {
	switch x := a.(type) {
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !equal(x[i], y[i]) {
				return false
			}
		}
		return true
	case *value.Dict:
		y, ok := b.(*value.Dict)
		if !ok || x.Len() != y.Len() {
			return false
		}
		for key, v := range x.All() {
			w, ok := y.Get(key)
			if !ok || !equal(v, w) {
				return false
			}
		}
		return true
	}
	_, boolA := a.(bool)
	_, boolB := b.(bool)
	return boolA == boolB && value.Equal(a, b)
}

// contained is the comparison of Python's "in": equal or the same object. The
// only objects that are the same without being equal are NaNs.
func contained(a, b any) bool {
	if value.Equal(a, b) {
		return true
	}
	x, okX := a.(float64)
	y, okY := b.(float64)
	return okX && okY && math.IsNaN(x) && math.IsNaN(y)
}

// unique reports whether no two elements are equal. The reference sorts and
// compares neighbours; elements that Python cannot order are compared pair by
// pair. That differs where neighbours in Python's order are equal there and not
// here: [1], [true], [1] is unique for it.
func (r *run) unique(list []any) (bool, error) {
	if sorted, ok := sortPython(list); ok {
		if err := r.spend(len(list)); err != nil {
			return false, err
		}
		for i := 1; i < len(sorted); i++ {
			if equal(sorted[i-1], sorted[i]) {
				return false, nil
			}
		}
		return true, nil
	}
	for i := range list {
		if err := r.spend(i); err != nil {
			return false, err
		}
		for j := range i {
			if equal(list[j], list[i]) {
				return false, nil
			}
		}
	}
	return true, nil
}

// sortPython is sorted(list) where Python has an order: among texts, among
// numbers, and among lists of such. A bool has none at the top level, because
// the reference replaces it there.
func sortPython(list []any) (sorted []any, ok bool) {
	if len(list) < 2 {
		return list, true
	}
	for _, v := range list {
		if _, isBool := v.(bool); isBool {
			return nil, false
		}
	}
	sorted, ok = slices.Clone(list), true
	slices.SortStableFunc(sorted, func(a, b any) int {
		c, comparable := orderPython(a, b)
		ok = ok && comparable
		return c
	})
	return sorted, ok
}

// orderPython orders a and b; comparable is false where Python raises TypeError.
func orderPython(a, b any) (c int, comparable bool) {
	switch x := a.(type) {
	case string:
		y, ok := b.(string)
		return strings.Compare(x, y), ok
	case []any:
		y, ok := b.([]any)
		if !ok {
			return 0, false
		}
		for i := range min(len(x), len(y)) {
			if !contained(x[i], y[i]) {
				return orderPython(x[i], y[i])
			}
		}
		return len(x) - len(y), true
	}
	if !orderedNumber(a) || !orderedNumber(b) {
		return 0, false
	}
	c, _ = compare(a, b)
	return c, true
}

func orderedNumber(v any) bool {
	_, isBool := v.(bool)
	return isBool || isNumber(v)
}
