// Package ratelimit bounds how often one caller may ask.
package ratelimit

import (
	"net/netip"
	"sync"
	"time"
)

// Limiter gives each name so many turns a minute, all at once if they were
// saved up.
type Limiter struct {
	perMinute int
	mu        sync.Mutex
	// full is when each name will have all its turns again; a name that has
	// them is left out.
	full  map[string]time.Time
	swept time.Time
}

// New makes a limiter of so many turns a minute for each name.
func New(perMinute int) *Limiter { return &Limiter{perMinute: perMinute, full: map[string]time.Time{}} }

// Take uses a turn, or says how long to wait for the next one.
func (l *Limiter) Take(name string, now time.Time) time.Duration {
	each := time.Minute / time.Duration(l.perMinute)
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.swept) >= time.Minute {
		for n, at := range l.full {
			if !at.After(now) {
				delete(l.full, n)
			}
		}
		l.swept = now
	}
	at := l.full[name]
	if at.Before(now) {
		at = now
	}
	if wait := at.Add(each).Sub(now) - time.Minute; wait > 0 {
		return wait
	}
	l.full[name] = at.Add(each)
	return 0
}

// State is how many turns a minute a name has, how many are left, and how long it
// is until it has all of them again.
func (l *Limiter) State(name string, now time.Time) (most, left int, full time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	full = max(l.full[name].Sub(now), 0)
	return l.perMinute, int((time.Minute - min(full, time.Minute)) * time.Duration(l.perMinute) / time.Minute), full
}

// Network is what counts as one caller: an IPv4 address, or the half of an
// IPv6 address that one customer has. ok is false for loopback.
func Network(remote string) (name string, ok bool) {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return "", false
	}
	addr := at.Addr().Unmap().WithZone("")
	if addr.IsLoopback() {
		return "", false
	}
	if addr.Is6() {
		p, err := addr.Prefix(64)
		return p.String(), err == nil
	}
	return addr.String(), true
}
