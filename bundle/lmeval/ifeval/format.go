package ifeval

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// formats returns the checks of form, content, and of how a text starts and
// ends.
func formats(id string, a *arguments) check {
	atLeast := func(want float64) func(int) bool { return func(n int) bool { return float64(n) >= want } }
	switch id {
	case "detectable_content:number_placeholders":
		return matches(re.MustCompile(`\[.*?\]`, 0), atLeast(a.count("num_placeholders")))
	case "detectable_content:postscript":
		return postscript(a)
	case "detectable_format:number_bullet_lists":
		return bullets(a.count("num_bullets"))
	case "detectable_format:number_highlighted_sections":
		return highlights(a.count("num_highlights"))
	case "detectable_format:multiple_sections":
		section := a.pattern(`\s?`+a.stripped("section_spliter")+`\s?\d+\s?`, 0)
		enough := atLeast(a.count("num_sections"))
		return func(s string) (bool, error) {
			parts, err := section.Split(s)
			return err == nil && enough(len(parts)-1), err
		}
	case "combination:repeat_prompt":
		prompt := str.Lower(a.stripped("prompt_to_repeat"))
		return yes(func(s string) bool { return strings.HasPrefix(str.Lower(str.Strip(s)), prompt) })
	case "startend:end_checker":
		end := str.Lower(a.stripped("end_phrase"))
		return yes(func(s string) bool { return strings.HasSuffix(str.Lower(str.StripSet(str.Strip(s), `"`)), end) })
	}
	return nil
}

func postscript(a *arguments) check {
	var pattern string
	switch marker := a.stripped("postscript_marker"); marker {
	case "P.P.S":
		pattern = `\s*p\.\s?p\.\s?s.*$`
	case "P.S.":
		pattern = `\s*p\.\s?s\..*$`
	default:
		pattern = `\s*` + str.Lower(marker) + `.*$`
	}
	r := a.pattern(pattern, re.Multiline)
	return func(s string) (bool, error) {
		m, err := r.Search(str.Lower(s))
		return m != nil, err
	}
}

func bullets(want float64) check {
	stars, dashes := re.MustCompile(`^\s*\*[^\*].*$`, re.Multiline), re.MustCompile(`^\s*-.*$`, re.Multiline)
	return func(s string) (bool, error) {
		a, err := stars.FindAll(s)
		if err != nil {
			return false, err
		}
		b, err := dashes.FindAll(s)
		return float64(len(a)+len(b)) == want, err
	}
}

// highlights counts *text* and **text** that are not blank.
func highlights(want float64) check {
	single, double := re.MustCompile(`\*[^\n\*]*\*`, 0), re.MustCompile(`\*\*[^\n\*]*\*\*`, 0)
	return func(s string) (bool, error) {
		a, err := single.FindAll(s)
		if err != nil {
			return false, err
		}
		b, err := double.FindAll(s)
		n := 0
		for _, m := range a {
			if str.Strip(str.StripSet(m[0], "*")) != "" {
				n++
			}
		}
		for _, m := range b {
			if str.Strip(strings.TrimSuffix(strings.TrimPrefix(m[0], "**"), "**")) != "" {
				n++
			}
		}
		return err == nil && float64(n) >= want, err
	}
}
