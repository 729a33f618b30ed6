package jinja

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// stringMethod calls a method of text.
func stringMethod(s, name string, args []any) (any, error) {
	if f, ok := plainMethod(name); ok && len(args) == 0 {
		return f(s), nil
	}
	switch name {
	case "strip", "lstrip", "rstrip":
		return strip(s, name, args)
	case "split", "rsplit":
		return split(s, name, args)
	case "startswith", "endswith":
		return affix(s, name, args)
	case "join":
		return joinMethod(s, args)
	}
	words := make([]string, 0, len(args))
	for i, a := range args {
		w, ok := a.(string)
		if !ok && !(name == "replace" && i == 2) {
			return nil, pycompat.Raise("TypeError", "%s of %s", name, value.TypeName(a))
		}
		words = append(words, w)
	}
	switch {
	case name == "replace" && len(args) == 2:
		return replaceAll(s, words[0], words[1], -1)
	case name == "replace" && len(args) == 3:
		n, ok := index(args[2])
		if !ok {
			return nil, pycompat.Raise("TypeError", "the count of replace is of type %s", value.TypeName(args[2]))
		}
		return replaceAll(s, words[0], words[1], int(n))
	case len(args) != 1:
		return nil, unsupported("%s with %d arguments", name, len(args))
	}
	return search(s, name, words[0])
}

// search calls the methods that take one text.
func search(s, name, word string) (any, error) {
	at := int64(-1)
	if i := strings.Index(s, word); i >= 0 {
		at = int64(str.Len(s[:i]))
	}
	switch name {
	case "find":
		return at, nil
	case "index":
		if at < 0 {
			return nil, pycompat.Raise("ValueError", "the text does not have the part")
		}
		return at, nil
	case "count":
		if word == "" {
			return int64(str.Len(s) + 1), nil
		}
		return int64(strings.Count(s, word)), nil
	case "removeprefix":
		return strings.TrimPrefix(s, word), nil
	case "removesuffix":
		return strings.TrimSuffix(s, word), nil
	case "partition", "rpartition":
		if word == "" {
			return nil, pycompat.Raise("ValueError", "empty separator")
		}
		i := strings.Index(s, word)
		if name == "rpartition" {
			i = strings.LastIndex(s, word)
		}
		switch {
		case i >= 0:
			return value.Tuple{s[:i], word, s[i+len(word):]}, nil
		case name == "partition":
			return value.Tuple{s, "", ""}, nil
		}
		return value.Tuple{"", "", s}, nil
	}
	return nil, unsupported("the method %s of text", name)
}

func replaceAll(s, from, to string, n int) (any, error) {
	hits := strings.Count(s, from)
	if n >= 0 {
		hits = min(hits, n)
	}
	if grown := len(to) - len(from); grown > 0 && len(s)+hits*grown > maxOutput {
		return nil, ErrBudget
	}
	return strings.Replace(s, from, to, n), nil
}

func strip(s, name string, args []any) (any, error) {
	if len(args) > 1 {
		return nil, pycompat.Raise("TypeError", "%s takes one argument at most", name)
	}
	if len(args) == 0 || args[0] == nil {
		switch name {
		case "lstrip":
			return str.LStrip(s), nil
		case "rstrip":
			return str.RStrip(s), nil
		}
		return str.Strip(s), nil
	}
	set, ok := args[0].(string)
	if !ok {
		return nil, pycompat.Raise("TypeError", "%s of %s", name, value.TypeName(args[0]))
	}
	switch name {
	case "lstrip":
		return str.LStripSet(s, set), nil
	case "rstrip":
		return str.RStripSet(s, set), nil
	}
	return str.StripSet(s, set), nil
}

func split(s, name string, args []any) (any, error) {
	limit := int64(-1)
	if len(args) > 2 {
		return nil, pycompat.Raise("TypeError", "%s takes two arguments at most", name)
	}
	if len(args) == 2 {
		n, ok := index(args[1])
		if !ok {
			return nil, pycompat.Raise("TypeError", "the limit of %s is of type %s", name, value.TypeName(args[1]))
		}
		limit = n
	}
	if len(args) == 0 || args[0] == nil {
		if limit >= 0 {
			return nil, unsupported("%s at white space with a limit", name)
		}
		return texts(str.Split(s)), nil
	}
	sep, ok := args[0].(string)
	switch {
	case !ok:
		return nil, pycompat.Raise("TypeError", "%s at %s", name, value.TypeName(args[0]))
	case sep == "":
		return nil, pycompat.Raise("ValueError", "empty separator")
	}
	parts := strings.Split(s, sep)
	if limit >= 0 && int64(len(parts)) > limit+1 {
		n := int(limit)
		if name == "split" {
			parts = append(parts[:n:n], strings.Join(parts[n:], sep))
		} else {
			cut := len(parts) - n
			parts = append([]string{strings.Join(parts[:cut], sep)}, parts[cut:]...)
		}
	}
	return texts(parts), nil
}

// affix is startswith and endswith, with one text or a tuple of them.
func affix(s, name string, args []any) (any, error) {
	if len(args) != 1 {
		return nil, unsupported("%s with %d arguments", name, len(args))
	}
	options, ok := args[0].(value.Tuple)
	if !ok {
		options = value.Tuple{args[0]}
	}
	for _, o := range options {
		w, ok := o.(string)
		if !ok {
			return nil, pycompat.Raise("TypeError", "%s of %s", name, value.TypeName(o))
		}
		if name == "startswith" && strings.HasPrefix(s, w) || name == "endswith" && strings.HasSuffix(s, w) {
			return true, nil
		}
	}
	return false, nil
}

func joinMethod(s string, args []any) (any, error) {
	if len(args) != 1 {
		return nil, pycompat.Raise("TypeError", "join takes one argument")
	}
	items, err := iterate(args[0])
	if err != nil {
		return nil, err
	}
	parts := make([]string, len(items))
	for i, x := range items {
		w, ok := x.(string)
		if !ok {
			return nil, pycompat.Raise("TypeError", "item %d to join is no text", i)
		}
		parts[i] = w
	}
	return joined(parts, s)
}

func joined(parts []string, sep string) (any, error) {
	n := len(sep) * len(parts)
	for _, p := range parts {
		if n += len(p); n > maxOutput {
			return nil, ErrBudget
		}
	}
	return strings.Join(parts, sep), nil
}
