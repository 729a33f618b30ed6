package jinja

import (
	"math"
	"math/big"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

type filterFunc func(e *env, v any, a given) (any, error)

// lookupFilter returns a filter that the engine has, else nil.
func lookupFilter(name string) filterFunc {
	switch name {
	case "upper":
		return textFilter(str.Upper)
	case "lower":
		return textFilter(str.Lower)
	case "capitalize":
		return textFilter(str.Capitalize)
	case "string":
		return textFilter(func(s string) string { return s })
	case "trim":
		return trim
	case "replace":
		return replace
	case "regex_replace":
		return regexReplace
	case "indent":
		return indent
	case "format":
		return format
	case "e", "escape":
		return escape
	case "tojson":
		return toJSON
	case "int":
		return toInt
	case "float":
		return toFloat
	case "abs":
		return absolute
	case "round":
		return round
	case "default", "d":
		return defaulted
	}
	return lookupSequence(name)
}

// textFilter applies a function to str(v).
func textFilter(f func(string) string) filterFunc {
	return func(_ *env, v any, a given) (any, error) {
		if _, _, err := a.bind(); err != nil {
			return nil, err
		}
		s, err := toText(v)
		return f(s), err
	}
}

func trim(_ *env, v any, a given) (any, error) {
	args, ok, err := a.bind("chars")
	if err != nil {
		return nil, err
	}
	s, err := toText(v)
	if err != nil {
		return nil, err
	}
	if !ok[0] {
		args = nil
	}
	return strip(s, "strip", args)
}

func replace(_ *env, v any, a given) (any, error) {
	args, ok, err := a.bind("old", "new", "count")
	if err != nil {
		return nil, err
	}
	s, err := toText(v)
	if err != nil {
		return nil, err
	}
	if !ok[0] || !ok[1] {
		return nil, pycompat.Raise("TypeError", "replace needs two arguments")
	}
	from, err := toText(args[0])
	if err != nil {
		return nil, err
	}
	to, err := toText(args[1])
	if err != nil {
		return nil, err
	}
	n := int64(-1)
	if args[2] != nil {
		var isInt bool
		if n, isInt = index(args[2]); !isInt {
			return nil, pycompat.Raise("TypeError", "the count of replace is of type %s", value.TypeName(args[2]))
		}
	}
	return replaceAll(s, from, to, int(n))
}

func regexReplace(e *env, v any, a given) (any, error) {
	if err := e.charge(regexSteps); err != nil {
		return nil, err
	}
	args, ok, err := a.bind("pattern", "repl", "count")
	if err != nil {
		return nil, err
	}
	if err := need(v); err != nil {
		return nil, err
	}
	s, isText := v.(string)
	pattern, ok1 := args[0].(string)
	template, ok2 := args[1].(string)
	if !isText || !ok1 || !ok2 {
		return nil, pycompat.Raise("TypeError", "regex_replace needs texts")
	}
	n := int64(0)
	if ok[2] {
		if n, ok[2] = index(args[2]); !ok[2] || n < 0 {
			return nil, pycompat.Raise("TypeError", "the count of regex_replace is no integer from 0")
		}
	}
	r, err := re.Compile(pattern, 0)
	if err != nil {
		return nil, err
	}
	return r.WithBudget(regexBudget).SubN(template, s, int(n))
}

func indent(_ *env, v any, a given) (any, error) {
	args, ok, err := a.bind("width", "first", "blank")
	if err != nil {
		return nil, err
	}
	s, isText := v.(string)
	if !isText {
		if err := need(v); err != nil {
			return nil, err
		}
		return nil, pycompat.Raise("TypeError", "indent of %s", value.TypeName(v))
	}
	margin := "    "
	if ok[0] {
		if word, isWord := args[0].(string); isWord {
			margin = word
		} else if n, isInt := index(args[0]); isInt && n <= maxItems {
			margin = strings.Repeat(" ", int(max(n, 0)))
		} else {
			return nil, pycompat.Raise("TypeError", "the width of indent is no integer")
		}
	}
	first, blank := value.Truth(args[1]), value.Truth(args[2])
	lines := str.SplitLines(s + "\n")
	if len(margin)*len(lines) > maxOutput {
		return nil, ErrBudget
	}
	for i := range lines {
		if i == 0 && first || i > 0 && (blank || lines[i] != "") {
			lines[i] = margin + lines[i]
		}
	}
	return strings.Join(lines, "\n"), nil
}

func format(_ *env, v any, a given) (any, error) {
	if len(a.named) > 0 {
		return nil, unsupported("formatting by name")
	}
	s, err := toText(v)
	if err != nil {
		return nil, err
	}
	for _, x := range a.items {
		if err := plainThrough(x, 0); err != nil {
			return nil, err
		}
	}
	return percent(s, value.Tuple(a.items))
}

func escape(_ *env, v any, a given) (any, error) {
	if _, _, err := a.bind(); err != nil {
		return nil, err
	}
	if m, ok := v.(markup); ok {
		return m, nil
	}
	s, err := toText(v)
	return markup(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "'", "&#39;", `"`, "&#34;").Replace(s)), err
}

