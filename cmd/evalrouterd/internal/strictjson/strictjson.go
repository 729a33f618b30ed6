// Package strictjson reads requests as JSON and refuses whatever the reader
// of the standard library lets pass: members that the target does not know,
// other letter case, duplicate members, text after the value, invalid UTF-8
// and unpaired surrogates, nesting beyond a bound, and U+0000 in a name or a
// text.
//
// A misspelt field of a paid request must never be dropped in silence. What is
// wrong is told as a path and a code; the value itself is never repeated, for
// it may be a secret in the wrong place.
//
// U+0000 is in no text of PostgreSQL. Whoever types it learns so at once, and not
// when an installation moves there. Members that take any JSON keep it: it stands
// escaped in them.
package strictjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Codes of a Field.
const (
	NotJSON      = "not_json"
	InvalidUTF8  = "invalid_utf8"
	TrailingData = "trailing_data"
	TooDeep      = "too_deep"
	Duplicate    = "duplicate_field"
	Unknown      = "unknown_field"
	WrongCase    = "wrong_letter_case"
	WrongType    = "wrong_type"
	OutOfRange   = "out_of_range"
	InvalidValue = "invalid_value"
	NUL          = "nul_character"
)

// MaxDepth is how deep objects and lists may nest.
const MaxDepth = 32

// maxFields bounds how many problems one error lists.
const maxFields = 20

// Field is one problem: where, and of which kind. Path is "" for the text as a
// whole, else like selection.profile_ids[0].
type Field struct {
	Path string
	Code string
}

// Error lists what is wrong with a text. It has at least one field.
type Error struct{ Fields []Field }

// Error names paths and codes, no values.
func (e *Error) Error() string {
	parts := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		parts[i] = f.Code
		if f.Path != "" {
			parts[i] = f.Path + ": " + f.Code
		}
	}
	return strings.Join(parts, "; ")
}

// Decode reads one JSON value into a pointer. A failure is always an *Error,
// and then what was decoded must not be used.
func Decode(data []byte, into any) error { return decode(data, into, false) }

// DecodeForeign is Decode for texts that nobody typed: what other programs
// recorded may hold U+0000, and its reader replaces it.
func DecodeForeign(data []byte, into any) error { return decode(data, into, true) }

func decode(data []byte, into any, foreign bool) error {
	if !utf8.Valid(data) {
		return whole(InvalidUTF8)
	}
	w := walker{data: data, dec: json.NewDecoder(bytes.NewReader(data)), nul: foreign}
	w.dec.UseNumber()
	w.value(typeOf(into), "", 0, false)
	switch {
	case w.broken:
		return whole(NotJSON)
	case w.deep:
		return whole(TooDeep)
	case len(w.fields) > 0:
		return &Error{w.fields}
	case len(bytes.TrimLeft(data[w.dec.InputOffset():], " \t\r\n")) > 0:
		return whole(TrailingData)
	case unpaired(data):
		return whole(InvalidUTF8)
	}
	if err := json.Unmarshal(data, into); err != nil {
		// The walk knows every type that requests use; this is its net.
		return whole(WrongType)
	}
	return nil
}

func whole(code string) *Error { return &Error{[]Field{{Code: code}}} }

// unpaired says that a string of valid JSON has half of a surrogate pair,
// which the standard library would replace in silence.
func unpaired(data []byte) bool {
	high := false
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' || i+1 >= len(data) {
			if high {
				return true
			}
			continue
		}
		i++
		if data[i] != 'u' || i+4 >= len(data) {
			if high {
				return true
			}
			continue
		}
		var r rune
		if _, err := fmt.Sscanf(string(data[i+1:i+5]), "%04x", &r); err != nil {
			return true
		}
		i += 4
		isHigh, isLow := r >= 0xD800 && r < 0xDC00, r >= 0xDC00 && r < 0xE000
		if high != isLow {
			return true
		}
		high = isHigh
	}
	return high
}
