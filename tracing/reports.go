package tracing

import (
	"log/slog"
	"sync"
	"time"
)

// quiet is how long the same kind of line is not logged again.
const quiet = time.Minute

// reports tells the application what became of delivery, without filling its
// log: what is not said at once is said with the next line.
type reports struct {
	logger *slog.Logger
	onLoss func(reason string, spans uint64)
	now    func() time.Time

	mu     sync.Mutex
	said   map[string]time.Time
	unsaid map[string]uint64
}

// lost reports spans that are gone.
func (r *reports) lost(reason string, n uint64) {
	if n == 0 {
		return
	}
	if r.onLoss != nil {
		r.tell(reason, n)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unsaid == nil {
		r.unsaid = map[string]uint64{}
	}
	r.unsaid[reason] += n
	if r.due("lost " + reason) {
		r.logger.Warn("spans were lost", "reason", reason, "spans", r.unsaid[reason])
		r.unsaid[reason] = 0
	}
}

// tell calls the application. Its panic must not end the goroutine that sends.
func (r *reports) tell(reason string, n uint64) {
	defer func() {
		if recover() != nil {
			r.logger.Error("OnLoss panicked")
		}
	}()
	r.onLoss(reason, n)
}

// trouble reports that delivery begins to fail, or works again when why is
// empty.
func (r *reports) trouble(why string, barred bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case why == "" && r.due("works"):
		r.logger.Info("traces are delivered again")
	case why == "":
	case barred && r.due("barred"):
		r.logger.Error("traces are not delivered until the configuration changes", "why", why)
	case !barred && r.due(why):
		r.logger.Warn("traces are not delivered", "why", why)
	}
}

// say logs a line about how the capture is used.
func (r *reports) say(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.due(line) {
		r.logger.Warn(line)
	}
}

func (r *reports) due(line string) bool {
	if r.said == nil {
		r.said = map[string]time.Time{}
	}
	if at, ok := r.said[line]; ok && r.now().Sub(at) < quiet {
		return false
	}
	if len(r.said) > 100 { // the words of a service may vary without end
		clear(r.said)
	}
	r.said[line] = r.now()
	return true
}
