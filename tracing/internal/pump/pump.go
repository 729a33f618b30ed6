// Package pump carries spans from the queue to the service in one goroutine.
//
// It keeps a batch until its fate is known: what can be taken later is sent
// again, however long that takes, because the queue behind it is bounded and
// counts what it drops. Waits double up to a bound and are spread by chance; a
// service that says how long to wait is not asked earlier, whoever flushes.
package pump

import (
	"context"
	"sync"
	"time"

	"github.com/evalrouter/evalrouter/tracing/internal/deliver"
	"github.com/evalrouter/evalrouter/tracing/internal/otlp"
	"github.com/evalrouter/evalrouter/tracing/internal/queue"
)

// Source is where batches come from. *queue.Queue is one.
type Source interface {
	Take() (queue.Batch, error)
	Settle(b queue.Batch, exported, rejected int)
	Done(queue.Batch) error
	Now() queue.Mark
	Pending(queue.Mark) (int, <-chan struct{})
	Losses() (map[queue.Reason]uint64, uint64)
}

// Sender makes one request. *deliver.Sender is one.
type Sender interface {
	Send(ctx context.Context, groups []otlp.Group) deliver.Outcome
}

// Waits between attempts.
const (
	firstWait  = 250 * time.Millisecond
	longest    = 30 * time.Second
	barredWait = 30 * time.Second
	barredLong = 5 * time.Minute
	hurryGap   = 100 * time.Millisecond // between attempts of those who flush
	reportGap  = 30 * time.Second       // between reports of losses
)

// Config is what differs between users.
type Config struct {
	Interval time.Duration  // how long a span waits for company
	Rand     func() float64 // in [0,1)
	// Lost hears of spans that were lost, and Trouble of delivery that begins to
	// fail or works again (why is empty then). They are called in the pump's
	// goroutine and may not wait.
	Lost    func(reason string, n uint64)
	Trouble func(why string, barred bool)
}

// Status is what the pump has seen of the service.
type Status struct {
	Attempts uint64
	// Why is what stands in the way, empty when nothing does.
	Why    string
	Barred bool
}

// Pump carries spans until it is stopped.
type Pump struct {
	cfg    Config
	source Source
	sender Sender
	first  chan struct{} // something waits
	soon   chan struct{} // much waits
	hurry  chan struct{} // somebody waits for it
	stop   context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	status  Status
	changed chan struct{} // closed and replaced with every attempt
}

// Start starts the goroutine. Stop ends it.
func Start(source Source, sender Sender, cfg Config) *Pump {
	ctx, cancel := context.WithCancel(context.Background())
	p := &Pump{
		cfg: cfg, source: source, sender: sender, first: make(chan struct{}, 1), soon: make(chan struct{}, 1),
		hurry: make(chan struct{}, 1), stop: cancel, done: make(chan struct{}), changed: make(chan struct{}),
	}
	go p.run(ctx)
	return p
}

// Kick says that something waits, and whether it is much, which goes at once.
// Neither makes an attempt that failed be repeated earlier.
func (p *Pump) Kick(much bool) {
	if much {
		tell(p.soon)
	} else {
		tell(p.first)
	}
}

func tell(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it knows
	}
}

// Stop ends the goroutine, and a request that is on its way.
func (p *Pump) Stop() {
	p.stop()
	<-p.done
}

// Status is what was seen last.
func (p *Pump) Status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status
}

// Flush waits until everything that ended before it is settled. It returns how
// many spans are not, and why: the context ended, or the service takes nothing
// from this key, which no waiting changes.
func (p *Pump) Flush(ctx context.Context) (pending int, why string) {
	mark := p.source.Now()
	p.mu.Lock()
	began := p.status.Attempts
	p.mu.Unlock()
	for {
		pending, settled := p.source.Pending(mark)
		if pending == 0 {
			return 0, ""
		}
		p.mu.Lock()
		status, changed := p.status, p.changed
		p.mu.Unlock()
		if status.Barred && status.Attempts > began {
			return pending, status.Why
		}
		tell(p.hurry)
		select {
		case <-settled:
		case <-changed:
		case <-p.done:
			pending, _ := p.source.Pending(mark)
			return pending, "the capture is closed"
		case <-ctx.Done():
			if status.Why == "" {
				status.Why = "the service has not answered yet"
			}
			pending, _ := p.source.Pending(mark)
			return pending, status.Why
		}
	}
}

