package sob

import (
	"errors"
	"strconv"
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// leaf is a scalar and the path that leads to it.
type leaf struct {
	path  string
	value any
}

// leaves are the scalars of a value in the order of their paths' first
// appearance. Empty containers have none, and neither has a scalar at the root.
type leaves struct {
	list []leaf
	at   map[string]int
	size int // bytes of all paths
}

// ErrSize says that the paths of a value are together longer than any honest
// answer's: many leaves below a very deep nesting, which would take a thousand
// times the memory of the answer itself.
var ErrSize = errors.New("answer_size: the paths of the answer take too much memory")

// maxPaths bounds the bytes of all paths of one value.
const maxPaths = 64 << 20

func flatten(v any) *leaves {
	l := &leaves{at: map[string]int{}}
	l.add(v, nil)
	return l
}

func (l *leaves) add(v any, prefix []byte) {
	switch v := v.(type) {
	case *value.Dict:
		for key, child := range v.All() {
			l.add(child, appendKey(prefix, key))
		}
	case []any:
		for i, child := range v {
			l.add(child, appendIndex(prefix, i))
		}
	default:
		l.set(v, prefix)
	}
}

// set stores a leaf; a path that came before keeps its place.
func (l *leaves) set(v any, prefix []byte) {
	if len(prefix) == 0 {
		return
	}
	if i, ok := l.at[string(prefix)]; ok {
		l.list[i].value = v
		return
	}
	if l.size += len(prefix); l.size > maxPaths {
		return
	}
	path := string(prefix)
	l.at[path] = len(l.list)
	l.list = append(l.list, leaf{path, v})
}

func (l *leaves) get(path string) (any, bool) {
	if i, ok := l.at[path]; ok {
		return l.list[i].value, true
	}
	return nil, false
}

// overlap counts the paths that both have.
func (l *leaves) overlap(other *leaves) int {
	n := 0
	for i := range l.list {
		if _, ok := other.at[l.list[i].path]; ok {
			n++
		}
	}
	return n
}

// appendKey extends a path by a key of an object. Behind nothing there is no dot.
func appendKey(prefix []byte, key any) []byte {
	if len(prefix) > 0 {
		prefix = append(prefix, '.')
	}
	return append(prefix, value.Str(key)...)
}

func appendIndex(prefix []byte, i int) []byte {
	return append(strconv.AppendInt(append(prefix, '['), int64(i), 10), ']')
}

// exactMatch is the share of the truth's leaves that the answer has with an
// equal value, 1 if there are none.
func exactMatch(truth, answer *leaves) float64 {
	if len(truth.list) == 0 {
		return 1
	}
	n := 0
	for i := range truth.list {
		if v, ok := answer.get(truth.list[i].path); ok && value.Equal(truth.list[i].value, v) {
			n++
		}
	}
	return float64(n) / float64(len(truth.list))
}

// present collects the paths of v and of everything in it, with the indices of
// arrays left out. A root of its own has no path.
func present(v any, prefix []byte, out map[string]struct{}) {
	if len(prefix) > 0 {
		out[wildcard(string(prefix))] = struct{}{}
	}
	switch v := v.(type) {
	case *value.Dict:
		for key, child := range v.All() {
			present(child, appendKey(prefix, key), out)
		}
	case []any:
		for i, child := range v {
			present(child, appendIndex(prefix, i), out)
		}
	}
}

// wildcard replaces every bracketed run of digits, of any script, by [].
func wildcard(path string) string {
	if strings.IndexByte(path, '[') < 0 {
		return path
	}
	b := make([]byte, 0, len(path))
	for i := 0; i < len(path); {
		if path[i] == '[' {
			if end := digitsEnd(path, i+1); end > i+1 && end < len(path) && path[end] == ']' {
				b = append(b, "[]"...)
				i = end + 1
				continue
			}
		}
		b = append(b, path[i])
		i++
	}
	return string(b)
}

func digitsEnd(s string, i int) int {
	for i < len(s) {
		r, size := str.DecodeRune(s[i:])
		if _, ok := str.Of(r).Decimal(); !ok {
			break
		}
		i += size
	}
	return i
}

// step is one part of a path: a key, or an index whose value nothing asks for.
type step struct {
	key   string
	index bool
}

// split takes a path apart as the reference does: dots and brackets separate,
// empty keys vanish, and what is in brackets must be an integer to Python.
func split(dst []step, path string) ([]step, error) {
	start := 0
	flush := func(end int) {
		if end > start {
			dst = append(dst, step{key: path[start:end]})
		}
	}
	for i := 0; i < len(path); {
		switch path[i] {
		case '.':
			flush(i)
			i++
			start = i
		case '[':
			flush(i)
			end := strings.IndexByte(path[i:], ']')
			if end < 0 {
				return nil, pycompat.Raise("ValueError", "substring not found")
			}
			end += i
			if !plainDigits(path[i+1 : end]) {
				if _, err := number.ParseInt(path[i+1 : end]); err != nil {
					return nil, err
				}
			}
			dst = append(dst, step{index: true})
			i = end + 1
			start = i
		default:
			i++
		}
	}
	flush(len(path))
	return dst, nil
}

// plainDigits reports a short run of ASCII digits, the usual index.
func plainDigits(s string) bool {
	for i := range len(s) {
		if s[i]-'0' > 9 {
			return false
		}
	}
	return s != "" && len(s) < 20
}
