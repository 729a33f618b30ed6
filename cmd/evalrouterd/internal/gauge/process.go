package gauge

import (
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Process adds the figures of this process, under the names that collectors know
// them by.
func (r *Registry) Process(began time.Time) {
	r.Gauge("go_goroutines", "Goroutines.", func() float64 { return float64(runtime.NumGoroutine()) })
	r.Gauge("process_resident_memory_bytes", "Resident memory.", resident)
	r.Gauge("process_open_fds", "Open file descriptors.", openFiles)
	r.Gauge("process_start_time_seconds", "When the process began, in unix seconds.", func() float64 { return float64(began.Unix()) })
}

// resident is the resident memory in bytes, NaN where the system does not tell.
func resident() float64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return math.NaN()
	}
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return math.NaN()
	}
	pages, err := strconv.ParseFloat(fields[1], 64)
	if err != nil {
		return math.NaN()
	}
	return pages * float64(os.Getpagesize())
}

// openFiles counts open descriptors, NaN where the system does not tell.
func openFiles() float64 {
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return math.NaN()
	}
	return float64(len(all))
}
