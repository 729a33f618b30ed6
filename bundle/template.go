package bundle

import "strings"

const choicesPlaceholder = "choices"

// templatePart is literal text or the name in a placeholder.
type templatePart struct {
	text        string
	placeholder bool
}

// splitTemplate cuts a template at {{name}}. White space inside the braces is
// not part of the name. Braces that do not close are literal.
func splitTemplate(s string) []templatePart {
	var parts []templatePart
	for {
		from := strings.Index(s, "{{")
		if from < 0 {
			break
		}
		to := strings.Index(s[from:], "}}")
		if to < 0 {
			break
		}
		if from > 0 {
			parts = append(parts, templatePart{text: s[:from]})
		}
		parts = append(parts, templatePart{text: strings.TrimSpace(s[from+2 : from+to]), placeholder: true})
		s = s[from+to+2:]
	}
	if s != "" {
		parts = append(parts, templatePart{text: s})
	}
	return parts
}

func render(parts []templatePart, value func(string) string) string {
	var b strings.Builder
	for _, p := range parts {
		if p.placeholder {
			b.WriteString(value(p.text))
		} else {
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// LetterChoices writes options one a line with their letters, "A) first". It
// is the one form in which options are shown to a model.
func LetterChoices(choices []string) string {
	var b strings.Builder
	for i, c := range choices {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(Letter(i) + ") " + c)
	}
	return b.String()
}

// Letter is the letter of option i, 0 to 25.
func Letter(i int) string { return string(rune('A' + i)) }

// Placeholders lists the names in a template's {{name}}, in order, each as
// often as it stands.
func Placeholders(template string) []string {
	var out []string
	for _, p := range splitTemplate(template) {
		if p.placeholder {
			out = append(out, p.text)
		}
	}
	return out
}

// Fill puts a value in every {{name}} of a template. What is put in is not
// searched again.
func Fill(template string, value func(name string) string) string {
	return render(splitTemplate(template), value)
}
