// Package body reads the JSON of providers, which comes in more shapes than
// any of them documents.
//
// What is needed is read strictly by the adapters; everything else is read
// here, loosely: a field of a strange type is an absent one, so that a detail
// that nobody needs cannot make an answer unreadable that was paid for.
package body

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Text reads a string, and anything else as "".
type Text string

// UnmarshalJSON never fails.
func (t *Text) UnmarshalJSON(b []byte) error {
	if s, ok := plain(b); ok {
		*t = Text(s)
		return nil
	}
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = Text(s)
	}
	return nil
}

// plain is the text of a JSON string that stands in it as it is: most do.
func plain(b []byte) (string, bool) {
	if len(b) < 2 || b[0] != '"' {
		return "", false
	}
	in := b[1 : len(b)-1]
	for _, c := range in {
		if c == '\\' || c < ' ' || c >= utf8.RuneSelf {
			return "", false
		}
	}
	return string(in), true
}

// Word reads a string or a number as text, and anything else as "": error
// codes come as both.
type Word string

// UnmarshalJSON never fails.
func (w *Word) UnmarshalJSON(b []byte) error {
	var v any
	if json.Unmarshal(b, &v) != nil {
		return nil
	}
	switch v := v.(type) {
	case string:
		*w = Word(v)
	case float64:
		*w = Word(strings.TrimSpace(string(b)))
	}
	return nil
}

// Count is a number of tokens. It is bad when it is no whole number from 0 to
// core.MaxBelievable.
type Count struct {
	N        int64
	Set, Bad bool
}

// UnmarshalJSON never fails; it remembers. A null is an absent number.
func (c *Count) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	*c = Count{N: n, Set: true, Bad: err != nil || n < 0 || n > core.MaxBelievable}
	return nil
}

// Over is c where it is set, and otherwise earlier: providers repeat numbers
// that grow, and send null for "as before".
func (c Count) Over(earlier Count) Count {
	if c.Set {
		return c
	}
	return earlier
}

// Present says that a field is there and neither null nor empty.
func Present(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", `""`, "{}", "[]", "false":
		return false
	}
	return true
}

// Loosely decodes an object into v, and leaves v alone when it is none.
func Loosely[T any](raw json.RawMessage, v *T) {
	var got T
	if json.Unmarshal(raw, &got) == nil {
		*v = got
	}
}
