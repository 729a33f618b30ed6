package filter

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// Spans rewrites named entities into "per: ann $ loc: rome": labels in several
// spellings become four, entities that read none are dropped. A spelling
// counts only as a whole word before a colon.
type Spans struct{}

// label maps the spellings of an entity label.
func label(word string) string {
	switch word {
	case "person", "people", "persons", "per":
		return "per"
	case "location", "counties", "places", "country", "continent", "loc":
		return "loc"
	case "organization", "company", "org":
		return "org"
	}
	return "date"
}

// Apply is a Filter.
func (Spans) Apply(resps []any, doc *value.Dict) ([]any, error) {
	spelling, err := re.Compile(`\b(persons?|people|per|location|counties|places|country|continent|loc|organization|company|org|time|date):\s*([^$]+)`, 0)
	if err != nil {
		return nil, err
	}
	var fault error
	out, err := Text(func(s string) string {
		s = strings.ReplaceAll(str.Lower(s), "\n", "$")
		matches, err := spelling.FindAll(s)
		if err != nil {
			fault = err
		}
		var spans []string
		for _, m := range matches {
			for entity := range strings.SplitSeq(m[1], ",") {
				if entity = str.Strip(entity); entity != "none" {
					spans = append(spans, label(m[0])+": "+entity)
				}
			}
		}
		return strings.Join(spans, " $ ")
	}).Apply(resps, doc)
	if fault != nil {
		return nil, fault
	}
	return out, err
}
