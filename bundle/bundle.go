// Package bundle is benchmarks and their scoring, without a network.
//
// A benchmark is an ordered set of tasks, a manifest that identifies them and
// a grader. Everything here is a pure function of its arguments: the service
// grades stored answers with it, and the authoring tool grades the same
// answers offline, with equal results.
package bundle

import "encoding/json"

// Role says who speaks in a message.
type Role string

// The roles that a task may use.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one turn of a prompt.
type Message struct {
	Role Role   `json:"role"`
	Text string `json:"text"`
}

// Task is one question: what is asked and what would be right. It is already
// rendered; nothing is added to Input before it is sent.
type Task struct {
	// ID is unique in its benchmark, 1 to 200 characters of [A-Za-z0-9_.:@+-].
	ID    string    `json:"id"`
	Input []Message `json:"input"`
	// Target holds the acceptable answers, most canonical first.
	Target []string `json:"target"`
	// Choices are the options of a multiple-choice task, in the order shown;
	// the target is then a letter.
	Choices []string `json:"choices,omitempty"`
	// Schema is the JSON Schema that an answer must meet, for JSON tasks.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Group names the cluster of tasks this one belongs to, if any: tasks of
	// one cluster are not independent.
	Group string `json:"group,omitempty"`
}

// Outcome is the label that stands beside a score. Every planned task ends
// with exactly one.
type Outcome string

// Outcomes of a graded answer.
const (
	Right            Outcome = "right"
	Wrong            Outcome = "wrong"
	ExtractionFailed Outcome = "extraction_failed" // no answer found in the text
	Truncated        Outcome = "truncated"         // the output limit cut it off
	Empty            Outcome = "empty"             // the model said nothing
	Refused          Outcome = "refused"           // the provider's signal, never read from the text
)

// Finish says why the model stopped, in one vocabulary for all providers.
type Finish string

// Finish reasons. Any other value is "other:" and the provider's own word.
const (
	FinishStop    Finish = "stop"
	FinishLength  Finish = "length"
	FinishFilter  Finish = "content_filter"
	FinishUnknown Finish = ""
)

// Answer is what a model said to a task.
type Answer struct {
	Text   string
	Finish Finish
}

// Verdict is a grader's decision about one answer.
type Verdict struct {
	Outcome Outcome `json:"outcome"`
	// Score is in [0,1] for every grader of this package.
	Score float64 `json:"score"`
	// Extracted is the part of the answer that was compared, "" if none was found.
	Extracted string `json:"extracted,omitempty"`
	// Span is where Extracted stands in the answer, [from,to) in code points.
	Span *[2]int `json:"span,omitempty"`
	// Rule says in a few words how the decision was made ("last number, equal").
	Rule string `json:"rule"`
	// Strict and Lenient are what the two readings of the answer came to, for
	// graders that make both; the declared one is the verdict. Where they
	// differ, Rule says so too.
	Strict  Outcome `json:"strict,omitempty"`
	Lenient Outcome `json:"lenient,omitempty"`
}

// Identity names a grader and what its verdicts may be mixed with: two
// versions of one compatibility class give equal verdicts on equal answers.
type Identity struct {
	ID      string `json:"id"`
	Version string `json:"version"`
	Compat  string `json:"compat"`
}

// Grader decides answers. It is pure and deterministic and never panics on
// any text. An error means that the grader could not decide, which is never
// the same as wrong.
type Grader interface {
	Identity() Identity
	Grade(Task, Answer) (Verdict, error)
}

// Tasks is an ordered, finite set of tasks. Task is pure: the same position
// gives the same task.
type Tasks interface {
	Len() int
	Task(pos int) (Task, error)
}
