package draft7

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// compiler turns values into nodes. A value that is reached twice, as by a
// recursive reference, has one node.
type compiler struct {
	schema *Schema
	nodes  map[*value.Dict]*node
}

func (c *compiler) node(v any) *node {
	switch v := v.(type) {
	case bool:
		if v {
			return &node{kind: always}
		}
		return &node{kind: never}
	case *value.Dict:
		if n := c.nodes[v]; n != nil {
			return n
		}
		n := &node{}
		c.nodes[v] = n
		c.fill(n, v)
		return n
	case nil, int64, float64:
		return &node{err: pycompat.Raise("TypeError", "argument of type '%s' is not iterable", value.TypeName(v))}
	}
	return &node{err: pycompat.Raise("AttributeError", "'%s' object has no attribute 'get'", value.TypeName(v))}
}

func (c *compiler) fill(n *node, d *value.Dict) {
	n.draft = declaresOtherDraft(d)
	if id, ok := d.Get("$id"); ok && value.Truth(id) {
		if n.id, ok = id.(string); !ok {
			n.err = badIdentifier(id)
			return
		}
	}
	if ref, ok := d.Get("$ref"); ok && ref != nil {
		n.checks = []check{c.ref(ref)}
		return
	}
	n.checks = make([]check, 0, d.Len())
	for key, v := range d.All() {
		name, _ := key.(string)
		k := c.assertion(name, v)
		if k == nil {
			k = c.applicator(name, v, d)
		}
		if k != nil {
			n.checks = append(n.checks, k)
		}
	}
}

func (c *compiler) nodesOf(list []any) []*node {
	out := make([]*node, len(list))
	for i, v := range list {
		out[i] = c.node(v)
	}
	return out
}

// declaresOtherDraft reports whether d names a draft that the reference knows
// and that is not 7.
func declaresOtherDraft(d *value.Dict) bool {
	v, _ := d.Get("$schema")
	uri, _ := v.(string)
	switch strings.TrimSuffix(uri, "#") {
	case "http://json-schema.org/draft-03/schema", "http://json-schema.org/draft-04/schema",
		"http://json-schema.org/draft-06/schema",
		"https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema":
		return true
	}
	return false
}

// assertion compiles the keywords that look at one value and at no subschema.
func (c *compiler) assertion(name string, v any) check {
	switch name {
	case "type":
		return checkType(v)
	case "enum":
		return checkEnum(v)
	case "const":
		return func(_ *run, instance any, _ bool) (bool, error) { return equal(instance, v), nil }
	case "required":
		return checkRequired(v)
	case "pattern":
		return checkPattern(v)
	case "uniqueItems":
		return checkUnique(v)
	case "multipleOf":
		return checkMultiple(v)
	case "minimum":
		return checkBound(v, func(c int) bool { return c >= 0 })
	case "maximum":
		return checkBound(v, func(c int) bool { return c <= 0 })
	case "exclusiveMinimum":
		return checkBound(v, func(c int) bool { return c > 0 })
	case "exclusiveMaximum":
		return checkBound(v, func(c int) bool { return c < 0 })
	case "minLength":
		return checkSize(v, lengthOf, atLeast)
	case "maxLength":
		return checkSize(v, lengthOf, atMost)
	case "minItems":
		return checkSize(v, itemsOf, atLeast)
	case "maxItems":
		return checkSize(v, itemsOf, atMost)
	case "minProperties":
		return checkSize(v, propertiesOf, atLeast)
	case "maxProperties":
		return checkSize(v, propertiesOf, atMost)
	}
	return nil
}

// applicator compiles the keywords that hand the value, or parts of it, to
// subschemas. siblings is the schema that the keyword stands in.
func (c *compiler) applicator(name string, v any, siblings *value.Dict) check {
	switch name {
	case "$ref":
		return c.ref(v)
	case "properties":
		return c.properties(v)
	case "patternProperties":
		return c.patternProperties(v)
	case "additionalProperties":
		return c.additionalProperties(v, siblings)
	case "propertyNames":
		return c.propertyNames(v)
	case "dependencies":
		return c.dependencies(v)
	case "items":
		return c.items(v)
	case "additionalItems":
		return c.additionalItems(v, siblings)
	case "contains":
		return c.contains(v)
	case "allOf":
		return c.allOf(v)
	case "anyOf":
		return c.anyOf(v)
	case "oneOf":
		return c.oneOf(v)
	case "not":
		return c.not(v)
	case "if":
		return c.conditional(v, siblings)
	}
	return nil
}

// malformed stands for a keyword whose value has a type that the meta-schema
// forbids, which only schemas reached past the meta-schema can have. It raises
// for the instances that the keyword looks at.
func malformed(v any, looksAt func(any) bool) check {
	err := pycompat.Raise("TypeError", "a keyword has a value of type '%s'", value.TypeName(v))
	return func(_ *run, instance any, _ bool) (bool, error) {
		if looksAt(instance) {
			return false, err
		}
		return true, nil
	}
}

func anything(any) bool { return true }

func isObject(v any) bool {
	_, ok := v.(*value.Dict)
	return ok
}

func isArray(v any) bool {
	_, ok := v.([]any)
	return ok
}

func isString(v any) bool {
	_, ok := v.(string)
	return ok
}
