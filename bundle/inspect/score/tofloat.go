package score

import (
	"github.com/evalrouter/evalrouter/bundle/inspect/internal/numeral"
	"github.com/evalrouter/evalrouter/bundle/pycompat/str"
	"github.com/evalrouter/evalrouter/bundle/pycompat/value"
)

// ToFloat maps values to numbers for reducers and metrics. Its fields are the
// values that count as 1, 0.5, 0 and 0; DefaultToFloat has the letters.
type ToFloat struct {
	Correct, Partial, Incorrect, NoAnswer any
}

// DefaultToFloat maps C, P, I and N.
func DefaultToFloat() ToFloat {
	return ToFloat{Correct: Correct, Partial: Partial, Incorrect: Incorrect, NoAnswer: NoAnswer}
}

// Float maps v. Numbers and bools come first, so a special value that is a
// number is never looked at. known is false for what has no number: it counts
// as 0, and the reference logs a warning.
func (m ToFloat) Float(v any) (f float64, known bool) {
	n, known := m.Number(v)
	f, _ = value.Float(n)
	return f, known
}

// Number is Float with Python's type: the reference maps Incorrect and NoAnswer
// to the integer 0, which shows in reduced scores, and all else to a float.
func (m ToFloat) Number(v any) (n any, known bool) {
	if f, ok := value.Float(v); ok {
		return f, true
	}
	switch {
	case value.Equal(v, m.Correct):
		return 1.0, true
	case value.Equal(v, m.Partial):
		return 0.5, true
	case value.Equal(v, m.Incorrect), value.Equal(v, m.NoAnswer):
		return int64(0), true
	}
	s, ok := v.(string)
	if !ok {
		return 0.0, false
	}
	switch s = str.Lower(s); s {
	case "yes", "true":
		return 1.0, true
	case "no", "false":
		return 0.0, true
	}
	f, known := numeral.Float(s)
	if !known {
		f = 0
	}
	return f, known
}
