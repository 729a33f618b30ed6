package oauth

import (
	"sync"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/ratelimit"
)

// Bounds of guessing: of one session at one address, and of everybody. Of
// 20^8 codes an attacker's session sees five, and all attackers together at
// most 600 in the life of one code.
const (
	maxWrong    = 5
	lockFor     = 15 * 60 * 1_000_000
	wholeMinute = 60
)

// Guesses counts wrong codes in this process. It is safe for concurrent use.
type Guesses struct {
	mu    sync.Mutex
	wrong map[string]tally
	all   *ratelimit.Limiter
}

type tally struct {
	n     int
	until core.Micros // when it is forgotten; a lock, from the fifth on
}

// NewGuesses counts from nothing.
func NewGuesses() *Guesses {
	return &Guesses{wrong: map[string]tally{}, all: ratelimit.New(wholeMinute)}
}

// May says whether somebody may try a code.
func (g *Guesses) May(who string, now core.Micros) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.wrong[who]
	if t.n >= maxWrong && now < t.until {
		return false
	}
	return g.all.Take("all", time.UnixMicro(int64(now))) == 0
}

// Wrong notes a wrong code.
func (g *Guesses) Wrong(who string, now core.Micros) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for name, t := range g.wrong {
		if now >= t.until {
			delete(g.wrong, name)
		}
	}
	t := g.wrong[who]
	g.wrong[who] = tally{t.n + 1, now + lockFor}
}
