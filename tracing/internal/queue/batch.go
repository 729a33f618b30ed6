package queue

import (
	"fmt"

	"github.com/evalrouter/evalrouter/tracing/internal/otlp"
	"github.com/evalrouter/evalrouter/tracing/internal/outgoing"
	"github.com/evalrouter/evalrouter/tracing/internal/spool"
)

// Batch is spans that were taken to be sent. Every one of them is settled once.
type Batch struct {
	Groups  []otlp.Group
	Spans   int
	spooled bool
	spool   spool.Batch
	weight  int64
	content int64
}

// Take takes the oldest spans. A batch without spans says that none wait, or
// comes with an error of the spool.
func (q *Queue) Take() (Batch, error) {
	if q.spool != nil {
		b, err := q.takeSpooled()
		if err != nil || b.Spans > 0 {
			return b, err
		}
	}
	return q.takeQueued(), nil
}

func (q *Queue) takeSpooled() (Batch, error) {
	in, err := q.spool.Next(MaxBatchSpans, MaxBatchBytes)
	if in.Lost > 0 {
		q.mu.Lock()
		q.stats.Spooled -= uint64(in.Lost)
		q.lose(Unwritable, uint64(in.Lost))
		q.went(uint64(in.Lost))
		q.mu.Unlock()
	}
	if err != nil {
		return Batch{}, fmt.Errorf("read spans back: %w", err)
	}
	return Batch{Groups: in.Groups, Spans: in.Spans, spooled: true, spool: in}, nil
}

func (q *Queue) takeQueued() Batch {
	records, b := q.cut()
	for _, r := range records {
		span := q.finish.Finish(r)
		last := len(b.Groups) - 1
		if last < 0 || b.Groups[last].Origin != r.Origin {
			b.Groups = append(b.Groups, otlp.Group{Origin: r.Origin})
			last++
		}
		b.Groups[last].Spans = append(b.Groups[last].Spans, span)
	}
	b.Spans = len(records)
	return b
}

// cut takes records out of the queue. They count as queued until they are
// settled.
func (q *Queue) cut() (records []outgoing.Record, b Batch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	size, n := 0, 0
	for _, r := range q.records[q.head:] {
		w := r.Weight()
		if n == MaxBatchSpans || n > 0 && size+w > MaxBatchBytes {
			break
		}
		size, n = size+w, n+1
		b.weight += int64(w) + recordWeight
		b.content += int64(w - len(r.Span))
	}
	records = append(records, q.records[q.head:q.head+n]...)
	clear(q.records[q.head : q.head+n])
	if q.head += n; q.head == len(q.records) {
		q.records, q.head = nil, 0
		q.chunk = nil
		q.bypass = false
	} else if q.head > len(q.records)/2 {
		q.records, q.head = append([]outgoing.Record(nil), q.records[q.head:]...), 0
	}
	return records, b
}

// Settle counts what became of spans of a batch.
func (q *Queue) Settle(b Batch, exported, rejected int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := uint64(exported + rejected)
	if b.spooled {
		q.stats.Spooled -= n
	} else {
		q.stats.Queued -= n
	}
	q.stats.Exported += uint64(exported)
	q.stats.Rejected += uint64(rejected)
	q.refused += uint64(rejected)
	q.went(n)
}

// Done gives back the room of a batch of which every span was settled.
func (q *Queue) Done(b Batch) error {
	q.mu.Lock()
	q.stats.Bytes -= b.weight
	q.content -= b.content
	q.mu.Unlock()
	if !b.spooled {
		return nil
	}
	if err := q.spool.Done(b.spool); err != nil {
		return fmt.Errorf("note that spans were delivered: %w", err)
	}
	return nil
}

// Mark is a point in the order of spans.
type Mark uint64

// Now marks the spans that were taken so far.
func (q *Queue) Now() Mark {
	q.mu.Lock()
	defer q.mu.Unlock()
	return Mark(q.in)
}

// Pending is how many spans before the mark are not settled, and a channel that
// is closed when that may have changed.
func (q *Queue) Pending(m Mark) (int, <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.out < uint64(m) {
		return int(uint64(m) - q.out), q.settled
	}
	return 0, q.settled
}

// Close takes no more spans.
func (q *Queue) Close() {
	q.spoolMu.Lock()
	defer q.spoolMu.Unlock()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
}

// Abandon gives up what waits in memory and says how many spans that were.
// What waits in a spool stays there.
func (q *Queue) Abandon() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.stats.Queued
	q.lose(Undelivered, n)
	q.stats.Queued, q.stats.Bytes, q.content = 0, 0, 0
	q.records, q.head, q.chunk = nil, 0, nil
	q.went(n)
	return int(n)
}
