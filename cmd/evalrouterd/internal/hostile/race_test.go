//go:build race

package hostile_test

// everyNth scenario is played: the race detector makes the database's own code
// twenty times slower.
const everyNth = 5
