package draft7

import (
	"math"
	"math/big"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// searchBudget is the steps that one search of a pattern may take.
const searchBudget = 1_000_000

func isType(instance any, name string) (is, known bool) {
	switch name {
	case "string":
		_, is = instance.(string)
	case "integer":
		is = isInteger(instance)
	case "number":
		is = isNumber(instance)
	case "boolean":
		_, is = instance.(bool)
	case "object":
		_, is = instance.(*value.Dict)
	case "array":
		_, is = instance.([]any)
	case "null":
		is = instance == nil
	default:
		return false, false
	}
	return is, true
}

func isNumber(v any) bool {
	switch v.(type) {
	case int64, float64, *big.Int:
		return true
	}
	return false
}

func isInteger(v any) bool {
	switch v := v.(type) {
	case int64, *big.Int:
		return true
	case float64:
		return v == math.Trunc(v) && !math.IsInf(v, 0)
	}
	return false
}

func checkType(v any) check {
	if name, ok := v.(string); ok {
		v = []any{name}
	}
	list, ok := v.([]any)
	if !ok {
		return malformed(v, anything)
	}
	return func(_ *run, instance any, _ bool) (bool, error) {
		for _, t := range list {
			name, _ := t.(string)
			is, known := isType(instance, name)
			if !known {
				return false, pycompat.Raise("UnknownType", "unknown type %s", value.Repr(t))
			}
			if is {
				return true, nil
			}
		}
		return false, nil
	}
}

func checkRequired(v any) check {
	list, ok := v.([]any)
	if !ok {
		return malformed(v, isObject)
	}
	return func(_ *run, instance any, _ bool) (bool, error) {
		d, ok := instance.(*value.Dict)
		if !ok {
			return true, nil
		}
		for _, key := range list {
			if _, ok := d.Get(key); !ok {
				return false, nil
			}
		}
		return true, nil
	}
}

// checkEnum compares as Python's "in" does, except that the instances 0, 1 and
// their equals are told from bools.
func checkEnum(v any) check {
	list, ok := v.([]any)
	if !ok {
		return malformed(v, anything)
	}
	return func(r *run, instance any, _ bool) (bool, error) {
		if err := r.spend(len(list)); err != nil {
			return false, err
		}
		_, isBool := instance.(bool)
		bit := value.Equal(instance, int64(0)) || value.Equal(instance, int64(1))
		for _, each := range list {
			if bit {
				if _, other := each.(bool); other != isBool {
					continue
				}
			}
			if contained(instance, each) {
				return true, nil
			}
		}
		return false, nil
	}
}

func checkPattern(v any) check {
	text, ok := v.(string)
	if !ok {
		return malformed(v, isString)
	}
	p := newPattern(text)
	return func(_ *run, instance any, _ bool) (bool, error) {
		s, ok := instance.(string)
		if !ok {
			return true, nil
		}
		return p.found(s)
	}
}

// pattern is a regular expression, or the error that using it raises.
type pattern struct {
	re  *re.Regexp
	err error
}

func newPattern(text string) pattern {
	p, err := re.Compile(text, 0)
	if err != nil {
		return pattern{err: err}
	}
	return pattern{re: p.WithBudget(searchBudget)}
}

func (p pattern) found(s string) (bool, error) {
	if p.err != nil {
		return false, p.err
	}
	m, err := p.re.Search(s)
	return m != nil, err
}

func checkBound(v any, meets func(c int) bool) check {
	if !isNumber(v) {
		return malformed(v, isNumber)
	}
	return func(_ *run, instance any, _ bool) (bool, error) {
		if !isNumber(instance) {
			return true, nil
		}
		c, ordered := compare(instance, v)
		return !ordered || meets(c), nil
	}
}

// Sizes give -1 for an instance that the keyword does not look at.
func lengthOf(v any) int {
	if s, ok := v.(string); ok {
		return str.Len(s)
	}
	return -1
}

func itemsOf(v any) int {
	if list, ok := v.([]any); ok {
		return len(list)
	}
	return -1
}

func propertiesOf(v any) int {
	if d, ok := v.(*value.Dict); ok {
		return d.Len()
	}
	return -1
}

func atLeast(c int) bool { return c >= 0 }
func atMost(c int) bool  { return c <= 0 }

func checkSize(v any, size func(any) int, meets func(c int) bool) check {
	if !isNumber(v) {
		return malformed(v, func(instance any) bool { return size(instance) >= 0 })
	}
	return func(_ *run, instance any, _ bool) (bool, error) {
		n := size(instance)
		if n < 0 {
			return true, nil
		}
		c, ordered := compare(int64(n), v)
		return !ordered || meets(c), nil
	}
}

func checkUnique(v any) check {
	if !value.Truth(v) {
		return nil
	}
	return func(r *run, instance any, _ bool) (bool, error) {
		list, ok := instance.([]any)
		if !ok {
			return true, nil
		}
		return r.unique(list)
	}
}

func checkMultiple(v any) check {
	if !isNumber(v) {
		return malformed(v, isNumber)
	}
	return func(_ *run, instance any, _ bool) (bool, error) {
		if !isNumber(instance) {
			return true, nil
		}
		return multiple(instance, v)
	}
}
