// Package filter turns the raw answers of a model into what the metrics of
// lm-eval compare: regular expressions, multiple-choice extraction, case and
// white space, and selection among repeated answers.
//
// A filter works on the answers to one document at a time. The answers are
// values of package value: text from the model, and whatever an earlier filter
// made of it. Filters that read text take a value of another type for an
// AttributeError or an empty text, as the reference does, and never guess.
//
// Where the reference raises, Apply returns a *pycompat.Error; a search that
// exceeds its budget of steps returns re.ErrBudget. Neither is a score.
package filter