func (p *Pump) run(ctx context.Context) {
	defer close(p.done)
	var due <-chan time.Time
	for {
		select {
		case <-p.first:
			if due == nil {
				due = time.After(p.cfg.Interval)
			}
			continue
		case <-p.soon:
		case <-p.hurry:
		case <-due:
		case <-ctx.Done():
			return
		}
		due = nil
		p.drain(ctx)
		p.report()
	}
}

// drain sends until nothing waits.
func (p *Pump) drain(ctx context.Context) {
	for ctx.Err() == nil {
		b, err := p.source.Take()
		if err != nil {
			p.trouble(err.Error(), false)
			continue // a segment that does not read is gone
		}
		if b.Spans == 0 {
			return
		}
		if !p.carry(ctx, b, b.Groups) {
			return
		}
		if err := p.source.Done(b); err != nil {
			p.trouble(err.Error(), false)
		}
	}
}

// carry sends groups until their fate is known and settles them. It reports
// false when it was stopped before that.
func (p *Pump) carry(ctx context.Context, b queue.Batch, groups []otlp.Group) bool {
	n := count(groups)
	for try := 0; ; try++ {
		o := p.sender.Send(ctx, groups)
		p.note(o)
		switch o.Fate {
		case deliver.Taken:
			rejected := min(o.Rejected, n)
			p.source.Settle(b, n-rejected, rejected)
			if rejected > 0 {
				p.trouble(o.Why, false)
			}
			return true
		case deliver.Refused:
			p.source.Settle(b, 0, n)
			p.trouble(o.Why, false)
			return true
		case deliver.TooLarge:
			if n == 1 {
				p.source.Settle(b, 0, 1)
				p.trouble(o.Why+" to a single span", false)
				return true
			}
			head, tail := halve(groups, n/2)
			return p.carry(ctx, b, head) && p.carry(ctx, b, tail)
		}
		p.report()
		if !p.pause(ctx, try, o) {
			return false
		}
	}
}

// pause waits before another attempt. Somebody who flushes shortens a wait of
// our own, never one that the service asked for.
func (p *Pump) pause(ctx context.Context, try int, o deliver.Outcome) bool {
	wait := backoff(firstWait, longest, try)
	if o.Fate == deliver.Barred {
		wait = backoff(barredWait, barredLong, try)
	}
	wait = wait/2 + time.Duration(p.cfg.Rand()*float64(wait/2))
	least := max(o.After, hurryGap)
	wait -= least
	for ; least > 0; least -= reportGap { // a long wait hides no losses
		if !sleep(ctx, min(least, reportGap), nil) {
			return false
		}
		p.report()
	}
	return sleep(ctx, wait, p.hurry)
}

func sleep(ctx context.Context, d time.Duration, sooner <-chan struct{}) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-sooner:
	case <-ctx.Done():
		return false
	}
	return true
}

func backoff(first, most time.Duration, try int) time.Duration {
	return min(first<<min(try, 16), most)
}

func count(groups []otlp.Group) (n int) {
	for _, g := range groups {
		n += len(g.Spans)
	}
	return n
}

// halve cuts groups behind n spans.
func halve(groups []otlp.Group, n int) (head, tail []otlp.Group) {
	for i, g := range groups {
		if n >= len(g.Spans) {
			head, n = append(head, g), n-len(g.Spans)
			continue
		}
		if n > 0 {
			head = append(head, otlp.Group{Origin: g.Origin, Spans: g.Spans[:n]})
		}
		tail = append(tail, otlp.Group{Origin: g.Origin, Spans: g.Spans[n:]})
		return head, append(tail, groups[i+1:]...)
	}
	return head, tail
}

// note remembers an attempt and tells who waits.
func (p *Pump) note(o deliver.Outcome) {
	stands := o.Fate == deliver.Later || o.Fate == deliver.Barred
	p.mu.Lock()
	before := p.status
	p.status = Status{Attempts: before.Attempts + 1, Barred: o.Fate == deliver.Barred}
	if stands {
		p.status.Why = o.Why
	}
	after := p.status
	close(p.changed)
	p.changed = make(chan struct{})
	p.mu.Unlock()
	if (before.Why == "") == stands || before.Barred != after.Barred {
		p.trouble(after.Why, after.Barred)
	}
}

func (p *Pump) trouble(why string, barred bool) {
	if p.cfg.Trouble != nil {
		p.cfg.Trouble(why, barred)
	}
}

func (p *Pump) report() {
	if p.cfg.Lost == nil {
		return
	}
	lost, rejected := p.source.Losses()
	for why, n := range lost {
		p.cfg.Lost(why.String(), n)
	}
	if rejected > 0 {
		p.cfg.Lost("rejected", rejected)
	}
}
