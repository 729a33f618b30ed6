package jinja

import (
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// The public attributes of Python 3.11's types. A member of the same name is
// hidden behind them.
const (
	strAttributes = " capitalize casefold center count encode endswith expandtabs find format format_map index isalnum isalpha isascii" +
		" isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower lstrip maketrans" +
		" partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith" +
		" strip swapcase title translate upper zfill "
	listAttributes  = " append clear copy count extend index insert pop remove reverse sort "
	tupleAttributes = " count index "
	dictAttributes  = " clear copy fromkeys get items keys pop popitem setdefault update values "
	numAttributes   = " as_integer_ratio bit_count bit_length conjugate denominator from_bytes fromhex hex imag is_integer numerator real to_bytes "
)

// pythonAttribute reports whether v has a Python attribute of this name.
func pythonAttribute(v any, name string) bool {
	var all string
	switch v.(type) {
	case string:
		all = strAttributes
	case []any:
		all = listAttributes
	case value.Tuple:
		all = tupleAttributes
	case *value.Dict:
		all = dictAttributes
	case nil:
		return false
	default:
		all = numAttributes
	}
	return strings.Contains(all, " "+name+" ")
}

// methodKnown reports whether the engine has a method of this name for any
// type.
func methodKnown(name string) bool {
	return slices.Contains([]string{
		"capitalize", "casefold", "count", "endswith", "find", "index", "isalnum", "isalpha", "isdecimal", "isdigit", "islower",
		"isnumeric", "isspace", "isupper", "join", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "replace",
		"rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith", "strip", "upper", "copy", "get", "items", "keys", "values",
	}, name)
}

// method is a.b(...).
type method struct {
	of   expression
	name string
	args arguments
}

func (m method) eval(e *env) (any, error) {
	v, err := e.eval(m.of)
	if err != nil {
		return nil, err
	}
	if u, ok := v.(undefined); ok {
		return nil, u.raise()
	}
	a, err := m.args.eval(e)
	if err != nil {
		return nil, err
	}
	if err := need(v); err != nil {
		return nil, err
	}
	if !pythonAttribute(v, m.name) {
		if d, ok := v.(*value.Dict); ok {
			if _, ok := d.Get(m.name); ok {
				return nil, pycompat.Raise("TypeError", "the member %s cannot be called", m.name)
			}
		}
		return nil, undefined("the method " + m.name).raise()
	}
	if len(a.named) > 0 {
		return nil, unsupported("named arguments of %s", m.name)
	}
	for _, x := range a.items {
		if _, generator := x.(*stream); generator && m.name == "join" {
			continue
		}
		if err := need(x); err != nil {
			return nil, err
		}
	}
	switch x := v.(type) {
	case string:
		return stringMethod(x, m.name, a.items)
	case []any:
		return listMethod(x, m.name, a.items)
	case value.Tuple:
		return listMethod(x, m.name, a.items)
	case *value.Dict:
		return dictMethod(x, m.name, a.items)
	}
	return nil, unsupported("the method %s of %s", m.name, value.TypeName(v))
}

func listMethod(items []any, name string, args []any) (any, error) {
	if len(args) != 1 && name != "copy" {
		return nil, unsupported("%s with %d arguments", name, len(args))
	}
	switch name {
	case "count":
		n := int64(0)
		for _, x := range items {
			if value.Equal(x, args[0]) {
				n++
			}
		}
		return n, nil
	case "index":
		for i, x := range items {
			if value.Equal(x, args[0]) {
				return int64(i), nil
			}
		}
		return nil, pycompat.Raise("ValueError", "the list does not have the item")
	case "copy":
		if len(args) == 0 {
			return slices.Clone(items), nil
		}
	}
	return nil, unsupported("the method %s of a list", name)
}

func dictMethod(d *value.Dict, name string, args []any) (any, error) {
	if name == "get" && (len(args) == 1 || len(args) == 2) {
		if _, err := value.Key(args[0]); err != nil {
			return nil, err
		}
		if v, ok := d.Get(args[0]); ok {
			return v, nil
		}
		if len(args) == 2 {
			return args[1], nil
		}
		return nil, nil
	}
	if len(args) != 0 {
		return nil, unsupported("%s with %d arguments", name, len(args))
	}
	out := view{name: name}
	switch name {
	case "items":
		for k, v := range d.All() {
			out.items = append(out.items, value.Tuple{k, v})
		}
	case "keys":
		for k := range d.All() {
			out.items = append(out.items, k)
		}
	case "values":
		for _, v := range d.All() {
			out.items = append(out.items, v)
		}
	case "copy":
		return d.Copy(), nil
	default:
		return nil, unsupported("the method %s of a dict", name)
	}
	return out, nil
}

// plainMethod returns the methods of text without arguments.
func plainMethod(name string) (func(string) any, bool) {
	text := func(f func(string) string) func(string) any { return func(s string) any { return f(s) } }
	is := func(f func(string) bool) func(string) any { return func(s string) any { return f(s) } }
	switch name {
	case "capitalize":
		return text(str.Capitalize), true
	case "casefold":
		return text(str.Casefold), true
	case "lower":
		return text(str.Lower), true
	case "upper":
		return text(str.Upper), true
	case "isalnum":
		return is(str.IsAlnum), true
	case "isalpha":
		return is(str.IsAlpha), true
	case "isdecimal":
		return is(str.IsDecimal), true
	case "isdigit":
		return is(str.IsDigit), true
	case "islower":
		return is(str.IsLower), true
	case "isnumeric":
		return is(str.IsNumeric), true
	case "isspace":
		return is(str.IsSpace), true
	case "isupper":
		return is(str.IsUpper), true
	case "splitlines":
		return func(s string) any { return texts(str.SplitLines(s)) }, true
	}
	return nil, false
}

func texts(parts []string) []any {
	out := make([]any, len(parts))
	for i, p := range parts {
		out[i] = p
	}
	return out
}
