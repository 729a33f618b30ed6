package core

import (
	"strings"
	"unicode/utf8"
)

// Storable is what every database keeps as text: PostgreSQL has no U+0000 in it
// and nothing but UTF-8. U+FFFD stands for what cannot be kept. What a person
// types is refused instead, before it gets this far.
func Storable(s string) string {
	if !strings.Contains(s, "\x00") && utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD")
}
