package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/evalrouter/evalrouter/lib/plain"
)

// Sizes of Markdown in bytes. A comment on GitHub takes 65,536 characters. A
// step summary takes 1 MiB, and a larger one is dropped whole.
const (
	MaxMarkdown      = 60_000
	MaxGitHubSummary = 900_000
)

// maxLine bounds one text of a task in characters in a list that is read at a
// glance.
const maxLine = 160

// errFull ends a list of tasks.
var errFull = errors.New("no more room")

// Markdown writes a summary of a run as CommonMark with tables of GitHub, and
// lists the tasks that are not right as far as MaxMarkdown goes. It says how
// many are not listed.
//
// Texts from elsewhere stand in code spans, so that nothing in them is markup,
// a link, an image or a mention of somebody. They stand in no table, where a
// bar would begin another cell.
func Markdown(w io.Writer, r Report, tasks Tasks) error {
	return markdown(w, r, tasks, MaxMarkdown, false)
}

// GitHubSummary writes the summary for a step of GitHub Actions: Markdown up to
// MaxGitHubSummary with its tasks folded away.
func GitHubSummary(w io.Writer, r Report, tasks Tasks) error {
	return markdown(w, r, tasks, MaxGitHubSummary, true)
}

func markdown(w io.Writer, r Report, tasks Tasks, limit int, folded bool) error {
	out := bufio.NewWriterSize(w, 64<<10)
	head := summaryMarkdown(r)
	tail := provenanceMarkdown(r)
	// What ends the list is short.
	room := limit - len(head) - len(tail) - 400
	if room < 0 {
		return fmt.Errorf("write the summary of run %s: %w", r.Run, ErrTooLarge)
	}
	out.WriteString(head)
	if err := tasksMarkdown(out, r, tasks, room, folded); err != nil {
		return err
	}
	out.WriteString(tail)
	return out.Flush()
}

func summaryMarkdown(r Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s\n\n", span(r.Benchmark), span(r.Model))
	if len(r.Figures) > 0 {
		f := r.Figures[0]
		fmt.Fprintf(&b, "**%s**, %s", f.Value, f.Of)
		if f.Interval == "" {
			b.WriteString(", no interval")
		} else {
			fmt.Fprintf(&b, ", %s interval %s", f.Confidence, f.Interval)
		}
		fmt.Fprintf(&b, " (%s)%s\n\n", span(f.Name), simulated(r))
	} else {
		b.WriteString("**No score**: nothing was graded\n\n")
	}
	b.WriteString(scope(r.Coverage) + "\n\n")
	fmt.Fprintf(&b, "| | |\n|---|---:|\n| Spent | %s |\n| Cap | %s |\n| Graded | %s |\n| Planned | %s |\n", Dollars(r.Money.Spend), Dollars(r.Money.Cap), Count(r.Coverage.Graded), Count(r.Coverage.Planned))
	if r.Money.Metered != 0 {
		fmt.Fprintf(&b, "| Of it billed by the provider | %s |\n", Dollars(r.Money.Metered))
	}
	fmt.Fprintf(&b, "\n- Status: %s%s\n- Finished: %s\n- Run: %s\n", span(r.Status), because(r.Why), r.FinishedAt, span(r.Run))
	if c := r.Chain; c != nil {
		fmt.Fprintf(&b, "- Chain: %s, %s\n", span(c.Label), map[bool]string{true: "complete", false: "not complete"}[c.Complete])
	}
	if r.Reasoning != "" {
		fmt.Fprintf(&b, "- Reasoning: %s\n", span(r.Reasoning))
	}
	if r.Money.Outside {
		b.WriteString("- The provider bills its calls to the owner of the connection; this cap does not bound them.\n")
	}
	if len(r.Figures) > 1 {
		b.WriteString("\n## Figures\n\n")
		for _, f := range r.Figures {
			fmt.Fprintf(&b, "- %s: %s\n", span(f.Name), f.Words())
		}
	}
	b.WriteString("\n## Outcomes\n\n")
	for _, o := range r.Outcomes {
		fmt.Fprintf(&b, "- %s: %s (%s)\n", words(o.Label), o.Count, o.Share)
	}
	if x := r.Bounds; x != nil {
		fmt.Fprintf(&b, "\n%s planned tasks have no score. If all of them were wrong, %s of the planned tasks would be right; if all were right, %s.\n", x.Missing, x.Wrong, x.Right)
	}
	if len(r.Warnings) > 0 {
		b.WriteString("\n## Warnings\n\n")
		for _, w := range r.Warnings {
			fmt.Fprintf(&b, "- %s\n", words(w))
		}
	}
	return b.String()
}

func simulated(r Report) string {
	if r.Simulated {
		return ", simulated: it says nothing about any model"
	}
	return ""
}

func because(why plain.Safe) string {
	if why == "" {
		return ""
	}
	return " because of " + span(why)
}

