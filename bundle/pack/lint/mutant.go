package lint

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
)

// mutant is a grader with one fault.
type mutant struct {
	name   string
	grader bundle.Grader
}

// broken is a grader whose decision is made by another function.
type broken struct {
	bundle.Grader
	grade func(bundle.Task, bundle.Answer) (bundle.Verdict, error)
}

func (b broken) Grade(t bundle.Task, a bundle.Answer) (bundle.Verdict, error) { return b.grade(t, a) }

// mutants lists the broken graders that are not equal to the real one. all are
// the fixtures, whose tasks tell which faults could show at all.
func (l *linter) mutants(all []fixed) []mutant {
	g := l.g
	same := func(o bundle.Outcome) func(bundle.Task, bundle.Answer) (bundle.Verdict, error) {
		return func(bundle.Task, bundle.Answer) (bundle.Verdict, error) { return bundle.Verdict{Outcome: o}, nil }
	}
	relabel := func(from, to bundle.Outcome) func(bundle.Task, bundle.Answer) (bundle.Verdict, error) {
		return func(t bundle.Task, a bundle.Answer) (bundle.Verdict, error) {
			v, err := g.Grade(t, a)
			if v.Outcome == from {
				v.Outcome = to
			}
			return v, err
		}
	}
	if len(all) == 0 {
		return []mutant{{"every answer is right", broken{g, same(bundle.Right)}}}
	}
	out := []mutant{
		{"every answer is right", broken{g, same(bundle.Right)}},
		{"every answer is wrong", broken{g, same(bundle.Wrong)}},
		{"answers that hold the target anywhere are right", broken{g, func(t bundle.Task, a bundle.Answer) (bundle.Verdict, error) {
			v, err := g.Grade(t, a)
			if v.Outcome != bundle.Right && slices.ContainsFunc(t.Target, func(s string) bool { return strings.Contains(a.Text, s) }) {
				v.Outcome = bundle.Right
			}
			return v, err
		}}},
		{"an answer that was cut off counts as whole", broken{g, func(t bundle.Task, a bundle.Answer) (bundle.Verdict, error) {
			a.Finish = bundle.FinishStop
			return g.Grade(t, a)
		}}},
		{"a right answer that was cut off is truncated", broken{g, func(t bundle.Task, a bundle.Answer) (bundle.Verdict, error) {
			v, err := g.Grade(t, a)
			if a.Finish == bundle.FinishLength {
				v.Outcome = bundle.Truncated
			}
			return v, err
		}}},
		{"no answer counts as a wrong one", broken{g, relabel(bundle.Empty, bundle.Wrong)}},
		{"a wrong answer counts as none", broken{g, relabel(bundle.Wrong, bundle.Empty)}},
		{"every task has the target of the first", broken{g, func(t bundle.Task, a bundle.Answer) (bundle.Verdict, error) {
			t.Target = all[0].task.Target
			return g.Grade(t, a)
		}}},
	}
	if slices.ContainsFunc(all, func(f fixed) bool { return len(f.task.Target) > 1 }) {
		out = append(out, mutant{"only the first acceptable answer counts", broken{g, func(t bundle.Task, a bundle.Answer) (bundle.Verdict, error) {
			t.Target = t.Target[:1]
			return g.Grade(t, a)
		}}})
	}
	if findsNothing(g, all[0].task) {
		out = append(out, mutant{"an answer in which nothing is found is wrong", broken{g, relabel(bundle.ExtractionFailed, bundle.Wrong)}})
	}
	return append(out, l.optionMutants()...)
}

// findsNothing says whether a grader has answers in which it finds nothing.
// Not every grader has.
func findsNothing(g bundle.Grader, t bundle.Task) bool {
	v, err := g.Grade(t, bundle.Answer{Text: "I would rather not say.", Finish: bundle.FinishStop})
	return err == nil && v.Outcome == bundle.ExtractionFailed
}

// optionMutants changes one declared option of the grader at a time: a switch
// is turned, anything else is left out.
func (l *linter) optionMutants() []mutant {
	var declared map[string]any
	if json.Unmarshal(l.m.Grader.Options, &declared) != nil {
		return nil
	}
	names := make([]string, 0, len(declared))
	for name := range declared {
		names = append(names, name)
	}
	slices.Sort(names)
	var out []mutant
	for _, name := range names {
		changed := map[string]any{}
		for n, v := range declared {
			changed[n] = v
		}
		what := "without the option " + name
		if on, ok := declared[name].(bool); ok {
			changed[name], what = !on, "with the option "+name+" turned"
		} else {
			delete(changed, name)
		}
		raw, err := json.Marshal(changed)
		if err != nil {
			continue
		}
		g, err := l.graders(bundle.GraderConfig{Kind: l.m.Grader.Kind, Options: raw})
		if err != nil || g.Identity().Compat == l.g.Identity().Compat {
			continue // no grader, or the same one
		}
		out = append(out, mutant{what, g})
	}
	return out
}
