// Package jinja renders the templates of lm-eval's task files, in the part of
// Jinja2 that tasks use, as lm-eval sets it up: undefined names are errors, the
// last newline is kept, nothing is escaped, and there is a filter
// regex_replace.
//
// # Strict
//
// A prompt that is rendered almost right gives a score that nobody can explain.
// So the engine knows what it does not know: an unknown tag, filter, test or
// method is refused by Parse, and where only the values decide (printing a
// generator, say), Render returns an error. It never renders something else
// than Jinja2 would.
//
// Left out on purpose: macros, blocks, includes and imports, recursive loops,
// block assignment, namespaces, call blocks, str.format, random order, and
// mutating methods of lists and dicts.
//
// # Errors
//
// Parse returns a *SyntaxError that says where. Render returns a
// *pycompat.Error where Jinja2 or Python would raise, ErrUnsupported (wrapped)
// for what this engine refuses, and ErrBudget for a template that runs too
// long or writes too much.
package jinja

import (
	"errors"
	"fmt"
)

// ErrUnsupported marks what the engine refuses to do rather than do it
// differently from Jinja2.
var ErrUnsupported = errors.New("unsupported in templates")

// ErrBudget reports that rendering was given up. The limits are fixed and do
// not depend on the clock.
var ErrBudget = errors.New("template budget exhausted")

const (
	maxSteps    = 2_000_000 // expressions and statements evaluated in one Render
	maxOutput   = 16 << 20  // bytes of output, or of one value
	maxItems    = 1_000_000 // elements of one sequence
	regexSteps  = 10_000    // what one regex_replace costs of maxSteps
	regexBudget = 2_000_000 // steps of the regex engine in one regex_replace
	maxDepth    = 200       // nesting of expressions and statements
)

// SyntaxError is why a template was refused. Line counts from 1.
type SyntaxError struct {
	Line    int
	Message string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("template line %d: %s", e.Line, e.Message) }

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnsupported, fmt.Sprintf(format, args...))
}
