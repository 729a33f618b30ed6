//go:build !race

package crash_test

// everyNth is the default of -crash.every.
const everyNth = 8
