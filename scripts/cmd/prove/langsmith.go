package main

import (
	"fmt"
	"os/exec"
	"strconv"
)

// langsmith plays histories of the connector: many roots, crashes, late runs,
// wrong clocks; and one small history for every boundary between its steps.
func langsmith(seeds, roots int, first uint64) error {
	fmt.Printf("langsmith: seeds %d to %d with %d roots each, and a crash at every boundary of a small history\n", first, first+uint64(seeds)-1, roots)
	return show(exec.Command("go", "test", "./langsmith", "-count=1", "-timeout=48h", "-v", "-run=TestHistories|TestCrashAtEveryBoundary|TestIdleRequests",
		"-sim.seeds="+strconv.Itoa(seeds), "-sim.roots="+strconv.Itoa(roots), "-sim.first="+strconv.FormatUint(first, 10), "-sim.stride=1"))
}

// langsmithKill kills the connector's program at requests of its own.
func langsmithKill(n int) error {
	fmt.Printf("langsmith-kill: %d kills\n", n)
	return show(exec.Command("go", "test", "./cmd/evalrouter-langsmith", "-count=1", "-timeout=24h", "-v", "-run=TestKill_", "-kills="+strconv.Itoa(n)))
}

// langsmithBackfill imports n traces and shows the peak memory.
func langsmithBackfill(n int) error {
	fmt.Printf("langsmith-backfill: %d traces\n", n)
	return show(exec.Command("go", "test", "./cmd/evalrouter-langsmith", "-count=1", "-timeout=24h", "-v", "-run=TestBackfill_", "-backfill="+strconv.Itoa(n)))
}
