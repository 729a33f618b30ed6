package engine

import (
	"log/slog"
	"sync"
	"time"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/provider"
)

// heardEvery is the least time between two lines of the log about the same
// trouble of one route: in a storm every call says the same.
const heardEvery = time.Minute

// heard keeps what providers say about the operator's accounts with the
// operator. Whoever uses a managed route reads a sentence of ours instead; the
// owner of a connection reads the provider's own.
type heard struct {
	log   *slog.Logger
	clock Clock
	mu    sync.Mutex
	last  map[trouble]time.Time
}

// trouble is one kind of failure of one route.
type trouble struct{ route, reason string }

func newHeard(log *slog.Logger, clock Clock) *heard {
	return &heard{log: log, clock: clock, last: map[trouble]time.Time{}}
}

// ours puts our sentence in the place of a provider's.
func (h *heard) ours(j *job, run core.RunID, o provider.Outcome) provider.Outcome {
	t := &j.by.target
	if t.Kind != core.Managed || t.Simulated || o.Message == "" || o.Class == provider.NotSent {
		return o // sentences about connecting are ours already
	}
	if h.first(trouble{t.Name(), reasonOf(o)}) {
		h.log.Warn("the provider said", "route", t.Name(), "run_id", string(run), "call_id", string(j.intent.Call), "status", o.Status, "reason", reasonOf(o),
			"request_id", o.RequestID, "message", o.Message)
	}
	o.Message = provider.Sentence(o)
	return o
}

// first says whether a trouble was not logged lately.
func (h *heard) first(t trouble) bool {
	now := h.clock.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	if last, ok := h.last[t]; ok && now.Sub(last) < heardEvery {
		return false
	}
	h.last[t] = now
	return true
}
