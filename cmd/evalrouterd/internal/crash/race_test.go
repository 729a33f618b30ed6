//go:build race

package crash_test

// everyNth is the default of -crash.every: the race detector makes the
// database's own code twenty times slower.
const everyNth = 72
