package ifeval

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat"
	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// instruction builds the check of one instruction.
func (c Checker) instruction(id string, args *value.Dict) (check, error) {
	a := &arguments{id: id, d: args}
	f := plain(id)
	for _, group := range []func(string, *arguments) check{keywords, lengths, formats} {
		if f == nil {
			f = group(id, a)
		}
	}
	if f == nil {
		switch id {
		case "change_case:english_capital":
			f = yes(str.IsUpper)
		case "change_case:english_lowercase":
			f = yes(str.IsLower)
		default:
			return nil, unsupported(id, "there is no exact check of it")
		}
		if !c.AssumeEnglish {
			return nil, unsupported(id, "the language of a response is not detected here")
		}
	}
	return f, a.err
}

func yes(f func(string) bool) check { return func(s string) (bool, error) { return f(s), nil } }

// plain returns the checks without arguments.
func plain(id string) check {
	switch id {
	case "punctuation:no_comma":
		return yes(func(s string) bool { return !strings.Contains(s, ",") })
	case "startend:quotation":
		return yes(func(s string) bool {
			s = str.Strip(s)
			return len(s) > 1 && s[0] == '"' && s[len(s)-1] == '"'
		})
	case "detectable_format:constrained_response":
		return yes(func(s string) bool {
			return strings.Contains(s, "My answer is yes.") || strings.Contains(s, "My answer is no.") || strings.Contains(s, "My answer is maybe.")
		})
	case "detectable_format:json_format":
		return isJSON
	case "detectable_format:title":
		return hasTitle
	case "combination:two_responses":
		return yes(twoResponses)
	}
	return nil
}

func isJSON(s string) (bool, error) {
	s = str.Strip(s)
	for _, fence := range []string{"```json", "```Json", "```JSON", "```"} {
		s = strings.TrimPrefix(s, fence)
	}
	_, err := value.Loads(str.Strip(strings.TrimSuffix(s, "```")))
	if pycompat.Class(err) == "RecursionError" {
		return false, err
	}
	return err == nil, nil
}

func hasTitle(s string) (bool, error) {
	titles, err := re.MustCompile(`<<[^\n]+>>`, 0).FindAll(s)
	for _, t := range titles {
		if str.Strip(str.RStripSet(str.LStripSet(t[0], "<"), ">")) != "" {
			return true, err
		}
	}
	return false, err
}

func twoResponses(s string) bool {
	parts := strings.Split(s, "******")
	var said []string
	for i, p := range parts {
		if p = str.Strip(p); p != "" {
			said = append(said, p)
		} else if i != 0 && i != len(parts)-1 {
			return false
		}
	}
	return len(said) == 2 && said[0] != said[1]
}

func keywords(id string, a *arguments) check {
	switch id {
	case "keywords:existence":
		return every(a, a.texts("keywords"), func(w string) string { return w }, true)
	case "keywords:forbidden_words":
		return every(a, a.texts("forbidden_words"), func(w string) string { return `\b` + w + `\b` }, false)
	case "keywords:frequency":
		r := a.pattern(a.stripped("keyword"), re.IgnoreCase)
		return matches(r, a.relation("relation", a.count("frequency")))
	case "keywords:letter_frequency":
		letter := str.Lower(a.text("letter"))
		if len(letter) != 1 || letter < "a" || letter > "z" {
			a.fail("letter is not one of a to z, and the reference would draw one at random")
		}
		enough := a.relation("let_relation", a.count("let_frequency"))
		return yes(func(s string) bool { return enough(strings.Count(str.Lower(s), letter)) })
	}
	return nil
}

// every asks that all words are found, or that none is.
func every(a *arguments, words []string, pattern func(string) string, wanted bool) check {
	var all []*re.Regexp
	for _, w := range words {
		all = append(all, a.pattern(pattern(w), re.IgnoreCase))
	}
	return func(s string) (bool, error) {
		for _, r := range all {
			m, err := r.Search(s)
			if err != nil || (m != nil) != wanted {
				return false, err
			}
		}
		return true, nil
	}
}

// matches compares how often a pattern is found.
func matches(r *re.Regexp, enough func(int) bool) check {
	return func(s string) (bool, error) {
		all, err := r.FindAll(s)
		return err == nil && enough(len(all)), err
	}
}

func lengths(id string, a *arguments) check {
	switch id {
	case "length_constraints:number_words":
		return matches(re.MustCompile(`\w+`, 0), a.relation("relation", a.count("num_words")))
	case "length_constraints:number_paragraphs":
		return paragraphs(a.count("num_paragraphs"))
	case "length_constraints:nth_paragraph_first_word":
		return firstWord(a)
	}
	return nil
}

// paragraphs counts what stands between ***; only the first and the last may
// be blank, and then do not count.
func paragraphs(want float64) check {
	divider := re.MustCompile(`\s?\*\*\*\s?`, 0)
	return func(s string) (bool, error) {
		parts, err := divider.Split(s)
		if err != nil {
			return false, err
		}
		n := len(parts)
		for i, p := range parts {
			if str.Strip(p) != "" {
				continue
			}
			if i != 0 && i != len(parts)-1 {
				return false, nil
			}
			n--
		}
		return float64(n) == want, nil
	}
}

// firstWord asks for a number of paragraphs and the first word of one, which is
// counted with the blank ones.
func firstWord(a *arguments) check {
	want, nth, first := a.count("num_paragraphs"), a.count("nth_paragraph"), str.Lower(a.text("first_word"))
	if a.err == nil && nth > want {
		a.fail("nth_paragraph is beyond num_paragraphs, and the reference would draw one at random")
	}
	return yes(func(s string) bool {
		parts := strings.Split(s, "\n\n")
		n := len(parts)
		for _, p := range parts {
			if str.Strip(p) == "" {
				n--
			}
		}
		if nth > float64(n) {
			return false
		}
		words := str.Split(parts[int(nth)-1])
		if len(words) == 0 {
			return false
		}
		word := str.LStripSet(str.LStripSet(words[0], "'"), `"`)
		if i := strings.IndexAny(word, `.,?!'"`); i >= 0 {
			word = word[:i]
		}
		return float64(n) == want && lowerEach(word) == first
	})
}

// lowerEach lowers letter by letter, so that no final sigma forms.
func lowerEach(s string) string {
	var b strings.Builder
	for _, r := range str.Runes(s) {
		b.WriteString(str.Lower(str.FromRunes([]rune{r})))
	}
	return b.String()
}
