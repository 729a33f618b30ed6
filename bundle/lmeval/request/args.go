package request

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// ParseArgs reads generation arguments written key=value,key=value. Values are
// true, false, none, numbers or text, which may be quoted; keys are kept as
// written, up to the first equals sign.
func ParseArgs(s string) *value.Dict {
	out := value.DictOf()
	for part := range strings.SplitSeq(str.Strip(s), ",") {
		if part == "" {
			continue
		}
		k, v, _ := strings.Cut(part, "=")
		if err := out.Set(k, argument(str.Strip(v))); err != nil {
			panic("request: a text cannot be a key: " + err.Error())
		}
	}
	return out
}

func argument(s string) any {
	switch str.Lower(s) {
	case "true":
		return true
	case "false":
		return false
	case "none":
		return nil
	}
	if str.IsDecimal(strings.TrimPrefix(strings.TrimPrefix(s, "-"), "+")) {
		if n, err := number.ParseInt(s); err == nil {
			return value.Int(n)
		}
	}
	if f, err := number.ParseFloat(s); err == nil {
		return f
	}
	for _, quote := range []string{`'`, `"`} {
		if len(s) >= 2 && strings.HasPrefix(s, quote) && strings.HasSuffix(s, quote) {
			return s[1 : len(s)-1]
		}
	}
	return s
}

// Generation is the arguments of a generate_until request: those of the task
// with the caller's on top. Without an until the few-shot delimiter stops, and
// without any argument at all generation is greedy and 256 tokens long.
func Generation(task, caller *value.Dict, fewshotDelimiter string) *value.Dict {
	var out *value.Dict
	if task == nil {
		out = value.DictOf("until", []any{fewshotDelimiter}, "do_sample", false, "temperature", int64(0), "max_gen_toks", int64(256))
	} else {
		out = task.Copy()
	}
	if caller != nil {
		for k, v := range caller.All() {
			if err := out.Set(k, v); err != nil {
				panic("request: a key of a dict cannot be set: " + err.Error())
			}
		}
	}
	if _, ok := out.Get("until"); !ok {
		if err := out.Set("until", []any{fewshotDelimiter}); err != nil {
			panic("request: a text cannot be a key: " + err.Error())
		}
	}
	return out
}
