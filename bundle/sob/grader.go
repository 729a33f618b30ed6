package sob

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/internal/strict"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// KindText is the kind of grader that New builds.
const KindText = "sob_text"

// version is raised when any verdict or evaluation could change.
const version = "1"

// Grader grades JSON answers by SOB's rules. A task's target is the text of its
// ground truth, an object or array, and its schema is what the answer is held
// to. Options:
//
//	score    perfect (default): 1 for an answer equal to the ground truth,
//	         whatever the schema says, else 0; value_accuracy: the gated share
//	         of values that are equal, and right means all of them; values: the
//	         same, but a ground truth that breaks its own schema holds no answer
//	         to it either, so that every task can be answered right
//	gate     text (default), image or audio: the coverage gate of values
//	reading  rescue (default) or whole: see Extract
//	temperature  unset (default) or 0, with which SOB draws its answers
//
// The outcome stands beside the score. An answer that is not right is truncated
// if the output limit cut it off, empty if there is no text, and otherwise
// failed to be extracted if it holds no object or array that can be read.
type Grader struct {
	gate    Modality
	reading Reading
	score   string
	cold    bool
	id      bundle.Identity

	mu        sync.Mutex
	contracts map[string]*Contract
}

var _ bundle.Grader = (*Grader)(nil)

// maxContracts bounds the prepared schemas that a grader keeps.
const maxContracts = 512

// New builds the grader that c declares. What it does not know is refused with
// a *bundle.Refusal.
func New(c bundle.GraderConfig) (*Grader, error) {
	raw := []byte(c.Options)
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	n, problem := strict.Parse(raw)
	if problem != nil {
		return nil, refusal([]*strict.Problem{problem})
	}
	r := &strict.Reader{}
	f := r.Fields(n)
	if c.Kind != KindText {
		r.Add("kind", strict.CodeRange, "want %s", KindText)
	}
	score := f.OneOf("score", "perfect", "value_accuracy", "values")
	gate := f.OneOf("gate", string(Text), string(Image), string(Audio))
	reading := f.OneOf("reading", "rescue", "whole")
	cold := f.OneOf("temperature", "unset", "0") == "0"
	f.Close()
	if len(r.Problems) > 0 {
		return nil, refusal(r.Problems)
	}
	g := &Grader{gate: Modality(gate), score: score, cold: cold, contracts: map[string]*Contract{}}
	if reading == "whole" {
		g.reading = Whole
	}
	g.id = bundle.Identity{
		ID: "sob/text", Version: version,
		Compat: fmt.Sprintf("sob/text@%s+%s.%s.%s", version, score, gate, reading),
	}
	if cold {
		g.id.Compat += ".t0"
	}
	return g, nil
}

func refusal(problems []*strict.Problem) error {
	r := &bundle.Refusal{What: "grader"}
	for _, p := range problems {
		r.Findings = append(r.Findings, bundle.Finding{Code: p.Code, Path: p.Path, Message: p.Message})
	}
	return r
}

// Sampling is the declared temperature.
func (g *Grader) Sampling() bundle.Sampling {
	if !g.cold {
		return bundle.Sampling{}
	}
	return bundle.Sampling{Temperature: new(float64)}
}

// Identity names the grader; the options are part of the compatibility class.
func (g *Grader) Identity() bundle.Identity { return g.id }

