package ifeval

import (
	"fmt"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// arguments reads what an instruction needs and keeps the first problem. An
// argument that is null, zero or empty counts as missing, as in the reference.
type arguments struct {
	id  string
	d   *value.Dict
	err error
}

func (a *arguments) fail(format string, args ...any) {
	if a.err == nil {
		a.err = fmt.Errorf("read the arguments of %s: %w", a.id, fmt.Errorf(format, args...))
	}
}

func (a *arguments) get(key string) any {
	v, _ := a.d.Get(key)
	if !value.Truth(v) {
		a.fail("%s is missing, and the reference would draw it at random", key)
		return nil
	}
	return v
}

func (a *arguments) text(key string) string {
	v := a.get(key)
	s, ok := v.(string)
	if v != nil && !ok {
		a.fail("%s is no text", key)
	}
	return s
}

func (a *arguments) stripped(key string) string { return str.Strip(a.text(key)) }

func (a *arguments) count(key string) float64 {
	v := a.get(key)
	f, ok := value.Float(v)
	if v != nil && (!ok || f < 0) {
		a.fail("%s is no count", key)
	}
	return f
}

func (a *arguments) texts(key string) []string {
	v := a.get(key)
	list, ok := v.([]any)
	if v != nil && !ok {
		a.fail("%s is no list", key)
	}
	var out []string
	for _, item := range list {
		s, ok := item.(string)
		if !ok {
			a.fail("%s holds something that is no text", key)
		}
		out = append(out, s)
	}
	return out
}

// relation reads how a count is compared.
func (a *arguments) relation(key string, want float64) func(n int) bool {
	switch s := a.text(key); s {
	case "less than":
		return func(n int) bool { return float64(n) < want }
	case "at least":
		return func(n int) bool { return float64(n) >= want }
	default:
		if a.err == nil {
			a.err = pycompat.Raise("ValueError", "%s: the relation %q", a.id, s)
		}
		return func(int) bool { return false }
	}
}

func (a *arguments) pattern(s string, flags re.Flags) *re.Regexp {
	r, err := re.Compile(s, flags)
	if err != nil && a.err == nil {
		a.err = err
	}
	return r
}
