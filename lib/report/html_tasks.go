package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/evalrouter/evalrouter/lib/plain"
)

// Sizes of the list of tasks.
const (
	// block is how many tasks stand in one section. A browser lays out only
	// the sections that are on the screen.
	block = 50
	// maxAnswer bounds an answer in characters; its hash and its length are of
	// the whole.
	maxAnswer = 16_000
	maxShort  = 1_000 // of any other text of a task
	maxTitle  = 200   // of a task's id
)

func blockEdge(n int) string {
	if n == 0 {
		return "<section class=\"block\">\n"
	}
	return "</section>\n<section class=\"block\">\n"
}

// fit says which tasks a file holds: in the run's order the first notRight that
// are not right, and the first right ones.
type fit struct {
	notRight, right     int
	left, leftRight     int // what is not there, and how many of it are right
	seenWrong, seenOkay int
}

// Left is what the page says about tasks that are not there, "" when all are.
func (f fit) Left() string {
	switch {
	case f.left == 0:
		return ""
	case f.leftRight == f.left:
		return fmt.Sprintf("%s right tasks are not in this file because of its size.", Count(f.left))
	}
	return fmt.Sprintf("%s tasks are not in this file because of its size, %s of them not right.", Count(f.left), Count(f.left-f.leftRight))
}

// Held is how many tasks the file holds.
func (f fit) Held() int { return f.notRight + f.right }

// Complete says that every task is in the file.
func (f fit) Complete() bool { return f.left == 0 }

// take says whether the file holds a task. It is asked for each task in order.
func (f *fit) take(t Task) bool {
	if t.Outcome == string(Passed) {
		f.seenOkay++
		return f.seenOkay <= f.right
	}
	f.seenWrong++
	return f.seenWrong <= f.notRight
}

func (f *fit) done() bool { return f.seenWrong >= f.notRight && f.seenOkay >= f.right }

// measure decides which tasks fit into room bytes. It remembers a size for each
// right task that might fit, and no task.
func (p htmlPage) measure(tasks Tasks, room int64) (fit, error) {
	var f fit
	var wrong, okay int64 // bytes of what may be held
	var sizes []int32     // of right tasks
	const edge = 40       // more than a section's tags have, and than rounding hides
	for t, err := range tasks {
		if err != nil {
			return fit{}, fmt.Errorf("read tasks: %w", err)
		}
		right := t.Outcome == string(Passed)
		if right && okay > room {
			continue
		}
		var n counter
		if err := p.task(&n, t); err != nil {
			return fit{}, err
		}
		size := int64(n) + edge
		if right {
			sizes, okay = append(sizes, int32(size)), okay+size
			continue
		}
		if wrong+size > room {
			f.right = 0
			return p.leave(f), nil
		}
		wrong += size
		f.notRight++
	}
	for _, size := range sizes {
		if wrong+int64(size) > room {
			break
		}
		wrong += int64(size)
		f.right++
	}
	return p.leave(f), nil
}

// leave counts what a file does not hold by the run's own figures.
func (p htmlPage) leave(f fit) fit {
	right := 0
	for _, o := range p.r.Outcomes {
		if o.Kind == Passed {
			right = o.N
		}
	}
	f.left, f.leftRight = max(p.r.Coverage.Planned-f.Held(), 0), max(right-f.right, 0)
	return f
}

// taskView is one task as the page shows it.
type taskView struct {
	Place          int // from 1
	ID             plain.Safe
	Key, Label     plain.Safe
	Kind           Kind
	Score          string
	Charge         string
	Answer         marked
	HasAnswer      bool
	More           string // how many characters of the answer are not shown
	Withheld       plain.Safe
	SHA256         plain.Safe
	Extracted      plain.Safe
	Rule           plain.Safe
	Targets        []plain.Safe
	Facts          []Fact
	Judges         []judgeView
	AnswerIsMarked bool
}

type judgeView struct {
	Route, Status plain.Safe
	Reply         plain.Safe
	Charge        string
}

func (p htmlPage) task(w io.Writer, t Task) error {
	if err := p.t.ExecuteTemplate(w, "task", viewOf(t)); err != nil {
		return fmt.Errorf("write task %d: %w", t.Index, err)
	}
	return nil
}

func viewOf(t Task) taskView {
	word := wordOf(t.Outcome)
	v := taskView{
		Place: t.Index + 1, ID: plain.Line(cut(t.TaskID, maxTitle)), Key: plain.Line(cut(t.Outcome, maxTitle)), Label: plain.Line(cut(word.label, maxTitle)), Kind: word.kind,
		Score: score(t), Charge: Dollars(t.ChargeMicrousd), Extracted: plain.Line(cut(t.Extracted, maxShort)), Rule: plain.Line(cut(t.Rule, maxShort)),
		SHA256: plain.Line(value(t.AnswerSHA256)), Facts: facts(t),
	}
	if t.Answer != nil {
		head, left := split(*t.Answer, maxAnswer)
		v.HasAnswer, v.Answer = true, mark(head, t.Span, t.Extracted)
		v.AnswerIsMarked = v.Answer.Graded != ""
		if left > 0 {
			v.More = Count(left)
		}
	}
	if t.AnswerWithheld != nil {
		v.Withheld = plain.Line(*t.AnswerWithheld)
	}
	for i, s := range t.Target {
		if i == 5 {
			v.Targets = append(v.Targets, plain.Line("and "+Count(len(t.Target)-i)+" more"))
			break
		}
		v.Targets = append(v.Targets, plain.Block(cut(s, maxShort)))
	}
	for _, j := range t.Judges {
		jv := judgeView{Route: plain.Line(cut(j.RouteID, maxTitle)), Status: plain.Line(cut(j.Status, maxTitle)), Charge: Dollars(j.ChargeMicrousd)}
		if j.Reply != nil {
			jv.Reply = plain.Block(cut(*j.Reply, maxShort))
		}
		v.Judges = append(v.Judges, jv)
	}
	return v
}

// score is the only score of a task, or all of them by name; "" without one.
func score(t Task) string {
	if len(t.Scores) == 1 {
		for _, v := range t.Scores {
			return number(v)
		}
	}
	var all []string
	for _, k := range sortedKeys(t.Scores) {
		all = append(all, string(plain.Line(k))+" "+number(t.Scores[k]))
	}
	return strings.Join(all, ", ")
}

func facts(t Task) (out []Fact) {
	add := func(name, v string) {
		if v != "" {
			out = append(out, Fact{name, plain.Line(cut(v, maxShort))})
		}
	}
	add("Error", value(t.ErrorCode))
	if t.Attempt > 1 {
		add("Attempts", Count(t.Attempt))
	}
	if t.Usage != nil {
		add("Tokens", fmt.Sprintf("%s in, %s out", Count(int(t.Usage.InputTokens)), Count(int(t.Usage.OutputTokens))))
	}
	add("Finish", value(t.FinishReason))
	return out
}
