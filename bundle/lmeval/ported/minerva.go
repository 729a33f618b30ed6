package ported

import (
	"strings"

	"github.com/evalrouter/evalrouter/bundle/pycompat/re"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// Minerva finds and normalises answers to Minerva MATH, up to but without the
// symbolic comparison.
type Minerva struct {
	final   *re.Regexp
	rewrite []rewrite
}

type rewrite struct {
	find *re.Regexp
	put  string
}

// NewMinerva returns the normaliser.
func NewMinerva() Minerva {
	m := Minerva{final: re.MustCompile(`Final Answer: The final answer is(.*?). I hope it is correct.`, 0)}
	for _, r := range [][2]string{
		{`(.*?)(\$)(.*?)(\$)(.*)`, `$\3$`}, {`(\\text\{)(.*?)(\})`, `\2`}, {`(\\textbf\{)(.*?)(\})`, `\2`},
		{`(\\overline\{)(.*?)(\})`, `\2`}, {`(\\boxed\{)(.*)(\})`, `\2`},
		{`(frac)([^{])(.)`, `frac{\2}{\3}`}, {`(sqrt)([^{])`, `sqrt{\2}`},
	} {
		m.rewrite = append(m.rewrite, rewrite{re.MustCompile(r[0], 0), r[1]})
	}
	return m
}

// Final is the answer that a text states last, "[invalidanswer]" if none.
func (m Minerva) Final(s string) (string, error) {
	match, err := m.final.Search(s + "I hope it is correct.")
	if err != nil {
		return "", err
	}
	if match == nil {
		return "[invalidanswer]", nil
	}
	return str.Strip(match.Text(1)), nil
}

// Normal brings a final answer into one form, after appendix D of Lewkowycz et
// al. (2022).
func (m Minerva) Normal(s string) (string, error) {
	s = s[strings.LastIndex(s, "=")+1:]
	for _, r := range [][2]string{
		{"an ", ""}, {"a ", ""}, {".$", "$"}, {`\$`, ""}, {`\ `, ""}, {" ", ""}, {"mbox", "text"}, {`,\text{and}`, ","}, {`\text{and}`, ","},
		{`\text{m}`, `\text{}`},
	} {
		s = strings.ReplaceAll(s, r[0], r[1])
	}
	for _, unit := range []string{
		"square", "ways", "integers", "dollars", "mph", "inches", "ft", "hours", "km", "units", `\ldots`, "sue", "points", "feet", "minutes",
		"digits", "cents", "degrees", "cm", "gm", "pounds", "meters", "meals", "edges", "students", "childrentickets", "multiples",
		`\text{s}`, `\text{.}`, "\\text{\ns}", `\text{}^2`, `\text{}^3`, "\\text{\n}", `\text{}`, `\mathrm{th}`, `^\circ`, `^{\circ}`, `\;`, `,\!`,
		"{,}", `"`, `\dots`,
	} {
		s = strings.ReplaceAll(s, unit, "")
	}
	for _, r := range m.rewrite {
		var err error
		if s, err = r.find.Sub(r.put, s); err != nil {
			return "", err
		}
	}
	s = strings.ReplaceAll(s, "$", "")
	if plain := strings.ReplaceAll(s, ",", ""); str.IsDigit(plain) {
		s = plain
	}
	return s, nil
}
