package jinja

import (
	"math/big"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Values that only exist while a template runs.
type (
	undefined string   // a name or member that is not there
	silent    struct{} // an inline if without else: undefined, but empty text
	global    string   // a function of Jinja2 by name
	markup    string   // escaped text; it can only be printed
	bound     string   // a method that is not called
	// stream is a generator: it can be read once.
	stream struct {
		items []any
		read  bool
	}
	// view is what items() and the like return.
	view struct {
		name  string
		items []any
	}
	// span is a range.
	span struct{ start, stop, step, length int64 }
	// cursor is the loop variable.
	cursor struct {
		items []any
		at    int
	}
)

func (u undefined) raise() error {
	return pycompat.Raise("UndefinedError", "%s is undefined", string(u))
}

// ordinary reports whether v is a value of package value, at the top at least.
func ordinary(v any) bool {
	switch v.(type) {
	case nil, bool, int64, *big.Int, float64, string, []any, value.Tuple, *value.Dict:
		return true
	}
	return false
}

// need refuses values that only exist in templates.
func need(v any) error {
	if u, ok := v.(undefined); ok {
		return u.raise()
	}
	if !ordinary(v) {
		return unsupported("an operation on %T", v)
	}
	return nil
}

// toText is str(v).
func toText(v any) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	switch x := v.(type) {
	case undefined:
		return "", x.raise()
	case silent:
		return "", nil
	case span:
		if x.step == 1 {
			return "range(" + value.Str(x.start) + ", " + value.Str(x.stop) + ")", nil
		}
		return "range(" + value.Str(x.start) + ", " + value.Str(x.stop) + ", " + value.Str(x.step) + ")", nil
	case view:
		if err := plainThrough(x.items, 0); err != nil {
			return "", err
		}
		return "dict_" + x.name + "(" + value.Repr(x.items) + ")", nil
	}
	if err := plainThrough(v, 0); err != nil {
		return "", err
	}
	return value.Str(v), nil
}

// plainThrough refuses template values at any depth.
func plainThrough(v any, depth int) error {
	if err := need(v); err != nil {
		return err
	}
	if depth > maxDepth {
		return ErrBudget
	}
	switch x := v.(type) {
	case []any:
		for _, item := range x {
			if err := plainThrough(item, depth+1); err != nil {
				return err
			}
		}
	case value.Tuple:
		return plainThrough([]any(x), depth)
	case *value.Dict:
		for _, item := range x.All() {
			if err := plainThrough(item, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// truth is bool(v).
func truth(v any) (bool, error) {
	switch x := v.(type) {
	case undefined:
		return false, x.raise()
	case *stream, global, bound, cursor:
		return true, nil
	case silent:
		return false, nil
	case span:
		return x.length > 0, nil
	case view:
		return len(x.items) > 0, nil
	case markup:
		return x != "", nil
	}
	return value.Truth(v), nil
}

// iterate is list(v): what a loop over v sees.
func iterate(v any) ([]any, error) {
	switch x := v.(type) {
	case []any:
		return x, nil
	case value.Tuple:
		return x, nil
	case view:
		return x.items, nil
	case string:
		runes := str.Runes(x)
		if len(runes) > maxItems {
			return nil, ErrBudget
		}
		out := make([]any, len(runes))
		for i, r := range runes {
			out[i] = str.FromRunes([]rune{r})
		}
		return out, nil
	case *value.Dict:
		out := make([]any, 0, x.Len())
		for k := range x.All() {
			out = append(out, k)
		}
		return out, nil
	case span:
		out := make([]any, x.length)
		for i := range out {
			out[i] = x.start + int64(i)*x.step
		}
		return out, nil
	case silent:
		return nil, nil
	case *stream:
		if x.read {
			return nil, nil
		}
		x.read = true
		return x.items, nil
	}
	if err := need(v); err != nil {
		return nil, err
	}
	return nil, pycompat.Raise("TypeError", "%s is not iterable", value.TypeName(v))
}

// length is len(v).
func length(v any) (int64, error) {
	switch x := v.(type) {
	case string:
		return int64(str.Len(x)), nil
	case []any:
		return int64(len(x)), nil
	case value.Tuple:
		return int64(len(x)), nil
	case *value.Dict:
		return int64(x.Len()), nil
	case view:
		return int64(len(x.items)), nil
	case span:
		return x.length, nil
	case silent:
		return 0, nil
	case *stream:
		return 0, pycompat.Raise("TypeError", "a generator has no length")
	}
	if err := need(v); err != nil {
		return 0, err
	}
	return 0, pycompat.Raise("TypeError", "%s has no length", value.TypeName(v))
}

// newRange is range() of one to three integers.
func newRange(args []any) (any, error) {
	r := span{step: 1}
	ints := make([]int64, len(args))
	for i, a := range args {
		n, ok := index(a)
		if !ok {
			return nil, pycompat.Raise("TypeError", "range of something that is no integer")
		}
		ints[i] = n
	}
	switch len(ints) {
	case 1:
		r.stop = ints[0]
	case 2:
		r.start, r.stop = ints[0], ints[1]
	case 3:
		r.start, r.stop, r.step = ints[0], ints[1], ints[2]
	default:
		return nil, pycompat.Raise("TypeError", "range takes one to three arguments")
	}
	const far = 1 << 40
	if max(r.start, r.stop, r.step, -r.start, -r.stop, -r.step) > far {
		return nil, unsupported("a range with ends beyond 2^40")
	}
	switch {
	case r.step == 0:
		return nil, pycompat.Raise("ValueError", "range with a step of 0")
	case r.step > 0 && r.start < r.stop:
		r.length = (r.stop-r.start-1)/r.step + 1
	case r.step < 0 && r.start > r.stop:
		r.length = (r.start-r.stop-1)/-r.step + 1
	}
	if r.length > maxItems {
		return nil, ErrBudget
	}
	return r, nil
}

// index reads an integer or bool.
func index(v any) (int64, bool) {
	switch x := v.(type) {
	case int64:
		return x, true
	case bool:
		if x {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}
