package queue

// Reason is why a span was lost.
type Reason int

// Reasons.
const (
	Full        Reason = iota // the bytes for waiting spans were used up
	Closed                    // it ended after Close
	Unwritable                // it could not be encoded, or not be read back from the spool
	Undelivered               // Close ended before the service took it
	reasons
)

func (r Reason) String() string {
	switch r {
	case Full:
		return "queue_full"
	case Closed:
		return "closed"
	case Unwritable:
		return "unwritable"
	case Undelivered:
		return "undelivered"
	}
	return "unknown"
}

// Stats counts spans.
type Stats struct {
	Started  uint64 // by this process
	Replayed uint64 // found in the spool
	Open     uint64 // started and not ended
	Queued   uint64 // ended, waiting in memory or being sent
	Spooled  uint64 // ended, waiting in the spool or being sent
	Exported uint64 // taken by the service
	Rejected uint64 // refused by the service
	Lost     [reasons]uint64

	// ContentShed counts spans that lost their content because the queue held
	// too much. They are not lost.
	ContentShed uint64
	// SpoolErrors counts spans that a spool could not take. They were queued in
	// memory or lost.
	SpoolErrors uint64
	Bytes       int64 // that wait in memory
}
