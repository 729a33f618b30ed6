// Package brace fills {name} templates as Python's str.format does, for the
// part of it that prompt templates use: names in braces and doubled braces.
// Conversions, format specs, attributes and indices are refused, because a
// template that is filled in wrongly changes every answer.
package brace

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// Format fills template. A name that lookup does not know raises KeyError, a
// lone brace and any richer field ValueError. What is filled in is never
// searched for braces again.
func Format(template string, lookup func(name string) (string, bool)) (string, error) {
	var b strings.Builder
	for rest := template; ; {
		i := strings.IndexAny(rest, "{}")
		if i < 0 {
			b.WriteString(rest)
			return b.String(), nil
		}
		b.WriteString(rest[:i])
		if strings.HasPrefix(rest[i+1:], rest[i:i+1]) {
			b.WriteByte(rest[i])
			rest = rest[i+2:]
			continue
		}
		name, after, closed := strings.Cut(rest[i+1:], "}")
		switch {
		case rest[i] == '}':
			return "", pycompat.Raise("ValueError", "single '}' in template")
		case !closed:
			return "", pycompat.Raise("ValueError", "single '{' in template")
		case !str.IsIdentifier(name):
			return "", pycompat.Raise("ValueError", "template field {%s} is not a plain name", name)
		}
		text, ok := lookup(name)
		if !ok {
			return "", pycompat.Raise("KeyError", "template names unknown field {%s}", name)
		}
		b.WriteString(text)
		rest = after
	}
}

// Names lists the fields of a template in order, with repeats.
func Names(template string) ([]string, error) {
	var names []string
	_, err := Format(template, func(name string) (string, bool) {
		names = append(names, name)
		return "", true
	})
	return names, err
}
