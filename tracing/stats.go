package tracing

import "github.com/evalrouter/evalrouter/tracing/internal/queue"

// Stats counts spans. At every moment
//
//	Started + Replayed = Open + Queued + Spooled + Exported + Rejected + Dropped.Total()
type Stats struct {
	Started  uint64 // by this process, and chosen by the sample ratio
	Replayed uint64 // left in the spool by processes that are gone
	Open     uint64 // started and not ended
	Queued   uint64 // waiting in memory
	Spooled  uint64 // waiting in the spool
	Exported uint64 // taken by the service
	Rejected uint64 // refused by the service
	Dropped  Drops

	// ContentShed counts spans that were sent without inputs, outputs and long
	// texts, because too much waited.
	ContentShed uint64
	// SpoolErrors counts spans that the spool could not take: its disk or its
	// bound was full. They waited in memory instead.
	SpoolErrors uint64
	// Bytes wait in memory.
	Bytes int64
	// Requests were made. Trouble is what stands in the way of delivery, empty
	// when nothing does.
	Requests uint64
	Trouble  string
}

// Drops counts spans that are lost, by reason.
type Drops struct {
	QueueFull   uint64 // the bytes of the queue were used up
	Closed      uint64 // ended after Close
	Unwritable  uint64 // could not be encoded, or not be read back from the spool
	Undelivered uint64 // not taken by the service before Close ended
}

// Total sums the reasons.
func (d Drops) Total() uint64 { return d.QueueFull + d.Closed + d.Unwritable + d.Undelivered }

// Stats is the state of one moment.
func (c *TraceCapture) Stats() Stats {
	if c == nil {
		return Stats{}
	}
	q, p := c.queue.Stats(), c.pump.Status()
	return Stats{
		Started: q.Started, Replayed: q.Replayed, Open: q.Open, Queued: q.Queued, Spooled: q.Spooled,
		Exported: q.Exported, Rejected: q.Rejected,
		Dropped: Drops{
			QueueFull: q.Lost[queue.Full], Closed: q.Lost[queue.Closed],
			Unwritable: q.Lost[queue.Unwritable], Undelivered: q.Lost[queue.Undelivered],
		},
		ContentShed: q.ContentShed, SpoolErrors: q.SpoolErrors, Bytes: q.Bytes, Requests: p.Attempts, Trouble: p.Why,
	}
}
