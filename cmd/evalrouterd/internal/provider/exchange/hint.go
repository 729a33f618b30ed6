package exchange

import (
	"net/http"
	"strings"
	"time"
)

// longest bounds a hint, so that no header can overflow a time. It is far
// beyond any wait that a run accepts: hints are never shortened to fit.
const longest = 30 * 24 * time.Hour

// RetryAfter reads how long the provider asks to wait: retry-after-ms, then
// Retry-After in seconds (decimals allowed) or as a date. A date is taken
// against the answer's own Date, and against now without one: the local clock
// may differ from the provider's. ok is false when there is no usable hint;
// zero is a hint.
func RetryAfter(h http.Header, now time.Time) (wait time.Duration, ok bool) {
	if d, ok := decimal(h.Get("Retry-After-Ms"), "ms"); ok {
		return d, true
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if d, ok := decimal(v, "s"); ok {
		return d, true
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0, false
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return min(max(at.Sub(now), 0), longest), true
}

// decimal reads digits with at most one point, rounded up to a millisecond.
func decimal(v, unit string) (time.Duration, bool) {
	v = strings.TrimSpace(v)
	whole, _, _ := strings.Cut(v, ".")
	if whole == "" || strings.Trim(v, "0123456789.") != "" || strings.Count(v, ".") > 1 {
		return 0, false
	}
	if len(strings.TrimLeft(whole, "0")) > 9 {
		return longest, true
	}
	d, err := time.ParseDuration(v + unit)
	if err != nil {
		return 0, false
	}
	if r := d % time.Millisecond; r != 0 {
		d += time.Millisecond - r
	}
	return min(d, longest), true
}
