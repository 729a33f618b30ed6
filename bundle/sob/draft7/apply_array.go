package draft7

import (
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

func (c *compiler) items(v any) check {
	if list, ok := v.([]any); ok {
		nodes := c.nodesOf(list)
		return func(r *run, instance any, every bool) (bool, error) {
			in, ok := instance.([]any)
			if !ok {
				return true, nil
			}
			return r.all(func(yield func(*node, any) bool) {
				for i := range min(len(in), len(nodes)) {
					if !yield(nodes[i], in[i]) {
						return
					}
				}
			}, every)
		}
	}
	n := c.node(v)
	return func(r *run, instance any, every bool) (bool, error) {
		in, ok := instance.([]any)
		if !ok {
			return true, nil
		}
		return r.each(n, in, every)
	}
}

// each validates every element against n.
func (r *run) each(n *node, list []any, every bool) (bool, error) {
	ok := true
	for _, v := range list {
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

// additionalItems only means something beside a list of item schemas. Beside a
// bool the reference asks for the length of that bool.
func (c *compiler) additionalItems(v any, siblings *value.Dict) check {
	items, has := siblings.Get("items")
	if !has || isObject(items) {
		return nil
	}
	list, ok := items.([]any)
	if !ok {
		err := pycompat.Raise("TypeError", "object of type '%s' has no len()", value.TypeName(items))
		return func(_ *run, instance any, _ bool) (bool, error) {
			if isArray(instance) {
				return false, err
			}
			return true, nil
		}
	}
	n := c.node(v)
	return func(r *run, instance any, every bool) (bool, error) {
		in, ok := instance.([]any)
		if !ok || len(in) <= len(list) {
			return true, nil
		}
		return r.each(n, in[len(list):], every)
	}
}

func (c *compiler) contains(v any) check {
	n := c.node(v)
	return func(r *run, instance any, _ bool) (bool, error) {
		in, ok := instance.([]any)
		if !ok {
			return true, nil
		}
		for _, v := range in {
			if good, err := r.valid(n, v); good || err != nil {
				return good, err
			}
		}
		return false, nil
	}
}
