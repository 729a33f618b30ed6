package filter

import (
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// DefaultPattern finds the answer behind #### in a worked solution.
const DefaultPattern = `#### (\-?[0-9\.\,]+)`

// Invalid is the answer when nothing was found, unless a task names another.
const Invalid = "[invalid]"

// Regex replaces each answer by one match of Pattern, white space stripped.
type Regex struct {
	Pattern *re.Regexp
	// Select is the index of the match, from the end if negative. An index
	// beyond the matches raises IndexError.
	Select   int
	Fallback any // where nothing matches
}

func newRegex(d *value.Dict) (Filter, error) {
	a := read(d)
	r := a.regex()
	return r, a.done()
}

func (a *args) regex() Regex {
	r := Regex{
		Pattern: a.compile("regex_pattern", a.text("regex_pattern", DefaultPattern)),
		Select:  a.integer("group_select", 0), Fallback: Invalid,
	}
	if v, ok := a.get("fallback"); ok {
		r.Fallback = v
	}
	return r
}

// Apply is a Filter.
func (r Regex) Apply(resps []any, _ *value.Dict) ([]any, error) {
	out := make([]any, len(resps))
	for i, resp := range resps {
		text, _ := resp.(string)
		found, ok, err := r.find(r.Pattern, text)
		if err != nil {
			return nil, err
		}
		if out[i] = found; !ok {
			out[i] = r.Fallback
		}
	}
	return out, nil
}

// find returns the selected match of a pattern; ok is false if there is none,
// or if all groups of the selected match are empty.
func (r Regex) find(pattern *re.Regexp, text string) (found string, ok bool, err error) {
	matches, err := pattern.FindAll(text)
	if err != nil || len(matches) == 0 {
		return "", false, err
	}
	at := r.Select
	if at < 0 {
		at += len(matches)
	}
	if at < 0 || at >= len(matches) {
		return "", false, pycompat.Raise("IndexError", "match %d of %d", r.Select, len(matches))
	}
	groups := matches[at]
	if len(groups) == 1 {
		return str.Strip(groups[0]), true, nil
	}
	for _, g := range groups {
		if g != "" {
			return str.Strip(g), true, nil
		}
	}
	return "", false, nil
}
