//go:build race

package sim_test

// someSeeds is the default of -sim.seeds: the race detector makes the
// database's own code twenty times slower, and a history has one goroutine at a
// time.
const someSeeds = 4
