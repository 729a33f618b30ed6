// Package lmeval is graders that decide as EleutherAI's lm-evaluation-harness
// does, for benchmarks whose published results were made with it.
//
// The parts are in packages of their own: filter finds the answer in a text,
// metric compares and aggregates, mt scores translations, process makes the
// metrics of a document, group those of a task and of groups of tasks, request
// says what a model is asked, jinja renders templates, task reads task files
// and builds prompts, ported and ifeval hold functions of public tasks, export
// names and hashes what lm-eval writes.
//
// Decisions of the grader here:
//
//   - The score is lm-eval's own, also where lm-eval is known to be wrong. The
//     label beside it is ours: an answer that is not right is truncated when
//     the output limit cut it off, else empty when it is white space, else
//     extraction_failed when the filters gave their fallback, else wrong.
//   - Reasoning is taken out of an answer before it comes here.
//   - An error means that lm-eval raises, that a pattern used up its budget of
//     steps, or that the task has no target. It is never a wrong answer.
//   - Identity.Compat covers the options as they were declared.
package lmeval

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/internal/strict"
	"github.com/evalrouter/evalrouter/bundle/lmeval/filter"
	"github.com/evalrouter/evalrouter/bundle/lmeval/metric"
	"github.com/evalrouter/evalrouter/bundle/lmeval/process"
	"github.com/evalrouter/evalrouter/bundle/lmeval/task"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// GenerateUntil is the kind of the grader for answers that a model writes. Its
// options are those of one entry of filter_list and of exact_match:
//
//	filter       list of {"function": NAME, ...}; without it the whole text
//	filter_name  what lm-eval calls that entry, for exported files
//	exact_match  {"ignore_case", "ignore_punctuation", "ignore_numbers", "regexes_to_ignore"}
//	until        texts that end an answer: it is cut at the first of each in
//	             turn, for providers that do not stop there themselves
//	temperature  what answers are drawn with, 0 to 2
//	fallback     what the filters give when they find nothing, "[invalid]" by
//	             default; it only decides the label
const GenerateUntil = "lmeval/generate_until"

// NoFilter is lm-eval's name for a task without a filter list.
const NoFilter = "none"

// Kinds lists the kinds of this family.
func Kinds() []string { return []string{GenerateUntil} }

// version is raised when any verdict could change.
const version = "1"

// Grader decides one answer by filters and exact_match.
type Grader struct {
	id       bundle.Identity
	pipeline *filter.Pipeline
	filtered bool
	name     string // of the filter
	fallback string
	until    []string
	heat     *float64
	generate process.Generate
}

var _ bundle.Grader = (*Grader)(nil)

var errNoTarget = errors.New("the task has no target")

// New builds the grader that c declares. What it does not know it refuses.
func New(c bundle.GraderConfig) (*Grader, error) {
	if c.Kind != GenerateUntil {
		return nil, fmt.Errorf("build grader %s: want one of %s", c.Kind, strings.Join(Kinds(), ", "))
	}
	raw := []byte(c.Options)
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	n, prob := strict.Parse(raw)
	if prob != nil {
		return nil, fmt.Errorf("read options of %s: %w", c.Kind, prob)
	}
	canonical := strict.Canonical(n)
	v, err := value.Loads(string(canonical))
	if err != nil {
		return nil, fmt.Errorf("read options of %s: %w", c.Kind, err)
	}
	d, ok := v.(*value.Dict)
	if !ok {
		return nil, fmt.Errorf("read options of %s: they are no object", c.Kind)
	}
	g := &Grader{fallback: filter.Invalid}
	if err := g.read(d); err != nil {
		return nil, fmt.Errorf("read options of %s: %w", c.Kind, err)
	}
	sum := sha256.Sum256(canonical)
	g.id = bundle.Identity{
		ID: c.Kind, Version: version, Compat: fmt.Sprintf("%s@%s+%s", c.Kind, version, hex.EncodeToString(sum[:6])),
	}
	return g, nil
}

