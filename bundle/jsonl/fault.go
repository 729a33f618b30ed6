package jsonl

import (
	"fmt"
	"strconv"
	"strings"
)

// Codes of faults. They are stable.
const (
	CodeSyntax    = "json_syntax"
	CodeEncoding  = "json_encoding"
	CodeDuplicate = "json_duplicate_key"
	CodeDepth     = "json_depth"
	CodeNumber    = "json_number"
	CodeType      = "field_type"
)

// Fault is why a line was refused. Path is dotted, with [i] for positions in
// arrays; Byte counts from 0.
type Fault struct {
	Code    string
	Path    string
	Byte    int
	Message string
}

func (f *Fault) Error() string {
	if f.Path == "" {
		return fmt.Sprintf("%s (%s)", f.Message, f.Code)
	}
	return fmt.Sprintf("%s: %s (%s)", f.Path, f.Message, f.Code)
}

// step is one part of a path: a key, or a position when key is nil.
type step struct {
	key   Text
	index int
	array bool
}

// path writes the steps. A key that would make the path unreadable is quoted
// and cut.
func path(steps []step) string {
	var b strings.Builder
	for _, s := range steps {
		if s.array {
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
			continue
		}
		key := s.key.String()
		if r := []rune(key); len(r) > 64 {
			key = string(r[:64]) + "…"
		}
		if key == "" || strings.ContainsFunc(key, func(r rune) bool { return !wordRune(r) }) {
			key = strconv.QuoteToASCII(key)
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(key)
	}
	return b.String()
}

func wordRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}
