package traces

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/evalrouter/evalrouter/cmd/evalrouterd/internal/core"
)

// Writer keeps what arrived in one transaction, and gives how many spans of
// each arrival were refused.
type Writer interface {
	// Pack does the work that needs no transaction, in many requests at a time.
	Pack([]core.Arrival)
	Write(context.Context, []core.Arrival) (refused []int, err error)
}

// Door brings what several requests deliver into the store with one commit. At
// most one transaction of it waits in the store at a time, and no more than
// atOnce spans are in it unless one request has more: what else is written,
// money above all, waits for one such transaction at most.
type Door struct {
	to      Writer
	waiting atomic.Int64 // spans

	mu     sync.RWMutex // guards closed against sends on in
	closed bool
	in     chan *delivery
	ended  chan struct{}
}

const (
	atOnce = 1_000
	// maxWaiting bounds the spans that wait, and with them the memory.
	maxWaiting    = 60_000
	maxDeliveries = 1_024
)

// delivery is what one request brought.
type delivery struct {
	arrivals []core.Arrival
	spans    int
	refused  int
	err      error
	done     chan struct{}
}

// NewDoor opens a door. Close ends it.
func NewDoor(to Writer) *Door {
	d := &Door{to: to, in: make(chan *delivery, maxDeliveries), ended: make(chan struct{})}
	go d.loop()
	return d
}

// Close waits for what was brought and closes the door.
func (d *Door) Close() {
	d.mu.Lock()
	already := d.closed
	d.closed = true
	d.mu.Unlock()
	if !already {
		close(d.in)
	}
	<-d.ended
}

// Bring returns once everything is committed, or has failed.
func (d *Door) Bring(ctx context.Context, arrivals []core.Arrival) (refused int, err error) {
	one := &delivery{arrivals: arrivals, done: make(chan struct{})}
	for _, a := range arrivals {
		one.spans += len(a.Spans)
	}
	if d.waiting.Add(int64(one.spans)) > maxWaiting && one.spans < maxWaiting {
		d.waiting.Add(-int64(one.spans))
		return 0, core.Refuse(core.RateLimited, "more traces are arriving than can be written; send this batch again after the time in Retry-After. Nothing of it was kept")
	}
	defer d.waiting.Add(-int64(one.spans))
	d.to.Pack(arrivals)
	if err := d.enqueue(ctx, one); err != nil {
		return 0, err
	}
	<-one.done
	return one.refused, one.err
}

var errClosed = errors.New("the service is stopping")

func (d *Door) enqueue(ctx context.Context, one *delivery) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.closed {
		return errClosed
	}
	select {
	case d.in <- one:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *Door) loop() {
	defer close(d.ended)
	for first := range d.in {
		d.carry(d.collect(first))
	}
}

// collect takes what has come meanwhile.
func (d *Door) collect(first *delivery) []*delivery {
	batch, spans := []*delivery{first}, first.spans
	for spans < atOnce {
		select {
		case one, ok := <-d.in:
			if !ok {
				return batch
			}
			batch, spans = append(batch, one), spans+one.spans
		default:
			return batch
		}
	}
	return batch
}

// carry writes a batch. When it fails, each delivery is tried alone, so that
// one at fault costs no other.
func (d *Door) carry(batch []*delivery) {
	if err := d.write(batch); err != nil {
		for _, one := range batch {
			if one.err = err; len(batch) > 1 {
				one.err = d.write([]*delivery{one})
			}
		}
	}
	for _, one := range batch {
		close(one.done)
	}
}

func (d *Door) write(batch []*delivery) error {
	var all []core.Arrival
	for _, one := range batch {
		all = append(all, one.arrivals...)
	}
	// What was brought is written even when its sender has gone.
	refused, err := d.to.Write(context.Background(), all)
	if err != nil {
		return err
	}
	at := 0
	for _, one := range batch {
		for range one.arrivals {
			one.refused += refused[at]
			at++
		}
	}
	return nil
}
