// Package score is Inspect's scorers: what value and answer a completion gets
// for a target. They reproduce inspect_ai at commit 499e6152 case for case,
// its surprises included (README of the vectors); nothing is repaired here.
// Graders that differ on purpose live in package generic.
//
// Scorers are values of plain structs, have no state and may be shared between
// goroutines. An error stands where the reference raises, or where a pattern
// used up its budget of steps; it never means a wrong answer.
package score

import (
	"math"

	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// The values of scorers that decide rather than measure.
const (
	Correct   = "C"
	Incorrect = "I"
	Partial   = "P"
	NoAnswer  = "N"
)

// Score is what a scorer says. Value is a value of package value: text, a
// number, a bool, a list or a dict of these. NaN marks an unscored sample.
// Answer and Explanation are nil for Python's None.
type Score struct {
	Value       any
	Answer      *string
	Explanation *string
	Metadata    *value.Dict
	// Span is where the compared part stands in the completion, nil where the
	// scorer compares all of it or nothing. It is ours: the reference has none.
	Span *Span
}

// Span is a range of bytes, [From,To).
type Span struct{ From, To int }

// Target is the acceptable answers of a sample.
type Target []string

// Text joins the answers without anything between them, as Inspect does.
func (t Target) Text() string {
	if len(t) == 1 {
		return t[0]
	}
	all := ""
	for _, s := range t {
		all += s
	}
	return all
}

// Unscored is a score that metrics and reducers leave out.
func Unscored(answer, explanation string) Score {
	return Score{Value: math.NaN(), Answer: &answer, Explanation: &explanation}
}

// IsUnscored reports whether a value is the NaN of an unscored sample.
func IsUnscored(v any) bool {
	f, ok := v.(float64)
	return ok && math.IsNaN(f)
}

func decided(right bool, answer, completion string, span *Span) Score {
	v := Incorrect
	if right {
		v = Correct
	}
	return Score{Value: v, Answer: &answer, Explanation: &completion, Span: span}
}
