package filter

import (
	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// plain returns the filters that take no arguments.
func plain(function string) (Filter, bool) {
	switch function {
	case "remove_whitespace":
		return Text(str.Strip), true
	case "lowercase":
		return Text(str.Lower), true
	case "uppercase":
		return Text(str.Upper), true
	case "majority_vote":
		return MajorityVote{}, true
	case "format_span":
		return Spans{}, true
	}
	return nil, false
}

// Text applies a function to each answer; an answer that is no text raises
// AttributeError.
type Text func(string) string

// Apply is a Filter.
func (f Text) Apply(resps []any, _ *value.Dict) ([]any, error) {
	out := make([]any, len(resps))
	for i, resp := range resps {
		s, ok := resp.(string)
		if !ok {
			return nil, pycompat.Raise("AttributeError", "answer %d is of type %s", i, value.TypeName(resp))
		}
		out[i] = f(s)
	}
	return out, nil
}

// Mapping replaces each answer by the value under it, or by Default.
type Mapping struct {
	To      *value.Dict
	Default any
}

func newMapping(d *value.Dict) (Filter, error) {
	a := read(d)
	m := Mapping{To: value.DictOf()}
	if v, _ := a.get("mapping_dict"); v != nil {
		to, ok := v.(*value.Dict)
		if !ok {
			a.fail("mapping_dict", "a mapping")
		}
		m.To = to
	}
	m.Default, _ = a.get("default_value")
	return m, a.done()
}

// Apply is a Filter.
func (m Mapping) Apply(resps []any, _ *value.Dict) ([]any, error) {
	out := make([]any, len(resps))
	for i, resp := range resps {
		if _, err := value.Key(resp); err != nil {
			return nil, err
		}
		v, ok := m.To.Get(resp)
		if !ok {
			v = m.Default
		}
		out[i] = v
	}
	return out, nil
}

// FirstK keeps the first K answers and raises AssertionError for fewer.
type FirstK struct{ K int }

func newFirstK(d *value.Dict) (Filter, error) {
	a := read(d)
	if _, ok := a.get("k"); !ok {
		a.fail("k", "there")
	}
	f := FirstK{K: a.integer("k", 0)}
	if a.err == nil && f.K < 1 {
		a.fail("k", "at least 1")
	}
	return f, a.done()
}

// Apply is a Filter.
func (f FirstK) Apply(resps []any, _ *value.Dict) ([]any, error) {
	if len(resps) < f.K {
		return nil, pycompat.Raise("AssertionError", "%d answers, and %d are needed", len(resps), f.K)
	}
	return resps[:f.K:f.K], nil
}

// MajorityVote keeps the commonest answer, the first seen of equals, in a list
// of one.
type MajorityVote struct{}

// Apply is a Filter.
func (MajorityVote) Apply(resps []any, _ *value.Dict) ([]any, error) {
	if len(resps) == 0 {
		return nil, pycompat.Raise("IndexError", "vote over no answers")
	}
	keys := make([]any, len(resps))
	counts := map[any]int{}
	for i, resp := range resps {
		key, err := value.Key(resp)
		if err != nil {
			return nil, err
		}
		keys[i] = key
		counts[key]++
	}
	best := 0
	for i, key := range keys {
		if counts[key] > counts[keys[best]] {
			best = i
		}
	}
	return []any{resps[best]}, nil
}

// Tags reads part-of-speech pairs written ('word', 'TAG') and gives the list of
// tags of each answer, or Fallback if it has none.
type Tags struct {
	Pattern  *re.Regexp
	Fallback any
}

func newTags(d *value.Dict) (Filter, error) {
	a := read(d)
	f := Tags{Pattern: a.compile("pattern", `\('([^']*)', '([^']*)'\)`), Fallback: []any{"invalid"}}
	if v, _ := a.get("fallback"); v != nil {
		f.Fallback = v
	}
	return f, a.done()
}

// Apply is a Filter.
func (f Tags) Apply(resps []any, _ *value.Dict) ([]any, error) {
	out := make([]any, len(resps))
	for i, resp := range resps {
		text, ok := resp.(string)
		if !ok {
			return nil, pycompat.Raise("TypeError", "answer %d is of type %s", i, value.TypeName(resp))
		}
		pairs, err := f.Pattern.FindAll(text)
		if err != nil {
			return nil, err
		}
		var tags []any
		for _, p := range pairs {
			tags = append(tags, p[1])
		}
		if out[i] = tags; tags == nil {
			out[i] = f.Fallback
		}
	}
	return out, nil
}
