package strict

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Reader collects problems while a document is taken apart, so that one
// reading tells its author everything that is wrong.
type Reader struct{ Problems []*Problem }

// Add records a problem.
func (r *Reader) Add(path, code, format string, args ...any) {
	r.Problems = append(r.Problems, &Problem{Path: path, Code: code, Message: fmt.Sprintf(format, args...)})
}

// Fields starts reading an object by name. A node of another type is a
// problem, and then every field reads as absent without further problems.
func (r *Reader) Fields(n *Node) *Fields {
	f := &Fields{r: r, used: map[string]bool{}}
	if n == nil {
		return f
	}
	f.path = n.Path
	if n.Kind != Object {
		r.Add(n.Path, CodeType, "want an object, got %s", n.Kind)
		return f
	}
	f.n = n
	return f
}

// Fields hands out the members of one object and knows which were asked for.
type Fields struct {
	r    *Reader
	n    *Node
	path string
	used map[string]bool
}

// Present says whether the object itself was there and readable.
func (f *Fields) Present() bool { return f.n != nil }

// Path is the path of a member.
func (f *Fields) Path(key string) string { return Join(f.path, key) }

// Has says whether the member is there, whatever its type.
func (f *Fields) Has(key string) bool { return f.n != nil && f.n.Get(key) != nil }

func (f *Fields) take(key string, want Kind, required bool) *Node {
	f.used[key] = true
	if f.n == nil {
		return nil
	}
	n := f.n.Get(key)
	if n == nil {
		if required {
			f.r.Add(f.Path(key), CodeMissing, "the field is required")
		}
		return nil
	}
	if n.Kind != want {
		f.r.Add(n.Path, CodeType, "want %s, got %s", want, n.Kind)
		return nil
	}
	return n
}

// Need reads text that must be there and not be blank.
func (f *Fields) Need(key string) string {
	n := f.take(key, String, true)
	if n == nil {
		return ""
	}
	if strings.TrimSpace(n.Text) == "" {
		f.r.Add(n.Path, CodeMissing, "the field must not be blank")
	}
	return n.Text
}

// Text reads optional text, "" when absent.
func (f *Fields) Text(key string) string {
	if n := f.take(key, String, false); n != nil {
		return n.Text
	}
	return ""
}

// OneOf reads optional text that must be one of a few words; the first word
// is the value when absent.
func (f *Fields) OneOf(key string, words ...string) string {
	n := f.take(key, String, false)
	if n == nil {
		return words[0]
	}
	for _, w := range words {
		if n.Text == w {
			return w
		}
	}
	f.r.Add(n.Path, CodeRange, "want one of %s", strings.Join(words, ", "))
	return words[0]
}

// Flag reads optional true or false.
func (f *Fields) Flag(key string, absent bool) bool {
	if n := f.take(key, Bool, false); n != nil {
		return n.Text == "true"
	}
	return absent
}

// Int reads an optional whole number within [low,high], absent when not there.
func (f *Fields) Int(key string, low, high, absent int64) int64 {
	n := f.take(key, Number, false)
	if n == nil {
		return absent
	}
	v, err := strconv.ParseInt(n.Text, 10, 64)
	if err != nil || v < low || v > high {
		f.r.Add(n.Path, CodeRange, "want a whole number from %d to %d", low, high)
		return absent
	}
	return v
}

// Texts reads an optional array of texts.
func (f *Fields) Texts(key string) []string {
	n := f.take(key, Array, false)
	if n == nil {
		return nil
	}
	var out []string
	for _, it := range n.Items {
		if it.Kind != String || strings.TrimSpace(it.Text) == "" {
			f.r.Add(it.Path, CodeType, "want text that is not blank")
			continue
		}
		out = append(out, it.Text)
	}
	return out
}

// List reads an array that must be there and have from low to high items.
func (f *Fields) List(key string, low, high int) []*Node {
	n := f.take(key, Array, true)
	if n == nil {
		return nil
	}
	if len(n.Items) < low || len(n.Items) > high {
		f.r.Add(n.Path, CodeRange, "want from %d to %d items", low, high)
		return nil
	}
	return n.Items
}

// Nested reads an object member.
func (f *Fields) Nested(key string, required bool) *Fields {
	n := f.take(key, Object, required)
	g := f.r.Fields(n)
	g.path = f.Path(key)
	return g
}

// Raw returns an object member in canonical form, nil when absent.
func (f *Fields) Raw(key string) json.RawMessage {
	n := f.take(key, Object, false)
	if n == nil {
		return nil
	}
	return Canonical(n)
}

// Close reports every member that nobody asked for.
func (f *Fields) Close() {
	if f.n == nil {
		return
	}
	for _, m := range f.n.Members {
		if !f.used[m.Key] {
			f.r.Add(m.Value.Path, CodeUnknown, "no such field here")
		}
	}
}
