//go:build race

package daemon_test

// raced says that the race detector watches: everything is then many times as
// slow and as large.
const raced = true
