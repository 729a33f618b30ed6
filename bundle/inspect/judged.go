package inspect

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/inspect/score"
	"github.com/evalrouter/evalrouter/bundle/internal/strict"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
)

// The kinds that NewJudged builds, and their options:
//
//	judges             route ids of the grading models, 1 to 9 (required)
//	partial_credit     offers P, worth a half; false by default
//	instructions       replaces what a judge is told to do; it must still ask
//	                   for a last line of the form GRADE: C
//	max_output_tokens  of one reply, 1,024 by default
//
// A judge of model_graded_qa is asked whether an answer meets the target as a
// criterion, one of model_graded_fact whether it says what the target says.
const (
	ModelGradedQA   = "inspect/model_graded_qa"
	ModelGradedFact = "inspect/model_graded_fact"
)

// IsJudged says whether a kind is one of NewJudged's.
func IsJudged(kind string) bool { return kind == ModelGradedQA || kind == ModelGradedFact }

// judgedVersion is raised when a verdict of either kind could change.
const judgedVersion = "2"

// Limits of a panel.
const (
	maxJudges       = 9
	maxInstructions = 4000
	minReplyTokens  = 16
	maxReplyTokens  = 32_768
	usualReply      = 1024
)

var routeShape = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}$`)

// Judged is a model-graded scorer. Several judges vote, and a tie goes to the
// grade that was given first, as Inspect's mode reducer has it.
//
// Three things are stricter than in Inspect. An answer that is empty or was cut
// off is no answer to pay judges for: it is labelled as that. A reply must have been finished and
// must end with the line that was asked for, so that a grade which a judge
// quotes from the answer, or which stands where a reply was cut off, is not
// taken for its own. And one reply without a verdict leaves the task without a
// score, instead of letting the others decide.
type Judged struct {
	kind  string
	id    bundle.Identity
	judge score.Judge
	panel bundle.Panel
}

var _ bundle.Judged = (*Judged)(nil)

// NewJudged builds the model-graded scorer that c declares, and refuses what
// it does not know with a *bundle.Refusal.
func NewJudged(c bundle.GraderConfig) (*Judged, error) {
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
	g := &Judged{kind: c.Kind}
	if !IsJudged(c.Kind) {
		r.Add("kind", strict.CodeRange, "want %s or %s", ModelGradedQA, ModelGradedFact)
	}
	g.panel.Routes = judges(o)
	g.panel.MaxOutputTokens = int(o.Int("max_output_tokens", minReplyTokens, maxReplyTokens, usualReply))
	g.judge = score.Judge{Partial: o.flag("partial_credit", false), Fact: c.Kind == ModelGradedFact, Instructions: o.Text("instructions")}
	if len(g.judge.Instructions) > maxInstructions {
		r.Add(o.Path("instructions"), strict.CodeRange, "longer than %d bytes", maxInstructions)
	}
	o.filled["instructions"], o.filled["max_output_tokens"] = g.judge.Instructions, g.panel.MaxOutputTokens
	o.Close()
	if len(r.Problems) > 0 {
		return nil, refusal(r.Problems)
	}
	g.id = identity(c.Kind, judgedVersion, o.filled)
	return g, nil
}

func judges(o options) []string {
	routes := o.Texts("judges")
	o.filled["judges"] = append([]string{}, routes...)
	if len(routes) < 1 || len(routes) > maxJudges {
		o.r.Add(o.Path("judges"), strict.CodeRange, "want 1 to %d judges", maxJudges)
	}
	seen := map[string]bool{}
	for i, id := range routes {
		path := fmt.Sprintf("%s[%d]", o.Path("judges"), i)
		switch {
		case !routeShape.MatchString(id):
			o.r.Add(path, strict.CodeRange, "want the id of a model route")
		case seen[id]:
			o.r.Add(path, strict.CodeDuplicate, "the judge stands twice")
		}
		seen[id] = true
	}
	return routes
}

// Identity names the kind with its options and judges: verdicts of different
// judges do not mix.
func (g *Judged) Identity() bundle.Identity { return g.id }

// Panel is the declared judges.
func (g *Judged) Panel() bundle.Panel { return g.panel }

// Grade fails: see bundle.Judged.
func (g *Judged) Grade(bundle.Task, bundle.Answer) (bundle.Verdict, error) {
	return bundle.Verdict{}, bundle.ErrNeedsJudges
}

// Prompt is one message. The question is the user's turns of the task; several
// targets are each enough.
func (g *Judged) Prompt(t bundle.Task, a bundle.Answer, nonce string) ([]bundle.Message, error) {
	if len(t.Target) == 0 {
		return nil, errNoTarget
	}
	var question []string
	for _, m := range t.Input {
		if m.Role == bundle.User {
			question = append(question, m.Text)
		}
	}
	text, err := g.judge.Prompt(score.JudgeInput{
		Question: strings.Join(question, "\n\n"), Answer: a.Text, Criterion: strings.Join(t.Target, "\nor\n"), Nonce: nonce,
	})
	if errors.Is(err, score.ErrNonce) {
		return nil, bundle.ErrNonce
	}
	if err != nil {
		return nil, fmt.Errorf("write judge prompt: %w", err)
	}
	return []bundle.Message{{Role: bundle.User, Text: text}}, nil
}

// Verdict takes the vote.
func (g *Judged) Verdict(_ bundle.Task, a bundle.Answer, replies []bundle.Answer) (bundle.Verdict, error) {
	switch {
	case a.Finish == bundle.FinishLength:
		return bundle.Verdict{Outcome: bundle.Truncated, Rule: "cut off, not judged"}, nil
	case str.Strip(a.Text) == "":
		return bundle.Verdict{Outcome: bundle.Empty, Rule: "no text, not judged"}, nil
	case len(replies) == 0:
		return bundle.Verdict{}, bundle.ErrNeedsJudges
	}
	grades := make([]string, len(replies))
	for i, r := range replies {
		grade, reason := g.read(a.Text, r)
		if reason != "" {
			return bundle.Verdict{}, &bundle.JudgeFault{Judge: i, Reason: reason}
		}
		grades[i] = grade
	}
	grade := vote(grades)
	v := bundle.Verdict{Rule: "judge says " + grade}
	if len(grades) > 1 {
		v.Rule = "judges say " + strings.Join(grades, " ") + ", most " + grade
	}
	v.Score, _ = score.DefaultToFloat().Float(grade)
	v.Outcome = bundle.Wrong
	if v.Score == 1 {
		v.Outcome = bundle.Right
	}
	return v, nil
}

// lastGrade is the line that a judge is asked to end with, with the emphasis
// that models put around such lines.
var lastGrade = regexp.MustCompile("(?i)^[\\s*_`]*GRADE\\s*:\\s*([\\pL\\pN]+)[\\s*_`.]*$")

// read takes the grade out of one reply, or says why there is none. Inspect's
// own reading must give the same letter.
func (g *Judged) read(answer string, reply bundle.Answer) (grade, reason string) {
	if reply.Finish != bundle.FinishStop {
		return "", fmt.Sprintf("the reply is not finished (%s)", finishWord(reply.Finish))
	}
	text := strings.TrimSpace(reply.Text)
	m := lastGrade.FindStringSubmatch(text[strings.LastIndexByte(text, '\n')+1:])
	if m == nil {
		return "", "the reply does not end with a line GRADE: and a letter"
	}
	grade = strings.ToUpper(m[1])
	if grade != score.Correct && grade != score.Incorrect && !(grade == score.Partial && g.judge.Partial) {
		return "", "the grade is none of those offered"
	}
	s, err := g.judge.Verdict(answer, reply.Text)
	if err != nil || s.Value != grade {
		return "", "the reply can be read in two ways"
	}
	return grade, ""
}

func finishWord(f bundle.Finish) string {
	if f == bundle.FinishUnknown {
		return "no reason given"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, string(f)[:min(len(f), 40)])
}

// vote is the most frequent grade, the first given where several are.
func vote(grades []string) string {
	count := map[string]int{}
	for _, s := range grades {
		count[s]++
	}
	best := grades[0]
	for _, s := range grades {
		if count[s] > count[best] {
			best = s
		}
	}
	return best
}
