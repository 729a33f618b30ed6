package pack

import (
	"github.com/evalrouter/evalrouter/bundle"
	"github.com/evalrouter/evalrouter/bundle/jsonl"
)

// Fixture is an answer to a task with the outcome that the grader must give.
type Fixture struct {
	Line   int
	Task   string
	Answer bundle.Answer
	Expect bundle.Outcome
}

// Outcomes lists what a fixture may expect. A refusal is a signal of the
// provider that no text carries, so that no fixture can show it.
func Outcomes() []bundle.Outcome {
	return []bundle.Outcome{bundle.Right, bundle.Wrong, bundle.ExtractionFailed, bundle.Truncated, bundle.Empty}
}

// Finishes lists why an answer of a fixture may have ended.
func Finishes() []bundle.Finish {
	return []bundle.Finish{bundle.FinishStop, bundle.FinishLength, bundle.FinishFilter}
}

// readFixture takes one line apart.
func readFixture(p *jsonl.Parser, line []byte) (Fixture, *jsonl.Fault) {
	f, fault := readOutput(p, line)
	if fault == nil && f.Expect == "" {
		fault = &jsonl.Fault{Code: codeMissing, Path: "expect", Message: "the field is required"}
	}
	return f, fault
}

// readOutput takes a line apart that need not expect anything.
func readOutput(p *jsonl.Parser, line []byte) (Fixture, *jsonl.Fault) {
	f := Fixture{Answer: bundle.Answer{Finish: bundle.FinishStop}}
	var task, output bool
	p.Reset(line)
	p.Object(func(key jsonl.Text) {
		switch {
		case key.Is("task"):
			t := p.Text()
			checkName(p, t)
			f.Task, task = t.String(), true
		case key.Is("output"):
			f.Answer.Text, output = p.Text().String(), true
		case key.Is("finish"):
			f.Answer.Finish = oneWord(p, Finishes())
		case key.Is("expect"):
			f.Expect = oneWord(p, Outcomes())
		case key.Is("note"):
			p.Text()
		default:
			p.Refuse(codeUnknown, "no such field here")
		}
	})
	if fault := p.Close(); fault != nil {
		return f, fault
	}
	for _, need := range [...]struct {
		there bool
		name  string
	}{{task, "task"}, {output, "output"}} {
		if !need.there {
			return f, &jsonl.Fault{Code: codeMissing, Path: need.name, Message: "the field is required"}
		}
	}
	return f, nil
}

func oneWord[W ~string](p *jsonl.Parser, words []W) W {
	t := p.Text()
	for _, w := range words {
		if t.Is(string(w)) {
			return w
		}
	}
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	p.Refuse(codeRange, "want one of %s", list(all))
	return ""
}
