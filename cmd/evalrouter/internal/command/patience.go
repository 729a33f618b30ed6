package command

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// A person who waits is told so after two seconds, and then every second, on one
// line that goes away with the answer. Before that nothing is shown, so that
// nothing flickers.
const (
	waitShown = 2 * time.Second
	waitTick  = time.Second
)

// patient tells a person in front of a terminal that a request takes its time.
type patient struct {
	next http.RoundTripper
	// show is nil where nobody is told; quiet switches it off for a while.
	show io.Writer
	// after calls a function later and answers how to call it back.
	after func(time.Duration, func()) (stop func() bool)

	mu    sync.Mutex
	quiet bool
}

// RoundTrip sends the request and shows that it is waited for.
func (p *patient) RoundTrip(req *http.Request) (*http.Response, error) {
	p.mu.Lock()
	off := p.quiet || p.show == nil
	p.mu.Unlock()
	if off {
		return p.next.RoundTrip(req)
	}
	w := &wait{p: p, host: req.URL.Host}
	w.later(waitShown)
	defer w.done()
	return p.next.RoundTrip(req)
}

// Quiet says that something else keeps the line in front of the person.
func (p *patient) Quiet(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.quiet = on
}

type wait struct {
	p    *patient
	host string

	mu      sync.Mutex
	stop    func() bool
	seconds int
	over    bool
}

func (w *wait) later(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.stop = w.p.after(d, w.tick)
	}
}

func (w *wait) tick() {
	w.mu.Lock()
	if w.over {
		w.mu.Unlock()
		return
	}
	if w.seconds == 0 {
		w.seconds = int(waitShown / time.Second)
	} else {
		w.seconds++
	}
	fmt.Fprintf(w.p.show, "\rwaiting for %s, %d s\x1b[K", w.host, w.seconds) // nothing to do about a closed stderr
	w.mu.Unlock()
	w.later(waitTick)
}

func (w *wait) done() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.stop()
	if w.seconds > 0 {
		io.WriteString(w.p.show, "\r\x1b[K")
	}
}
