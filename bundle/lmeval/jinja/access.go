package jinja

import (
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// attribute is a.b: a Python attribute if there is one, else the member b.
type attribute struct {
	of   expression
	name string
}

func (a attribute) eval(e *env) (any, error) {
	v, err := e.eval(a.of)
	if err != nil {
		return nil, err
	}
	return getAttribute(v, a.name)
}

func getAttribute(v any, name string) (any, error) {
	switch x := v.(type) {
	case undefined:
		return nil, x.raise()
	case cursor:
		return x.member(name)
	}
	if err := need(v); err != nil {
		return nil, err
	}
	if len(name) > 1 && name[:2] == "__" {
		return nil, unsupported("the attribute %s", name)
	}
	if pythonAttribute(v, name) {
		return bound(name), nil
	}
	if d, ok := v.(*value.Dict); ok {
		if m, ok := d.Get(name); ok {
			return m, nil
		}
	}
	return undefined("the member " + name), nil
}

// member reads loop.index and the like.
func (c cursor) member(name string) (any, error) {
	n, at := len(c.items), c.at
	switch name {
	case "index":
		return int64(at + 1), nil
	case "index0":
		return int64(at), nil
	case "revindex":
		return int64(n - at), nil
	case "revindex0":
		return int64(n - at - 1), nil
	case "first":
		return at == 0, nil
	case "last":
		return at == n-1, nil
	case "length":
		return int64(n), nil
	case "previtem":
		if at > 0 {
			return c.items[at-1], nil
		}
		return undefined("there is no previous item"), nil
	case "nextitem":
		if at+1 < n {
			return c.items[at+1], nil
		}
		return undefined("there is no next item"), nil
	}
	return nil, unsupported("loop.%s", name)
}

// item is a[b]: a member or element if there is one, else a Python attribute.
type item struct{ of, at expression }

func (i item) eval(e *env) (any, error) {
	v, err := e.eval(i.of)
	if err != nil {
		return nil, err
	}
	at, err := e.eval(i.at)
	if err != nil {
		return nil, err
	}
	return getItem(v, at)
}

func getItem(v, at any) (any, error) {
	if u, ok := v.(undefined); ok {
		return nil, u.raise()
	}
	if err := need(at); err != nil {
		return nil, err
	}
	if d, ok := v.(*value.Dict); ok {
		if m, ok := d.Get(at); ok {
			return m, nil
		}
	}
	if n, ok := index(at); ok {
		if m, ok, err := element(v, n); ok || err != nil {
			return m, err
		}
	}
	if s, ok := at.(string); ok {
		if pythonAttribute(v, s) || len(s) > 1 && s[:2] == "__" {
			return nil, unsupported("the attribute %s by subscript", s)
		}
	}
	if _, ok := v.(*stream); !ok {
		if _, r := v.(span); !r {
			if err := need(v); err != nil {
				return nil, err
			}
		}
	}
	return undefined("a member"), nil
}

// element is v[n] of a sequence; ok is false outside of it.
func element(v any, n int64) (any, bool, error) {
	switch x := v.(type) {
	case string:
		runes := str.Runes(x)
		if n < 0 {
			n += int64(len(runes))
		}
		if n >= 0 && n < int64(len(runes)) {
			return str.FromRunes(runes[n : n+1]), true, nil
		}
	case []any, value.Tuple, span:
		items, err := iterate(x)
		if n < 0 {
			n += int64(len(items))
		}
		if err == nil && n >= 0 && n < int64(len(items)) {
			return items[n], true, nil
		}
		return nil, false, err
	}
	return nil, false, nil
}

// slice is a[from:to:step].
type slice struct{ of, from, to, step expression }

func (s slice) eval(e *env) (any, error) {
	v, err := e.eval(s.of)
	if err != nil {
		return nil, err
	}
	if u, ok := v.(undefined); ok {
		return nil, u.raise()
	}
	var at [3]*int64
	for i, x := range []expression{s.from, s.to, s.step} {
		if x == nil {
			continue
		}
		b, err := e.eval(x)
		if err != nil {
			return nil, err
		}
		if err := need(b); err != nil {
			return nil, err
		}
		if b == nil {
			continue
		}
		n, ok := index(b)
		if !ok {
			return undefined("a slice"), nil
		}
		at[i] = &n
	}
	switch x := v.(type) {
	case string:
		runes, err := cut(str.Runes(x), at)
		return str.FromRunes(runes), err
	case []any:
		return cut(x, at)
	case value.Tuple:
		out, err := cut(x, at)
		return out, err
	}
	return nil, unsupported("a slice of %T", v)
}

// cut is items[from:to:step] with Python's clipping.
func cut[S ~[]T, T any](items S, at [3]*int64) (S, error) {
	n, step := int64(len(items)), int64(1)
	if at[2] != nil {
		step = *at[2]
	}
	if step == 0 {
		return nil, pycompat.Raise("ValueError", "a slice with a step of 0")
	}
	low, high := int64(0), n
	if step < 0 {
		low, high = -1, n-1
	}
	clip := func(p *int64, absent int64) int64 {
		if p == nil {
			return absent
		}
		i := *p
		if i < 0 {
			i += n
		}
		return max(low, min(high, i))
	}
	from, to := clip(at[0], low), clip(at[1], high)
	if step < 0 {
		from, to = clip(at[0], high), clip(at[1], low)
	}
	out := S{}
	for i := from; step > 0 && i < to || step < 0 && i > to; i += step {
		out = append(out, items[i])
		if step > n || step < -n {
			break
		}
	}
	return out, nil
}
