package draft7

import "github.com/evalrouter/evalrouter/bundle/pycompat/value"

func (c *compiler) allOf(v any) check {
	list, ok := v.([]any)
	if !ok {
		return malformed(v, anything)
	}
	nodes := c.nodesOf(list)
	return func(r *run, instance any, every bool) (bool, error) {
		return r.all(func(yield func(*node, any) bool) {
			for _, n := range nodes {
				if !yield(n, instance) {
					return
				}
			}
		}, every)
	}
}

// firstValid returns the first of nodes that instance meets, len(nodes) if it
// meets none. Every violation of the others is looked at.
func (r *run) firstValid(nodes []*node, instance any) (int, error) {
	for i, n := range nodes {
		if good, err := r.descend(n, instance, true); good || err != nil {
			return i, err
		}
	}
	return len(nodes), nil
}

func (c *compiler) anyOf(v any) check {
	list, ok := v.([]any)
	if !ok {
		return malformed(v, anything)
	}
	nodes := c.nodesOf(list)
	return func(r *run, instance any, _ bool) (bool, error) {
		i, err := r.firstValid(nodes, instance)
		return i < len(nodes), err
	}
}

func (c *compiler) oneOf(v any) check {
	list, ok := v.([]any)
	if !ok {
		return malformed(v, anything)
	}
	nodes := c.nodesOf(list)
	return func(r *run, instance any, _ bool) (bool, error) {
		i, err := r.firstValid(nodes, instance)
		if err != nil || i == len(nodes) {
			return false, err
		}
		single := true
		for _, n := range nodes[i+1:] {
			good, err := r.valid(n, instance)
			if err != nil {
				return false, err
			}
			single = single && !good
		}
		return single, nil
	}
}

func (c *compiler) not(v any) check {
	n := c.node(v)
	return func(r *run, instance any, _ bool) (bool, error) {
		good, err := r.valid(n, instance)
		return !good, err
	}
}

func (c *compiler) conditional(v any, siblings *value.Dict) check {
	test := c.node(v)
	branch := func(key string) *node {
		if sub, ok := siblings.Get(key); ok {
			return c.node(sub)
		}
		return &node{kind: always}
	}
	then, otherwise := branch("then"), branch("else")
	return func(r *run, instance any, every bool) (bool, error) {
		good, err := r.valid(test, instance)
		if err != nil {
			return false, err
		}
		if good {
			return r.descend(then, instance, every)
		}
		return r.descend(otherwise, instance, every)
	}
}