// Grade decides an answer. An error is what the reference raises, or a task
// that cannot be graded at all.
func (g *Grader) Grade(t bundle.Task, a bundle.Answer) (bundle.Verdict, error) {
	e, found, err := g.evaluate(t, a, Labels{RecordID: t.ID})
	if err != nil {
		return bundle.Verdict{}, err
	}
	score := e.Scores[Perfect]
	switch g.score {
	case "value_accuracy":
		score = e.Scores[ValueAccuracy]
	case "values":
		if score, err = g.values(t, e, found); err != nil {
			return bundle.Verdict{}, err
		}
	}
	v := bundle.Verdict{Score: score, Rule: g.rule(e, found)}
	if structured(found.Value) {
		v.Extracted = a.Text[found.From:found.To]
		v.Span = span(a.Text, found.From, found.To)
	}
	switch {
	case score == 1:
		v.Outcome = bundle.Right
	case a.Finish == bundle.FinishLength:
		v.Outcome = bundle.Truncated
	case strings.TrimSpace(a.Text) == "":
		v.Outcome = bundle.Empty
	case !structured(found.Value):
		v.Outcome = bundle.ExtractionFailed
	default:
		v.Outcome = bundle.Wrong
	}
	return v, nil
}

// Evaluate scores an answer on all of SOB's metrics. Rows of a run, in the
// order of its tasks, are what Derive makes the native summary from.
func (g *Grader) Evaluate(t bundle.Task, a bundle.Answer, l Labels) (Evaluation, error) {
	e, _, err := g.evaluate(t, a, l)
	return e, err
}

// values is the value accuracy, without the gate of a schema that the ground
// truth itself does not pass.
func (g *Grader) values(t bundle.Task, e Evaluation, found Found) (float64, error) {
	if e.Scores[Compliance] == 1 || !structured(found.Value) {
		return e.Scores[ValueAccuracy], nil
	}
	contract, err := g.contract(t.Schema)
	if err != nil {
		return 0, err
	}
	truth, err := value.Loads(t.Target[0])
	if err != nil {
		return 0, fmt.Errorf("read target: %w", err)
	}
	if contract.valid {
		meets, err := contract.compiled.Validate(truth)
		if err != nil {
			return 0, fmt.Errorf("validate the target: %w", err)
		}
		if meets {
			return e.Scores[ValueAccuracy], nil
		}
	}
	want, given := flatten(truth), flatten(found.Value)
	return exactMatch(want, given) * coverageGate(g.gate, f1(want.overlap(given), len(given.list), len(want.list))), nil
}

func (g *Grader) evaluate(t bundle.Task, a bundle.Answer, l Labels) (Evaluation, Found, error) {
	if len(t.Target) != 1 {
		return Evaluation{}, Found{}, fmt.Errorf("read target: want one ground truth, got %d", len(t.Target))
	}
	truth, err := value.Loads(t.Target[0])
	switch {
	case err != nil:
		return Evaluation{}, Found{}, fmt.Errorf("read target: %w", err)
	case !structured(truth):
		return Evaluation{}, Found{}, errors.New("read target: want a JSON object or array")
	}
	contract, err := g.contract(t.Schema)
	if err != nil {
		return Evaluation{}, Found{}, err
	}
	found := Extract(a.Text, g.reading)
	e, err := Evaluate(Case{Labels: l, Contract: contract, Answer: found.Value, Truth: truth}, g.gate)
	return e, found, err
}

// contract prepares a schema, once while it is remembered.
func (g *Grader) contract(schema json.RawMessage) (*Contract, error) {
	if len(schema) == 0 {
		return nil, errors.New("read schema: the task has none")
	}
	g.mu.Lock()
	c := g.contracts[string(schema)]
	g.mu.Unlock()
	if c != nil {
		return c, nil
	}
	v, err := value.Loads(string(schema))
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	c = NewContract(v)
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.contracts) >= maxContracts {
		clear(g.contracts)
	}
	g.contracts[string(schema)] = c
	return c, nil
}

// rule words how the decision was made.
func (g *Grader) rule(e Evaluation, found Found) string {
	switch {
	case !structured(found.Value):
		return "no JSON object or array"
	case e.Scores[Perfect] == 1:
		return "JSON equal to the ground truth"
	case e.Scores[Compliance] == 0:
		return "JSON not equal, schema not met"
	}
	return fmt.Sprintf("JSON not equal, value accuracy %.3f", e.Scores[ValueAccuracy])
}
