// Package generic is the graders that a manifest may declare for any
// benchmark: exact_match, regex_match, numeric, multiple_choice and
// json_field_match. They are ours. The families that reproduce another tool's scoring exactly are
// packages of their own beside this one.
//
// Decisions that hold for all five:
//
//   - The score depends on the text and the target alone. The finish reason
//     only chooses the label of an answer that is not right: an answer that
//     the output limit cut off and that is nevertheless right is right, any
//     other is truncated, with or without text. Only then come empty (no text
//     but white space), extraction_failed (nothing in the text looks like an
//     answer) and wrong.
//   - Scores are 0 or 1. There is no partial credit.
//   - The answer that stands last counts, because models revise. Where two
//     readings are possible and neither can be defended, nothing is extracted.
//   - Every answer is read twice. The strict reading takes nothing but an
//     answer in the form that was asked for: what a declared pattern marks,
//     the whole text, or a last line "ANSWER: x". The lenient one searches the
//     text by the rules of the kind. The option extraction (lenient by
//     default) says which of them is the verdict; what both came to is
//     recorded with it, so that a report can tell a model that does not know
//     from one that does not keep to a form.
//   - Refusal is never read from the text.
//   - Work is linear in the length of the answer, whatever its content. A
//     declared pattern is RE2 and can at worst be quadratic.
//   - A task whose target the grader cannot read is an error, not a wrong
//     answer.
//   - Identity.Compat covers the options with their defaults filled in, so
//     verdicts made under different options are never mixed.
package generic

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/internal/strict"
)

// Config declares a grader: its kind and options.
type Config = bundle.GraderConfig

// The kinds that New builds.
const (
	ExactMatch     = "exact_match"
	RegexMatch     = "regex_match"
	Numeric        = "numeric"
	MultipleChoice = "multiple_choice"
	JSONFieldMatch = "json_field_match"
)

// Kinds lists the kinds that New builds.
func Kinds() []string {
	return []string{MultipleChoice, ExactMatch, RegexMatch, Numeric, JSONFieldMatch}
}

// version is raised when any verdict of any kind could change.
const version = "3"

// New builds the grader that c declares. Unknown kinds and options, wrong
// types and patterns that do not compile are refused with a *bundle.Refusal.
func New(c Config) (bundle.Grader, error) {
	o, err := readOptions(c)
	if err != nil {
		return nil, err
	}
	var g bundle.Grader
	switch c.Kind {
	case ExactMatch:
		g = newExact(o)
	case RegexMatch:
		g = newRegex(o)
	case Numeric:
		g = newNumeric(o)
	case MultipleChoice:
		g = newChoice(o)
	case JSONFieldMatch:
		g = newJSON(o)
	default:
		o.r.Add("kind", strict.CodeRange, "want one of %s", strings.Join(Kinds(), ", "))
	}
	o.f.Close()
	if len(o.r.Problems) > 0 {
		return nil, refusal(o.r.Problems)
	}
	return g, nil
}

func refusal(problems []*strict.Problem) error {
	r := &bundle.Refusal{What: "grader"}
	for _, p := range problems {
		r.Findings = append(r.Findings, bundle.Finding{Code: p.Code, Path: p.Path, Message: p.Message})
	}
	return r
}

// options is the declared options while a grader takes what it knows.
type options struct {
	r *strict.Reader
	f *strict.Fields
}

func readOptions(c Config) (options, error) {
	raw := []byte(c.Options)
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	n, prob := strict.Parse(raw)
	if prob != nil {
		return options{}, refusal([]*strict.Problem{prob})
	}
	r := &strict.Reader{}
	return options{r: r, f: r.Fields(n)}, nil
}

// maxPattern bounds a declared pattern, in bytes.
const maxPattern = 500

// pattern reads the option answer_pattern: an RE2 expression with at most one
// group. It marks where the answer stands; without it the whole text does.
func (o options) pattern() *regexp.Regexp {
	const key = "answer_pattern"
	return o.compile(key, o.f.Text(key))
}

func (o options) compile(key, s string) *regexp.Regexp {
	if s == "" {
		return nil
	}
	re, err := regexp.Compile(s)
	switch {
	case len(s) > maxPattern:
		o.r.Add(o.f.Path(key), strict.CodeRange, "the pattern is longer than %d bytes", maxPattern)
	case err != nil:
		o.r.Add(o.f.Path(key), strict.CodeRange, "not an RE2 pattern")
	case re.NumSubexp() > 1:
		o.r.Add(o.f.Path(key), strict.CodeRange, "want at most one group, so that it is clear which is the answer")
	default:
		return re
	}
	return nil
}

// identity names a kind with its options, defaults filled in.
func identity(kind string, filled map[string]any) bundle.Identity {
	raw, err := json.Marshal(filled) // sorted keys; strings, flags and lists only
	if err != nil {
		panic("generic: options of " + kind + " cannot be written: " + err.Error())
	}
	sum := sha256.Sum256(raw)
	return bundle.Identity{
		ID:      "generic/" + kind,
		Version: version,
		Compat:  fmt.Sprintf("generic/%s@%s+%s", kind, version, hex.EncodeToString(sum[:6])),
	}
}

func patternText(re *regexp.Regexp) string {
	if re == nil {
		return ""
	}
	return re.String()
}

// region is a part of an answer, in bytes.
type region struct{ from, to int }

func (r region) empty() bool { return r.from >= r.to }

// marked lists the parts of text that re marks, in order and without overlap.
// A group that took no part in a match marks nothing.
func marked(re *regexp.Regexp, text string) []region {
	if re == nil {
		return nil
	}
	var out []region
	for _, m := range re.FindAllStringSubmatchIndex(text, -1) {
		at := 2 * re.NumSubexp()
		if m[at] >= 0 {
			out = append(out, region{m[at], m[at+1]})
		}
	}
	return out
}

var errNoTarget = errors.New("the task has no target")

// equalRule words the end of a rule.
func equalRule(how string, right bool) string {
	if right {
		return how + ", equal"
	}
	return how + ", not equal"
}
