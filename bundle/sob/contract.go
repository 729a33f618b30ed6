package sob

import (
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
	"github.com/evalrouter/evalrouter/bundle/sob/draft7"
)

// Contract is a schema made ready to hold answers to.
type Contract struct {
	schema   any
	valid    bool
	compiled *draft7.Schema
	// required holds the required paths, sorted and each once, of a valid schema.
	required []string
	// raw and rawErr are the required paths as they come, which is what an
	// answer that cannot be read is said to miss.
	raw    []any
	rawErr error
}

// NewContract prepares a schema. It accepts anything; what is no schema makes
// a contract that nothing meets.
func NewContract(schema any) *Contract {
	c := &Contract{schema: schema, valid: draft7.Check(schema)}
	c.raw, c.rawErr = requiredPaths(nil, schema, "")
	if !c.valid {
		return c
	}
	c.compiled = draft7.Compile(schema)
	for _, p := range c.raw {
		c.required = append(c.required, value.Str(p)) // a valid schema has texts alone
	}
	slices.Sort(c.required)
	c.required = slices.Compact(c.required)
	return c
}

// Valid reports whether the schema is an object that the meta-schema accepts.
func (c *Contract) Valid() bool { return c.valid }

// recall is the share of the required paths that answer has, and those it
// lacks. It is for valid schemas.
func (c *Contract) recall(answer any) (float64, []any) {
	if len(c.required) == 0 {
		return 1, nil
	}
	have := map[string]struct{}{}
	present(answer, nil, have)
	var missing []any
	for _, p := range c.required {
		if _, ok := have[p]; !ok {
			missing = append(missing, p)
		}
	}
	return ratio(len(c.required)-len(missing), len(c.required)), missing
}

// requiredPaths appends the paths that schema requires below prefix, the items
// of arrays as []. In a schema that is not valid a required key can be any
// value: at the root it stays what it is, below it becomes its text.
func requiredPaths(dst []any, schema any, prefix any) ([]any, error) {
	d, ok := schema.(*value.Dict)
	if !ok {
		return dst, nil
	}
	kind, _ := d.Get("type")
	switch kind {
	case any("object"):
		return requiredProperties(dst, d, prefix)
	case any("array"):
		items, _ := d.Get("items")
		inner := "[]"
		if value.Truth(prefix) {
			inner = value.Str(prefix) + inner
		}
		return requiredPaths(dst, items, inner)
	}
	return dst, nil
}

func requiredProperties(dst []any, d *value.Dict, prefix any) ([]any, error) {
	keys, err := iterate(d)
	if err != nil || len(keys) == 0 {
		return dst, err
	}
	v, ok := d.Get("properties")
	properties, isDict := v.(*value.Dict)
	if ok && !isDict {
		return dst, noGet(v)
	}
	for _, key := range keys {
		if _, err := value.Key(key); err != nil {
			return dst, err
		}
		var child any
		if isDict {
			child, _ = properties.Get(key)
		}
		path := key
		if value.Truth(prefix) {
			path = value.Str(prefix) + "." + value.Str(key)
		}
		dst = append(dst, path)
		if dst, err = requiredPaths(dst, child, path); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// iterate is what Python's for sees in the required keyword: the items of a
// list, and of what does not belong there the characters or keys.
func iterate(d *value.Dict) ([]any, error) {
	v, ok := d.Get("required")
	if !ok {
		return nil, nil
	}
	switch v := v.(type) {
	case []any:
		return v, nil
	case string:
		var out []any
		for c := range strings.SplitSeq(v, "") {
			out = append(out, c)
		}
		return out, nil
	case *value.Dict:
		var out []any
		for key := range v.All() {
			out = append(out, key)
		}
		return out, nil
	}
	return nil, pycompat.Raise("TypeError", "'%s' object is not iterable", value.TypeName(v))
}
