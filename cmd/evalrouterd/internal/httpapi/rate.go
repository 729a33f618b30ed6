package httpapi

import (
	"context"
	"math"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/lib/api"
)

// Requests a minute.
const (
	anonymousRate = 60
	keyRate       = 600
)

// limits refuses whoever asks too often: by key, and by address where there is
// no good key, so that guessing one is bounded too. The owner of a local
// service has no limit, and what reaches a local service comes from his
// machine. Nor has loopback otherwise: there stands a proxy that speaks for
// many.
func (s *Server) limits(ctx context.Context, rt route, r *http.Request, c caller) error {
	var wait time.Duration
	switch {
	case s.owner != nil && c.kind != "api_key", !c.known() && rt.tag == "service":
		return nil
	case c.known():
		wait = s.byKey.take(c.actor, s.o.Now())
	default:
		from, ok := network(r.RemoteAddr)
		if !ok {
			return nil
		}
		wait = s.byAddress.take(from, s.o.Now())
	}
	if wait == 0 {
		return nil
	}
	f := s.failureOf(ctx, core.Refuse(core.Code(api.RateLimited), "too many requests; repeat this one after the time in Retry-After. Nothing was done"))
	f.retryAfter = int(math.Ceil(wait.Seconds()))
	return f
}

// network is what counts as one caller: an IPv4 address, or the half of an
// IPv6 address that one customer has. ok is false for loopback.
func network(remote string) (name string, ok bool) {
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

// limiter gives each name so many turns a minute, all at once if they were
// saved up.
type limiter struct {
	perMinute int
	mu        sync.Mutex
	// full is when each name will have all its turns again; a name that has
	// them is left out.
	full  map[string]time.Time
	swept time.Time
}

// take uses a turn, or says how long to wait for the next one.
func (l *limiter) take(name string, now time.Time) time.Duration {
	each := time.Minute / time.Duration(l.perMinute)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.full == nil {
		l.full = map[string]time.Time{}
	}
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
