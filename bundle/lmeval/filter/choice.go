package filter

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// MultiChoice finds the letter of an option, written (A). It tries the pattern
// of Regex, then the words of the options, then a bare letter after a colon,
// and takes the first that gives text.
type MultiChoice struct {
	Regex
	IgnoreCase        bool
	IgnorePunctuation bool // every Unicode category P*
	Ignore            []*re.Regexp
}

func newMultiChoice(d *value.Dict) (Filter, error) {
	a := read(d)
	m := MultiChoice{
		Regex: a.regex(), IgnoreCase: a.flag("ignore_case"), IgnorePunctuation: a.flag("ignore_punctuation"),
		Ignore: a.patterns("regexes_to_ignore"),
	}
	return m, a.done()
}

// options holds what is searched for one document.
type options struct {
	words   *re.Regexp
	letters *re.Regexp
	byWords map[string]string // words of an option to its letter; the last of equal options wins
	byOne   map[string]string
}

// Apply is a Filter. The document needs a list of texts under choices.
func (m MultiChoice) Apply(resps []any, doc *value.Dict) ([]any, error) {
	o, err := m.options(doc)
	if err != nil {
		return nil, err
	}
	out := make([]any, len(resps))
	for i, resp := range resps {
		text, _ := resp.(string)
		found, err := m.letter(o, text)
		if err != nil {
			return nil, err
		}
		if out[i] = found; found == "" {
			out[i] = m.Fallback
		}
	}
	return out, nil
}

func (m MultiChoice) letter(o options, text string) (string, error) {
	found, _, err := m.find(m.Pattern, text)
	if found != "" || err != nil {
		return found, err
	}
	normal, err := m.normal(text)
	if err != nil {
		return "", err
	}
	if found, err = m.convert(o.words, normal, o.byWords); found != "" || err != nil {
		return found, err
	}
	return m.convert(o.letters, text, o.byOne)
}

func (m MultiChoice) convert(pattern *re.Regexp, text string, to map[string]string) (string, error) {
	found, _, err := m.find(pattern, text)
	if letter, ok := to[found]; ok && found != "" {
		return letter, err
	}
	return found, err
}

func (m MultiChoice) options(doc *value.Dict) (options, error) {
	o := options{byWords: map[string]string{}, byOne: map[string]string{}}
	v, ok := doc.Get("choices")
	if !ok {
		return o, pycompat.Raise("KeyError", "the document has no choices")
	}
	list, ok := v.([]any)
	if !ok {
		return o, pycompat.Raise("TypeError", "the choices of the document are no list")
	}
	var words, letters []string
	for i, item := range list {
		text, ok := item.(string)
		if !ok {
			return o, pycompat.Raise("AttributeError", "choice %d is no text", i)
		}
		normal, err := m.normal(str.Strip(text))
		if err != nil {
			return o, err
		}
		letter := string(rune('A' + i))
		words, letters = append(words, re.Escape(normal)), append(letters, letter)
		o.byWords[normal], o.byOne[letter] = "("+letter+")", "("+letter+")"
	}
	var err error
	if o.words, err = re.Compile(strings.Join(words, "|"), 0); err != nil {
		return o, err
	}
	o.letters, err = re.Compile(`:[\s]*(`+strings.Join(letters, "|")+")", 0)
	return o, err
}

func (m MultiChoice) normal(text string) (string, error) {
	for _, r := range m.Ignore {
		var err error
		if text, err = r.Sub("", text); err != nil {
			return "", err
		}
	}
	if m.IgnoreCase {
		text = str.Lower(text)
	}
	if m.IgnorePunctuation {
		var b []byte
		for _, r := range str.Runes(text) {
			if !str.Of(r).Punct() {
				b = str.AppendRune(b, r)
			}
		}
		text = string(b)
	}
	return text, nil
}
