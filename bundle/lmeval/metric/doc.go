// Package metric holds the metrics of lm-eval and how their values become one
// figure with a standard error.
//
// The reference keeps the values of a metric as Python objects, so a list of
// items here is []any of the types of package value: a number for most
// metrics, a pair [gold, prediction] or [log-likelihood, units] for those that
// only mean something over all documents. Sums are the compensated sums of
// CPython 3.12, reductions of numpy are pairwise.
//
// Where the reference raises, a *pycompat.Error comes back: an aggregation of
// no items, an F1 of more than two classes. A standard error that the
// reference writes as "N/A" is reported as absent, which is not zero.
package metric
