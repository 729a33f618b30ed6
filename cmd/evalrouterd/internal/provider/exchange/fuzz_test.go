package exchange_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider/exchange"
)

// FuzzRetryAfter holds a provider's hint to what a run can wait for: never
// negative, never longer than thirty days, whole seconds exactly, and a date
// counted from the answer's own.
func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"7", "0", "1.5", " 12 ", "-1", "1e9", "soon", "9999999999999999999999", "0000000000001", ".5", "1.2.3", "٧", "7;q=1", "Sun, 29 Nov 2026 12:01:00 GMT", "Sunday, 29-Nov-26 12:01:00 GMT", "Sun Nov 29 12:01:00 2026", "Mon, 01 Jan 0001 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"} {
		f.Add(s, "", "")
		f.Add("", s, "Sun, 29 Nov 2026 12:00:00 GMT")
		f.Add(s, s, s)
	}
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, seconds, millis, date string) {
		h := http.Header{"Retry-After": {seconds}, "Retry-After-Ms": {millis}, "Date": {date}}
		wait, ok := exchange.RetryAfter(h, now)
		if wait < 0 || wait > 30*24*time.Hour || !ok && wait != 0 {
			t.Fatalf("%q: %v, %v", h, wait, ok)
		}
		if n, err := strconv.ParseUint(strings.TrimSpace(seconds), 10, 31); err == nil && millis == "" && strings.TrimSpace(seconds)[0] != '+' {
			if want := min(time.Duration(n)*time.Second, 30*24*time.Hour); !ok || wait != want {
				t.Fatalf("%q: %v, %v; want %v", seconds, wait, ok, want)
			}
		}
		if at, err := http.ParseTime(strings.TrimSpace(seconds)); err == nil && millis == "" {
			from := now
			if d, err := http.ParseTime(date); err == nil {
				from = d
			}
			if want := min(max(at.Sub(from), 0), 30*24*time.Hour); !ok || wait != want {
				t.Fatalf("%q from %q: %v, %v; want %v", seconds, date, wait, ok, want)
			}
		}
	})
}
