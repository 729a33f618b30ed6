package core

import "fmt"

// Kinds of call. Those of one task are told apart by kind and part.
const (
	KindTarget = "target"
	KindJudge  = "judge"
)

// Judge is a model that grades, frozen into a quote.
type Judge struct {
	Target Target `json:"target"`
	// MaxOutputTokens bounds each of its replies.
	MaxOutputTokens int `json:"max_output_tokens"`
}

// The least output that a judge must have for its reply: the line with its
// grade, and where it reasons under the same limit, room to do so before. A
// reply that is cut off holds no verdict, and is paid for all the same.
const (
	minReply         = 16
	minReasonedReply = 1024
)

// LeastOutput is the least output limit under which the judge can give a
// verdict.
func (j Judge) LeastOutput() int {
	r := j.Target.Reasoning
	switch {
	case j.Target.OutputBound == BoundsVisible, // reasoning comes on top
		r.Mode != ReasoningEfforts && r.Mode != ReasoningBudget && r.Mode != ReasoningFixed,
		r.Mode == ReasoningEfforts && r.DefaultEffort == "none":
		return minReply
	case r.Mode == ReasoningBudget:
		return max(minReasonedReply, r.DefaultTokens+minReply)
	}
	return minReasonedReply
}

// AnswerBytes is the most bytes of an answer that a judge's worst case is
// computed for: eight for each token that the answer may have. A longer answer
// is judged too if its real bound still fits in what was set aside.
func (q Quote) AnswerBytes() int { return 8 * q.OutputBound() }

// judges are the quote's judges as its fingerprint has them.
func (q Quote) judges() []string {
	var out []string
	for _, j := range q.Judges {
		out = append(out, fmt.Sprintf("%s %s %d %d", j.Target.Name(), j.Target.Protocol, j.Target.Revision, j.MaxOutputTokens))
	}
	return out
}

// Error codes of tasks that a judge left without a grade.
const (
	// CodeJudgeInvalid is a reply without a usable verdict.
	CodeJudgeInvalid = "judge_invalid"
	// CodeJudgeRefused is a judge that declined, by its provider's signal.
	CodeJudgeRefused = "judge_refused"
	// CodeJudgeRejected is a judge's provider that would not take the request.
	CodeJudgeRejected = "judge_rejected"
	// CodeJudgeUnknown is a request to a judge whose outcome nobody knows.
	CodeJudgeUnknown = "judge_outcome_unknown"
	// CodeJudgeUnbounded is an answer so long that judging it could cost more
	// than was set aside. No judge was asked.
	CodeJudgeUnbounded = "judge_answer_too_long"
)
