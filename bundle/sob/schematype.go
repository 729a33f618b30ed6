package sob

import (
	"math/big"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// typePrecision is the share of the answer's leaves that have the type which
// the schema gives for their path, 0 without leaves. Only properties and items
// are followed: a leaf behind anything else is a mismatch.
func typePrecision(answer *leaves, schema any) (float64, error) {
	if len(answer.list) == 0 {
		return 0, nil
	}
	n := 0
	var steps []step
	for i := range answer.list {
		l := &answer.list[i]
		want, parts, err := typeAt(schema, l.path, steps[:0])
		if err != nil {
			return 0, err
		}
		steps = parts
		if want != "" && isType(l.value, want) {
			n++
		}
	}
	return ratio(n, len(answer.list)), nil
}

// typeAt walks schema along path and returns the type declared there, "" for
// none. buf is reused for the parts of the path.
func typeAt(schema any, path string, buf []step) (string, []step, error) {
	if _, ok := schema.(*value.Dict); !ok {
		return "", buf, nil
	}
	parts, err := split(buf, path)
	if err != nil {
		return "", buf, err
	}
	for _, p := range parts {
		current, ok := schema.(*value.Dict)
		if !ok {
			return "", parts, noGet(schema)
		}
		container, inside := "object", "properties"
		if p.index {
			container, inside = "array", "items"
		}
		if kind, _ := current.Get("type"); kind != any(container) {
			return "", parts, nil
		}
		next, ok := current.Get(inside)
		if !p.index && ok {
			properties, isDict := next.(*value.Dict)
			if !isDict {
				return "", parts, noGet(next)
			}
			next, _ = properties.Get(p.key)
		}
		if next == nil {
			return "", parts, nil
		}
		schema = next
	}
	current, ok := schema.(*value.Dict)
	if !ok {
		return "", parts, nil
	}
	kind, _ := current.Get("type")
	name, err := typeName(kind)
	return name, parts, err
}

func noGet(v any) error {
	return pycompat.Raise("AttributeError", "'%s' object has no attribute 'get'", value.TypeName(v))
}

// typeName is the one type that a type keyword gives: its name, or the only
// name of a list beside null.
func typeName(kind any) (string, error) {
	if list, ok := kind.([]any); ok {
		var rest []any
		for _, v := range list {
			if v != any("null") {
				rest = append(rest, v)
			}
		}
		if len(rest) == 1 {
			kind = rest[0]
		}
	}
	switch kind := kind.(type) {
	case string:
		switch kind {
		case "string", "integer", "number", "boolean", "object", "array", "null":
			return kind, nil
		}
	case []any, *value.Dict:
		return "", pycompat.Raise("TypeError", "unhashable type: '%s'", value.TypeName(kind))
	}
	return "", nil
}

// typeOf is the JSON type of a value; a float is a number even when it has no
// fraction.
func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case int64, *big.Int:
		return "integer"
	case float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	case *value.Dict:
		return "object"
	}
	return "unknown"
}

func isType(v any, want string) bool {
	have := typeOf(v)
	return have == want || want == "number" && have == "integer"
}
