package lint

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/pack"
)

// fewTasks is from where on a score says anything about a model.
const fewTasks = 30

// tasks looks at every task by itself and at all together. The questions are
// compared as the author wrote them, without the prompt around them.
func (l *linter) tasks() error {
	bare := l.m
	bare.Prompt = nil
	d := newDuplicates()
	b := newBalance()
	line := 0
	for t, err := range pack.Tasks(l.ctx, l.fsys, bare) {
		if err != nil {
			return err
		}
		line++ // a valid dataset has no other lines
		l.task(line, t)
		b.add(t)
		if f, other := d.add(line, t); f != "" {
			l.add(f, l.at(line, t.ID, "input"), "%s", map[string]string{
				"task_repeated": "the question of ", "task_contradicted": "another answer to the question of ", "task_nearly_repeated": "nearly the question of ",
			}[f]+"line "+other)
		}
	}
	if line < fewTasks {
		l.add("tasks_few", l.at(0, "", ""), "only %d tasks", line)
	}
	b.report(l)
	return nil
}

func (l *linter) task(line int, t bundle.Task) {
	if f := bundle.CheckGold(l.g, t); f != nil {
		l.add(f.Code, l.at(line, t.ID, "target"), "%s", goldMessage(f.Code))
	}
	if where := l.leak(t); where != "" {
		l.add("answer_leaked", l.at(line, t.ID, "input"), "%s", where)
	}
	l.texts(line, t)
	l.options(line, t)
	for _, target := range t.Target {
		// A token is seldom more than eight bytes: a bound that no tokenizer
		// of words reaches.
		if int64(len(target)/8) > l.m.Limits.MaxOutputTokens {
			l.add("limit_too_small", l.at(line, t.ID, "target"), "an answer of %d bytes, and at most %d tokens", len(target), l.m.Limits.MaxOutputTokens)
			break
		}
	}
}

func goldMessage(code string) string {
	if code == "gold_not_right" {
		return "the grader does not accept the task's own answer"
	}
	return "the grader cannot read the target"
}

// leakMark is a word that announces an answer, up to where the answer begins.
var leakMark = regexp.MustCompile(`(?i)\b(?:answer|solution|correct (?:option|choice|letter|answer)|hint|key|target|result|gold)\b[^\pL\pN\n]{0,4}(?:\bis\b|[:=→])[\s"'“*_(\[]*`)

// leak says where a task gives its answer away, "" if nowhere. A text that
// holds the answer is no leak by itself: in reading tasks it must.
func (l *linter) leak(t bundle.Task) string {
	for _, m := range t.Input {
		if m.Role == bundle.Assistant {
			if v, err := l.g.Grade(t, bundle.Answer{Text: m.Text, Finish: bundle.FinishStop}); err == nil && v.Outcome == bundle.Right {
				return "a message of the assistant is a right answer already"
			}
			continue
		}
		for _, at := range leakMark.FindAllStringIndex(m.Text, 64) {
			if opensWith(m.Text[at[1]:], t.Target) {
				return "the text announces the answer and gives it"
			}
		}
	}
	return ""
}

// opensWith says whether a text begins with one of the words, as a whole word.
func opensWith(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool {
		rest, ok := cutFold(text, strings.TrimSpace(w))
		next := strings.IndexFunc(rest, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
		return ok && w != "" && next != 0
	})
}

// cutFold cuts a prefix whatever its letter case.
func cutFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

var placeholder = regexp.MustCompile(`\{\{[^{}]*\}\}|\b(?:TODO|FIXME|TBD|XXX)\b|(?i:lorem ipsum)|(?i:<(?:insert|your)[^>]{0,40}>)`)

// texts looks at the characters of what is shown and compared.
func (l *linter) texts(line int, t bundle.Task) {
	check := func(field string, text string) {
		if strings.ContainsFunc(text, hidden) {
			l.add("text_hidden", l.at(line, t.ID, field), "a character that is not seen, or that changes how text reads")
		}
		if field != "target" && placeholder.MatchString(text) {
			l.add("text_placeholder", l.at(line, t.ID, field), "a text that looks unfinished")
		}
	}
	for _, m := range t.Input {
		check("input", m.Text)
	}
	check("target", strings.Join(t.Target, "\n"))
	check("choices", strings.Join(t.Choices, "\n"))
}

// hidden lists what a reader does not see and a model does. Joiners are left
// alone: scripts and emoji need them.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\r' || r == '\u200c' || r == '\u200d':
		return false
	case unicode.IsControl(r), r == '\u00ad', r == '\u200b', r == '\u2060', r == '\ufeff', r >= '\U000e0000' && r <= '\U000e007f':
		return true
	}
	return r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' || r == '\u200e' || r == '\u200f'
}

var refersToOptions = regexp.MustCompile(`(?i)^(?:all|none|both|neither|any|either)\b.*\b(?:above|below|these|those|options?|choices?|of them)\b|^(?:both )?\(?[A-Z]\)? (?:and|or|&) \(?[A-Z]\)?$`)

func (l *linter) options(line int, t bundle.Task) {
	if len(t.Choices) == 0 {
		return
	}
	seen := map[string]bool{}
	shown := ""
	for _, m := range t.Input {
		shown += m.Text + "\n"
	}
	if l.m.Prompt != nil && slices.Contains(bundle.Placeholders(l.m.Prompt.Template), "choices") {
		shown = ""
	}
	ambiguous, refers, unseen := false, false, false
	for _, c := range t.Choices {
		key := optionKey(c)
		ambiguous = ambiguous || seen[key]
		seen[key] = true
		refers = refers || refersToOptions.MatchString(strings.TrimRight(strings.TrimSpace(c), "."))
		unseen = unseen || shown != "" && !strings.Contains(shown, c)
	}
	at := l.at(line, t.ID, "choices")
	if ambiguous {
		l.add("choice_ambiguous", at, "two options that differ in writing only")
	}
	if refers {
		l.add("choice_refers", at, "an option that speaks about the others")
	}
	if unseen {
		l.add("choices_not_shown", at, "an option that the prompt does not show")
	}
}
