package draft7

import (
	"iter"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// parts is the values that a keyword hands down, with their subschemas.
type parts = iter.Seq2[*node, any]

// all validates parts in order, up to the first violation unless every is set.
func (r *run) all(p parts, every bool) (bool, error) {
	ok := true
	for n, v := range p {
		good, err := r.descend(n, v, every)
		if err != nil {
			return false, err
		}
		if !good {
			ok = false
			if !every {
				break
			}
		}
	}
	return ok, nil
}

func (c *compiler) properties(v any) check {
	d, ok := v.(*value.Dict)
	if !ok {
		return malformed(v, isObject)
	}
	type property struct {
		key any
		n   *node
	}
	list := make([]property, 0, d.Len())
	for key, sub := range d.All() {
		list = append(list, property{key, c.node(sub)})
	}
	return func(r *run, instance any, every bool) (bool, error) {
		in, ok := instance.(*value.Dict)
		if !ok {
			return true, nil
		}
		ok = true
		for i := range list {
			v, has := in.Get(list[i].key)
			if !has {
				continue
			}
			good, err := r.descend(list[i].n, v, every)
			if err != nil {
				return false, err
			}
			if !good {
				ok = false
				if !every {
					break
				}
			}
		}
		return ok, nil
	}
}

func (c *compiler) patternProperties(v any) check {
	d, ok := v.(*value.Dict)
	if !ok {
		return malformed(v, isObject)
	}
	patterns := make([]pattern, d.Len())
	nodes := make([]*node, d.Len())
	for i := range patterns {
		key, sub := d.At(i)
		text, _ := key.(string) // keys of a JSON object are texts
		patterns[i], nodes[i] = newPattern(text), c.node(sub)
	}
	return func(r *run, instance any, every bool) (bool, error) {
		in, ok := instance.(*value.Dict)
		if !ok {
			return true, nil
		}
		var failed error
		ok, err := r.all(func(yield func(*node, any) bool) {
			for i, p := range patterns {
				for key, v := range in.All() {
					name, _ := key.(string)
					found, err := p.found(name)
					if err != nil {
						failed = err
						return
					}
					if found && !yield(nodes[i], v) {
						return
					}
				}
			}
		}, every)
		if failed != nil {
			return false, failed
		}
		return ok, err
	}
}

func (c *compiler) additionalProperties(v any, siblings *value.Dict) check {
	isExtra, err := extraProperty(siblings)
	if err != nil {
		return malformed(v, isObject)
	}
	n := c.node(v)
	return func(r *run, instance any, every bool) (bool, error) {
		in, ok := instance.(*value.Dict)
		if !ok {
			return true, nil
		}
		var extras []any
		for key, v := range in.All() {
			extra, err := isExtra(key)
			if err != nil {
				return false, err
			}
			if extra {
				extras = append(extras, v)
			}
		}
		return r.all(func(yield func(*node, any) bool) {
			for _, v := range extras {
				if !yield(n, v) {
					return
				}
			}
		}, every)
	}
}

// extraProperty returns the test for a property that neither properties nor
// patternProperties of d names.
func extraProperty(d *value.Dict) (func(key any) (bool, error), error) {
	var names, patterns *value.Dict
	for key, to := range map[string]**value.Dict{"properties": &names, "patternProperties": &patterns} {
		v, ok := d.Get(key)
		if *to, ok = v.(*value.Dict); !ok && v != nil {
			return nil, pycompat.Raise("TypeError", "%s of type '%s'", key, value.TypeName(v))
		}
	}
	var joined *pattern
	if patterns != nil {
		var texts []string
		for key := range patterns.All() {
			text, _ := key.(string)
			texts = append(texts, text)
		}
		if text := strings.Join(texts, "|"); text != "" {
			p := newPattern(text)
			joined = &p
		}
	}
	return func(key any) (bool, error) {
		if names != nil {
			if _, ok := names.Get(key); ok {
				return false, nil
			}
		}
		if joined == nil {
			return true, nil
		}
		name, _ := key.(string)
		found, err := joined.found(name)
		return !found, err
	}, nil
}

func (c *compiler) propertyNames(v any) check {
	n := c.node(v)
	return func(r *run, instance any, every bool) (bool, error) {
		in, ok := instance.(*value.Dict)
		if !ok {
			return true, nil
		}
		return r.all(func(yield func(*node, any) bool) {
			for key := range in.All() {
				if !yield(n, key) {
					return
				}
			}
		}, every)
	}
}

func (c *compiler) dependencies(v any) check {
	d, ok := v.(*value.Dict)
	if !ok {
		return malformed(v, isObject)
	}
	nodes := make([]*node, d.Len())
	for i := range nodes {
		_, sub := d.At(i)
		nodes[i] = c.dependency(sub)
	}
	return func(r *run, instance any, every bool) (bool, error) {
		if !isObject(instance) {
			return true, nil
		}
		return r.all(func(yield func(*node, any) bool) {
			for i, n := range nodes {
				key, _ := d.At(i)
				if _, has := instance.(*value.Dict).Get(key); has && !yield(n, instance) {
					return
				}
			}
		}, every)
	}
}

// dependency compiles what follows from one property: a subschema, or a list
// of properties, which is required by another name.
func (c *compiler) dependency(v any) *node {
	if list, ok := v.([]any); ok {
		return &node{checks: []check{checkRequired(list)}}
	}
	return c.node(v)
}
