//go:build !race

package sim_test

// someSeeds is the default of -sim.seeds.
const someSeeds = 64