func toJSON(_ *env, v any, a given) (any, error) {
	args, ok, err := a.bind("indent")
	if err != nil {
		return nil, err
	}
	if err := plainThrough(v, 0); err != nil {
		return nil, err
	}
	how := value.Dump{SortKeys: true}
	if ok[0] && args[0] != nil {
		n, isInt := index(args[0])
		if !isInt || n < 1 || n > 100 {
			return nil, unsupported("tojson with that indent")
		}
		how.Indent = int(n)
	}
	s, err := how.Dumps(v)
	return markup(strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`, "'", `\u0027`).Replace(s)), err
}

// toInt is the filter int, which gives a default for what is no number.
func toInt(_ *env, v any, a given) (any, error) {
	args, ok, err := a.bind("default")
	if err != nil {
		return nil, err
	}
	if err := need(v); err != nil {
		return nil, err
	}
	if !ok[0] {
		args[0] = int64(0)
	}
	if n, ok := integer(v); ok {
		return value.Int(n), nil
	}
	f, isFloat := v.(float64)
	if s, ok := v.(string); ok {
		if n, err := number.ParseInt(s); err == nil {
			return value.Int(n), nil
		}
		if f, err = number.ParseFloat(s); err != nil {
			return args[0], nil
		}
		isFloat = true
	}
	if !isFloat || math.IsNaN(f) || math.IsInf(f, 0) {
		return args[0], nil
	}
	n, _ := new(big.Float).SetFloat64(f).Int(nil)
	return value.Int(n), nil
}

func toFloat(_ *env, v any, a given) (any, error) {
	args, ok, err := a.bind("default")
	if err != nil {
		return nil, err
	}
	if err := need(v); err != nil {
		return nil, err
	}
	if s, isText := v.(string); isText {
		if f, err := number.ParseFloat(s); err == nil {
			return f, nil
		}
	} else if f, isNumber := value.Float(v); isNumber {
		return f, nil
	}
	if !ok[0] {
		return 0.0, nil
	}
	return args[0], nil
}

func absolute(_ *env, v any, a given) (any, error) {
	if _, _, err := a.bind(); err != nil {
		return nil, err
	}
	if err := need(v); err != nil {
		return nil, err
	}
	if n, ok := integer(v); ok {
		return value.Int(new(big.Int).Abs(n)), nil
	}
	if f, ok := v.(float64); ok {
		return math.Abs(f), nil
	}
	return nil, pycompat.Raise("TypeError", "abs of %s", value.TypeName(v))
}

func round(_ *env, v any, a given) (any, error) {
	args, ok, err := a.bind("precision", "method")
	if err != nil {
		return nil, err
	}
	if err := need(v); err != nil {
		return nil, err
	}
	digits := int64(0)
	if ok[0] {
		var isInt bool
		if digits, isInt = index(args[0]); !isInt || digits < -300 || digits > 300 {
			return nil, unsupported("round with that precision")
		}
	}
	if ok[1] && args[1] != "common" {
		return nil, unsupported("round by that method")
	}
	if f, ok := v.(float64); ok {
		return number.Round(f, int(digits))
	}
	if n, ok := integer(v); ok && digits >= 0 {
		return value.Int(n), nil
	}
	return nil, unsupported("round of %s", value.TypeName(v))
}

func defaulted(_ *env, v any, a given) (any, error) {
	args, ok, err := a.bind("default_value", "boolean")
	if err != nil {
		return nil, err
	}
	if !ok[0] {
		args[0] = ""
	}
	if absent(v) {
		return args[0], nil
	}
	if value.Truth(args[1]) {
		yes, err := truth(v)
		if err != nil || !yes {
			return args[0], err
		}
	}
	return v, nil
}
