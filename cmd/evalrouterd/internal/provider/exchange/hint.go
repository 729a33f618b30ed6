package exchange

import (
	"net/http"
	"strings"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/body"
)

// RetryAfter reads how long the provider asks to wait: retry-after-ms, then
// Retry-After in seconds (decimals allowed) or as a date. A date is taken
// against the answer's own Date, and against now without one: the local clock
// may differ from the provider's. ok is false when there is no usable hint;
// zero is a hint.
func RetryAfter(h http.Header, now time.Time) (wait time.Duration, ok bool) {
	if d, ok := body.Decimal(h.Get("Retry-After-Ms"), "ms"); ok {
		return d, true
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if d, ok := body.Decimal(v, "s"); ok {
		return d, true
	}
	if v == "" {
		return 0, false
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0, false
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return min(max(at.Sub(now), 0), body.Longest), true
}
