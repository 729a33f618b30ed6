package evalrouter

import (
	"net/http"
	"strconv"
	"time"
)

const (
	backoffFirst  = 250 * time.Millisecond
	backoffMost   = 5 * time.Second
	backoffJitter = 250 * time.Millisecond
)

// backoff is the wait after attempt n (from 0). chance is in [0,1). What the
// service asked for raises the wait and never lowers it.
func backoff(n int, chance float64, asked time.Duration) time.Duration {
	d := backoffMost
	if n < 5 {
		d = min(backoffMost, backoffFirst<<n)
	}
	d += time.Duration(chance * float64(backoffJitter))
	return max(d, asked)
}

// retryAfter reads the header: seconds or an HTTP date. Anything else, and
// anything of 100 characters or more, is no wish at all.
func retryAfter(header string, now time.Time) time.Duration {
	if header == "" || len(header) >= 100 {
		return 0
	}
	const most = 365 * 24 * time.Hour // beyond any deadline, and no overflow
	if n, err := strconv.ParseFloat(header, 64); err == nil {
		switch {
		case !(n > 0):
			return 0
		case n >= most.Seconds():
			return most
		}
		return time.Duration(n * float64(time.Second))
	}
	at, err := http.ParseTime(header)
	if err != nil || !at.After(now) {
		return 0
	}
	return min(at.Sub(now), most)
}
