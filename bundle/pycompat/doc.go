// Package pycompat is the root of the exact Python and numpy behaviours that
// the Inspect, SOB and lm-eval families are built on. A grader that is right
// except for one rounding or one Unicode space reports another score than the
// published one, so these packages promise the same result as the reference,
// bit for bit, and not something close to it.
//
// The code is in one package for each subject, named after the Python module
// or type that it stands for:
//
//	str     strip, split, splitlines, case mapping, isdigit and the like, repr
//	number  float() and int() of text, repr, %-formats, round, sum, fsum, statistics
//	value   Python objects: equality, hashing, repr, json.loads/dumps, ast.literal_eval
//	random  random.Random
//	numpy   pairwise reductions, quantiles, the legacy RandomState
//	re      the re module, on an engine with a step budget
//
// # Versions matched
//
// CPython 3.11 with Unicode 14.0.0 and numpy 1.24, the versions that the golden
// vectors were computed with. One exception: number.Sum is the compensated sum
// of CPython 3.12 and later, because the published results of SOB were computed
// with it. Where a later version differs (3.12 has Unicode 15.0, 3.13 drops
// nothing that is used here), the vectors win.
//
// # Strings
//
// A Python str is a Go string. A lone surrogate, which UTF-8 cannot hold, is
// kept as the three bytes that UTF-8 would give it, so that JSON texts survive
// a round trip; any other byte that is not UTF-8 reads as U+FFFD. Lengths and
// indices in the API are bytes unless they say code points.
//
// # Errors
//
// Where Python raises, the functions here return an error, and a grader turns
// it into grader_error, never into a score of 0. Errors that a caller has to
// tell apart are sentinel values or types of the package that returns them.
//
// # Concurrency
//
// Nothing here has global state that changes. Compiled patterns and parsed
// values may be shared between goroutines; generators may not.
package pycompat
