package lint

import "github.com/evalrouter/evalrouter/bundle/pack"

// Rules lists what Run can find beside the warnings of pack.Validate.
func Rules() []pack.Rule {
	e, w := pack.Error, pack.Warning
	return []pack.Rule{
		{ID: "gold_not_gradable", Severity: e, Remedy: "write the target in a form that the grader reads"},
		{ID: "gold_not_right", Severity: e, Remedy: "correct the target or the options of the grader: it must accept the task's own answer"},
		{ID: "task_repeated", Severity: w, Remedy: "keep one of the two tasks"},
		{ID: "task_contradicted", Severity: e, Remedy: "correct one of the two tasks: the same question has two answers"},
		{ID: "task_nearly_repeated", Severity: w, Remedy: "keep one of the two tasks, or make them ask different things"},
		{ID: "answer_leaked", Severity: e, Remedy: "take the answer out of the prompt"},
		{ID: "choice_ambiguous", Severity: e, Remedy: "make the options differ in more than writing"},
		{ID: "choice_refers", Severity: w, Remedy: "replace options that speak about other options: they break when the order changes"},
		{ID: "choices_not_shown", Severity: e, Remedy: "put {{choices}} into prompt.template, or the options into the input"},
		{ID: "choice_longest", Severity: w, Remedy: "make wrong options as long and as careful as right ones"},
		{ID: "answers_unbalanced", Severity: w, Remedy: "spread the right answers evenly: now the share of the most frequent one can be had by guessing it"},
		{ID: "text_hidden", Severity: w, Remedy: "remove characters that cannot be seen or that reorder text"},
		{ID: "text_placeholder", Severity: w, Remedy: "finish the text, or write the braces in another way"},
		{ID: "limit_too_small", Severity: e, Remedy: "raise limits.max_output_tokens: the right answer does not fit"},
		{ID: "tasks_few", Severity: w, Remedy: "add tasks: below 30, only very large differences between models can be shown"},
		{ID: "rights_draft", Severity: e, Remedy: "replace the text of the draft: say who owns the tasks and what is allowed"},
		{ID: "readme_draft", Severity: w, Remedy: "replace the text of the draft: say what the benchmark measures"},
		{ID: "fixture_disagrees", Severity: e, Remedy: "correct the fixture or the grader: they must agree"},
		{ID: "fixture_outcome_missing", Severity: w, Remedy: "add a fixture of this outcome"},
		{ID: "fixtures_weak", Severity: w, Remedy: "add fixtures that would notice the graders named as survivors"},
	}
}

func ruleOf(id string) pack.Rule {
	for _, r := range Rules() {
		if r.ID == id {
			return r
		}
	}
	panic("lint: " + id + " is no rule")
}
