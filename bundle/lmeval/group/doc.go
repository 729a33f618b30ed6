// Package group aggregates: the values of one task into its results, and the
// results of tasks into those of the group that holds them.
//
// Results use the keys of lm-eval, "metric,filter" and "metric_stderr,filter".
// A standard error that is not known is the text "N/A" there, and stays "N/A"
// in every group above it.
package group

// NotKnown stands where no standard error can be given.
const NotKnown = "N/A"
