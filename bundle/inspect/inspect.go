// Package inspect is graders that decide as the scorers of UK AISI's Inspect
// do, for benchmarks whose published results were made with it. The scorers
// themselves are in package score, multiple choice in choice, epochs, reducers
// and metrics in metric, data sets in dataset, logs in evallog.
//
// Decisions that hold for all kinds:
//
//   - The score is Inspect's, to the last bit, also where Inspect is known to
//     be wrong. The label beside it is ours: an answer that is not right is
//     truncated when the output limit cut it off, else empty when it holds
//     nothing but white space, else extraction_failed when the scorer found
//     nothing to compare, else wrong.
//   - Reasoning is taken out of an answer before it comes here.
//   - An error means that Inspect raises, that a pattern used up its budget of
//     steps, or that the task has no target. It is never a wrong answer.
//   - Model-graded scorers need more than a text: NewJudged builds them, and
//     they read a verdict more strictly than Inspect does (see Judged).
//     Perplexity needs log-probabilities: see score.Perplexity. Inspect's math
//     scorer needs a computer algebra system; math_string is ours, under a name
//     of our own, and compares spellings.
//   - Identity.Compat covers the options with their defaults filled in.
package inspect

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/inspect/choice"
	"github.com/evalrouter/evalrouter/bundle/inspect/score"
	"github.com/evalrouter/evalrouter/bundle/internal/strict"
)

// The kinds that New builds, and their options:
//
//	inspect/match        location (end, begin, any, exact), numeric, ignore_case
//	inspect/includes     ignore_case
//	inspect/pattern      pattern (required, Python syntax), ignore_case, match_all
//	inspect/answer       pattern (letter, word, line)
//	inspect/choice       multiple_correct
//	inspect/exact
//	inspect/f1           stop_words
//	inspect/math_string
//
// ignore_case is true by default, every other flag false.
const (
	Match      = "inspect/match"
	Includes   = "inspect/includes"
	Pattern    = "inspect/pattern"
	Answer     = "inspect/answer"
	Choice     = "inspect/choice"
	Exact      = "inspect/exact"
	F1         = "inspect/f1"
	MathString = "inspect/math_string"
)

// Kinds lists the kinds of this family.
func Kinds() []string {
	return []string{Match, Includes, Pattern, Answer, Choice, Exact, F1, MathString}
}

// version is raised when any verdict of any kind that New builds could change.
const version = "1"

// maxPattern bounds a declared pattern, in bytes.
const maxPattern = 500

// New builds the grader that c declares. Unknown kinds and options, wrong types
// and patterns that do not compile are refused with a *bundle.Refusal.
func New(c bundle.GraderConfig) (*Grader, error) {
	raw := []byte(c.Options)
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	n, prob := strict.Parse(raw)
	if prob != nil {
		return nil, refusal([]*strict.Problem{prob})
	}
	r := &strict.Reader{}
	o := options{r: r, Fields: r.Fields(n), filled: map[string]any{}}
	g := &Grader{kind: c.Kind}
	if build, ok := builders()[c.Kind]; ok {
		build(g, o)
	} else {
		r.Add("kind", strict.CodeRange, "want one of %s", strings.Join(Kinds(), ", "))
	}
	o.Close()
	if len(r.Problems) > 0 {
		return nil, refusal(r.Problems)
	}
	g.id = identity(c.Kind, version, o.filled)
	g.equal = g.rule + ", equal"
	return g, nil
}

func builders() map[string]func(*Grader, options) {
	return map[string]func(*Grader, options){
		Match: buildMatch, Includes: buildIncludes, Pattern: buildPattern, Answer: buildAnswer,
		Choice: buildChoice, Exact: buildExact, F1: buildF1, MathString: buildMath,
	}
}

// options reads declared options and remembers them with their defaults.
type options struct {
	r *strict.Reader
	*strict.Fields
	filled map[string]any
}

func (o options) flag(key string, absent bool) bool {
	v := o.Flag(key, absent)
	o.filled[key] = v
	return v
}

func (o options) word(key string, words ...string) string {
	v := o.OneOf(key, words...)
	o.filled[key] = v
	return v
}

