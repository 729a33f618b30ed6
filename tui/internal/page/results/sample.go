package results

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/evalrouter/evalrouter/lib/api"
	"github.com/evalrouter/evalrouter/lib/plain"

	"github.com/evalrouter/evalrouter/tui/internal/kit"
	"github.com/evalrouter/evalrouter/tui/internal/listing"
	"github.com/evalrouter/evalrouter/tui/internal/route"
	"github.com/evalrouter/evalrouter/tui/internal/show"
)

type sampleRead struct {
	sample api.ExportSample
	err    error
}

type one struct {
	reader Reader
	at     route.Sample
	task   api.TaskRecord
	got    *sampleRead
	scroll kit.Scroll
	w, h   int
}

// Sample is one task with its answer and what was taken from it.
func Sample(r Reader, at route.Sample) (kit.Screen, []kit.Effect) {
	s := one{reader: r, at: at, task: at.Among[at.At]}
	return s, s.read()
}

func (s one) read() []kit.Effect {
	r, run, task := s.reader, s.at.Run, s.task.TaskID
	return kit.Do(kit.Load{Name: "sample", Do: func(ctx context.Context) kit.Msg {
		sample, err := r.Sample(ctx, run, task)
		return sampleRead{sample, err}
	}})
}

// Update scrolls.
func (s one) Update(m kit.Msg) (kit.Screen, []kit.Effect) {
	switch m := m.(type) {
	case sampleRead:
		s.got = &m
		return s, nil
	case kit.Resize:
		s.w, s.h = m.W, m.H
		return s, nil
	case kit.Press:
		if m.Key == kit.Refresh {
			return s, s.read()
		}
		if to := s.at.At + step(m); to != s.at.At && to >= 0 && to < len(s.at.Among) {
			return s, kit.Do(kit.Go{To: route.Sample{Run: s.at.Run, Among: s.at.Among, At: to}, Instead: true})
		}
	}
	if listing.IsBack(m, false) || listing.IsEnter(m) {
		return s, kit.Do(kit.Back{})
	}
	s.scroll, _ = s.scroll.Update(m, len(s.lines(s.w)), s.h)
	return s, nil
}

// step is how far a key goes along the list: N to the next task, P to the one
// before.
func step(p kit.Press) int {
	switch {
	case p.Is('n'):
		return 1
	case p.Is('p'):
		return -1
	}
	return 0
}

// View draws the task.
func (s one) View(c kit.Canvas) {
	w, _ := c.Size()
	s.scroll.View(c, s.lines(w))
	c.Cursor(1, 0)
}

func (s one) lines(w int) []kit.Line {
	t := s.task
	word := outcome(t)
	out := []kit.Line{{Text: show.F(" %s   %s   %s", t.TaskID, word, show.Money(t.ChargeMicrousd)), Role: kit.Strong}}
	out = append(out, show.Pairs(w, [2]string{"Taken", taken(t)}, [2]string{"Failed", strings.ReplaceAll(show.Text(t.ErrorCode), "_", " ")}, [2]string{"Scores", scores(t.Scores)})...)
	switch {
	case s.got == nil:
		return append(out, kit.Line{}, kit.Line{Text: " Reading the answer…"})
	case s.got.err != nil:
		out = append(out, kit.Line{})
		return append(out, show.Problem(" The answer could not be read: it is in the export of a finished run.", s.got.err, true)...)
	}
	return append(out, answerLines(t, s.got.sample, w)...)
}

func taken(t api.TaskRecord) string {
	if t.Extracted == nil {
		return "nothing was taken as the answer"
	}
	return *t.Extracted
}

func scores(m map[string]float64) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %g", k, m[k]))
	}
	return strings.Join(parts, "  ")
}

func answerLines(t api.TaskRecord, e api.ExportSample, w int) []kit.Line {
	usage := ""
	if e.Usage != nil {
		usage = fmt.Sprintf("%s tokens in, %s out", show.Thousands(int(e.Usage.InputTokens)), show.Thousands(int(e.Usage.OutputTokens)))
	}
	out := show.Pairs(w,
		[2]string{"Grader", strings.TrimSpace(e.Grader.ID + " " + e.Grader.Version)}, [2]string{"Call", strings.TrimSpace("finish " + show.Text(e.FinishReason) + "   " + usage)},
	)
	out = append(out, kit.Line{}, kit.Line{Text: " Answer", Role: kit.Strong})
	if e.Answer == nil {
		why := "there is none"
		if e.AnswerWithheld != nil {
			why = "not shown: " + *e.AnswerWithheld
		}
		return append(out, kit.Line{Text: "   " + plain.Line(why)})
	}
	text, note := graded(*e.Answer, show.Text(t.Extracted))
	for _, part := range kit.Wrap(text, w-4) {
		out = append(out, kit.Line{Text: "   " + part})
	}
	out = append(out, kit.Line{}, kit.Line{Text: " " + plain.Line(note)})
	for i, j := range e.Judges {
		out = append(out, kit.Line{}, kit.Line{Text: show.F(" Judge %d: %s, %s, %s", i+1, j.RouteID, j.Status, show.Money(j.ChargeMicrousd)), Role: kit.Strong})
		if j.Reply != nil {
			for _, part := range kit.Wrap(plain.Block(*j.Reply), w-4) {
				out = append(out, kit.Line{Text: "   " + part})
			}
		}
	}
	return out
}

// graded marks in an answer what was taken from it. The service tells the text
// and not the place, so a text that stands there more than once is not marked:
// a guess would look like a fact.
func graded(answer, extracted string) (plain.Safe, string) {
	switch n := strings.Count(answer, extracted); {
	case extracted == "":
		return plain.Block(answer), "Nothing was taken from it as the answer."
	case n == 0:
		return plain.Block(answer), "What was graded is not in it letter by letter: the grader reads it in its own form."
	case n > 1:
		return plain.Block(answer), fmt.Sprintf("What was graded stands in it %d times; which one was meant is not recorded.", n)
	}
	before, after, _ := strings.Cut(answer, extracted)
	if inWord(before, extracted, after) || strings.Contains(answer, "▸[") {
		return plain.Block(answer), "Where in it stands what was graded is not recorded."
	}
	return plain.Block(before) + "▸[" + plain.Block(extracted) + "]◂" + plain.Block(after), "Between ▸[ and ]◂ stands what was taken as the answer."
}

// inWord says that a text begins or ends inside a word or a number.
func inWord(before, text, after string) bool {
	part := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	l, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	r, _ := utf8.DecodeRuneInString(after)
	return part(l) && part(first) || part(last) && part(r)
}

// Head names the keys of the page.
func (s one) Head() kit.Head {
	return kit.Head{
		Place: show.F("%s  %s  (%s of %s)", show.Short(s.at.Run), s.task.TaskID, show.Thousands(s.at.At+1), show.Thousands(len(s.at.Among))), Note: `What the model wrote; control codes show as text`,
		Keys: []kit.Binding{{Keys: "↑↓ PgUp PgDn", Does: "scroll"}, {Keys: "N P", Does: "next, previous"}, {Keys: "Enter", Does: "back to the list"}, {Keys: "F5", Does: "read again", Quiet: true}},
	}
}
