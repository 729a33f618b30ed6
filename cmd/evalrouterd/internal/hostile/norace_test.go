//go:build !race

package hostile_test

// everyNth scenario is played.
const everyNth = 1
