package main

import (
	"runtime/debug"
	"testing"
)

// raceEnabled says that the race detector is in this program: it needs several
// times the memory.
func raceEnabled(t *testing.T) bool {
	t.Helper()
	info, ok := debug.ReadBuildInfo()
	if !ok {
		t.Fatal("no build information")
	}
	for _, s := range info.Settings {
		if s.Key == "-race" && s.Value == "true" {
			return true
		}
	}
	return false
}
