package filter

import (
	"fmt"

	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// args hands out the arguments of a step by name and then refuses the rest.
type args struct {
	d    *value.Dict
	used map[any]bool
	err  error
}

func read(d *value.Dict) *args {
	if d == nil {
		d = value.DictOf()
	}
	return &args{d: d, used: map[any]bool{}}
}

func (a *args) get(key string) (any, bool) {
	a.used[key] = true
	return a.d.Get(key)
}

func (a *args) fail(key, want string) {
	if a.err == nil {
		a.err = fmt.Errorf("argument %s is not %s", key, want)
	}
}

func (a *args) text(key, absent string) string {
	v, ok := a.get(key)
	if !ok {
		return absent
	}
	s, ok := v.(string)
	if !ok {
		a.fail(key, "text")
	}
	return s
}

func (a *args) integer(key string, absent int) int {
	v, ok := a.get(key)
	if !ok {
		return absent
	}
	n, ok := v.(int64)
	if !ok {
		a.fail(key, "an integer")
	}
	return int(n)
}

func (a *args) flag(key string) bool {
	v, ok := a.get(key)
	if !ok {
		return false
	}
	b, ok := v.(bool)
	if !ok {
		a.fail(key, "true or false")
	}
	return b
}

// patterns reads a list of expressions; null is the empty list.
func (a *args) patterns(key string) []*re.Regexp {
	v, _ := a.get(key)
	if v == nil {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		a.fail(key, "a list")
	}
	var out []*re.Regexp
	for _, item := range list {
		s, ok := item.(string)
		if !ok {
			a.fail(key, "a list of texts")
			return nil
		}
		out = append(out, a.compile(key, s))
	}
	return out
}

func (a *args) compile(key, pattern string) *re.Regexp {
	r, err := re.Compile(pattern, 0)
	if err != nil && a.err == nil {
		a.err = fmt.Errorf("compile %s: %w", key, err)
	}
	return r
}

// done reports the first problem, an argument that nobody asked for included.
func (a *args) done() error {
	if a.err != nil {
		return a.err
	}
	for key := range a.d.All() {
		if !a.used[key] {
			return fmt.Errorf("unsupported argument %s", value.Str(key))
		}
	}
	return nil
}

// none refuses any argument.
func none(d *value.Dict) error { return read(d).done() }
