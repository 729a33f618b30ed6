package queue

import (
	"sync"

	"github.com/evalrouter/evalrouter/tracing/internal/otlp"
	"github.com/evalrouter/evalrouter/tracing/internal/outgoing"
	"github.com/evalrouter/evalrouter/tracing/internal/spool"
)

// Spool keeps encoded spans outside of memory. *spool.Log is one.
type Spool interface {
	Append(origin string, span []byte) error
	Next(maxSpans, maxBytes int) (spool.Batch, error)
	Done(spool.Batch) error
}

// Finisher writes the late parts of a record.
type Finisher interface {
	Finish(outgoing.Record) []byte
}

// Bounds of a batch. A span is below the bytes, so that one always fits.
const (
	MaxBatchSpans = 1024
	MaxBatchBytes = 2 << 20
)

// chunkSize is how much memory for spans is taken at a time.
const chunkSize = 64 << 10

// recordWeight is what a record weighs besides its bytes.
const recordWeight = 96

// Queue is safe for concurrent use; one goroutine takes and settles.
type Queue struct {
	finish Finisher
	spool  Spool // nil without one
	limit  int64

	mu      sync.Mutex
	stats   Stats
	records []outgoing.Record // that wait in memory, after head
	head    int
	chunk   []byte
	content int64 // bytes of what waits that are content
	unheard [reasons]uint64
	refused uint64
	in, out uint64        // taken for delivery, and what became of something
	settled chan struct{} // closed and replaced when out grows
	closed  bool
	spoolMu sync.Mutex // keeps the order of what is appended
	bypass  bool       // the spool failed and memory is not yet empty
}

// New makes a queue that holds limit bytes in memory. replayed is how many
// spans the spool holds already.
func New(finish Finisher, s Spool, replayed int, limit int64) *Queue {
	q := &Queue{finish: finish, spool: s, limit: limit, settled: make(chan struct{})}
	q.stats.Replayed, q.stats.Spooled, q.in = uint64(replayed), uint64(replayed), uint64(replayed)
	return q
}

// Start counts a span that began.
func (q *Queue) Start() {
	q.mu.Lock()
	q.stats.Started++
	q.stats.Open++
	q.mu.Unlock()
}

// Stats is the state of one moment.
func (q *Queue) Stats() Stats {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.stats
}

// End takes a span that ended, or counts why it does not. ok says that it could
// be encoded. The record's bytes are copied. It reports how many bytes wait.
func (q *Queue) End(r outgoing.Record, ok bool) (waiting int64) {
	if q.spool != nil && ok {
		return q.endSpooled(r)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stats.Open--
	q.remember(r, ok)
	return q.stats.Bytes
}

// remember puts a record into memory or counts it as lost.
func (q *Queue) remember(r outgoing.Record, ok bool) {
	switch {
	case q.closed:
		q.lose(Closed, 1)
		return
	case !ok:
		q.lose(Unwritable, 1)
		return
	}
	weight := int64(r.Weight()) + recordWeight
	content := weight - int64(len(r.Span)) - recordWeight
	if content > 0 && (q.content+content > q.limit/2 || q.stats.Bytes+weight > q.limit) {
		r, content = shed(r), 0
		weight = int64(r.Weight()) + recordWeight
		if q.stats.Bytes+weight <= q.limit {
			q.stats.ContentShed++
		}
	}
	if q.stats.Bytes+weight > q.limit {
		q.lose(Full, 1)
		return
	}
	r.Span = q.keep(r.Span)
	q.in++
	q.stats.Queued++
	q.stats.Bytes += weight
	q.content += content
	q.records = append(q.records, r)
}

// shed takes content off a record and says so in it.
func shed(r outgoing.Record) outgoing.Record {
	r.Late = nil
	r.Span = otlp.Bool(r.Span, otlp.SpanAttributes, "evalrouter.content_shed", true)
	return r
}

// keep copies a span behind the ones that wait already.
func (q *Queue) keep(span []byte) []byte {
	if len(span) > chunkSize/4 {
		return append([]byte(nil), span...)
	}
	if cap(q.chunk)-len(q.chunk) < len(span) {
		q.chunk = make([]byte, 0, chunkSize)
	}
	from := len(q.chunk)
	q.chunk = append(q.chunk, span...)
	// Without room behind it: what is appended to a span must not run into the next.
	return q.chunk[from:len(q.chunk):len(q.chunk)]
}

// went tells those who wait that n spans wait no longer.
func (q *Queue) went(n uint64) {
	q.out += n
	close(q.settled)
	q.settled = make(chan struct{})
}

func (q *Queue) lose(why Reason, n uint64) {
	q.stats.Lost[why] += n
	q.unheard[why] += n
}

// endSpooled writes a span to the spool, in the goroutine that ended it: what
// End returned from is in the file.
func (q *Queue) endSpooled(r outgoing.Record) int64 {
	span := q.finish.Finish(r)
	q.spoolMu.Lock()
	defer q.spoolMu.Unlock()
	q.mu.Lock()
	q.stats.Open--
	whole := outgoing.Record{Origin: r.Origin, Span: span}
	if q.closed || q.bypass {
		defer q.mu.Unlock()
		q.remember(whole, true)
		return q.stats.Bytes
	}
	q.in++
	q.stats.Spooled++
	q.mu.Unlock()
	err := q.spool.Append(r.Origin, span)
	q.mu.Lock()
	defer q.mu.Unlock()
	if err != nil {
		q.stats.Spooled--
		q.stats.SpoolErrors++
		q.went(1)
		q.bypass = true
		q.remember(whole, true)
	}
	return q.stats.Bytes + int64(q.stats.Spooled)*spooledWeight
}

// spooledWeight is about what a span in the spool weighs, to say when enough of
// them wait.
const spooledWeight = 512

// Losses are the spans lost and rejected since it was last asked.
func (q *Queue) Losses() (lost map[Reason]uint64, rejected uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for why, n := range q.unheard {
		if n > 0 {
			if lost == nil {
				lost = map[Reason]uint64{}
			}
			lost[Reason(why)] = n
		}
	}
	rejected = q.refused
	q.unheard, q.refused = [reasons]uint64{}, 0
	return lost, rejected
}
