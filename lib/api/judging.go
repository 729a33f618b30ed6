package api

import (
	"time"

	"github.com/evalrouter/evalrouter/lib/usd"
)

// Labels that a judge gives a trace.
const (
	JudgedPass = "pass"
	JudgedFail = "fail"
)

// NewTraceQuestions asks for the questions of a judge about traces: those that
// are named, or so many of the newest that are complete.
type NewTraceQuestions struct {
	TraceIDs []string `json:"trace_ids,omitempty"`
	Limit    int      `json:"limit,omitempty"`
}

// TraceQuestions are the questions of a judge as a private benchmark, which is
// null when there is nothing to ask. Making it spends nothing: it is quoted and
// run like any other, and the model of that run is the judge.
type TraceQuestions struct {
	EvaluatorID string  `json:"evaluator_id"`
	Revision    int     `json:"revision"`
	ProfileID   *string `json:"profile_id"`
	Questions   int     `json:"questions"`
	// JudgedBefore counts traces that this revision has judged, Collecting those
	// that may still grow.
	JudgedBefore int `json:"judged_before"`
	Collecting   int `json:"collecting"`
}

// NewTraceEvaluations takes over what a judge said in a run that has ended.
type NewTraceEvaluations struct {
	RunID string `json:"run_id"`
}

// TraceVerdicts is what became of the answers of a run. Passed and Failed count
// verdicts, NoVerdict answers that are none, and Unanswered traces without an
// answer. Of the verdicts, Kept are new, Known were there before, and those Gone
// are about traces that are no longer kept. Findings counts new ones.
type TraceVerdicts struct {
	RunID       string `json:"run_id"`
	EvaluatorID string `json:"evaluator_id"`
	Revision    int    `json:"revision"`
	Passed      int    `json:"passed"`
	Failed      int    `json:"failed"`
	NoVerdict   int    `json:"no_verdict"`
	Unanswered  int    `json:"unanswered"`
	Kept        int    `json:"kept"`
	Known       int    `json:"known"`
	Gone        int    `json:"gone"`
	Findings    int    `json:"findings"`
}

// TraceEvaluation is what was said of a trace, once by each revision of a judge.
// Score is 1 for pass and 0 for fail; the cost is part of the run's.
type TraceEvaluation struct {
	ID                string    `json:"id"`
	TraceID           string    `json:"trace_id"`
	EvaluatorID       string    `json:"evaluator_id"`
	EvaluatorRevision int       `json:"evaluator_revision"`
	Source            string    `json:"source"`
	Label             string    `json:"label"`
	Score             int       `json:"score"`
	Explanation       string    `json:"explanation"`
	RunID             string    `json:"run_id"`
	CostMicrousd      usd.Micro `json:"cost_microusd"`
	CreatedAt         time.Time `json:"created_at"`
}