func (g *Grader) read(d *value.Dict) error {
	exact := metric.ExactMatch{}
	steps := []filter.Step{{Function: "take_first"}}
	for k, v := range d.All() {
		var err error
		switch key := value.Str(k); key {
		case "filter":
			steps, err = readSteps(v)
			g.filtered = true
		case "exact_match":
			args, ok := v.(*value.Dict)
			if !ok {
				return errors.New("exact_match is no object")
			}
			exact, err = task.ExactMatch(args)
		case "filter_name":
			var ok bool
			if g.name, ok = v.(string); !ok || g.name == "" || strings.Contains(g.name, ",") {
				return errors.New("filter_name is no text without a comma")
			}
		case "temperature":
			heat, ok := value.Float(v)
			if !ok || !(heat >= 0 && heat <= 2) {
				return errors.New("temperature is no number from 0 to 2")
			}
			g.heat = &heat
		case "until":
			g.until, err = readStops(v)
		case "fallback":
			var ok bool
			if g.fallback, ok = v.(string); !ok {
				return errors.New("fallback is no text")
			}
		default:
			return fmt.Errorf("unknown option %s", key)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case !g.filtered && g.name != "":
		return errors.New("filter_name names no filter")
	case !g.filtered:
		g.name = NoFilter
	case g.name == "":
		g.name = steps[0].Function
	}
	if steps[len(steps)-1].Function != "take_first" {
		return errors.New("the last filter is not take_first, so there would be no one answer")
	}
	var err error
	g.pipeline, err = filter.New("filter", steps)
	g.generate = process.Generate{Metrics: []process.Generated{{Name: "exact_match", Exact: exact}}}
	return err
}

func readSteps(v any) ([]filter.Step, error) {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, errors.New("filter is no list of steps")
	}
	var out []filter.Step
	for i, item := range list {
		s, ok := item.(*value.Dict)
		if !ok {
			return nil, fmt.Errorf("step %d of filter is no object", i)
		}
		f, _ := s.Get("function")
		name, ok := f.(string)
		if !ok {
			return nil, fmt.Errorf("step %d of filter names no function", i)
		}
		args := s.Copy()
		args.Delete("function")
		out = append(out, filter.Step{Function: name, Args: args})
	}
	return out, nil
}

func readStops(v any) ([]string, error) {
	items, ok := v.([]any)
	if !ok || len(items) == 0 {
		return nil, errors.New("until is no list of texts")
	}
	var out []string
	for _, item := range items {
		s, ok := item.(string)
		if !ok || s == "" {
			return nil, errors.New("until holds something that is no text")
		}
		out = append(out, s)
	}
	return out, nil
}

// cut ends a text at the first of each stop in turn.
func (g *Grader) cut(text string) string {
	for _, s := range g.until {
		text, _, _ = strings.Cut(text, s)
	}
	return text
}

// Identity names the kind with its options.
func (g *Grader) Identity() bundle.Identity { return g.id }

// Sampling is the declared temperature and stops.
func (g *Grader) Sampling() bundle.Sampling {
	return bundle.Sampling{Temperature: g.heat, Stop: g.until}
}

// Filter names the filter: by its declared name, else by its first step.
func (g *Grader) Filter() string { return g.name }

// Grade filters the text of an answer and compares it with the targets, of
// which any may be right.
func (g *Grader) Grade(t bundle.Task, a bundle.Answer) (bundle.Verdict, error) {
	if len(t.Target) == 0 {
		return bundle.Verdict{}, errNoTarget
	}
	a.Text = g.cut(a.Text)
	found, err := g.pipeline.Apply([]any{a.Text}, value.DictOf("choices", list(t.Choices)))
	if err != nil {
		return bundle.Verdict{}, fmt.Errorf("filter the answer: %w", err)
	}
	var gold any = t.Target[0]
	if len(t.Target) > 1 {
		gold = list(t.Target)
	}
	metrics, err := g.generate.Results(found, gold, nil)
	if err != nil {
		return bundle.Verdict{}, fmt.Errorf("compare the answer: %w", err)
	}
	score, _ := metrics.Get("exact_match")
	return g.verdict(a, found.(string), score == 1.0), nil
}

func list(texts []string) []any {
	out := make([]any, len(texts))
	for i, s := range texts {
		out[i] = s
	}
	return out
}

// verdict labels a decision. The span is the last place where the answer holds
// what was found, if it does.
func (g *Grader) verdict(a bundle.Answer, found string, right bool) bundle.Verdict {
	failed := g.filtered && found == g.fallback
	v := bundle.Verdict{Rule: "exact_match, not equal"}
	if !failed && found != "" {
		v.Extracted = found
		if i := strings.LastIndex(a.Text, found); i >= 0 {
			from := utf8.RuneCountInString(a.Text[:i])
			v.Span = &[2]int{from, from + utf8.RuneCountInString(found)}
		}
	}
	switch {
	case right:
		v.Outcome, v.Score, v.Rule = bundle.Right, 1, "exact_match, equal"
	case a.Finish == bundle.FinishLength:
		v.Outcome = bundle.Truncated
	case str.Strip(a.Text) == "":
		v.Outcome, v.Rule = bundle.Empty, "no text"
	case failed:
		v.Outcome, v.Rule = bundle.ExtractionFailed, "filters found nothing"
	default:
		v.Outcome = bundle.Wrong
	}
	return v
}