func buildMatch(g *Grader, o options) {
	s := score.Match{
		Location:      score.Location(o.word("location", "end", "begin", "any", "exact")),
		Numeric:       o.flag("numeric", false),
		CaseSensitive: !o.flag("ignore_case", true),
	}
	g.score = func(t bundle.Task, text string) (score.Score, error) { return s.Score(text, t.Target) }
	g.rule = "match at " + string(s.Location)
	if s.Numeric {
		g.rule = "number at " + string(s.Location)
	}
}

func buildIncludes(g *Grader, o options) {
	s := score.Includes{CaseSensitive: !o.flag("ignore_case", true)}
	g.score = func(t bundle.Task, text string) (score.Score, error) {
		if found, span := s.Any(text, t.Target); found {
			return score.Score{Value: score.Correct, Span: span}, nil
		}
		return score.Score{Value: score.Incorrect}, nil
	}
	g.rule = "included anywhere"
}

func buildPattern(g *Grader, o options) {
	text := o.Need("pattern")
	o.filled["pattern"] = text
	s, err := score.NewPattern(text, !o.flag("ignore_case", true), o.flag("match_all", false))
	switch {
	case len(text) > maxPattern:
		o.r.Add(o.Path("pattern"), strict.CodeRange, "the pattern is longer than %d bytes", maxPattern)
	case err != nil:
		o.r.Add(o.Path("pattern"), strict.CodeRange, "not a pattern of Python's re module")
	case s.Groups() == 0:
		o.r.Add(o.Path("pattern"), strict.CodeRange, "want a group, without one no answer is ever right")
	}
	g.score = func(t bundle.Task, text string) (score.Score, error) { return s.Score(text, t.Target) }
	g.rule = "pattern group"
}

func buildAnswer(g *Grader, o options) {
	kind := o.word("pattern", score.Letter, score.Word, score.Line)
	s := score.NewAnswer(kind)
	g.score = func(t bundle.Task, text string) (score.Score, error) { return s.Score(text, t.Target) }
	g.rule = kind + " after ANSWER"
	g.gold = answerLine
}

func buildChoice(g *Grader, o options) {
	multiple := o.flag("multiple_correct", false)
	g.score = func(t bundle.Task, text string) (score.Score, error) {
		return choice.NewOptions(t.Choices).Score(text, t.Target, multiple)
	}
	g.rule = "letter after ANSWER"
	g.gold = answerLine
	g.mustChoose = true
}

func buildExact(g *Grader, _ options) {
	g.score = func(t bundle.Task, text string) (score.Score, error) { return score.Exact{}.Score(text, t.Target) }
	g.rule = "normalised text"
}

func buildF1(g *Grader, o options) {
	s := score.F1{StopWords: o.Texts("stop_words")}
	o.filled["stop_words"] = append([]string{}, s.StopWords...)
	g.score = func(t bundle.Task, text string) (score.Score, error) { return s.Score(text, t.Target) }
	g.rule = "F1 of words"
}

func buildMath(g *Grader, _ options) {
	g.score = func(t bundle.Task, text string) (score.Score, error) { return score.MathString{}.Score(text, t.Target) }
	g.rule = "mathematical text"
}

func answerLine(target string) string { return "ANSWER: " + target }

func refusal(problems []*strict.Problem) error {
	r := &bundle.Refusal{What: "grader"}
	for _, p := range problems {
		r.Findings = append(r.Findings, bundle.Finding{Code: p.Code, Path: p.Path, Message: p.Message})
	}
	return r
}

// identity names a kind with its options, defaults filled in.
func identity(kind, version string, filled map[string]any) bundle.Identity {
	raw, err := json.Marshal(filled) // sorted keys; strings, flags and lists only
	if err != nil {
		panic("inspect: options of " + kind + " cannot be written: " + err.Error())
	}
	sum := sha256.Sum256(raw)
	return bundle.Identity{
		ID:      kind,
		Version: version,
		Compat:  fmt.Sprintf("%s@%s+%s", kind, version, hex.EncodeToString(sum[:6])),
	}
}
