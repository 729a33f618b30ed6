// Package task reads the task files of lm-eval and builds from a document what
// a model is asked: text, choices and target, the few-shot examples before
// them, and the prompt as a whole.
//
// # Strict
//
// A task file that says something this package does not do is refused when it
// is read, with the key that says it: an unknown key, a template that package
// jinja refuses, a filter or metric that is not here. Python code in a task
// file (!function) is never run. A few of the functions that public tasks name
// are ported; the caller hands them in by name, and every other name is
// refused with ErrFunction.
//
// # Order
//
// The default sampler draws from one generator for the whole task, so the
// examples of a document depend on how many prompts were built before it. Build
// the prompts of all documents in their order, even to send only some.
package task

import "errors"

// ErrFunction marks a !function that is not on the caller's list.
var ErrFunction = errors.New("unsupported_function")