func scope(c Coverage) string {
	switch {
	case c.Sample && c.Seed != "":
		return fmt.Sprintf("A sample of %s of %s tasks (seed %s), not a score of the full benchmark.", Count(c.Planned), Count(c.Population), c.Seed)
	case c.Sample:
		return fmt.Sprintf("A sample of %s of %s tasks, not a score of the full benchmark.", Count(c.Planned), Count(c.Population))
	case c.Graded < c.Planned:
		return fmt.Sprintf("%s of %s tasks were graded, so this is not a score of the full benchmark.", Count(c.Graded), Count(c.Planned))
	}
	return fmt.Sprintf("The full benchmark: %s tasks.", Count(c.Planned))
}

func provenanceMarkdown(r Report) string {
	var b strings.Builder
	b.WriteString("\n## Provenance\n\n")
	for _, f := range r.Provenance {
		fmt.Fprintf(&b, "- %s: %s\n", f.Name, span(f.Value))
	}
	for _, f := range r.Money.Rates {
		fmt.Fprintf(&b, "- Price for a million tokens, %s: %s\n", strings.ToLower(f.Name), f.Value)
	}
	fmt.Fprintf(&b, "- Evidence for `evalrouter-bench verify`: %s\n", exportLine(r, "bundle"))
	for _, l := range r.Licences {
		fmt.Fprintf(&b, "- Licence (%s): %s %s\n", span(l.Scope), span(l.Identifier), span(l.URL))
	}
	return b.String()
}

// tasksMarkdown lists the tasks that are not right while there is room.
func tasksMarkdown(w io.Writer, r Report, tasks Tasks, room int, folded bool) error {
	total := r.Coverage.Planned
	for _, o := range r.Outcomes {
		if o.Kind == Passed {
			total -= o.N
		}
	}
	if total == 0 {
		return nil
	}
	open, end := "\n## Tasks that are not right\n\n", ""
	if folded {
		open, end = fmt.Sprintf("\n<details><summary>%s tasks are not right</summary>\n\n", Count(total)), "\n</details>\n"
	}
	io.WriteString(w, open)
	listed := 0
	err := eachMiss(tasks, func(t Task) error {
		line := lineOf(t)
		if room -= len(line); room < 0 {
			return errFull
		}
		listed++
		_, err := io.WriteString(w, line)
		return err
	})
	if err != nil && !errors.Is(err, errFull) {
		return err
	}
	if listed < total {
		fmt.Fprintf(w, "\n%s more are in the report: %s\n", Count(total-listed), exportLine(r, "html"))
	}
	_, err = io.WriteString(w, end)
	return err
}

// exportLine is the command that saves another format of the run.
func exportLine(r Report, format string) string {
	return span(plain.Line("evalrouter export " + string(r.Run) + " --format " + format))
}

func eachMiss(tasks Tasks, do func(Task) error) error {
	for t, err := range tasks {
		if err != nil {
			return fmt.Errorf("read tasks: %w", err)
		}
		if t.Outcome == string(Passed) {
			continue
		}
		if err := do(t); err != nil {
			return err
		}
	}
	return nil
}

func lineOf(t Task) string {
	s := fmt.Sprintf("- %s %s", span(plain.Line(cut(t.TaskID, maxLine))), words(plain.Line(cut(wordOf(t.Outcome).label, maxLine))))
	switch {
	case t.ErrorCode != nil:
		s += ": " + span(plain.Line(cut(*t.ErrorCode, maxLine)))
	case t.Extracted != "":
		s += ": " + span(plain.Line(cut(t.Extracted, maxLine)))
	case t.Answer != nil:
		s += ": " + span(plain.Line(cut(*t.Answer, maxLine)))
	}
	if len(t.Target) > 0 {
		s += ", expected " + span(plain.Line(cut(t.Target[0], maxLine)))
	}
	return s + "\n"
}

// span is text as a code span: the one place of Markdown where nothing is
// markup. Its fence is longer than any run of backticks in it.
func span(s plain.Safe) string {
	if s == "" {
		return "(none)"
	}
	longest, run := 0, 0
	for _, c := range []byte(s) {
		if c != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if s[0] == '`' || s[len(s)-1] == '`' || s[0] == ' ' || s[len(s)-1] == ' ' {
		return fence + " " + string(s) + " " + fence
	}
	return fence + string(s) + fence
}

// words is text of our own, or of a service: letters, digits and plain signs
// stand as they are, and anything else makes it a code span.
func words(s plain.Safe) string {
	for _, c := range s {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune(" ,.()%-:;'/", c)) {
			return span(s)
		}
	}
	rest := strings.TrimLeft(string(s), "0123456789")
	list := rest == "" || strings.ContainsRune("-.) ", rune(rest[0])) && (rest[0] != ' ' || len(rest) == len(s))
	if list || strings.Contains(string(s), "www.") || strings.Contains(string(s), "://") {
		return span(s)
	}
	return string(s)
}
