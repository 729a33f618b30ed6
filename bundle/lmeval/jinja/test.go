package jinja

import (
	"math/big"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

type testFunc = func(v any, a given) (bool, error)

// lookupTest returns a test that the engine has, else nil.
func lookupTest(name string) testFunc {
	switch name {
	case "defined", "undefined":
		return func(v any, a given) (bool, error) {
			missing := absent(v)
			_, _, err := a.bind()
			return missing == (name == "undefined"), err
		}
	case "none", "string", "number", "integer", "float", "boolean", "true", "false", "mapping", "sequence", "iterable":
		return ofType(name)
	case "lower", "upper":
		return func(v any, a given) (bool, error) {
			if _, _, err := a.bind(); err != nil {
				return false, err
			}
			s, err := toText(v)
			if name == "lower" {
				return str.IsLower(s), err
			}
			return str.IsUpper(s), err
		}
	case "odd", "even", "divisibleby":
		return divisible(name)
	}
	op := map[string]string{
		"eq": "==", "equalto": "==", "ne": "!=", "lt": "<", "lessthan": "<", "le": "<=", "gt": ">", "greaterthan": ">", "ge": ">=", "in": "in",
	}[name]
	if op == "" {
		return nil
	}
	return func(v any, a given) (bool, error) {
		if len(a.items) != 1 || len(a.named) > 0 {
			return false, pycompat.Raise("TypeError", "the test %s takes one argument", name)
		}
		return compare(op, v, a.items[0])
	}
}

// absent reports a value that Jinja2 calls undefined.
func absent(v any) bool {
	switch v.(type) {
	case undefined, silent:
		return true
	}
	return false
}

// ofType tests the type of a value. An undefined value has none of them but is
// a sequence and iterable, as in Jinja2; asking that of it is refused.
func ofType(name string) testFunc {
	return func(v any, a given) (bool, error) {
		if _, _, err := a.bind(); err != nil {
			return false, err
		}
		if !ordinary(v) && (name == "sequence" || name == "iterable") {
			return false, unsupported("the test %s of %T", name, v)
		}
		_, isBool := v.(bool)
		_, isText := v.(string)
		_, isDict := v.(*value.Dict)
		_, isFloat := v.(float64)
		_, isInt := integer(v)
		_, isList := v.([]any)
		_, isTuple := v.(value.Tuple)
		switch name {
		case "none":
			return v == nil, nil
		case "string":
			_, escaped := v.(markup)
			return isText || escaped, nil
		case "number":
			return isInt || isFloat, nil
		case "integer":
			return isInt && !isBool, nil
		case "float":
			return isFloat, nil
		case "boolean":
			return isBool, nil
		case "true", "false":
			return v == (name == "true"), nil
		case "mapping":
			return isDict, nil
		}
		return isText || isDict || isList || isTuple, nil
	}
}

func divisible(name string) testFunc {
	return func(v any, a given) (bool, error) {
		by := any(int64(2))
		if name == "divisibleby" {
			if len(a.items) != 1 || len(a.named) > 0 {
				return false, pycompat.Raise("TypeError", "the test divisibleby takes one argument")
			}
			by = a.items[0]
		} else if _, _, err := a.bind(); err != nil {
			return false, err
		}
		if err := need(v); err != nil {
			return false, err
		}
		if err := need(by); err != nil {
			return false, err
		}
		if _, ok := v.(string); ok {
			return false, unsupported("the test %s of text", name)
		}
		rest, err := arithmetic("%", v, by)
		if err != nil {
			return false, err
		}
		want := int64(0)
		if name == "odd" {
			want = 1
		}
		return compare("==", rest, value.Int(big.NewInt(want)))
	}
}
