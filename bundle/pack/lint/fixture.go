package lint

import (
	"slices"
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/pack"
)

// enough is the mutation score from which on fixtures are not weak.
const enough = 0.8

// fixed is a fixture with its task.
type fixed struct {
	pack.Fixture
	task bundle.Task
}

// fixtures holds the fixtures to the grader and the grader to the fixtures.
func (l *linter) fixtures() error {
	var all []pack.Fixture
	wanted := map[string]bool{}
	for f, err := range pack.Fixtures(l.ctx, l.fsys, l.m) {
		if err != nil {
			return err
		}
		all = append(all, f)
		wanted[f.Task] = true
		l.rep.Outcomes[f.Expect]++
	}
	tasks, err := pack.TasksOf(l.ctx, l.fsys, l.m, func(id string) bool { return wanted[id] })
	if err != nil {
		return err
	}
	path := l.m.Component(pack.RoleFixtures).Path
	var agreed []fixed
	for _, f := range all {
		x := fixed{f, tasks[f.Task]}
		got, how := l.outcome(l.g, x)
		if got == f.Expect {
			agreed = append(agreed, x)
			continue
		}
		l.add("fixture_disagrees", pack.Finding{Path: path, Line: f.Line, Task: f.Task, Field: "expect"},
			"the fixture expects %s, the grader says %s", f.Expect, how)
	}
	for _, o := range l.reachable(tasks) {
		if l.rep.Outcomes[o] == 0 {
			l.add("fixture_outcome_missing", pack.Finding{Path: path, Field: "expect"}, "no fixture expects %s", o)
		}
	}
	l.mutate(path, agreed)
	return nil
}

// outcome grades a fixture; a grader that cannot decide has no outcome.
func (l *linter) outcome(g bundle.Grader, f fixed) (bundle.Outcome, string) {
	v, err := g.Grade(f.task, f.Answer)
	if err != nil {
		return "", "that it cannot decide"
	}
	return v.Outcome, string(v.Outcome)
}

// reachable lists the outcomes that fixtures should show.
func (l *linter) reachable(tasks map[string]bundle.Task) []bundle.Outcome {
	return slices.DeleteFunc(pack.Outcomes(), func(o bundle.Outcome) bool {
		if o != bundle.ExtractionFailed {
			return false
		}
		for _, t := range tasks {
			return !findsNothing(l.g, t)
		}
		return true
	})
}

// mutate counts the broken graders that the fixtures notice.
func (l *linter) mutate(path string, all []fixed) {
	m := &l.rep.Mutation
	for _, mut := range l.mutants(all) {
		m.Total++
		noticed := slices.ContainsFunc(all, func(f fixed) bool {
			got, _ := l.outcome(mut.grader, f)
			return got != f.Expect
		})
		if noticed {
			m.Killed++
		} else {
			m.Survivors = append(m.Survivors, mut.name)
		}
	}
	if m.Total > 0 && float64(m.Killed) < enough*float64(m.Total) {
		l.add("fixtures_weak", pack.Finding{Path: path},
			"the fixtures notice %d of %d broken graders; not: %s", m.Killed, m.Total, strings.Join(m.Survivors, "; "))
	}
}
