package ported

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/number"
	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// CleanWikiHow removes WikiHow's markers: [title] ends a sentence, other square
// brackets go, and double spaces become single, once over.
func CleanWikiHow(s string) (string, error) {
	s = strings.ReplaceAll(str.Strip(s), " [title]", ". ")
	s, err := re.MustCompile(`\[.*?\]`, 0).Sub("", s)
	return strings.ReplaceAll(s, "  ", " "), err
}

// HellaSwag adds query, choices and gold to a document.
func HellaSwag(doc *value.Dict) (*value.Dict, error) {
	var parts [4]string
	for i, key := range []string{"ctx_a", "ctx_b", "activity_label", "label"} {
		var err error
		if parts[i], err = member(doc, key); err != nil {
			return nil, err
		}
	}
	query, err := CleanWikiHow(parts[2] + ": " + parts[0] + " " + str.Capitalize(parts[1]))
	if err != nil {
		return nil, err
	}
	endings, err := list(doc, "endings")
	if err != nil {
		return nil, err
	}
	choices := make([]any, len(endings))
	for i, e := range endings {
		s, ok := e.(string)
		if !ok {
			return nil, pycompat.Raise("AttributeError", "ending %d is of type %s", i, value.TypeName(e))
		}
		if choices[i], err = CleanWikiHow(s); err != nil {
			return nil, err
		}
	}
	gold, err := number.ParseInt(parts[3])
	if err != nil {
		return nil, err
	}
	return extended(doc, "query", query, "choices", choices, "gold", value.Int(gold))
}
