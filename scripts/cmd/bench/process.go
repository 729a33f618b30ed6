package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// clockTicks is the kernel's unit of process times on every Linux that Go
// runs on.
const clockTicks = 100

// cpuOf is the CPU time of an ended process, in seconds.
func cpuOf(p *os.ProcessState) float64 { return (p.UserTime() + p.SystemTime()).Seconds() }

// cpuNow is the CPU time of a running process so far, in seconds; 0 where it
// cannot be read.
func cpuNow(pid int) float64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	f := strings.Fields(rest)
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(f[11], 64)
	system, _ := strconv.ParseFloat(f[12], 64)
	return (user + system) / clockTicks
}

// peakNow is the largest resident size of a running process so far, in bytes.
func peakNow(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, ok := strings.Cut(string(b), "VmHWM:")
	if !ok {
		return 0
	}
	f := strings.Fields(rest)
	kib, _ := strconv.ParseInt(f[0], 10, 64)
	return kib << 10
}

// usedBy is the CPU time of all threads of a running process, as exact as the
// system keeps it.
func usedBy(pid int) (sum time.Duration) {
	all, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, path := range all {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has ended
		}
		ns, _, _ := strings.Cut(string(b), " ")
		n, _ := strconv.ParseInt(ns, 10, 64)
		sum += time.Duration(n)
	}
	return sum
}
