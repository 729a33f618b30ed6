package body

import (
	"strings"
	"time"
)

// Longest bounds a wait, so that no body or header can overflow a time. It is
// far beyond any wait that a run accepts: hints are never shortened to fit.
const Longest = 30 * 24 * time.Hour

// duration reads a wait as protobuf writes it: decimal seconds with an s.
func duration(s string) (time.Duration, bool) {
	number, ok := strings.CutSuffix(s, "s")
	if !ok {
		return 0, false
	}
	return Decimal(number, "s")
}

// Decimal reads digits with at most one point as a time in a unit of package
// time, rounded up to a millisecond.
func Decimal(v, unit string) (time.Duration, bool) {
	v = strings.TrimSpace(v)
	whole, _, _ := strings.Cut(v, ".")
	if whole == "" || strings.Trim(v, "0123456789.") != "" || strings.Count(v, ".") > 1 {
		return 0, false
	}
	if len(strings.TrimLeft(whole, "0")) > 9 {
		return Longest, true
	}
	d, err := time.ParseDuration(v + unit)
	if err != nil {
		return 0, false
	}
	if r := d % time.Millisecond; r != 0 {
		d += time.Millisecond - r
	}
	return min(d, Longest), true
}
